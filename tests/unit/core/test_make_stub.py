"""`kh.make` as an editor reads it: every option of every algorithm, with its type."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import keyhole as kh

ROOT = Path(__file__).parents[3]


def script():
    spec = importlib.util.spec_from_file_location("build_making", ROOT / "scripts" / "build_making.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_overloads_are_what_the_catalogue_says():
    made = script()
    assert made.PLACE.read_text(encoding="utf-8") == made.text(), "run python scripts/build_making.py"


@pytest.mark.parametrize("a", kh.list_algorithms(), ids=lambda a: a.name)
def test_an_editor_completes_every_option(a):
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(ROOT, added_sys_path=[str(Path(kh.__file__).parents[1])])
    for option in a.options:
        code = f"import keyhole as kh\nkh.make({a.name!r}, d=9, {option.name[:-1]}"
        assert f"{option.name}=" in [c.name for c in jedi.Script(code, project=project).complete()]


@pytest.mark.slow
def test_a_type_checker_knows_the_options_and_what_is_made(tmp_path):
    used = tmp_path / "used.py"
    used.write_text(
        "import keyhole as kh\n"
        "a = kh.make('thrifty', d=3, k=1, half_life=3.0)\n"
        "a.explain().to_frame()\n"
        "b = kh.make('ds-oslrc', d=9, k=4, tuning='theory', reset='partial')\n"
        "name: str = 'vaw'\n"
        "c: kh.Learner = kh.make(name, d=3, a=2.0)\n"
        "b.explain()\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(used)]
    said = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(ROOT / "src")})
    faults = [line for line in said.stdout.splitlines() if "used.py" in line]
    assert len(faults) == 1, said.stdout
    assert '"Learner" has no attribute "explain"' in faults[0]
