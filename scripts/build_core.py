"""Build the compiled core (cpp/) into src/keyhole, again only what changed.

The compiler is the system's (or that of the variable CXX); where there is none, the one of the package `ziglang` from
PyPI, which is installed for it. cmake, ninja and nanobind are those of the Python that runs this script.

    python scripts/build_core.py              into src/keyhole
    python scripts/build_core.py --check      nothing: only says whether Python's headers are there
    python scripts/build_core.py --sanitize   with ASan, UBSan and checked access, into build/sanitize-<python>/keyhole
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("c++", "g++", "clang++")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sanitize", action="store_true", help="build with ASan, UBSan and checked access")
    parser.add_argument("--check", action="store_true", help="only check that Python's headers are there")
    arguments = parser.parse_args()
    require_headers()
    if arguments.check:
        return
    build = ROOT / "build" / f"{'sanitize' if arguments.sanitize else 'core'}-{sys.implementation.cache_tag}"
    define = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    define += compiler()
    if arguments.sanitize:
        define += ["-DKEYHOLE_SANITIZE=ON", f"-DKEYHOLE_CORE_DIR={build / 'keyhole'}"]
    run("cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", *define)
    run("cmake", "--build", str(build))


def require_headers() -> None:
    """Stop with one sentence where Python.h is missing: without it nothing can be built."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SystemExit(
            f"keyhole cannot be built because Python's header {header} is missing: install the package "
            f"python{version}-dev (Debian, Ubuntu: apt install python{version}-dev; Fedora: dnf install "
            f"python3-devel), or use a Python that brings its headers (make PYTHON=...)."
        )


def compiler() -> list[str]:
    """The options that choose a compiler: none where the system has one, ziglang's otherwise."""
    if os.name == "nt" or os.environ.get("CXX") or any(shutil.which(name) for name in COMPILERS):
        return []
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "ziglang>=0.13"], check=True
    )
    # CMake wants one program for each tool; `python -m ziglang c++` is three words.
    tools = ROOT / "build" / "zig"
    tools.mkdir(parents=True, exist_ok=True)
    for tool in ("c++", "ar", "ranlib"):
        script = tools / tool
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {tool} "$@"\n')
        script.chmod(0o755)
    return [f"-DCMAKE_CXX_COMPILER={tools / 'c++'}", f"-DCMAKE_AR={tools / 'ar'}", f"-DCMAKE_RANLIB={tools / 'ranlib'}"]


def run(tool: str, *arguments: str) -> None:
    """Run a tool quietly; show what it said, and stop, where it fails."""
    beside = Path(sys.executable).parent
    found = shutil.which(tool, path=os.pathsep.join([str(beside), os.environ.get("PATH", "")]))
    if found is None:
        raise SystemExit(f"{tool} is missing: {sys.executable} -m pip install cmake ninja nanobind")
    env = {**os.environ, "PATH": os.pathsep.join([str(beside), os.environ.get("PATH", "")])}
    finished = subprocess.run([found, *arguments], env=env, text=True, capture_output=True)
    if finished.returncode:
        print(finished.stdout, finished.stderr, sep="\n", file=sys.stderr)
        raise SystemExit(f"the compiled core could not be built: `{tool} {' '.join(arguments)}` failed (see above)")
    for line in (finished.stdout + finished.stderr).splitlines():
        if "warning" in line:
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
