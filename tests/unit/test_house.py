"""The house keeps its shape: arrows point one way, imports are light, nothing is pickled."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import keyhole

ROOT = Path(keyhole.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Each layer may import from those before it, and from nothing beside it.
LAYERS = [
    {"_quicker", "_aggregates", "_remembered"},
    {"_lowering"},
    {"errors", "_types", "_text", "shown", "words", "_cache", "_compiler", "_shared", "_locked"},
    {"_jit", "rules", "market", "frames", "rounds", "files", "markup"},
    {"_bare", "_observed", "_checks", "state", "outputs", "batches"},
    {"sampling", "moments", "newton", "support", "schedule", "dantzig", "theory", "least_squares"},
    {"tuning", "doubts"},
    {"protocol", "streams"},
    {"frozen", "saving", "facts"},
    {"learners", "algorithm", "data", "scaling"},
    {"options"},
    {"records"},
    {"catalogue"},
    {"loading", "spec"},
    {"figures"},
    {"keeper"},
    {"runs", "study", "compat", "store"},
    {"report", "service", "client"},
    {"cli"},
]
# A learner saves itself, and predicts frozen: what does that is imported when it does.
LAZY = {("protocol", "saving"), ("batches", "frozen")}


def layer_of(part):
    return next(i for i, layer in enumerate(LAYERS) if part in layer)


def imports_of(path):
    """The parts of keyhole that a file imports, wherever in the file it does so."""
    inside = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = inside[: len(inside) - node.level]
            module = (*base, *(node.module or "").split(".")) if node.module else base
            yield from [module[0]] if module else [alias.name for alias in node.names if alias.name != "__version__"]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("keyhole."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.parent != ROOT or p.stem != "__init__"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_arrows_point_one_way(path):
    part = path.relative_to(ROOT).with_suffix("").parts[0]
    for other in imports_of(path):
        if other not in ("__init__", "__version__", part) and (part, other) not in LAZY:
            assert layer_of(other) < layer_of(part), f"{part} imports {other}, which stands above or beside it"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_is_private_to_a_room_stays_in_it(path):
    inside = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = (*inside[: len(inside) - node.level], *filter(None, (node.module or "").split(".")))
            names = [alias.name for alias in node.names]
            if module and module[0] != inside[0]:
                hidden = [n for n in (*module[1:], *names) if n.startswith("_") and n != "__version__"]
                assert not hidden, f"{'.'.join(module)} keeps {hidden[0]} to itself"


def test_the_page_of_the_house_names_every_room_and_no_other():
    page = (Path(__file__).parents[2] / "docs" / "house.md").read_text()
    named = {
        name.strip("/") for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`(.+?)`", row)
    }
    assert named == set.union(*LAYERS)
    there = {path.relative_to(ROOT).with_suffix("").parts[0] for path in FILES} - {"__init__"}
    assert there <= set.union(*LAYERS)


def test_the_keeper_knows_no_learner_by_name():
    names = {a.name for a in keyhole.list_algorithms()}
    for path in [*(ROOT / "keeper").glob("*.py"), ROOT / "protocol.py", ROOT / "saving.py", ROOT / "loading.py"]:
        texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        assert names.isdisjoint(text for text in texts if isinstance(text, str)), path
        assert "learners" not in imports_of(path), path


def cpu_seconds(*words):
    """The least of three runs, so that a busy machine is not judged."""
    code = "import resource as r, subprocess as s, sys; s.run(sys.argv[1:], check=True, stdout=s.DEVNULL); " \
        "u = r.getrusage(r.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"  # fmt: skip
    line = [sys.executable, "-c", code, sys.executable, *words]
    return min(float(subprocess.check_output(line, text=True)) for _ in range(3))


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_importing_keyhole_and_asking_for_help_are_light():
    assert cpu_seconds("-c", "import keyhole") < 0.15
    assert cpu_seconds("-m", "keyhole.cli", "--help") < 0.3


@pytest.mark.parametrize(
    "what", ["keyhole", "keyhole.core.registry.catalogue", "keyhole.keeper", "keyhole.algorithms.thrifty"]
)
def test_importing_keyhole_imports_nothing_heavy(what):
    heavy = {"pandas", "polars", "pyarrow", "narwhals", "sklearn", "river", "altair", "pydantic", "typer", "rich"}
    heavy |= {"numpy", "scipy", "numba"} if what == "keyhole" else set()
    code = f"import sys, {what}; print(*sorted(m for m in {sorted(heavy)} if m in sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""


def test_every_public_name_is_there():
    for name in keyhole.__all__:
        assert getattr(keyhole, name) is not None
    assert set(keyhole.__all__) <= set(dir(keyhole))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = keyhole.nothing


def test_the_order_of_imports_does_not_matter():
    code = "import keyhole.keeper, keyhole as kh; assert callable(kh.play); import keyhole.sampling; kh.sampling.draw"
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
    """Only files that we listed go, one by one (`outputs`)."""
    for path in FILES:
        assert "rmtree" not in path.read_text(), path
