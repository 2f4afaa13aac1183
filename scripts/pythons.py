"""The suite on every Python from 3.11 on that this machine has, and with the lowest versions pyproject.toml allows.

    python scripts/pythons.py               all of them
    python scripts/pythons.py 3.12 lowest   these only
    python scripts/pythons.py -- -n 1 tests/unit   with other words for pytest

Each gets an environment of its own in .venvs/; nothing else is touched. Exit 1 where a suite failed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
ROOT = Path(__file__).resolve().parents[1]


def interpreter(version: str) -> str | None:
    """A Python of this version: on the PATH, or one that pyenv keeps."""
    shims = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(shims.glob(f"{version}.*/bin/python"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")


def environment(name: str, python: str) -> Path:
    """The bin folder of a fresh or earlier environment."""
    folder = ROOT / ".venvs" / name
    if not folder.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def install(name: str, tools: Path) -> None:
    """keyhole with all it needs for its tests; `lowest` asks for the oldest of each that is allowed."""
    python = str(tools / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
    oldest = ["--resolution", "lowest-direct"] if name == "lowest" else []
    words = ["--quiet", "--compile-bytecode", "--python", python, *oldest, "--editable", ".[test]"]
    by_uv = [str(tools / "uv"), "pip", "install", *words]
    if subprocess.run(by_uv, cwd=ROOT, check=name == "lowest").returncode:  # where uv does not reach the packages
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--editable", ".[test]"], cwd=ROOT, check=True)


def suite(name: str, words: list[str]) -> str:
    """Run it; what came out, in a few words."""
    python = interpreter("3.11" if name == "lowest" else name)
    if python is None:
        return "not on this machine"
    tools = environment(name, python)
    try:
        install(name, tools)
        subprocess.run([str(tools / "python"), "scripts/build_core.py"], cwd=ROOT, check=True)
    except subprocess.CalledProcessError:
        return "FAILED to install or to build (a dependency has no release for it?)"
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    call = [str(tools / "python"), "-m", "pytest", "-p", "no:cacheprovider", *words]
    done = subprocess.run(call, cwd=ROOT, env=alone)
    return "passed" if done.returncode == 0 else "FAILED"


def main(given: list[str]) -> int:
    cut = given.index("--") if "--" in given else len(given)
    wanted, words = given[:cut] or [*VERSIONS, "lowest"], given[cut + 1 :] or ["-n", "2"]
    outcome = {name: suite(name, words) for name in wanted}
    for name, said in outcome.items():
        print(f"{name:8} {said}")
    return int(any("FAILED" in said for said in outcome.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
