"""What an experiment found: a figure, a table with the same numbers and more, and a sentence that follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..figures import Figure

__all__ = ["Agreement", "Finding"]


class Agreement(StrEnum):
    """What became of a claim of the paper."""

    SEEN = "seen"
    NOT_SEEN = "not seen at these sizes"
    UNDECIDED = "undecided with so many seeds"
    NOTHING = "the paper promises nothing"

    @classmethod
    def where(cls, seen: bool) -> "Agreement":
        """Of a claim that the numbers decide."""
        return cls.SEEN if seen else cls.NOT_SEEN


@dataclass(frozen=True, eq=False)
class Finding:
    """One experiment, judged."""

    verdict: str
    agrees: Agreement
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Sequence[Figure]

    def table(self) -> str:
        """The table as CommonMark."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
