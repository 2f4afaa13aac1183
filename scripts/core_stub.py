"""Write src/keyhole/_core/*.pyi, the types of the compiled core, from the core itself; `--check` compares only.

nanobind knows everything but the numbers in a tuple or a dictionary, which stand here.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

STUBS = Path(__file__).resolve().parent.parent / "src" / "keyhole" / "_core"

ENDING = "tuple[int, int, int, int, float, float, float, float]"
TUPLES = {
    "count_extremes": "tuple[int, int]",
    "event": "tuple[int, int, float]",
    "follow_path": ENDING,
    "poslrc_block": f"tuple[int, int, bool, {ENDING}]",
    "fill_in": "tuple[NDArray[np.float64], float, float]",
    "normal_equations": "tuple[float, float]",
}
DICTIONARIES = {"layouts": "dict[str, tuple[int, list[tuple[str, int, str]]]]"}


def stub(module: str) -> str:
    """What the file of a module should say."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "core.pyi"
        call = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", module, "-o", str(made)]
        subprocess.run(call, check=True)
        text = made.read_text()
    text = re.sub(r"Annotated\[(NDArray\[numpy\.\w+\]), dict\([^\]]*?\)\]", r"\1", text)
    text = text.replace("numpy.bool", "numpy.bool_").replace("numpy.bool__", "numpy.bool_").replace("numpy.", "np.")
    text = text.replace("from np.typing", "from numpy.typing").replace("import numpy\n", "import numpy as np\n")
    text = text.replace("from typing import Annotated\n", "").lstrip()
    text = re.sub(r"^([A-Z_]+: [^=\n]+) = .*$", r"\1", text, flags=re.MULTILINE)  # types, not values
    for name, kind in TUPLES.items():
        text = re.sub(rf"(def {name}\(.*\)) -> tuple:", rf"\1 -> {kind}:", text)
    text = re.sub(r"^([A-Z_]+: list)$", r"\1[float]", text, flags=re.MULTILINE)
    text = text.replace("arrays: dict,", "arrays: dict[str, NDArray[np.generic]],")
    for name, kind in DICTIONARIES.items():
        text = re.sub(rf"(def {name}\(.*\)) -> dict:", rf"\1 -> {kind}:", text)
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(STUBS / "a.pyi"), "-"],
        input=text, text=True, capture_output=True, check=True,
    )  # fmt: skip
    return formatted.stdout


def main() -> None:
    for name, module in (("__init__", "keyhole._core"), ("thrifty", "keyhole._core.thrifty")):
        path, text = STUBS / f"{name}.pyi", stub(module)
        if "--check" not in sys.argv:
            STUBS.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.name} is not current: python scripts/core_stub.py")


if __name__ == "__main__":
    main()
