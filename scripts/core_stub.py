"""Write src/keyhole/_core.pyi, the types of the compiled core, from the core itself; `--check` compares only.

nanobind knows everything but the numbers in a tuple, which stand here.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).resolve().parent.parent / "src" / "keyhole" / "_core.pyi"

ENDING = "tuple[int, int, int, int, float, float, float, float]"
TUPLES = {
    "count_extremes": "tuple[int, int]",
    "event": "tuple[int, int, float]",
    "follow_path": ENDING,
    "poslrc_block": f"tuple[int, int, bool, {ENDING}]",
    "fill_in": "tuple[NDArray[np.float64], float, float]",
    "normal_equations": "tuple[float, float]",
}


def stub() -> str:
    """What the file should say."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "core.pyi"
        call = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "keyhole._core", "-o", str(made)]
        subprocess.run(call, check=True)
        text = made.read_text()
    text = re.sub(r"Annotated\[(NDArray\[numpy\.\w+\]), dict\([^\]]*?\)\]", r"\1", text)
    text = text.replace("numpy.bool", "numpy.bool_").replace("numpy.bool__", "numpy.bool_").replace("numpy.", "np.")
    text = text.replace("from np.typing", "from numpy.typing").replace("import numpy\n", "import numpy as np\n")
    text = text.replace("from typing import Annotated\n\n", "").replace("SANITIZED: bool = False", "SANITIZED: bool")
    text = text.replace("SANITIZED: bool = True", "SANITIZED: bool")
    text = text.replace("from keyhole._core import thrifty as thrifty\n\n", "")
    for name, kind in TUPLES.items():
        text = re.sub(rf"(def {name}\(.*\)) -> tuple:", rf"\1 -> {kind}:", text)
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(STUB), "-"],
        input=text, text=True, capture_output=True, check=True,
    )  # fmt: skip
    return formatted.stdout


if __name__ == "__main__":
    if "--check" not in sys.argv:
        STUB.write_text(stub())
    elif STUB.read_text() != stub():
        sys.exit("src/keyhole/_core.pyi is not current: python scripts/core_stub.py")
