"""`keyhole warm`: compile the kernels now, so that the first row of a later run need not wait for it."""

import sys
import time
from pathlib import Path

import typer

# What most runs use, and the extras it needs.
_LEARNERS = (("thrifty", 0), ("ds-oslrc", 0), ("ds-poslrc", 4))
_D, _K, _ROWS = 12, 4, 150


def warm() -> None:
    """Compile the kernels of the main learners and keep them: half a minute, once for each machine and version.

    Example: NUMBA_CACHE_DIR=/opt/kernels keyhole warm
    """
    for name, k0 in _LEARNERS:
        start = time.perf_counter()
        _play(name, k0)
        print(f"{name}: ready after {time.perf_counter() - start:.1f} s")
    print(_where())


def _play(name: str, k0: int) -> None:
    """A short stream by compiled blocks and, for what only single rounds need, row by row."""
    from .. import simulation
    from ..core.registry.catalogue import make
    from ..data.synthetic_streams import synthetic

    X, y, _ = synthetic(d=_D, k=_K, T=_ROWS, seed=0)
    for compiled in (True, False):
        simulation.play(make(name, d=_D, k=_K, k0=k0, seed=0), X, y, compiled=compiled)


def _where() -> str:
    from .._internal.numba import _cache
    from ..estimation import online_newton

    folder = _cache.folder_of(Path(online_newton.__file__))
    if folder is None:
        raise typer.Exit(_nowhere())
    return f"kept in {folder.parents[1]}"


def _nowhere() -> int:
    print("keyhole: nothing could be kept: no folder can be written to; name one in NUMBA_CACHE_DIR", file=sys.stderr)
    return 2
