"""`keyhole algorithms`: the available algorithms, as in Tables 1 and 2 of the paper and beyond."""

from dataclasses import asdict
from itertools import groupby
from json import dumps
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.registry.algorithm import CONDITIONS

if TYPE_CHECKING:
    from ..core.registry.algorithm import Option
    from ..core.registry.catalogue import Algorithm

_TITLES = (
    "k of d: as many attributes as the budget before the label (Table 1 of the paper, and beyond)",
    "k of d, then k0 more after the label (Table 2 of the paper, and beyond)",
    "references: they see more than a budget allows",
)
_SYMBOLS = (
    "symbols: w the weights behind the labels, h the smallest of them in size, delta_S the compatibility constant, "
    "delta the probability of failure, LP_d the time of a linear program with d variables, s explorations so far"
)
_TAKES = (
    "takes: k0 (purchases after the label), sources (panels), prices (in the ledger), money (plans with budgets), raw "
    "columns (of any range; the others need values in [-1, 1])"
)
_STATUS = "verified: read and checked against its source; reconstructed: its steps are ours, its rate is theirs"
# Bytes that no machine has.
_INFEASIBLE = 1e15
# How many attributes a row buys where the user does not say.
_BOUGHT = 5
# The width from which all columns fit side by side.
_TABLE = 160


def algorithms(
    name: Annotated[str | None, typer.Argument(help="One algorithm, with its options.")] = None,
    d: Annotated[
        int | None, typer.Option("-d", "--d", min=1, help="Show memory and time for so many attributes.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="With -d: how many are bought in a row; otherwise 5.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """List every algorithm: setting, assumptions, regret bound, time per round, reference, status; or one with options.

    Example: keyhole algorithms thrifty
    """
    from ..core.registry.catalogue import class_of, list_algorithms
    from ..errors import ConfigError

    if name is not None:
        class_of(name)  # raises the error that lists the known names
    chosen = [a for a in list_algorithms() if name in (None, a.name)]
    if k is not None and d is None:
        raise ConfigError("-k needs -d D, the number of attributes: memory and time are estimated for both")
    if k is not None and name is not None and chosen[0].buys_all:
        raise ConfigError(f"'{name}' buys every attribute; omit -k")
    if d is not None:
        if k is not None and k > d:
            raise ConfigError(f"-k must be between 1 and {d}, the number of attributes; it is {k}")
        _print_sizes(chosen, d, min(_BOUGHT, d) if k is None else k, json)
        return
    if json:
        print(dumps([a.to_dict() for a in chosen], indent=2))
        return
    width = get_terminal_size().columns
    if name is not None:
        _print_block(chosen[0], width)
        _print_options(chosen[0], width)
        return
    for part, members in groupby(sorted(chosen, key=_part), key=_part):
        if width >= _TABLE:
            _print_table(_TITLES[part], list(members), width)
            continue
        print(f"{fill(_TITLES[part], width)}\n{'-' * min(width, 72)}")
        for a in members:
            _print_block(a, width)
    print(fill("assumptions: " + "; ".join(f"({key}) {words}" for key, words in CONDITIONS.items()), width))
    print(fill(_SYMBOLS, width))
    print(fill(_TAKES, width))
    print(fill(_STATUS, width))


def _print_sizes(chosen: "list[Algorithm]", d: int, k: int, json: bool) -> None:
    """Print estimated memory and time of learners of this size."""
    from ..core.registry.footprint import footprint

    sizes = {a.name: footprint(a.name, d, None if a.buys_all else k) for a in chosen}
    if json:
        print(dumps([{"name": name, "d": d} | asdict(size) for name, size in sizes.items()], indent=2))
        return
    for name, size in sizes.items():
        print(f"{name:20} {size if size.memory < _INFEASIBLE else 'infeasible'}")


def _print_block(a: "Algorithm", width: int) -> None:
    """Print one algorithm as a block, for narrow pages."""
    print(f"{a.name}   ({a.status})")
    facts = [("setting", a.setting), ("takes", a.takes), ("regret", a.bound), ("time", a.cost)]
    for what, text in (*facts, ("assumes", abbreviated(a)), ("from", a.reference)):
        print(fill(text, width, initial_indent=f"  {what:9}", subsequent_indent=" " * 11))
    print()


def _print_options(a: "Algorithm", width: int) -> None:
    """Print the options of `NAME[option=value,...]` and `make(NAME, option=value)`."""
    print(fill(f"options, as in --algorithm '{a.name}[option=value,...]' or kh.make({a.name!r}, option=value):", width))
    shared: dict[str, list[Option]] = {}  # options that are explained together
    for option in a.options:
        shared.setdefault(option.meaning or option.name, []).append(option)
    for together in shared.values():
        kinds = []
        for option in together:
            default = "" if option.default is None else f" ({option.default!r} where left out)"
            kinds.append(f"{option.type}{': ' if option.choices else ''}{', '.join(option.choices)}{default}")
        text = f"{together[0].meaning.rstrip('.')}; {', '.join(kinds)}"
        _print_option(", ".join(option.name for option in together), text, width)
    if a.binary_labels:
        _print_option("label", "Only in Python: 'binary' for labels 0 and 1; choice: number, binary", width)


def _print_option(name: str, text: str, width: int) -> None:
    print(fill(text, width, initial_indent=f"  {name + ':':14} ", subsequent_indent=" " * 17))


def abbreviated(a: "Algorithm") -> str:
    """Return the assumptions as letters, which the legend explains."""
    short = ", ".join(f"({letter})" for letter in a.conditions)
    return "; ".join(filter(None, [short, a.further]))


def _part(a: "Algorithm") -> int:
    """Return the index of the table that contains an algorithm."""
    return 2 if a.buys_all or a.oracle else int(a.needs_k0)


def _print_table(title: str, members: "list[Algorithm]", width: int) -> None:
    """Print one row per algorithm, without interpreting markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = ("name", "setting", "takes", "regret bound", "time per round", "assumptions", "reference", "status")
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in columns:
        table.add_column(column, no_wrap=column in ("name", "status"))
    for a in members:
        cells = (a.name, a.setting, a.takes, a.bound, a.cost, abbreviated(a), a.reference, a.status)
        table.add_row(*map(Text, cells))
    Console(width=width).print(table)
