"""The suite on every Python from 3.11 on that this machine has, and with the lowest versions pyproject.toml allows.

    python scripts/pythons.py               all of them
    python scripts/pythons.py 3.12 lowest   these only

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
    if name != "lowest":
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--editable", ".[test]"], cwd=ROOT, check=True)
        return
    subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
    oldest = ["--resolution", "lowest-direct", "--python", python]
    subprocess.run([str(tools / "uv"), "pip", "install", *oldest, "--editable", ".[test]"], cwd=ROOT, check=True)


def suite(name: str) -> str:
    """Run it; what came out, in a few words."""
    python = interpreter("3.11" if name == "lowest" else name)
    if python is None:
        return "not on this machine"
    tools = environment(name, python)
    try:
        install(name, tools)
    except subprocess.CalledProcessError:
        return "FAILED to install (a dependency has no release for it?)"
    done = subprocess.run([str(tools / "python"), "-m", "pytest", "-n", "2", "-p", "no:cacheprovider"], cwd=ROOT)
    return "passed" if done.returncode == 0 else "FAILED"


def main(wanted: list[str]) -> int:
    outcome = {name: suite(name) for name in wanted or [*VERSIONS, "lowest"]}
    for name, words in outcome.items():
        print(f"{name:8} {words}")
    return int(any("FAILED" in words for words in outcome.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
