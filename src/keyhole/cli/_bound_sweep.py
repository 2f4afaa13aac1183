"""Bounds as a function of one parameter."""

import math
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .._internal.typing import Bools, Floats
from ..errors import ConfigError
from ..theory import bounds_beside

if TYPE_CHECKING:
    from ..figures import Figure

Arguments: TypeAlias = dict[str, float | bool | None]

_WHOLE = ("d", "k", "k0")
_LETTERS = ("T", *_WHOLE, "sigma", "delta_s", "sigma_d", "kappa", "w_min", "delta", "failure")
_POINTS = 21


class Column(NamedTuple):
    """One bound along the parameter."""

    total: Floats
    """NaN where the bound has no value."""
    applies: Bools


def along(text: str, arguments: Arguments) -> tuple[str, Floats, dict[str, Column]]:
    """Parse `T=1e4..1e24` (or `T=1e4..1e24:41`); return the parameter, its values on a log grid, and the regret bounds.

    "predict 0" is the regret of always predicting 0. Bounds without any value are omitted.
    """
    letter, values = _parse(text)
    if letter in ("delta", "failure"):
        arguments = arguments | {"delta": None, "failure": None}
    columns = {"predict 0": _column(values.size)}
    columns["predict 0"].applies[:] = True
    for i, value in enumerate(values):
        here = filled(arguments | {letter: int(value) if letter in _WHOLE else float(value)})
        columns["predict 0"].total[i] = float(here["T"] or 0)
        for name, b in bounds_beside(**here):
            if not isinstance(b, str) and (b.statement.kind == "regret" or name == "lower-regret"):
                column = columns.setdefault(name, _column(values.size))
                column.total[i], column.applies[i] = b.total, b.applies
    if len(columns) == 1:
        raise ConfigError(f"no bound holds anywhere along {text}: keyhole bounds --{letter} {values[0]:g} says why")
    return letter, values, columns


def _column(n: int) -> Column:
    return Column(np.full(n, np.nan), np.zeros(n, dtype=np.bool_))


def written(column: Column, i: int) -> str:
    """Format a value for the table: "*" if the theorem does not apply to these numbers, "-" if it has no value."""
    total = column.total[i]
    return f"{total:.3g}{'' if column.applies[i] else '*'}" if total > 0 else "-"


def filled(arguments: Arguments) -> Arguments:
    """Return the arguments with the defaults w_min = 1/k (all weights equal) and k0 = max(k, 3)."""
    k = arguments["k"]
    usual = {"w_min": 1 / k, "k0": max(3, int(k))} if k else {}
    return arguments | {letter: value for letter, value in usual.items() if arguments[letter] is None}


def figure_of(letter: str, values: Floats, columns: dict[str, Column]) -> "Figure":
    """Draw the bounds as lines; values that are not positive are omitted."""
    from ..figures import Curve, curves

    lines = [Curve(name, np.where(c.total > 0, c.total, np.nan)) for name, c in columns.items()]
    return curves(f"Regret bounds along {letter}", values, lines, letter, "regret bound")


def _parse(text: str) -> tuple[str, Floats]:
    found = re.fullmatch(r"([A-Za-z0-9_-]+)=([0-9.eE+-]+?)\.\.([0-9.eE+-]+)(?::(\d+))?", text.strip())
    letter = found[1].replace("-", "_") if found else ""
    if found is None or letter not in _LETTERS:
        raise ConfigError(f"--sweep is LETTER=FROM..TO[:POINTS] with a letter of {', '.join(_LETTERS)}, not '{text}'")
    try:
        low, high, points = float(found[2]), float(found[3]), int(found[4] or _POINTS)
    except ValueError:
        raise ConfigError(f"--sweep goes from a number to a number, not '{found[2]}..{found[3]}'") from None
    if not 0 < low < high < math.inf or not 2 <= points <= 1000:
        raise ConfigError(f"--sweep needs 0 < FROM < TO and 2 to 1000 points, not '{text}'")
    values = np.logspace(math.log10(low), math.log10(high), points)
    values[[0, -1]] = low, high
    return letter, np.unique(np.round(values)) if letter in _WHOLE else values
