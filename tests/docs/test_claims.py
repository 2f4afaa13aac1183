"""What the pages say of the code is so: names that exist, numbers that hold."""

import ast
import inspect
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.baselines.gibbs_thompson import GibbsThompson

ROOT = Path(__file__).parents[2]
PLACES = ("", "docs", "src/keyhole")


def known():
    """What can stand before a dot, modules, packages and classes; and every name that is defined in one."""
    rooms, names = {"math"}, {"isqrt"}
    for path in (ROOT / "src" / "keyhole").rglob("*.py"):
        rooms |= {path.stem, path.parent.name}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            rooms |= {node.name} if isinstance(node, ast.ClassDef) else set()
            names |= {node.name} if isinstance(node, ast.FunctionDef) else set()
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return rooms, names | rooms


def quoted(page):
    """What stands between backticks on a page: names of code, without their arguments, and paths."""
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.S)
    return [name.partition("(")[0] for name in re.findall(r"`([^`]+)`", text)]


@pytest.mark.parametrize("page", ["paper-map.md", "architecture.md"])
def test_a_map_names_what_there_is(page):
    rooms, names = known()
    for name in quoted(page):
        if "/" in name:
            assert any((ROOT / place / end).exists() for place in PLACES for end in (name, f"{name}.py")), name
        elif re.fullmatch(r"\.?\w+(\.\w+)*", name):
            *before, last = [part for part in name.removesuffix(".py").split(".") if part]
            assert last in names, name
            assert set(before) <= rooms, name


@pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning")
def test_what_the_readme_says_of_the_papers_learner_holds():
    """With its schedule 20 000 rows are too few; the rate finds the support; with its constants w stays 0."""
    for seed in range(3):
        X, y, w = kh.streams.synthetic(d=20, k=4, T=20_000, seed=seed)
        found = {}
        for explore in ("squares", "2 t^(-1/3)"):
            learner = kh.make("ds-oslrc", d=20, k=4, seed=seed, explore=explore)
            kh.play(learner, X, y)
            found[explore] = np.array_equal(learner.support, np.flatnonzero(w))
        assert found == {"squares": False, "2 t^(-1/3)": True}
    learner = kh.make("ds-oslrc", d=20, k=4, seed=0, tuning="theory")
    kh.play(learner, X, y)
    assert learner.estimate.silent


def per_cent(name):
    cost = next(a.cost for a in kh.list_algorithms() if a.name == name)
    return int(re.search(r"at each (\d+) % more rows", cost)[1])


def test_the_record_of_gibbs_thompson_says_how_often_it_refits():
    assert inspect.signature(GibbsThompson).parameters["growth"].default == 1 + per_cent("gibbs-thompson") / 100


def test_the_readme_shows_what_its_example_prints():
    """Numbers on the first page are made by this code: python scripts/update_readme.py"""
    spec = spec_from_file_location("update_readme", ROOT / "scripts" / "update_readme.py")
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert script.EXAMPLE.search(text)[2] == script.printed(text)


def test_the_page_of_thrifty_has_every_constant():
    """The table, and the section of some layer: python benchmarks/ablation.py --write"""
    source = (ROOT / "cpp" / "thrifty" / "constants.hpp").read_text(encoding="utf-8")
    entries = {name: float(value) for name, value in re.findall(r"^\s+double (\w+) = ([^;]+);", source, re.M)}
    page = (ROOT / "docs" / "thrifty.md").read_text(encoding="utf-8")
    layers, _, table = page.partition("## Constants")
    stated = {name: float(value) for name, value in re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.M)}
    assert stated == entries
    used = " ".join(re.findall(r"^\*\*Constants\.\*\*(.*?)\n\n", layers, re.M | re.S))
    assert set(re.findall(r"`(\w+)`", used)) == set(entries)


@pytest.mark.parametrize(("name", "binary"), [("diabetes", False), ("breast_cancer", True)])
def test_the_comparison_with_other_tools_shows_what_thrifty_does_now(name, binary):
    """The tables that scikit-learn has: where these differ, run benchmarks/instead.py again."""
    datasets = pytest.importorskip("sklearn.datasets")
    from keyhole.integrations.sklearn import BudgetedClassifier, BudgetedRegressor

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, **({} if binary else {"scaled": False}))
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order], y[order].astype(float)
    part = np.random.default_rng(1).permutation(np.arange(y.size) % 5)
    page = (ROOT / "docs" / "compared.md").read_text(encoding="utf-8")
    for share in (10, 25):
        p, make = np.empty(y.size), BudgetedClassifier if binary else BudgetedRegressor
        for fold in range(5):
            train, test = part != fold, part == fold
            costs = {"k": None, "prices": [1.0] * X.shape[1], "budget_per_row": share / 100 * X.shape[1]}
            model = make(**costs, training="free", random_state=0).fit(X[train], y[train])
            p[test] = model.predict_proba(X[test])[:, 1] if binary else model.predict(X[test])
        stated = re.search(rf"^\| {name} .* \| {share}% \| \*\*([\d.]+)\*\* \|", page, re.M)
        assert float(stated[1]) == pytest.approx(np.mean((p - y) ** 2) / y.var(), abs=6e-4)


def test_the_errors_of_nhanes_panels_are_those_of_least_squares():
    found = kh.data.load("nhanes-panels")
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    baskets = {
        "nothing (age and sex)": [],
        "waist": ["waist"],
        "height, waist": ["height", "waist"],
        "height, waist, questions on weight": ["height", "waist", "questions on weight"],
        "and a diet recall, blood pressure": [
            "height",
            "waist",
            "questions on weight",
            "diet recall",
            "blood pressure",
        ],
        "everything": list(found.prices),
    }
    for words, basket in baskets.items():
        names = [*found.free, *(n for source in basket for n in found.sources.get(source, [source]))]
        V = np.column_stack([np.ones(found.y.size), found.X[:, [found.names.index(n) for n in names]]])
        mse = np.mean((found.y - V @ np.linalg.lstsq(V, found.y, rcond=None)[0]) ** 2)
        stated = re.search(rf"^\| {re.escape(words)} \| ([\d.]+) \| (\d+) \|", page, re.M)
        assert float(stated[1]) == pytest.approx(mse, abs=0.051)
        assert float(stated[2]) == sum(found.prices[source] for source in basket)
    assert (len(found.y), len(found.prices)) == (3912, 18)
