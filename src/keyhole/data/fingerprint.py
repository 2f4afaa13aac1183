"""Fingerprints of files, by which a resumed run checks that its file is unchanged."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from ..errors import StateError
from .table import open_table

__all__ = ["Fingerprint", "fingerprint"]

# The maximum number of blocks, and the bytes read at a time.
_BLOCKS, _READ = 256, 1 << 20

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True)
class Fingerprint:
    """Size, column names and block digests of a file; without dates, so that a copy has the same fingerprint."""

    size: int
    columns: tuple[str, ...]
    block: int
    """The length of a block in bytes."""
    digests: tuple[str, ...]
    """One digest per block, in order; incomplete until the whole file has been read."""

    def changes(self, now: "Fingerprint") -> list[str]:
        """Return a short phrase for each difference from `now`; the list is empty if there is none.

        >>> before = Fingerprint(10, ("a", "b"), 64, ("0f", "0f"))
        >>> before.changes(Fingerprint(12, ("a", "c"), 64, ("1f", "0f")))
        ["its columns (new: 'c'; gone: 'b')", 'its size (10 bytes then, 12 now)', 'its content from byte 0 on']
        """
        found = []
        if now.columns != self.columns:
            found.append(f"its columns ({_difference(self.columns, now.columns)})")
        if now.size != self.size:
            found.append(f"its size ({self.size} bytes then, {now.size} now)")
        pairs = zip(self.digests, now.digests, strict=False)
        first = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
        if first is not None and self.block == now.block:
            found.append(f"its content from byte {first * self.block} on")
        return found

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self) | {"columns": list(self.columns), "digests": list(self.digests)}

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> "Fingerprint":
        """Restore a fingerprint from the values of `to_dict`."""
        size, columns, block, digests = (data.get(key) for key in ("size", "columns", "block", "digests"))
        if isinstance(size, int) and isinstance(block, int) and isinstance(columns, list) and isinstance(digests, list):
            return cls(size, tuple(map(str, columns)), block, tuple(map(str, digests)))
        raise StateError("the fingerprint of the run's file is damaged; start the run again")


def fingerprint(
    path: "str | PathLike[str]", columns: Sequence[str] | None = None, progress: Progress | None = None
) -> Fingerprint:
    """Return the fingerprint of a CSV or Parquet file, over all of its bytes; `columns` are its columns, if known.

    `progress` receives the number of bytes read so far and the total.
    """
    names = tuple(c.name for c in open_table(path).columns) if columns is None else tuple(columns)
    size, read = Path(path).stat().st_size, 0
    block = block_of(size)
    digests = []
    with open(path, "rb") as file:
        for _ in range(0, size, block):
            state = hashlib.sha256()
            for _ in range(block // _READ):
                piece = file.read(_READ)
                state.update(piece)
                read += len(piece)
                (progress or _ignore)(read, size)
            digests.append(state.hexdigest()[:24])
    return Fingerprint(size, names, block, tuple(digests))


def block_of(size: int) -> int:
    """Return the block length for a file of this size: 1 MB, or larger so that there are at most 256 blocks."""
    block = _READ
    while block * _BLOCKS < size:
        block *= 2
    return block


def _ignore(read: int, size: int) -> None:
    pass


def _difference(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    new, gone = [n for n in now if n not in before], [n for n in before if n not in now]
    phrases = [f"{word}: {', '.join(map(repr, names))}" for word, names in (("new", new), ("gone", gone)) if names]
    return "; ".join(phrases) or "their order"
