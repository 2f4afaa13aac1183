"""The report of one run, for somebody who decides: report.html and its figures."""

from itertools import groupby
from pathlib import Path
from typing import Any

from .._internal.atomic_io import write_atomically
from .._internal.formatting import Units, digits, number, share, thousands
from .._internal.output_folder import Folder
from ..errors import ConfigError
from ..experiments.frontiers import FILE, Frontier, frontier_in
from ..figures import Figure, standalone
from ..runs import HOW, Advice, RunData, rule_of
from ..simulation import FIRST_ROW
from .headline import ERRORS, headline, variance_explained
from .page import Page, Section, Table, Tile, how_to_repeat, publish
from .probability_section import probability_section
from .run_figures import draw

__all__ = ["run_page", "write_report"]

_REASONS, _NAMES = 8, 400


def write_report(folder: Folder, data: RunData, frontier: Frontier | None = None) -> None:
    """Write report.html and figures/ of a run whose results are complete; a frontier is given, or lies beside it."""
    page, drawn = run_page(data, frontier or _frontier_beside(folder.path, data.summary))
    for name, figure in drawn.items():
        write_atomically(folder.file(f"figures/{name}.svg"), standalone(figure.svg).encode())
    publish(folder, page)


def run_page(data: RunData, known: Frontier | None = None) -> tuple[Page, dict[str, Figure]]:
    """The page and its figures by name; `free` is a frontier of the same file and label."""
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
    lead = [f"{thousands(s['rows'])} rows, {s['d']} attributes, label {label}; played by {s['algorithm']}."]
    if s.get("past_rows"):
        lead.append(f"Past rows: {thousands(s['past_rows'])}, free.")
    if s["first_row"] == "left out":
        lead.append(FIRST_ROW)
    if advice.baskets is not None:
        lead.append(HOW.format(rule=rule_of(s)))
    title, shown = f"{s['title']}: {s['algorithm']}", [p for p in sections if p]
    return Page(title, advice.headline, shown, _tiles(data, advice, units), lead, advice.details), drawn


def _frontier_beside(run: Path, summary: dict[str, Any]) -> Frontier | None:
    """What `keyhole frontier` left for the same file and label in a folder beside the run's, if it did."""
    for path in sorted(run.resolve().parent.glob(f"*/{FILE}")):
        try:
            found = frontier_in(path.parent)
        except ConfigError:
            continue
        if (Path(found.stream).name, found.target) == (summary["file"], summary["target"]):
            return found
    return None


def _tiles(data: RunData, advice: Advice, units: Units) -> list[Tile]:
    """The run itself, in five numbers."""
    s = data.summary
    lines = s["references"]
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
    tiles.append(Tile("price a row", units.money(s["price_per_row"]), f"everything: {units.money(everything)}"))
    tiles.append(Tile("spent in all", units.money(s["spent"]), f"{thousands(s['rows'])} rows"))
    all_error = units.error(lines["everything"]["mse"] ** 0.5) if "everything" in lines else "not computed"
    note = f"{share(saved, everything * s['rows'])}; its typical error: {all_error}"
    return [*tiles, Tile("saved against buying everything", units.money(saved), note)]


def _brought(data: RunData, drawn: dict[str, Figure], units: Units) -> Section:
    head, rows, own = headline(data.summary)
    if units.priced:
        references = data.summary["references"].values()
        prices = [line["price"] for line in references]
        prices.insert(own, data.summary["price_per_row"])
        head = [*head, "spent in all"]
        rows = [[*row, units.money(price * data.rows)] for row, price in zip(rows, prices, strict=True)]
    else:
        head, rows = head[:-1], [row[:-1] for row in rows]
    named = ("typical error", "in hindsight", "price/row")
    head = [units.named(h, "price" in h) if h in named else h for h in head]
    how = (
        "The lines of comparison have fixed attributes, learn as they go by ridge regression, and take a missing value "
        "as the mean of its column. The best basket in hindsight cannot be played: it is known only at the end."
    )
    figure = [drawn["frontier"]] if "frontier" in drawn else []
    table = Table(head, rows, own)
    return Section("What it cost, and what it brought", table=table, figures=figure, notes=[ERRORS, how])


def _why(data: RunData, units: Units) -> Section | None:
    """Why each source is bought or not: those that are, then the most bought of the others."""
    shown = _spoken_of(data)
    if not shown:
        return None
    rows = max(data.rows, 1)
    lines = [
        [
            r.name,
            share(r.bought or 0, rows),
            *([f"{r.price:.2f}"] if units.priced else []),
            digits(r.weight),
            _reason(r, data.summary["sources"].get(r.name, {}), units, data.summary["error_cost"]),
        ]
        for r in shown
    ]
    price = [units.named("price", money=True)] if units.priced else []
    head = ["source", "bought in", *price, "weight", "why"]
    return Section("What it buys now, and why", table=Table(head, lines, words=(len(head) - 1,)))


def _reason(r: Any, facts: dict[str, Any], units: Units, error_cost: float | None) -> str:
    """What a source explains beside the others, with its units, where the learner knows; else its own words."""
    if "adds" not in facts:
        return str(r.reason)
    squared = f"squared {units.label}" if units.label else "of squared error"
    would = "explains" if r.in_support else "would explain"
    text = f"{would} {number(max(facts['adds'], 0.0))} {squared} beside the others"
    if units.priced and error_cost is not None:
        saves = units.money(error_cost * max(facts["adds"], 0.0))
        text += f": that saves {saves} a row and costs {units.money(facts['price'])}"
    return text


def _spoken_of(data: RunData) -> list[Any]:
    """What is bought at the end, then the most bought of the others."""
    basket = data.summary["basket"]
    inside = [r for r in data.reasons if r.name in basket]
    others = [r for r in data.reasons if r.name not in basket and r.bought]
    return [*inside, *others[: max(_REASONS - len(inside), 3)]]


def _useless(data: RunData, units: Units) -> Section | None:
    """What has no weight at the end and is not spoken of above."""
    spoken = {r.name for r in _spoken_of(data)}
    attributes = data.summary["attributes"].items()
    names = [(n, f) for n, f in attributes if n not in spoken and not f["weight"]]
    if not names:
        return None
    entries = [_entry(name, facts, units) for name, facts in names[:_NAMES]]
    more = [f"and {len(names) - _NAMES} more: see summary.json"] if len(names) > _NAMES else []
    return Section(f"{len(names)} attributes without a weight", names=[*entries, *more], folded=True)


def _entry(name: str, facts: dict[str, float], units: Units) -> str:
    bought = f"{name}: bought {facts['bought']:.0f} times" if facts["bought"] else f"{name}: never bought"
    missing = f", missing in {facts['unobserved']:.0f}" if facts["unobserved"] else ""
    return f"{bought}{missing}" + (f", spent {units.money(facts['spent'])}" if units.priced and facts["bought"] else "")


def _trust(summary: dict[str, Any]) -> list[Section]:
    """Changes that were noticed, and how often the label fell into its interval; where the run knows."""
    found = []
    if summary.get("coverage"):
        coverage = summary["coverage"]
        each = coverage.items() if isinstance(coverage, dict) else [("0.9", coverage)]
        lines = [[f"{100 * float(level):.0f} %", f"{100 * float(hit):.1f} %"] for level, hit in each]
        found.append(Section("Intervals", table=Table(["promised", "labels inside"], lines)))
    if "alarms" in summary:
        alarms = [f"row {alarm['row']}: {alarm['what']}" for alarm in summary["alarms"]]
        texts = [] if alarms else ["No change was noticed."]
        found.append(Section(f"Changes noticed: {len(alarms)}", texts=texts, bullets=alarms))
    return found


def _warnings(texts: list[str], facts: list[dict[str, str]]) -> list[Section]:
    """One line per kind, with how many there are; the others' names follow, folded away. What has no kind stands
    alone."""
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
