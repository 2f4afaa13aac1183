"""The pictures of one run."""

from dataclasses import replace

import numpy as np

from .. import figures
from .._internal.formatting import Units, digits, number
from .._internal.typing import Floats
from ..experiments.frontiers import Frontier
from ..figures import Curve, Figure, Stop
from ..runs import Advice, RunData
from .frontier_page import hindsight_stops
from .headline import own_line

__all__ = ["draw"]

_SHOWN, _CURVES, _BINS = 16, 6, 8


def draw(data: RunData, advice: Advice, units: Units, known: Frontier | None = None) -> dict[str, Figure]:
    """The figures by name; what has nothing to show is left away. `free` is a frontier of this file."""
    made = {
        "frontier": _frontier(data, advice, units, known),
        "loss": _error(data, units),
        "predicted": _predicted(data, units),
        "standardised": _standardised(data, units),
        "bought": _bought(data),
        "weights": _weights(data, units),
        "money": _money(data, units),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def _frontier(data: RunData, advice: Advice, units: Units, known: Frontier | None) -> Figure | None:
    """What each amount of money could have bought, and where the run stands."""
    if advice.baskets is None:
        return None
    catalog = advice.catalog
    way = advice.baskets.way(range(len(catalog.sources)))
    names = ["nothing", *(f"+ {catalog.sources[basket.sources[-1]]}" for basket in way[1:])]
    stops = [Stop(b.price, b.error, name) for b, name in zip(way, names, strict=True)]
    lines = data.summary["references"] | {"own": own_line(data.summary)}
    words = {"random": "random", "own": "this run", "everything": "everything"}
    beside = [
        Stop(lines[key]["price"], lines[key]["mse"] ** 0.5, word, key == "own")
        for key, word in words.items()
        if key in lines
    ]
    x_name = units.named("price a row", money=True) if units.priced else "attributes a row"
    note = "The line adds the source that explains most for its money, in hindsight; the dots are online."
    if known is not None:
        stops, error_costs = hindsight_stops(known), [f"error cost {number(e.error_cost)}" for e in known.levels]
        levels = [
            Stop(level.price, level.typical_error, f"frontier, {error_cost}", word=error_cost)
            for level, error_cost in zip(known.levels, error_costs, strict=True)
        ]
        beside = [*levels, *beside]
        note = (
            "The line has the best baskets in hindsight, and the diamonds named by an error cost are thrifty at it, "
            "as keyhole frontier found them for this file."
        )
    figure = figures.frontier("What money buys", stops, beside, x_name, units.named("typical error"))
    return replace(figure, note=note)


def _error(data: RunData, units: Units) -> Figure:
    references = data.summary["references"].items()
    levels = [(key, line["mse"] ** 0.5) for key, line in references if line["mse"] is not None]
    lines = [Curve("in each stretch", np.sqrt(data.loss)), Curve("so far", np.sqrt(data.loss_so_far))]
    return figures.curves("Typical error over time", data.ends, lines, "row", units.named("typical error"), levels)


def _predicted(data: RunData, units: Units) -> Figure | None:
    """Predicted against actual; the table has means over bins of equally many rows."""
    said, came = data.sample
    if said.size < 2:
        return None
    names = (units.named("predicted"), units.named(f"actual {data.summary['target']}"))
    figure = figures.scatter("Predicted and actual", said, came, *names, diagonal=True)
    rows = []
    for part in np.array_split(np.argsort(said, kind="stable"), min(_BINS, said.size)):
        error = float(np.sqrt(np.mean((said[part] - came[part]) ** 2)))
        rows.append([str(part.size), *(digits(v, 4) for v in (said[part].mean(), came[part].mean(), error))])
    note = f"{said.size} rows, evenly spread over the second half; on the dotted line a prediction is right."
    return replace(figure, head=["rows", "mean predicted", "mean actual", "typical error"], rows=rows, note=note)


def _swing(data: RunData) -> dict[str, float]:
    """The standard deviation of each attribute; 1 where it is not known."""
    if data.moments is None:
        return dict.fromkeys(data.names, 1.0)
    deviations = np.sqrt(np.maximum(np.diag(data.moments.C), 0.0))
    return dict(zip(data.names, deviations.tolist(), strict=True))


def _standardised(data: RunData, units: Units) -> Figure | None:
    """What one standard deviation of each attribute moves the prediction by, with two standard errors either side."""
    swing, attributes = _swing(data), data.summary["attributes"]
    weight = {name: facts["weight"] * swing[name] for name, facts in attributes.items() if facts["weight"]}
    shown = sorted(weight, key=lambda name: -abs(weight[name]))[:_SHOWN]
    if not shown:
        return None
    w = np.array([weight[name] for name in shown])
    errors = _errors(data, shown, swing)
    low, high = (None, None) if errors is None else (w - 2 * errors, w + 2 * errors)
    title, axis = "What moves the prediction", units.named("by one standard deviation")
    figure = figures.bars(title, shown, w, axis if data.moments is not None else "weight", low, high)
    return replace(figure, note="" if errors is None else "Whiskers: two standard errors either side.")


def _errors(data: RunData, names: list[str], swing: dict[str, float]) -> Floats | None:
    """Standard errors: the learner's own where it has them, else those of least squares on all rows in hindsight."""
    own = {r.name: r.uncertainty for r in data.reasons if r.uncertainty is not None and np.isfinite(r.uncertainty)}
    if all(name in own for name in names):
        return np.array([own[name] * swing[name] for name in names])
    if data.moments is None:
        return None
    place = {name: i for i, name in enumerate(data.names)}
    m, S = data.moments, [place[name] for name in names]
    scale = np.sqrt(np.maximum(np.diag(m.C)[S], 1e-300))
    R = m.C[np.ix_(S, S)] / np.outer(scale, scale)
    V = np.linalg.pinv(R, rcond=1e-9)
    left = max(m.variance - float((m.c[S] / scale) @ V @ (m.c[S] / scale)), 0.0)
    return np.asarray(np.sqrt(left * np.maximum(np.diag(V), 0.0) / max(m.n - len(S) - 1, 1.0)))


def _bought(data: RunData) -> Figure | None:
    names, share = data.bought[:_SHOWN], data.share[:_SHOWN]
    more = f" (the {_SHOWN} most bought of {len(data.bought)})" if len(data.bought) > _SHOWN else ""
    return figures.heat(f"Bought over time{more}", data.ends, names, share, "row") if names else None


def _weights(data: RunData, units: Units) -> Figure | None:
    """Over time, those that are largest at the end; what the first rows did to them is cut off."""
    swing = _swing(data)
    w = data.weights * np.array([swing[name] for name in data.bought])[:, None]
    if not w.size or not w[:, -1].any():
        return None
    order = np.argsort(-np.abs(w[:, -1]), kind="stable")[:_CURVES]
    reach = 1.5 * np.abs(w[order, w.shape[1] // 3 :]).max()
    lines = [Curve(data.bought[i], np.clip(w[i], -reach, reach)) for i in order if w[i].any()]
    axis = units.named("by one standard deviation")
    return figures.curves("Weights over time", data.ends, lines, "row", axis, cumulative=True)


def _money(data: RunData, units: Units) -> Figure | None:
    """What a row costs, stretch by stretch."""
    if not units.priced:
        return None
    spent = np.diff(data.money, prepend=0.0) / np.diff(data.edges)
    lines = [Curve("in each stretch", spent), Curve("so far", data.money / data.ends)]
    levels = [(k, line["price"]) for k, line in data.summary["references"].items() if k in ("random", "best")]
    axis = units.named("price a row", money=True)
    return figures.curves("Money a row", data.ends, lines, "row", axis, levels, cumulative=True)
