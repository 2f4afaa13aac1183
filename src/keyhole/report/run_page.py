"""The report of one run: report.html and its figures, from what is in hand when it ends."""

from typing import Any

import numpy as np

from .. import __version__
from ..figures import scatter
from ..files import write_atomically
from ..outputs import Folder
from ..runs import RunData
from ..study.frontiers import Frontier
from . import html
from .svg import COLOURS, Curve, heat_map, line_chart, number

__all__ = ["headline", "write_report"]

_REFERENCES = {
    "nothing": "buy nothing ({free})",
    "random": "random {k}, fixed (median of 20)",
    "own": "{algorithm}, {k}",
    "best": "best {k} in hindsight",
    "everything": "buy everything",
}
_SHOWN = 20


def write_report(folder: Folder, data: RunData, frontier: Frontier | None = None) -> None:
    """Write report.html and figures/ of a run whose results are complete, and where it stands on a frontier."""
    drawn = _figures(data) if frontier is None else {"frontier": _standing(data, frontier), **_figures(data)}
    for name, (_, svg, _, _) in drawn.items():
        write_atomically(folder.file(f"figures/{name}.svg"), html.standalone(svg).encode())
    write_atomically(folder.file("report.html"), _page(data, list(drawn.values())).encode())


def headline(summary: dict[str, Any]) -> tuple[list[str], list[list[str]], int]:
    """The headline table: head, rows, and which row is the run's own. Savings never stand alone."""
    own = {"mse": summary["mse"], "price": summary["price_per_row"]}
    own |= {"attributes": summary["attributes_per_row"], "sources": summary["sources_per_row"]}
    counted = "sources" if summary["panels"] else "attributes"
    references: dict[str, dict[str, float]] = summary["references"]
    lines = {key: own if key == "own" else references.get(key) for key in _REFERENCES}
    rows = []
    for key, line in lines.items():
        if line is not None:
            numbers = [f"{line['mse']:.4g}", f"{line[counted]:.4g}", f"{line['price']:.4g}"]
            k = _budget(summary, line["sources"]) if key != "own" else _told(summary)
            free = "what is known" if summary["known"] else "mean so far"
            rows.append([_REFERENCES[key].format(k=k, algorithm=summary["algorithm"], free=free), *numbers])
    place = [key for key, line in lines.items() if line is not None].index("own")
    return ["", "mse", f"{counted}/row", "price/row"], rows, place


def most_bought(summary: dict[str, object], n: int = 6) -> str:
    """ "age 100 %, bmi 71 %"."""
    attributes: dict[str, dict[str, float]] = summary["attributes"]  # type: ignore[assignment]
    rows = max(int(summary["rows"]), 1)  # type: ignore[call-overload]
    shares = [f"{name} {100 * facts['bought'] / rows:.0f} %" for name, facts in list(attributes.items())[:n]]
    return ", ".join(shares)


def _budget(summary: dict[str, object], sources: float) -> str:
    """What the blind choice and the best one may buy."""
    if summary["spend"] is not None:
        return f"within {summary['spend']:.4g} a row"
    return f"{sources:.3g}" if summary["worth"] is not None else str(summary["k"])


def _told(summary: dict[str, object]) -> str:
    """What the learner was told of its limits."""
    if summary["worth"] is not None:
        return f"worth {summary['worth']:.4g}"
    return f"within {summary['spend']:.4g} a row" if summary["spend"] is not None else f"k = {summary['k']}"


_Figure = tuple[str, str, str, list[str]]


def _figures(data: RunData) -> dict[str, _Figure]:
    """The figures by name: title, picture, table, names of the curves."""
    return {"loss": _loss(data), "bought": _bought(data), "weights": _weights(data), "money": _money(data)}


def _standing(data: RunData, frontier: Frontier) -> _Figure:
    """The run as a dot among the levels of a frontier."""
    dots = [(level.price, level.typical_error, f"worth {level.worth:.3g}") for level in frontier.levels]
    dots.append((data.summary["price_per_row"], data.summary["mse"] ** 0.5, "this run"))
    x, y = (np.array([dot[i] for dot in dots]) for i in (0, 1))
    drawn = scatter("what money buys", x, y, "money a row", "typical error", [dot[2] for dot in dots])
    return "What money buys", drawn.svg, html.table(drawn.head, drawn.rows), []


def _loss(data: RunData) -> _Figure:
    levels = [(key, line["mse"]) for key, line in data.summary["references"].items()]
    curves = [Curve("in each stretch", data.loss), Curve("so far", data.loss_so_far)]
    svg = line_chart("mean squared error", data.ends, curves, "row", "mse", levels)
    return "Mean squared error", svg, _numbers(data, curves), [c.name for c in curves]


def _bought(data: RunData) -> _Figure:
    names, share = data.bought[:_SHOWN], data.share[:_SHOWN]
    svg = heat_map("attributes bought over time", data.ends, names, share, "row")
    rows = [[name, *(f"{100 * s:.0f}" for s in line)] for name, line in zip(names, share, strict=True)]
    table = html.table(["% of rows, up to row", *map(_row, data.ends)], rows)
    more = f" (the {_SHOWN} most bought of {len(data.bought)})" if len(data.bought) > _SHOWN else ""
    return f"Attributes bought over time{more}", svg, table, []


def _weights(data: RunData) -> _Figure:
    """The attributes with the largest weights at any time."""
    order = np.argsort(-np.abs(data.weights).max(axis=1, initial=0.0), kind="stable")[:COLOURS]
    curves = [Curve(data.bought[i], data.weights[i]) for i in order]
    svg = line_chart("weights over time", data.ends, curves, "row", "weight per unit")
    return "Weights over time", svg, _numbers(data, curves), [c.name for c in curves]


def _money(data: RunData) -> _Figure:
    everything = data.ends * sum(facts["price"] for facts in data.summary["attributes"].values())
    curves = [Curve("spent", data.money), Curve("buying everything would have cost", everything)]
    svg = line_chart("money", data.ends, curves, "row", "spent so far", cumulative=True)
    return "Money", svg, _numbers(data, curves), [c.name for c in curves]


def _numbers(data: RunData, curves: list[Curve]) -> str:
    rows = [[_row(end), *(number(c.y[i]) for c in curves)] for i, end in enumerate(data.ends)]
    return html.table(["up to row", *(c.name for c in curves)], rows)


def _row(end: float) -> str:
    return str(int(end))


def _exact(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"


def _page(data: RunData, drawn: list[_Figure]) -> str:
    s = data.summary
    labels = f"{s['rows']} rows, {s['d']} attributes, label {s['target']}"
    costs = f"{s['attributes_per_row']:.3g} attributes a row for {s['price_per_row']:.4g}"
    lead = f"{labels}; {s['algorithm']} bought {costs}."
    head, rows, own = headline(s)
    how = (
        "Online lines predict each row from the rows before it; their attributes are fixed. The best set in hindsight "
        "is fitted to the whole stream and found by forward selection and exchanges. Missing values count as the mean "
        "in the lines of comparison."
    )
    attributes = [
        [name, *(_exact(facts[key]) for key in ("bought", "price", "spent", "unobserved", "clipped", "weight"))]
        for name, facts in s["attributes"].items()
        if facts["bought"]
    ]
    columns = ["attribute", "bought", "price", "spent", "missing", "clipped", "weight"]
    again = f"pip install keyhole=={__version__}\n{s['command']}"
    body = [
        html.section("What it cost, and what it brought", html.table(head, rows, own), f"<p>{how}</p>"),
        html.figures([html.figure(*figure) for figure in drawn]),
        html.section("Every attribute that was bought", html.table(columns, attributes)),
        html.section("Warnings", html.bullets(s["warnings"], "None.")),
        html.section("How to reproduce it", html.code(again)),
    ]
    return html.page(f"{s['title']}: {s['algorithm']}", lead, body)
