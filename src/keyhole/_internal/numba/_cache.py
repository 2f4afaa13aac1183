"""Where compiled kernels are kept, so that no edit is missed and no folder that cannot be written to is an error.

numba asks only whether the file of a function has changed; but a kernel is made of all that its module imports. So the
kernels of a module lie in a folder named by a digest of its source and of every source of the package it reaches:

    BASE / dantzig._pivot_loop / 6f1b0c52a9d34e87 / *.nbi, *.nbc

BASE is the first of `$NUMBA_CACHE_DIR/keyhole`, `__pycache__/kernels` of the package and the user's cache folder that
holds this very folder already (an image may be read-only) or can be written to. If none does, nothing is kept.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.misc.appdirs import AppDirs
from numba.np import linalg

__all__ = ["attach", "folder_of"]

ROOT = Path(__file__).parents[2]
# How many digests of a module are kept beside the one in use: those of another checkout or of the version before.
KEPT = 3
_IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


class _Locator:
    """What numba wants to know of a function: its folder, and a stamp that the folder's name makes superfluous."""

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._line, self._folder = function.__code__.co_firstlineno, folder

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> "_Locator | None":
        folder = folder_of(Path(file))
        return cls(function, folder) if folder else None

    def ensure_cache_path(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            _tidy(self._folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Placed(CompileResultCacheImpl):
    """numba's own format, in our place."""

    _locator_classes = [_Locator]  # noqa: RUF012 -- as numba declares it


class _Cache(FunctionCache):
    """numba's cache of one function, for which a damaged or unwritable folder costs time and is never an error."""

    _impl_class = _Placed

    def load_overload(self, sig: object, target_context: object) -> object:
        """What is on disk; None (compile it) where that cannot be read, whatever the reason."""
        _believe_in_scipy()
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # half a file raises what its bytes happen to mean
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: object, data: object) -> None:
        """Keep it, if that can be done."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def attach(dispatcher: object, function: Callable[..., object]) -> None:
    """Give a compiled function its place on disk, if there is one."""
    if folder_of(Path(function.__code__.co_filename)):
        dispatcher._cache = _Cache(function)  # type: ignore[attr-defined, no-untyped-call]


@cache
def _believe_in_scipy() -> None:
    """numba is about to import scipy.linalg, a fifth of a warm start, only to see that it could: kernels do not use it.

    Whatever of numba needs it looks again when it is compiled.
    """
    looks, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = looks
    arraymath.ensure_blas = looks  # type: ignore[attr-defined]


@cache
def folder_of(file: Path) -> Path | None:
    """The folder for the kernels of a source file, which may not exist yet; None: there is no place for it."""
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts) if file.is_relative_to(ROOT) else file.stem
    digest = sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    for source in sorted(_reached(file)):
        digest.update(source.name.encode() + _read(source).encode())
    places = [base / module / digest.hexdigest()[:16] for base in _bases()]
    return next((place for place in places if place.is_dir() or _writable(place.parent)), None)


def _bases() -> Iterator[Path]:
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named).absolute() / "keyhole"
    else:
        yield ROOT / "__pycache__" / "kernels"
        yield Path(AppDirs("keyhole", appauthor=False).user_cache_dir) / "kernels"  # type: ignore[no-untyped-call]


def _writable(folder: Path) -> bool:
    """Whether the folder, or the first above it that exists, is one we may write in."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return folder.is_absolute() and there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _reached(file: Path) -> set[Path]:
    """The source and all sources of the package that its imports lead to."""
    reached, ahead = {file}, [file]
    while ahead:
        new = _imported(ahead.pop()) - reached
        reached |= new
        ahead += new
    return reached


@cache
def _imported(file: Path) -> set[Path]:
    """What the relative imports at the top level of a source name: modules, and packages with what is taken of them."""
    found: set[Path] = set()
    for dots, module, names in _IMPORT.findall(_read(file)):
        base = file.parents[len(dots) - 1].joinpath(*module.split("."))
        for place in (base, *(base / name for name in re.findall(r"\w+", names))):
            found |= {place.with_name(place.name + ".py"), place / "__init__.py"}
    return found & _sources()


@cache
def _sources() -> set[Path]:
    return set(ROOT.rglob("*.py"))


@cache
def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _tidy(folder: Path) -> None:
    """Remove what we kept for older versions of the module of this new folder, but for the last few of them."""
    others = [place for place in folder.parent.iterdir() if re.fullmatch("[0-9a-f]{16}", place.name)]
    others = sorted((place for place in others if place != folder), key=lambda place: place.stat().st_mtime)
    for place in others[:-KEPT]:
        with suppress(OSError):  # another process may be at it too; and a file that is not ours keeps its folder
            for kernel in place.glob("*.nb[ci]*"):
                kernel.unlink()
            place.rmdir()
