"""What a file was when a run began, so that a resumed run can tell whether it still is."""

import hashlib
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import IO

from ..errors import StateError
from .table import open_table

__all__ = ["Fingerprint", "fingerprint"]

# A file of up to 256 MB is read whole; of a larger one, the first MB of each of at most 256 equal blocks, and the end.
_BLOCKS, _READ = 256, 1 << 20


@dataclass(frozen=True)
class Fingerprint:
    """Size, column names and digests of blocks of the content; no dates, so that a copied file is the same file."""

    size: int
    columns: tuple[str, ...]
    block: int
    """The length of a block in bytes."""
    digests: tuple[str, ...]
    """One per block, and one of the end of the file."""

    def changes(self, now: "Fingerprint") -> list[str]:
        """What is different now, each a short phrase; empty where nothing is.

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
        """Plain values for JSON."""
        return asdict(self) | {"columns": list(self.columns), "digests": list(self.digests)}

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> "Fingerprint":
        """What `to_dict` gave."""
        size, columns, block, digests = (data.get(key) for key in ("size", "columns", "block", "digests"))
        if isinstance(size, int) and isinstance(block, int) and isinstance(columns, list) and isinstance(digests, list):
            return cls(size, tuple(map(str, columns)), block, tuple(map(str, digests)))
        raise StateError("the fingerprint of the run's file is damaged; start the run again")


def fingerprint(path: "str | PathLike[str]", encoding: str = "") -> Fingerprint:
    """The fingerprint of a CSV or Parquet file; at most 257 MB of it are read."""
    columns = tuple(c.name for c in open_table(path, encoding=encoding).columns)
    size = Path(path).stat().st_size
    block = _READ
    while block * _BLOCKS < size:
        block *= 2
    with open(path, "rb") as file:
        digests = [_digest(file, first) for first in range(0, size, block)]
        digests.append(_digest(file, max(0, size - _READ)))
    return Fingerprint(size, columns, block, tuple(digests))


def _digest(file: IO[bytes], first: int) -> str:
    file.seek(first)
    return hashlib.sha256(file.read(_READ)).hexdigest()[:24]


def _difference(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    new, gone = [n for n in now if n not in before], [n for n in before if n not in now]
    phrases = [f"{word}: {', '.join(map(repr, names))}" for word, names in (("new", new), ("gone", gone)) if names]
    return "; ".join(phrases) or "their order"
