"""The package as a whole: public names, light imports, nothing pickled, no tree removed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import keyhole

FILES = sorted(Path(keyhole.__file__).parent.rglob("*.py"))


def modules(code):
    """How many modules a process has imported at its end."""
    line = "import atexit, sys; atexit.register(lambda: print(len(sys.modules), file=sys.stderr))\n"
    done = subprocess.run([sys.executable, "-c", line + code], capture_output=True, text=True, check=True)
    return int(done.stderr)


def test_importing_keyhole_and_asking_for_help_are_light():
    """Counted, because seconds depend on the machine: 29 and 242 modules when this was written."""
    nothing = modules("")
    assert modules("import keyhole") - nothing < 60
    assert modules("sys.argv = ['keyhole', '--help']; from keyhole.cli import main; main()") - nothing < 330


@pytest.mark.parametrize(
    "words",
    [
        "nope",
        "run",
        "run nowhere.csv --target y -k 2 --out r",
        "run README.md --target y -k 2 --out r --algorithm thrfty",
        "compare nowhere.csv --algorithms vaw --out c",
        "compare synthetic:d=9,k=3 --algorithms nope --out c",
        "frontier nowhere.csv --target y --out f",
        "study nope",
        "predict nowhere.kh nowhere.csv",
        "diagnose nowhere.csv --target y",
        "serve --store nope://x",
        "algorithms nope",
    ],
)
def test_a_mistyped_command_is_answered_before_anything_heavy_is_imported(words):
    heavy = ["scipy", "pyarrow", "altair", "pandas", "sklearn", "joblib", "sqlalchemy", "fastapi", "keyhole._core"]
    code = (
        f"import sys, atexit; atexit.register(lambda: print(*(m for m in {heavy} if m in sys.modules)))\n"
        "from keyhole.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, *words.split()], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "what", ["keyhole", "keyhole.core.registry.catalogue", "keyhole.simulation", "keyhole.algorithms.thrifty"]
)
def test_importing_keyhole_imports_nothing_heavy(what):
    heavy = {"pandas", "polars", "pyarrow", "narwhals", "sklearn", "river", "altair", "pydantic", "typer", "rich"}
    heavy |= {"numpy", "scipy"} if what == "keyhole" else set()
    code = f"import sys, {what}; print(*sorted(m for m in {sorted(heavy)} if m in sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""


def test_every_public_name_is_there():
    for name in keyhole.__all__:
        assert getattr(keyhole, name) is not None
    assert set(keyhole.__all__) <= set(dir(keyhole))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = keyhole.nothing


def test_the_order_of_imports_does_not_matter():
    code = (
        "import keyhole.simulation, keyhole as kh; assert callable(kh.play)\n"
        "import keyhole.estimation.sampling; kh.sampling.draw"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_pickled():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"pickle", "shelve", "marshal", "dill", "cloudpickle"} & {n.split(".")[0] for n in names}, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant)
                assert node.value.value is False, path


def test_no_tree_is_ever_removed():
    """Only files that we listed are deleted, one by one (`output_folder`)."""
    for path in FILES:
        assert "rmtree" not in path.read_text(), path
