"""Text tables that fit the page: names on the left, numbers on the right."""

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence

from .._internal.formatting import thousands

__all__ = ["comma_separated", "sentences", "thousands", "typed_command", "without_bands", "written"]


def typed_command() -> str:
    """Return the command line, quoted so that it can be typed again."""
    return shlex.join(["keyhole", *sys.argv[1:]])


def comma_separated(given: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of an option that takes names with commas and may be repeated.

    >>> comma_separated(["age, sex", "bmi"]), comma_separated(None)
    (('age', 'sex', 'bmi'), ())
    """
    return tuple(filter(None, (name.strip() for text in given or () for name in text.split(","))))


def sentences(text: str) -> list[str]:
    """Split a text into its sentences.

    >>> sentences("Buy bmi: 1.50 EUR a row. Beyond that, nothing helps.")
    ['Buy bmi: 1.50 EUR a row.', 'Beyond that, nothing helps.']
    """
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def written(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = 80) -> Iterator[str]:
    """Yield the lines of a table. If it is too wide, headings take two lines, and long names a line of their own.

    >>> for line in written(["", "mse", "attributes/row"], [["buy nothing", "4.1", "0"], ["vaw", "0.25", "95"]], 28):
    ...     print(line)
                     attributes
                 mse       /row
    buy nothing  4.1          0
    vaw         0.25         95
    """
    lines = [head, *rows]
    widths, gap = _widths(lines), 2
    if sum(widths) + 2 * len(widths) - 2 > width:
        tops = [name.replace("/", " /").rpartition(" ") for name in head]
        lines = [[top for top, _, _ in tops], [last for _, _, last in tops], *rows]
        widths, gap = _widths(lines), 1
    numbers = sum(widths[1:]) + gap * len(widths[1:])
    left = min(widths[0], max(width - numbers, len(head[0]), 8))
    for name, *cells in lines:
        if len(name) > left:
            yield name
            name = ""
        yield (
            (" " * gap)
            .join([f"{name:{left}}", *(f"{c:>{w}}" for c, w in zip(cells, widths[1:], strict=True))])
            .rstrip()
        )


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def without_bands(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the table unchanged, or without the bands in brackets if it is too wide; the report has them.

    >>> without_bands(["algorithm", "regret (median, 10-90 %)"], [["vaw", "1.5 (1 to 2)"]], 20)
    (['algorithm', 'regret (median)'], [['vaw', '1.5']])
    """
    if all(len(line) <= width for line in written(head, rows, width)):
        return head, rows
    return [name.replace(", 10-90 %)", ")") for name in head], [
        [row[0], *(c.partition(" (")[0] for c in row[1:])] for row in rows
    ]
