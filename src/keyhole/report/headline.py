"""The headline table: a run beside what it is compared with. Savings never stand alone."""

from typing import Any

__all__ = ["headline", "most_bought", "own_line"]

_NAMES = {
    "nothing": "buy nothing ({free})",
    "random": "random {k}, fixed (median of 20)",
    "own": "{algorithm}, {k}",
    "best": "best {k} in hindsight",
    "everything": "buy everything",
}


def own_line(summary: dict[str, Any]) -> dict[str, float]:
    """The run's own line, with the keys of the others."""
    own = {"mse": summary["mse"], "price": summary["price_per_row"]}
    return own | {"attributes": summary["attributes_per_row"], "sources": summary["sources_per_row"]}


def headline(summary: dict[str, Any]) -> tuple[list[str], list[list[str]], int]:
    """Head, rows, and which row is the run's own; the typical error stands beside the squared one."""
    counted = "sources" if summary["panels"] else "attributes"
    references: dict[str, dict[str, float]] = summary["references"]
    lines = {key: own_line(summary) if key == "own" else references.get(key) for key in _NAMES}
    rows = []
    for key, line in lines.items():
        if line is not None:
            numbers = [line["mse"], max(line["mse"], 0.0) ** 0.5, line[counted], line["price"]]
            k = _budget(summary, line["sources"]) if key != "own" else _told(summary)
            free = "what is known" if summary["free"] else "mean so far"
            name = _NAMES[key].format(k=k, algorithm=summary["algorithm"], free=free)
            rows.append([name, *(f"{value:.4g}" for value in numbers)])
    place = [key for key, line in lines.items() if line is not None].index("own")
    return ["", "mse", "typical error", f"{counted}/row", "price/row"], rows, place


def most_bought(summary: dict[str, Any], n: int = 6) -> str:
    """ "age 100 %, bmi 71 %": attributes, or what was ordered where they come in panels."""
    rows = max(int(summary["rows"]), 1)
    found: dict[str, dict[str, Any]] = summary["sources" if summary["panels"] else "attributes"]
    most = sorted(found.items(), key=lambda item: -item[1]["bought"])[:n]
    shares = [f"{name} {100 * facts['bought'] / rows:.0f} %" for name, facts in most if facts["bought"]]
    return ", ".join(shares)


def _budget(summary: dict[str, Any], sources: float) -> str:
    """What the blind choice and the best one may buy."""
    if summary["budget_per_row"] is not None:
        return f"within {summary['budget_per_row']:.4g} a row"
    return f"{sources:.3g}" if summary["error_cost"] is not None else str(summary["k"])


def _told(summary: dict[str, Any]) -> str:
    """What the learner was told of its limits."""
    if summary["error_cost"] is not None:
        return f"worth {summary['error_cost']:.4g}"
    return (
        f"within {summary['budget_per_row']:.4g} a row"
        if summary["budget_per_row"] is not None
        else f"k = {summary['k']}"
    )
