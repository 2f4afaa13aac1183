"""What a file was when a run began, so that a resumed run can tell whether it still is."""

from dataclasses import dataclass
from os import PathLike

__all__ = ["Fingerprint", "fingerprint"]


@dataclass(frozen=True)
class Fingerprint:
    """Size, column names and digests of blocks of the content; no dates, so that a copied file is the same file."""

    size: int
    columns: tuple[str, ...]
    block: int
    digests: tuple[str, ...]

    def changes(self, now: "Fingerprint") -> list[str]:
        """What is different now, each a short phrase; empty where nothing is."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> "Fingerprint":
        """What `to_dict` gave."""
        raise NotImplementedError


def fingerprint(path: "str | PathLike[str]") -> Fingerprint:
    """The fingerprint of a CSV or Parquet file."""
    raise NotImplementedError
