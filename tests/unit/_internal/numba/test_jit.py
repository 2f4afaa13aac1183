"""Compiled kernels are kept between starts, never past an edit, and where nothing can be kept nothing breaks."""

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import compiler, errors, ir

import keyhole
from keyhole._internal.numba import _bare, _cache, _jit, _quicker
from keyhole._internal.numba._compiler import Compiler, ShortCompiler
from tests.compiled import entry

SOURCE = Path(keyhole.__file__).parents[1]
CODE = """
import numpy as np
from keyhole.estimation.dantzig import Sequence
seq = Sequence(3)
for _ in range(2):
    seq.update(np.arange(2), np.eye(2), np.ones(2))
"""
# A kernel whose `inner` is in another file, and that takes a constant from a third.
KERNEL = "from ._jit import jit\nfrom .deep import twice\n\n@jit\ndef f(x):\n    return twice(x)\n"
INNER = "from ._jit import inner\nfrom .two import TWO\n\n@inner\ndef twice(x):\n    return TWO * x\n"
EDITS = [
    ("deep.py", "TWO * x", "TWO * x + 1.0", "11.0\n"),
    ("two.py", "2.0", "3.0", "16.0\n"),
    ("kernel.py", "twice(x)", "twice(x) - 2.0", "14.0\n"),
]
SHOW = "from keyhole.kernel import f; print(f(5.0))"


def run(code: str, source: Path = SOURCE, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    there = kept | {"PYTHONPATH": str(source)} | environment
    return subprocess.run([sys.executable, "-c", code], env=there, capture_output=True, text=True, check=True)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A package with our `_jit` and `_cache` and the kernel above."""
    package = tmp_path / "source" / "keyhole"
    package.mkdir(parents=True)
    needed = ("_jit", "_cache", "_compiler", "_quicker", "_remembered", "_lowering", "_aggregates")
    for name in (f"{module}.py" for module in needed):
        shutil.copy(SOURCE / "keyhole" / name, package)
    sources = {"__init__.py": "", "kernel.py": KERNEL, "deep.py": INNER, "two.py": "TWO = 2.0\n"}
    for name, text in sources.items():
        (package / name).write_text(text)
    return package


def test_one_line_on_stderr_with_a_cold_cache_and_none_with_a_warm_one(tmp_path: Path) -> None:
    cold, warm = (run(CODE, NUMBA_CACHE_DIR=str(tmp_path)) for _ in "ab")
    assert cold.stderr.count("\n") == 1
    assert "compiling" in cold.stderr
    assert warm.stderr == ""
    assert cold.stdout == warm.stdout == ""


def test_an_edit_anywhere_below_a_kernel_is_seen_and_one_beside_it_changes_nothing(copy: Path) -> None:
    assert run(SHOW, copy.parent).stdout == "10.0\n"
    (copy / "other.py").write_text("THREE = 3\n")
    assert run(SHOW, copy.parent).stderr == ""  # from disk
    for name, before, after, shown in EDITS:
        (copy / name).write_text((copy / name).read_text().replace(before, after))
        edited = run(SHOW, copy.parent)
        assert edited.stdout == shown
        assert "once" in edited.stderr


def test_the_folders_of_old_versions_go_and_nothing_else_does(tmp_path: Path) -> None:
    for n in range(6):
        (tmp_path / f"{n:016x}").mkdir()
        os.utime(tmp_path / f"{n:016x}", (n, n))
    (tmp_path / "mine").mkdir()
    _cache._tidy(tmp_path / f"{0:016x}")
    assert sorted(int(place.name, 16) for place in tmp_path.iterdir() if place.name != "mine") == [0, 3, 4, 5]
    assert (tmp_path / "mine").is_dir()


def test_where_nothing_can_be_written_it_runs_and_says_so(copy: Path, tmp_path: Path) -> None:
    wall = tmp_path / "file"
    wall.write_text("")
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "kernels").write_text("")  # refuses root too, whom no permission stops
    home = {"HOME": str(wall / "home"), "XDG_CACHE_HOME": str(wall / "home"), "LOCALAPPDATA": str(wall / "home")}
    for place in (home, {"NUMBA_CACHE_DIR": str(wall / "cache")}):
        done = run(SHOW, copy.parent, **place)
        assert done.stdout == "10.0\n"
        assert "NUMBA_CACHE_DIR" in done.stderr


def test_what_is_kept_is_used_read_only_mended_if_damaged_and_not_mixed_with_bounds_checks(copy: Path) -> None:
    run(SHOW, copy.parent)
    blind = f"import os; os.access = lambda *a, **k: False; {SHOW}"
    assert run(blind, copy.parent).stderr == ""
    other = "0" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "1"  # `make boundscheck` has it on
    assert "once" in run(SHOW, copy.parent, NUMBA_BOUNDSCHECK=other).stderr
    for file in (copy / "__pycache__" / "kernels").rglob("*.nb?"):
        file.write_bytes(file.read_bytes()[:20])
    damaged = run(SHOW, copy.parent)
    assert damaged.stdout == "10.0\n"
    assert "once" in damaged.stderr
    assert run(SHOW, copy.parent).stderr == ""


def test_a_function_without_counted_references_makes_no_array_and_returns_none() -> None:
    def makes(n: int) -> float:
        return float(np.empty(n).sum())

    def returns(x: np.ndarray, n: int) -> tuple[int, np.ndarray]:
        return n, x

    fresh = _jit.inner(lambda n: np.empty(n))

    def is_given(n: int) -> int:
        array = fresh(n)
        return array.size

    def adds(x: np.ndarray, y: np.ndarray) -> float:
        total = 0.0
        for i in range(x.size):
            total += x[i] * y[i]
        return total

    x = np.arange(5.0)
    with pytest.raises(errors.NumbaError):
        _bare.inner(makes)(3)
    with pytest.raises((errors.NumbaError, TypeError), match="array"):
        _bare.inner(returns)(x, 3)
    with pytest.raises((errors.NumbaError, TypeError), match="array"):
        _bare.jit(is_given)(3)
    held = sys.getrefcount(x)
    assert all(_bare.jit(adds)(x, x) == 30.0 for _ in range(3))
    assert sys.getrefcount(x) == held


def test_compiling_leaves_the_garbage_collector_as_it_was() -> None:
    for before in (False, True):
        (gc.enable if before else gc.disable)()
        try:
            assert _jit.jit(lambda n: n + 1)(1) == 2
            assert gc.isenabled() == before
        finally:
            gc.enable()


def test_compiling_leaves_numba_as_it_was() -> None:
    """Also where it fails: what we put in numba's places is gone when nothing of ours is compiled."""
    places = [(owner, name) for owner, name, _ in _quicker._PLACES] + [(compiler, "compile_extra")]
    before = [getattr(owner, name) for owner, name in places]
    assert not set(before) & {ours for _, _, ours in _quicker._PLACES}
    assert _jit.jit(lambda n: max(n, 1) + 1)(1) == 2
    assert [getattr(owner, name) for owner, name in places] == before
    with pytest.raises(errors.TypingError):
        _jit.jit(lambda n: n.nothing)(1)
    assert [getattr(owner, name) for owner, name in places] == before


def test_the_same_variables_are_found() -> None:
    here = ir.Loc("somewhere.py", 1)
    x, y = ir.Var(None, "x", here), ir.Var(None, "y", here)
    line = ir.Assign(ir.Expr.call(x, (y, x), (("z", y),), here), y, here)
    for value in (x, [x, (y, [x])], {"a": y, "b": (x,), "c": here}, "x", 1, None, line.value, line, vars(line), {x}):
        assert _quicker._variables(line, value) == ir.Inst._rec_list_vars(line, value)


def test_what_numba_wrote_itself_is_a_part_of_ours_and_of_theirs() -> None:
    """An overload that a kernel was the first to use has no machine code of its own; others find it all the same."""
    assert entry(lambda x, n: max(x, n) + min(x, 2.5) + np.empty(n).size)(7.25, 3) == 12.75
    assert numba.njit(lambda x, n: max(x, n) + min(x, 2.5) + np.empty(n).size)(7.25, 3) == 12.75
    assert numba.njit(lambda n: sum([i for i in range(n) if max(i, 2) > 2]))(6) == 12


def test_scipy_waits_until_it_is_used() -> None:
    """To play takes none of it; who multiplies matrices in a kernel of their own has it when they do."""
    code = """
import sys, numba, numpy as np, keyhole as kh
X, y, _ = kh.streams.synthetic(d=5, k=2, T=10, seed=0)
kh.play(kh.make("vaw", d=5, k=5, seed=0), X, y)
print("scipy.linalg" in sys.modules, numba.njit(lambda a, b: np.dot(a, b))(np.eye(3), np.ones(3)).sum())
"""
    assert run(code).stdout == "False 3.0\n"


@_jit.inner
def _halved(x: float) -> float:
    return x / 2.0


@_jit.inner
def _halved_and_more(x: float) -> float:
    return _halved(x) + min(x, 3.0)


@_jit.inner
def _thrice(x: float) -> float:
    return 3.0 * _halved_and_more(x)


@pytest.mark.parametrize("compiled", [entry, numba.njit])
def test_a_part_brings_all_that_it_reaches(compiled: Callable[[object], Callable[[float], float]]) -> None:
    """Into an entry of ours, and into a function that numba compiles by itself, which knows nothing of parts."""
    assert compiled(lambda x: _thrice(x) + _halved(x))(8.0) == 25.0


@pytest.mark.parametrize("array", [np.arange(4), np.arange(4.0), np.arange(4.0)[::2]])
def test_a_remembered_operator_is_that_of_its_types(array: np.ndarray) -> None:  # type: ignore[type-arg]
    """7 // 2 and 7.0 // 2, a whole and a broken quotient, an array and its every second entry, one after another."""

    def mixed(a: np.ndarray, i: int, x: float) -> tuple[float, float, float, float]:  # type: ignore[type-arg]
        return i // 2, x // 2, i / 2 + a[1], a[1] * i

    one, two = entry(mixed), entry(mixed)
    for compiled in (one, two):
        for i, x in ((7, 7.5), (7.0, 7)):
            assert compiled(array, i, x) == mixed(array, i, x)
            assert [type(v) for v in compiled(array, i, x)][:2] == [type(v) for v in mixed(array, i, x)][:2]


def _dense(x: np.ndarray, out: np.ndarray) -> None:
    for i in range(x.size):
        out[i] = 0.1 * x[i] + x[i] * x[i]


def test_a_short_entry_makes_no_vectors_and_gives_the_same_bits() -> None:
    x, sums, vectors = np.random.default_rng(0).standard_normal(1000), [], []
    for made in (Compiler, ShortCompiler):  # not kept: what comes from disk does not show its code
        compiled, out = numba.njit(pipeline_class=made, error_model="numpy")(_dense), np.empty(1000)
        compiled(x, out)
        sums.append(out.tobytes())
        vectors.append("x double>" in next(iter(compiled.inspect_llvm().values())))
    assert sums[0] == sums[1]
    assert vectors == [True, False]
    assert _jit.short(_dense)._compiler.pipeline_class is ShortCompiler
