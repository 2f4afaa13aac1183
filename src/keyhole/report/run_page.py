"""The report of one run for decision makers: report.html and its figures."""

from dataclasses import replace
from itertools import groupby
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from .. import figures
from .._internal.atomic_io import write_atomically
from .._internal.formatting import Units, digits, join_names, number, share, thousands
from .._internal.output_folder import Folder
from .._internal.typing import Floats
from ..errors import ConfigError
from ..experiments.frontier_result import FILE, Frontier, frontier_in
from ..figures import Curve, Figure, Stop, standalone
from ..runs import HOW, Advice, RunData, rule_of, total_of
from ..simulation import first_row_note
from .frontier_page import hindsight_stops
from .page import Page, Section, Table, Tile, how_to_repeat, probability_section, publish

__all__ = [
    "ERRORS",
    "draw",
    "headline",
    "most_bought",
    "own_line",
    "random_sizes",
    "run_page",
    "variance_explained",
    "write_report",
]

_LINE_NAMES = {
    "nothing": "buy nothing ({free})",
    "random": "random {k} (median of 20)",
    "own": "{algorithm}, {k}",
    "best": "best {k} in hindsight",
    "everything": "buy everything",
}

ERRORS = (
    "Typical error: the root of the mean squared error of the predictions, each made before its label was known. In "
    "hindsight: what least squares on the same attributes would leave, fitted to all rows and corrected for the number "
    "of weights (Akaike's final prediction error); for the learner, on what it buys at the end."
)
"""The two errors of the table in words, consistent with the glossary."""


def random_sizes(summary: dict[str, Any]) -> str:
    """Return how the size of the random baskets was chosen, where only an error cost limits the purchases."""
    free = summary["budget_per_row"] is None and summary.get("total_budget") is None
    if summary["error_cost"] is None or not free or summary["k"] < len(summary["sources"]):
        return ""
    nearest = f"the size nearest to the run's {digits(summary['sources_per_row'])} a row"
    return f"Random baskets of 1, 2, 4, 8, ... sources were drawn; shown is {nearest}."


def own_line(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the results of the run with the keys of a baseline."""
    own = {"mse": summary["mse"], "hindsight": summary["hindsight"], "price": summary["price_per_row"]}
    return own | {"attributes": summary["attributes_per_row"], "sources": summary["sources_per_row"]}


def variance_explained(summary: dict[str, Any], mse: float | None) -> str:
    """Return the share of the label's variance explained at this mse; "" if unknown."""
    variance = summary.get("label_variance")
    if not variance or mse is None:
        return ""
    return f"{100 * max(1 - mse / variance, 0.0):.0f} %"


def headline(summary: dict[str, Any]) -> tuple[list[str], list[list[str]], int]:
    """Return head, rows, and the index of the run's own row; online errors stand beside those in hindsight."""
    units = Units.of(summary)
    counted = "sources" if summary["panels"] else "attributes"
    baselines: dict[str, dict[str, Any]] = summary["baselines"]
    lines = {key: own_line(summary) if key == "own" else baselines.get(key) for key in _LINE_NAMES}
    rows = []
    for key, line in lines.items():
        if line is not None:
            errors = ["-" if line[e] is None else digits(sqrt(max(line[e], 0.0)), 4) for e in ("mse", "hindsight")]
            k = _budget(summary, line["sources"], units) if key != "own" else _limit_of(summary, units)
            free = "free columns only" if summary["free"] else "mean so far"
            name = _LINE_NAMES[key].format(k=k, algorithm=summary["algorithm"], free=free)
            rows.append([name, *errors, _count(line[counted]), f"{line['price']:.2f}"])
    place = [key for key, line in lines.items() if line is not None].index("own")
    return ["", "typical error", "error in hindsight", f"{counted}/row", "price/row"], rows, place


def most_bought(summary: dict[str, Any], n: int = 6) -> str:
    """Return "age 100 %, bmi 71 %": the most bought attributes, or sources if there are panels."""
    rows = max(int(summary["rows"]), 1)
    found: dict[str, dict[str, Any]] = summary["sources" if summary["panels"] else "attributes"]
    most = sorted(found.items(), key=lambda item: -item[1]["bought"])[:n]
    shares = [f"{name} {100 * facts['bought'] / rows:.0f} %" for name, facts in most if facts["bought"]]
    return ", ".join(shares)


def _count(value: float) -> str:
    return thousands(value) if value == round(value) else digits(value)


def _budget(summary: dict[str, Any], sources: float, units: Units) -> str:
    """Return the limit of the random and of the best basket, in words; a total budget counts as its mean per row."""
    limits = [] if summary["budget_per_row"] is None else [summary["budget_per_row"]]
    if summary.get("total_budget") is not None:
        limits.append(summary["total_budget"] / summary["expected_rows"])
    if limits:
        return f"within {units.money(min(limits))} a row"
    return _count(sources) if summary["error_cost"] is not None else str(summary["k"])


def _limit_of(summary: dict[str, Any], units: Units) -> str:
    """Return the limit of the learner, in words."""
    if summary.get("total_budget") is not None:
        return total_of(summary, units)
    if summary["error_cost"] is not None:
        return f"error cost {number(summary['error_cost'])}"
    if summary["budget_per_row"] is not None:
        return f"within {units.money(summary['budget_per_row'])} a row"
    return f"k = {summary['k']}"


_SHOWN, _CURVES, _BINS = 16, 6, 8
_EFFECT = "change of the prediction per standard deviation"


def draw(data: RunData, advice: Advice, units: Units, known: Frontier | None = None) -> dict[str, Figure]:
    """Return the figures by name, without those that have no content. `known` is a frontier of this file."""
    made = {
        "frontier": _frontier(data, advice, units, known),
        "loss": _error(data, units),
        "predicted": None if data.summary.get("probabilities") else _predicted(data, units),  # see the reliability
        "standardised": _standardised(data, units),
        "bought": _bought(data),
        "weights": _weights(data, units),
        "money": _money(data, units),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def _frontier(data: RunData, advice: Advice, units: Units, known: Frontier | None) -> Figure | None:
    """Draw the error for each amount of money in hindsight, and the position of the run."""
    if advice.baskets is None:
        return None
    catalog = advice.catalog
    way = advice.baskets.way(range(len(catalog.sources)))
    names = ["nothing", *(f"+ {catalog.sources[basket.sources[-1]]}" for basket in way[1:])]
    stops = [Stop(b.price, b.error, name) for b, name in zip(way, names, strict=True)]
    lines = data.summary["baselines"] | {"own": own_line(data.summary)}
    words = {"random": "random", "own": "this run", "everything": "everything"}
    beside = [
        Stop(lines[key]["price"], lines[key]["mse"] ** 0.5, word, key == "own")
        for key, word in words.items()
        if key in lines
    ]
    x_name = units.named("price a row", money=True) if units.priced else "attributes a row"
    note = "The line adds the source that explains most for its money, in hindsight; "
    note += "the diamonds show errors while learning."
    if known is not None:
        stops, error_costs = hindsight_stops(known), [f"error cost {number(e.error_cost)}" for e in known.levels]
        levels = [
            Stop(level.price, level.typical_error, f"frontier, {error_cost}", word=error_cost)
            for level, error_cost in zip(known.levels, error_costs, strict=True)
        ]
        beside = [*levels, *beside]
        note = (
            "The line joins baskets that are best at some error cost, in hindsight. A black diamond shows what thrifty "
            "paid, and how well it predicted, in a run at that error cost. Both are from keyhole frontier on this file."
        )
    figure = figures.frontier("What money buys", stops, beside, x_name, units.named("typical error"))
    return replace(figure, note=note)


def _error(data: RunData, units: Units) -> Figure:
    baselines = data.summary["baselines"].items()
    levels = [(key, line["mse"] ** 0.5) for key, line in baselines if line["mse"] is not None]
    lines = [Curve("in each stretch", np.sqrt(data.loss)), Curve("so far", np.sqrt(data.loss_so_far))]
    return figures.curves("Typical error over time", data.ends, lines, "row", units.named("typical error"), levels)


def _predicted(data: RunData, units: Units) -> Figure | None:
    """Plot predicted against actual values; the table has means over bins of equal size."""
    said, came = data.sample
    if said.size < 2:
        return None
    unit = f", {units.label}" if units.label else ""
    names = f"predicted{unit}", f"actual {data.summary['target']}{unit}"
    figure = figures.scatter("Predicted and actual", said, came, *names, diagonal=True)
    rows = []
    for part in np.array_split(np.argsort(said, kind="stable"), min(_BINS, said.size)):
        error = float(np.sqrt(np.mean((said[part] - came[part]) ** 2)))
        rows.append([str(part.size), *(digits(v, 4) for v in (said[part].mean(), came[part].mean(), error))])
    note = f"{said.size} rows, evenly spread over the second half. A dot on the dotted line is predicted exactly."
    return replace(figure, head=["rows", "mean predicted", "mean actual", "typical error"], rows=rows, note=note)


def _swing(data: RunData) -> dict[str, float]:
    """Return the standard deviation of each attribute; 1 if unknown."""
    if data.moments is None:
        return dict.fromkeys(data.names, 1.0)
    deviations = np.sqrt(np.maximum(np.diag(data.moments.C), 0.0))
    return dict(zip(data.names, deviations.tolist(), strict=True))


def _standardised(data: RunData, units: Units) -> Figure | None:
    """Draw the effect of one standard deviation of each attribute on the prediction, with two standard errors."""
    swing, attributes = _swing(data), data.summary["attributes"]
    weight = {name: facts["weight"] * swing[name] for name, facts in attributes.items() if facts["weight"]}
    shown = sorted(weight, key=lambda name: -abs(weight[name]))[:_SHOWN]
    if not shown:
        return None
    w = np.array([weight[name] for name in shown])
    errors = _errors(data, shown, swing)
    low, high = (None, None) if errors is None else (w - 2 * errors, w + 2 * errors)
    title, axis = "What moves the prediction", units.named(_EFFECT)
    figure = figures.bars(title, shown, w, axis if data.moments is not None else "weight", low, high)
    return replace(figure, note="" if errors is None else "Whiskers: two standard errors either side.")


def _errors(data: RunData, names: list[str], swing: dict[str, float]) -> Floats | None:
    """Return standard errors: the learner's own if available, else those of least squares on all rows in hindsight."""
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
    more = f" (the {_SHOWN} attributes bought most, of {len(data.bought)})" if len(data.bought) > _SHOWN else ""
    return figures.heat(f"Bought over time{more}", data.ends, names, share, "row") if names else None


def _weights(data: RunData, units: Units) -> Figure | None:
    """Draw the weights that are largest at the end over time, clipped so that the first rows do not dominate."""
    swing = _swing(data)
    w = data.weights * np.array([swing[name] for name in data.bought])[:, None]
    if not w.size or not w[:, -1].any():
        return None
    order = np.argsort(-np.abs(w[:, -1]), kind="stable")[:_CURVES]
    reach = 1.5 * np.abs(w[order, w.shape[1] // 3 :]).max()
    lines = [Curve(data.bought[i], np.clip(w[i], -reach, reach)) for i in order if w[i].any()]
    axis = units.named(_EFFECT)
    title = "Weights over time" if len(lines) > 1 else f"Weight of {lines[0].name} over time"
    return figures.curves(title, data.ends, lines, "row", axis, cumulative=True)


def _money(data: RunData, units: Units) -> Figure | None:
    """Draw the price of a row in each stretch."""
    if not units.priced:
        return None
    spent = np.diff(data.money, prepend=0.0) / np.diff(data.edges)
    lines = [Curve("in each stretch", spent), Curve("so far", data.money / data.ends)]
    shown = {"random": "random", "best": "best in hindsight"}
    levels = [(shown[k], line["price"]) for k, line in data.summary["baselines"].items() if k in shown]
    axis = units.named("price a row", money=True)
    return figures.curves("Money a row", data.ends, lines, "row", axis, levels, cumulative=True)


_REASONS, _NAMES = 8, 400


def write_report(folder: Folder, data: RunData, frontier: Frontier | None = None) -> None:
    """Write report.html and figures/ of a finished run; the frontier is given or found in a neighbouring folder."""
    page, drawn = run_page(data, frontier or _frontier_beside(folder.path, data.summary))
    for name, figure in drawn.items():
        write_atomically(folder.file(f"figures/{name}.svg"), standalone(figure.svg).encode())
    publish(folder, page)


def run_page(data: RunData, known: Frontier | None = None) -> tuple[Page, dict[str, Figure]]:
    """Return the page and its figures by name; `known` is a frontier of the same file and label."""
    s = data.summary
    units = Units.of(s, priced=data.schema is not None and data.schema.priced)
    advice = data.advice
    drawn = draw(data, advice, units, known)
    sections = [
        _brought(data, drawn, units),
        _why(data, units),
        Section("Over time, and how well", figures=[f for name, f in drawn.items() if name != "frontier"]),
        *probability_section(s.get("probabilities")),
        _useless(data, units),
        *_trust(s),
        *_warnings(s["warnings"], s.get("warned") or [{"kind": ""}] * len(s["warnings"])),
        how_to_repeat(s["command"]),
    ]
    label = f"{s['target']} ({s['unit']})" if s["unit"] else s["target"]
    lead = [f"{thousands(s['rows'])} rows, {s['d']} attributes, label {label}. Learner: {s['algorithm']}."]
    if s.get("past_rows"):
        lead.append(f"Past rows: {thousands(s['past_rows'])}, free.")
    if total := total_of(s, units):
        mean, before = units.money(s["total_budget"] / s["expected_rows"]), s.get("spent_before", 0.0)
        total += f", of which the model had spent {units.money(before)} in earlier rows" if before else ""
        lead.append(f"Total budget: {total}; the random and the best sources keep to its mean, {mean} a row.")
    if s["first_row"] == "left out":
        lead.append(first_row_note(data.schema.label))
    if advice.baskets is not None:
        lead.append(HOW.format(rule=rule_of(s)))
    title, shown = f"{s['title']}: {s['algorithm']}", [p for p in sections if p]
    return Page(title, advice.headline, shown, _tiles(data, advice, units), lead, advice.details), drawn


def _frontier_beside(run: Path, summary: dict[str, Any]) -> Frontier | None:
    """Return the frontier of the same file and label in a neighbouring folder, if there is one."""
    for path in sorted(run.resolve().parent.glob(f"*/{FILE}")):
        try:
            found = frontier_in(path.parent)
        except ConfigError:
            continue
        if (Path(found.stream).name, found.target) == (summary["file"], summary["target"]):
            return found
    return None


def _tiles(data: RunData, advice: Advice, units: Units) -> list[Tile]:
    """Return the five key numbers of the run."""
    s = data.summary
    lines = s["baselines"]
    late = f"last tenth of the rows: {units.error(s['mse_last_tenth'] ** 0.5)}"
    tiles = [Tile("typical error of the run", units.error(s["mse"] ** 0.5), late)]
    if "nothing" in lines:
        free = "the free columns alone" if s["free"] else "buying nothing"
        alone = f"{free}: {variance_explained(s, lines['nothing']['mse'])}"
        tiles.append(Tile("variance of the label explained", variance_explained(s, s["mse"]), alone))
    if not units.priced:
        return [*tiles, Tile("attributes a row", digits(s["attributes_per_row"]), f"of {s['d']}")]
    everything = float(advice.catalog.prices.sum())
    saved = everything * s["rows"] - s["spent"]
    usual = " at usual prices" if data.schema.price_columns else ""
    tiles.append(Tile("price a row", units.money(s["price_per_row"]), f"everything: {units.money(everything)}{usual}"))
    tiles.append(Tile("spent in all", units.money(s["spent"]), f"{thousands(s['rows'])} rows"))
    all_error = units.error(lines["everything"]["mse"] ** 0.5) if "everything" in lines else "not computed"
    note = f"{share(saved, everything * s['rows'])} less; typical error of buying everything: {all_error}"
    return [*tiles, Tile("saved against buying everything", units.money(saved), note)]


def _brought(data: RunData, drawn: dict[str, Figure], units: Units) -> Section:
    head, rows, own = headline(data.summary)
    if units.priced:
        baselines = data.summary["baselines"].values()
        prices = [line["price"] for line in baselines]
        prices.insert(own, data.summary["price_per_row"])
        head = [*head, "spent in all"]
        rows = [[*row, units.money(price * data.rows)] for row, price in zip(rows, prices, strict=True)]
    else:
        head, rows = head[:-1], [row[:-1] for row in rows]
    named = ("typical error", "error in hindsight", "price/row")
    head = [units.named(h, "price" in h) if h in named else h for h in head]
    how = (
        "The other rows of the table buy the same attributes throughout, learn as they go by ridge regression, and "
        "replace a missing value by the mean of its column. The best basket in hindsight is known only at the end, so "
        "nobody could have bought it from the start."
    )
    figure = [drawn["frontier"]] if "frontier" in drawn else []
    table, notes = Table(head, rows, own), [ERRORS, how, random_sizes(data.summary)]
    return Section("Cost and benefit", table=table, figures=figure, notes=[note for note in notes if note])


def _why(data: RunData, units: Units) -> Section | None:
    """Explain why each source is bought or not: first those in the basket, then the most bought of the others."""
    shown = _spoken_of(data)
    if not shown:
        return None
    rows = max(data.rows, 1)
    lines = [
        [
            r.name,
            share(r.bought or 0, rows),
            "yes" if r.in_support else "no",
            *([f"{r.price:.2f}"] if units.priced else []),
            digits(r.weight) if len(data.summary["sources"].get(r.name, {}).get("attributes", [""])) == 1 else "",
            _reason(r, data.summary["sources"].get(r.name, {}), units, data.summary["error_cost"]),
        ]
        for r in shown
    ]
    price = [units.named("usual price" if data.schema.price_columns else "price", money=True)] if units.priced else []
    head = ["source", "bought in", "used in predictions", *price, "coefficient", "why"]
    support = join_names([r.name for r in shown if r.in_support], 4) or "nothing"
    note = (
        "The last column is the learner's own estimate at the end of the run: by how much a source lowers the squared "
        f"error on top of the sources that its predictions use ({support})."
    )
    advised = () if data.advice.buy is None else [data.advice.catalog.sources[s] for s in data.advice.buy.sources]
    differ = [r.name for r in shown if r.in_support != (r.name in advised)]
    if data.advice.buy is not None and differ:
        note += (
            " The advice above compares whole baskets on all rows instead. The two disagree on "
            f"{join_names(differ, 6)}, because sources can replace one another."
        )
    return Section("What it bought, and why", table=Table(head, lines, words=(len(head) - 1,)), notes=[note])


def _reason(r: Any, facts: dict[str, Any], units: Units, error_cost: float | None) -> str:
    """Return by how much a source lowers the squared error, if the learner knows it; otherwise its own reason."""
    if "adds" not in facts:
        return str(r.reason)
    if not r.in_support and facts["adds"] <= 0:
        return f"no benefit seen in {thousands(r.bought or 0)} rows"
    would = "lowers" if r.in_support else "would lower"
    text = f"{would} the squared error by {number(max(facts['adds'], 0.0))}"
    if units.priced and error_cost is not None:
        saves = units.money(error_cost * max(facts["adds"], 0.0))
        text += f": worth {saves} a row, at a price of {units.money(facts['price'])}"
    return text


def _spoken_of(data: RunData) -> list[Any]:
    """Return the explanations of the sources bought at the end, then of the most bought others."""
    basket = data.summary["basket"]
    inside = [r for r in data.reasons if r.name in basket]
    others = [r for r in data.reasons if r.name not in basket and r.bought]
    return [*inside, *others[: max(_REASONS - len(inside), 3)]]


def _useless(data: RunData, units: Units) -> Section | None:
    """List the attributes without a weight at the end that are not explained above."""
    spoken = {r.name for r in _spoken_of(data)}
    attributes = data.summary["attributes"].items()
    names = [(n, f) for n, f in attributes if n not in spoken and not f["weight"]]
    if not names:
        return None
    entries = [_entry(name, facts, data.summary["sources"], units) for name, facts in names[:_NAMES]]
    more = [f"and {len(names) - _NAMES} more: see summary.json"] if len(names) > _NAMES else []
    return Section(f"{len(names)} attributes that the predictions do not use", names=[*entries, *more], folded=True)


def _entry(name: str, facts: dict[str, Any], sources: dict[str, dict[str, Any]], units: Units) -> str:
    """Return how often an attribute was bought and missing; the price, unless it is that of a panel, stands with it."""
    panel = len(sources.get(facts["source"], {}).get("attributes", [])) > 1
    of = f"{name} ({facts['source']})" if panel else name
    if not facts["bought"]:
        return f"{of}: never bought"
    missing = f", missing in {facts['unobserved']:.0f}" if facts["unobserved"] else ""
    spent = f", spent {units.money(facts['spent'])}" if units.priced and not panel else ""
    return f"{of}: bought {facts['bought']:.0f} times{missing}{spent}"


def _trust(summary: dict[str, Any]) -> list[Section]:
    """Return sections on detected changes and on interval coverage, if the run has them."""
    found = []
    if summary.get("coverage"):
        coverage = summary["coverage"]
        each = coverage.items() if isinstance(coverage, dict) else [("0.9", coverage)]
        lines = [[f"{100 * float(level):.0f} %", f"{100 * float(hit):.1f} %"] for level, hit in each]
        found.append(Section("Prediction intervals", table=Table(["level", "labels inside"], lines)))
    if "alarms" in summary:
        alarms = [f"row {alarm['row']}: {alarm['what']}" for alarm in summary["alarms"]]
        texts = [] if alarms else ["The relation between the attributes and the label did not change noticeably."]
        found.append(Section(f"Changes noticed: {len(alarms)}", texts=texts, bullets=alarms))
    return found


def _warnings(texts: list[str], facts: list[dict[str, str]]) -> list[Section]:
    """Return one line per kind of warning with their number; further names are collapsed.

    Warnings without a kind are listed individually.
    """
    bullets, names = [], []
    for kind, group in groupby(zip(texts, facts, strict=True), key=lambda one: one[1]["kind"]):
        (text, _), *others = group
        more = f" (and {len(others)} more like it)" if kind and others else ""
        bullets += [text + more, *(other for other, _ in others if not kind)]
        names += [fact["name"] for _, fact in others if kind]
    found = [Section(f"Warnings: {len(texts)}", texts=[] if texts else ["None."], bullets=bullets)]
    if names:
        found.append(Section(f"{len(names)} more warnings, by name", names=names, folded=True))
    return found
