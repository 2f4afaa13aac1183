"""Run the tests that use the compiled core on the build of `scripts/build_core.py --sanitize`.

    python scripts/sanitize.py [words for pytest]

The sanitized module takes the place of the plain one in a copy of the package, so that both can be kept.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / f"sanitize-{sys.implementation.cache_tag}"
TESTS = [
    "tests/unit/test_core.py",
    *(f"tests/unit/{package}" for package in ("core", "estimation", "algorithms", "simulation", "integrations")),
    "tests/laws",
    "tests/battery",
    "tests/fuzz",
    "--ignore=tests/unit/core/test_footprint.py",  # measures memory, of which ASan takes more
]


def library(name: str) -> str:
    """Where the compiler keeps one of its libraries."""
    compiler = os.environ.get("CXX", "c++")
    return subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main(words: list[str]) -> int:
    package = BUILD / "src" / "keyhole"
    plain = shutil.ignore_patterns("_core.*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "keyhole", package, ignore=plain, dirs_exist_ok=True)
    for module in (BUILD / "keyhole").glob("_core.*"):
        shutil.copy2(module, package)
    env = {
        **os.environ,
        "PYTHONPATH": str(BUILD / "src"),
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        # Python keeps some memory for good, so leaks are not reported. A forged file may ask
        # for more memory than there is: that is a MemoryError, not a find.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    probe = "import keyhole._core as core; assert core.SANITIZED, core.__file__"
    subprocess.run([sys.executable, "-c", probe], env=env, check=True)
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(words or TESTS)]
    return subprocess.run(call, env=env, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
