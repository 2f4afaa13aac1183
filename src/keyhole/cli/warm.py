"""`keyhole warm`: compile the kernels now, so that the first row of a later run need not wait for it."""

import sys
import time
from pathlib import Path

import typer

# What most runs use, with the options that change which kernels they need.
_LEARNERS: tuple[tuple[str, dict[str, int]], ...] = (("thrifty", {}), ("ds-oslrc", {}), ("ds-poslrc", {"k0": 4}))
_D, _K, _ROWS = 12, 4, 150


def warm() -> None:
    """Compile the kernels of the main learners and keep them: half a minute, once for each machine and version.

    Example: NUMBA_CACHE_DIR=/opt/kernels keyhole warm
    """
    for name, options in _LEARNERS:
        start = time.perf_counter()
        _play(name, options)
        print(f"{name}: ready after {time.perf_counter() - start:.1f} s")
    print(_where())


def _play(name: str, options: dict[str, int]) -> None:
    """A short stream by compiled blocks and, for what only single rounds need, row by row."""
    from .. import keeper
    from ..catalogue import make
    from ..streams import synthetic

    X, y, _ = synthetic(d=_D, k=_K, T=_ROWS, seed=0)
    for compiled in (True, False):
        keeper.play(make(name, d=_D, k=_K, seed=0, **options), X, y, compiled=compiled)


def _where() -> str:
    from .. import _cache, newton

    folder = _cache.folder_of(Path(newton.__file__))
    if folder is None:
        raise typer.Exit(_nowhere())
    return f"kept in {folder.parents[1]}"


def _nowhere() -> int:
    print("keyhole: nothing could be kept: no folder can be written to; name one in NUMBA_CACHE_DIR", file=sys.stderr)
    return 2
