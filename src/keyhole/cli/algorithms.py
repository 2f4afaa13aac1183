"""`keyhole algorithms`: what there is, as Tables 1 and 2 of the paper and beyond."""

import re
import sys
from itertools import groupby
from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from ..catalogue import Algorithm

_TITLES = (
    "k of d: as many attributes as the budget before the label (Table 1 of the paper, and beyond)",
    "k of d, then k0 more after the label (Table 2 of the paper, and beyond)",
    "references: they see more than a budget allows",
)
_SYMBOLS = (
    "symbols: w the weights behind the labels, h the smallest of them in size, delta_S the compatibility constant, "
    "delta the probability of failure, LP_d the time of a linear program with d variables, s explorations so far"
)
_STATUS = "verified: read and checked against its source; reconstructed: its steps are ours, its rate is theirs"
# Wide enough for every column where there is no terminal to fit.
_PAGE = 200


def algorithms(
    json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """List every algorithm: setting, assumptions, regret bound, time per round, reference, status.

    Example: keyhole algorithms --json
    """
    from rich.console import Console
    from rich.text import Text

    from ..catalogue import algorithms as catalogue

    if json:
        print(dumps([a.to_dict() for a in catalogue()], indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else _PAGE)
    for part, members in groupby(sorted(catalogue(), key=_part), key=_part):
        console.print(_table(_TITLES[part], list(members)))
    console.print(Text("assumptions: " + "; ".join(f"({key}) {words}" for key, words in legend().items())))
    console.print(Text(_SYMBOLS))
    console.print(Text(_STATUS))


def legend() -> dict[str, str]:
    """The paper's letters with their words, as the records spell them out.

    >>> legend()["d"]
    'compatibility'
    """
    from ..catalogue import algorithms as catalogue

    found = re.findall(r"\(([a-z])\) ([^,;]+)", "; ".join(a.assumptions for a in catalogue()))
    return dict(sorted({key: words.strip() for key, words in reversed(found)}.items()))


def letters(assumptions: str) -> str:
    """The assumptions with the words of their letters left to the legend.

    >>> letters("(a) realizable, (b) sparse; k >= 3")
    '(a), (b); k >= 3'
    """
    return re.sub(r"(\([a-z]\)) [^,;]+", r"\1", assumptions)


def _part(a: "Algorithm") -> int:
    """Which of the tables an algorithm is in."""
    return 2 if a.buys_all or a.told else int(a.needs_extras)


def _table(title: str, members: "list[Algorithm]") -> "Table":
    """One row per algorithm; nothing in it is read as markup."""
    from rich.table import Table
    from rich.text import Text

    columns = ("name", "setting", "regret bound", "time per round", "assumptions", "reference", "status")
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in columns:
        table.add_column(column, no_wrap=column in ("name", "status"))
    for a in members:
        cells = (a.name, a.setting, a.bound, a.cost, letters(a.assumptions), a.reference, a.status)
        table.add_row(*map(Text, cells))
    return table
