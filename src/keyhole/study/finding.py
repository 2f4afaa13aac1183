"""What an experiment found: a figure, a table with the same numbers and more, and a sentence that follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..figures import Figure

__all__ = ["Finding"]


@dataclass(frozen=True, eq=False)
class Finding:
    """`agrees` is whether the paper was right where it says something; None where it says nothing."""

    verdict: str
    agrees: bool | None
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Sequence[Figure]

    def table(self) -> str:
        """The table as CommonMark."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
