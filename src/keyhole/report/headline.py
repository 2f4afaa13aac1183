"""The headline table: a run beside what it is compared with. Savings never stand alone."""

from typing import Any

__all__ = ["NAMES", "headline", "most_bought", "own_line"]

NAMES = {
    "nothing": "buy nothing (mean so far)",
    "random": "random {k}, fixed (median of 20)",
    "own": "{algorithm}, k = {k}",
    "best": "best {k} in hindsight",
    "everything": "buy everything",
}


def own_line(summary: dict[str, Any]) -> dict[str, float]:
    """The run's own line, with the keys of the others."""
    return {"mse": summary["mse"], "attributes": summary["attributes_per_row"], "price": summary["price_per_row"]}


def headline(summary: dict[str, Any]) -> tuple[list[str], list[list[str]], int]:
    """Head, rows, and which row is the run's own; the typical error stands beside the squared one."""
    references: dict[str, dict[str, float]] = summary["references"]
    lines = {key: own_line(summary) if key == "own" else references.get(key) for key in NAMES}
    rows = []
    for key, line in lines.items():
        if line is not None:
            numbers = [line["mse"], line["mse"] ** 0.5, line["attributes"], line["price"]]
            rows.append([_name(key, summary), *(f"{value:.4g}" for value in numbers)])
    place = [key for key, line in lines.items() if line is not None].index("own")
    return ["", "mse", "typical error", "attributes/row", "price/row"], rows, place


def most_bought(summary: dict[str, Any], n: int = 6) -> str:
    """ "age 100 %, bmi 71 %"."""
    rows = max(int(summary["rows"]), 1)
    shares = [f"{name} {100 * facts['bought'] / rows:.0f} %" for name, facts in list(summary["attributes"].items())[:n]]
    return ", ".join(shares)


def _name(key: str, summary: dict[str, Any]) -> str:
    """What the blind choice and the best one may buy is the run's budget."""
    k = f"within {summary['spend']} a row" if summary["spend"] is not None and key != "own" else summary["k"]
    return NAMES[key].format(k=k, algorithm=summary["algorithm"])
