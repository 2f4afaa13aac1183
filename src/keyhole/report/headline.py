"""The headline table: a run beside what it is compared with. Savings never stand alone."""

from math import sqrt
from typing import Any

from .._internal.formatting import Units, digits, number, thousands

__all__ = ["ERRORS", "headline", "most_bought", "own_line", "variance_explained"]

_NAMES = {
    "nothing": "buy nothing ({free})",
    "random": "random {k}, fixed (median of 20)",
    "own": "{algorithm}, {k}",
    "best": "best {k} in hindsight",
    "everything": "buy everything",
}

ERRORS = (
    "Typical error: the root of the mean squared error of the predictions, each made before its label was known. In "
    "hindsight: what least squares on the same attributes would leave, fitted to all rows and corrected for the number "
    "of weights (Akaike's final prediction error)."
)
"""The two errors of the table, in words; the glossary says the same."""


def own_line(summary: dict[str, Any]) -> dict[str, Any]:
    """The run's own line, with the keys of the others."""
    own = {"mse": summary["mse"], "hindsight": summary["hindsight"], "price": summary["price_per_row"]}
    return own | {"attributes": summary["attributes_per_row"], "sources": summary["sources_per_row"]}


def variance_explained(summary: dict[str, Any], mse: float | None) -> str:
    """Which share of the variance of the label is explained where so much is left; "" where that is not known."""
    variance = summary.get("label_variance")
    if not variance or mse is None:
        return ""
    return f"{100 * max(1 - mse / variance, 0.0):.0f} %"


def headline(summary: dict[str, Any]) -> tuple[list[str], list[list[str]], int]:
    """Head, rows, and which row is the run's own; the online error stands beside the one in hindsight."""
    units = Units.of(summary)
    counted = "sources" if summary["panels"] else "attributes"
    references: dict[str, dict[str, Any]] = summary["references"]
    lines = {key: own_line(summary) if key == "own" else references.get(key) for key in _NAMES}
    rows = []
    for key, line in lines.items():
        if line is not None:
            errors = ["-" if line[e] is None else digits(sqrt(max(line[e], 0.0)), 4) for e in ("mse", "hindsight")]
            k = _budget(summary, line["sources"], units) if key != "own" else _limit_of(summary, units)
            free = "free columns only" if summary["free"] else "mean so far"
            name = _NAMES[key].format(k=k, algorithm=summary["algorithm"], free=free)
            rows.append([name, *errors, _count(line[counted]), f"{line['price']:.2f}"])
    place = [key for key, line in lines.items() if line is not None].index("own")
    return ["", "typical error", "in hindsight", f"{counted}/row", "price/row"], rows, place


def most_bought(summary: dict[str, Any], n: int = 6) -> str:
    """ "age 100 %, bmi 71 %": attributes, or what was ordered where they come in panels."""
    rows = max(int(summary["rows"]), 1)
    found: dict[str, dict[str, Any]] = summary["sources" if summary["panels"] else "attributes"]
    most = sorted(found.items(), key=lambda item: -item[1]["bought"])[:n]
    shares = [f"{name} {100 * facts['bought'] / rows:.0f} %" for name, facts in most if facts["bought"]]
    return ", ".join(shares)


def _count(value: float) -> str:
    return thousands(value) if value == round(value) else digits(value)


def _budget(summary: dict[str, Any], sources: float, units: Units) -> str:
    """What the random choice and the best one may buy."""
    if summary["budget_per_row"] is not None:
        return f"within {units.money(summary['budget_per_row'])} a row"
    return _count(sources) if summary["error_cost"] is not None else str(summary["k"])


def _limit_of(summary: dict[str, Any], units: Units) -> str:
    """What limits the learner."""
    if summary["error_cost"] is not None:
        return f"error cost {number(summary['error_cost'])}"
    if summary["budget_per_row"] is not None:
        return f"within {units.money(summary['budget_per_row'])} a row"
    return f"k = {summary['k']}"
