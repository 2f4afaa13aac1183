"""The results of a run: the statistics of its records for the report, and its summary.

Both follow from the files in the run folder, so that the report of a finished run can be written again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._internal.typing import Floats, Ints
from ..core.introspection import Reason, reasons
from ..core.learner import Learner, Plain
from ..core.sources import SourceCatalog
from ..data.streams import Schema
from ..data.value_counts import ValueRanges, unseen_sentences
from ..estimation.moment_regression import Moments
from ..simulation import bought_now
from ..simulation.scoring import ProbabilityScores, score
from .baselines import Line
from .played_pages import page_length
from .recommendation import Advice, advise
from .run_config import FORMAT, Settings
from .totals import Totals, missing_sentences

__all__ = ["LedgerSums", "RoundSums", "RunData", "read_records", "sources_of", "stretches", "summary_of"]

_STRETCHES = 24
# The number of rounds sampled for individual display, all from the second half of a run.
_SAMPLE = 400
_ROUND_COLUMNS = ("row", "loss", "price", "explored", "label", "prediction")


def stretches(rows: int) -> Ints:
    """Return the borders (n + 1,) of at most 24 stretches of about equal length, at borders of pages.

    Stretch i consists of the rows borders[i] + 1 to borders[i + 1].
    """
    borders = [0]
    while borders[-1] < rows:
        borders.append(min(rows, borders[-1] + page_length(borders[-1])))
    wanted = np.linspace(0, rows, min(_STRETCHES, len(borders) - 1) + 1)
    nearest = np.searchsorted(borders, wanted)
    return np.unique(np.array(borders, dtype=np.int64)[nearest])


@dataclass(frozen=True, eq=False)
class RoundSums:
    """Sums over records of rounds; those of different records are added with `+`, in the order of the rows."""

    by_stretch: Floats
    """(3, n) per stretch: the sum of the losses, the number of scored rows, the money spent."""
    explored: int
    labelled: int
    scored: int
    loss: float
    late_scored: int
    """The scored rows in the last tenth of the run, and below their losses."""
    late_loss: float
    last_paid: int
    """The last row that cost money; 0 if none did."""
    late_rows: int
    late_bought: Ints
    """(d,) the purchases of each attribute in the last tenth of the run."""
    sample: Floats
    """(2, m) predictions and labels of rows spread evenly over the second half."""

    @classmethod
    def zero(cls, borders: Ints, d: int) -> "RoundSums":
        """Return the sums over no records."""
        by_stretch, bought = np.zeros((3, borders.size - 1)), np.zeros(d, dtype=np.int64)
        return cls(by_stretch, 0, 0, 0, 0.0, 0, 0.0, 0, 0, bought, np.zeros((2, 0)))

    @classmethod
    def of(cls, table: pa.Table, borders: Ints, names: Sequence[str]) -> "RoundSums":
        """Return the sums over a table of rounds; it needs "bought" only for the last tenth of the rows."""
        row, loss, price = (np.asarray(table[c]) for c in ("row", "loss", "price"))
        rows, there = int(borders[-1]), ~np.isnan(loss)
        late = row > 0.9 * rows
        losses = np.where(there, loss, 0.0)
        at, n = np.searchsorted(borders, row - 1, side="right") - 1, borders.size - 1
        chosen = np.unique(np.linspace(rows // 2 + 1, rows, _SAMPLE).astype(np.int64))
        shown = there & np.isin(row, chosen)
        return cls(
            by_stretch=np.stack([np.bincount(at, weights=v, minlength=n) for v in (losses, there, price)]),
            explored=int(np.asarray(table["explored"]).sum()),
            labelled=int((~np.isnan(np.asarray(table["label"]))).sum()),
            scored=int(there.sum()),
            loss=float(losses.sum()),
            late_scored=int(there[late].sum()),
            late_loss=float(losses[late].sum()),
            last_paid=int(row[price > 0].max(initial=0)),
            late_rows=int(late.sum()),
            late_bought=_counts(table["bought"].filter(pa.array(late)), names) if late.any() else _counts(None, names),
            sample=np.stack([np.asarray(table[c])[shown] for c in ("prediction", "label")]),
        )

    def __add__(self, other: "RoundSums") -> "RoundSums":
        return RoundSums(
            self.by_stretch + other.by_stretch,
            self.explored + other.explored,
            self.labelled + other.labelled,
            self.scored + other.scored,
            self.loss + other.loss,
            self.late_scored + other.late_scored,
            self.late_loss + other.late_loss,
            max(self.last_paid, other.last_paid),
            self.late_rows + other.late_rows,
            self.late_bought + other.late_bought,
            np.concatenate([self.sample, other.sample], axis=1),
        )


def _counts(bought: pa.ChunkedArray | None, names: Sequence[str]) -> Ints:
    """Return how often each name occurs in lists of names."""
    if bought is None:
        return np.zeros(len(names), dtype=np.int64)
    found = pc.value_counts(pc.list_flatten(bought).cast(pa.string()))
    counts = dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True))
    return np.array([counts.get(name, 0) for name in names], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LedgerSums:
    """Purchases in each stretch and weights at its end, both (d, n); those of different records are added with `+`."""

    bought: Floats
    weights: Floats

    @classmethod
    def zero(cls, borders: Ints, d: int) -> "LedgerSums":
        """Return the sums over no records."""
        return cls(np.zeros((d, borders.size - 1)), np.zeros((d, borders.size - 1)))

    @classmethod
    def of(cls, table: pa.Table, borders: Ints, names: Sequence[str]) -> "LedgerSums":
        """Return the sums over a table of the ledger."""
        table = table.filter(pc.greater(table["last_row"], 0))  # past rows belong to no stretch
        last, bought, weight = (np.asarray(table[c]) for c in ("last_row", "bought", "weight"))
        place = {name: i for i, name in enumerate(names)}
        i = np.array([place[name] for name in table["attribute"].to_pylist()], dtype=np.int64)
        at = np.searchsorted(borders, last, side="left") - 1
        sums = cls.zero(borders, len(names))
        np.add.at(sums.bought, (i, at), bought)
        ends = last == borders[at + 1]
        sums.weights[i[ends], at[ends]] = weight[ends]
        return sums

    def __add__(self, other: "LedgerSums") -> "LedgerSums":
        return LedgerSums(self.bought + other.bought, self.weights + other.weights)


@dataclass(frozen=True, eq=False)
class RunData:
    """A run in at most 24 stretches of rows, aligned with pages; memory use does not grow with its length."""

    edges: Ints
    """Borders (n + 1,): stretch i consists of the rows edges[i] + 1 to edges[i + 1]."""
    schema: Schema
    rounds: RoundSums
    ledger: LedgerSums
    moments: Moments | None = None
    """The moments of all rows, in hindsight; None if there are too many attributes."""
    reasons: Sequence[Reason] = ()
    """The learner's explanation of each source, those it buys first."""
    summary: dict[str, Any] = field(default_factory=dict)
    """The content of `summary.json`."""

    @property
    def rows(self) -> int:
        """The number of rows played."""
        return int(self.edges[-1])

    @property
    def names(self) -> Sequence[str]:
        """The names of all attributes."""
        return self.schema.names

    @cached_property
    def advice(self) -> Advice:
        """The recommendation, shared by the terminal, the summary and the report."""
        return advise(self.summary, self.schema.catalog, self.moments, self.schema.priced)

    @property
    def ends(self) -> Floats:
        """The last row of each stretch."""
        return self.edges[1:].astype(np.float64)

    @property
    def loss(self) -> Floats:
        """The mean squared error in each stretch (n,); NaN if it has no scored row."""
        losses, scored, _ = self.rounds.by_stretch
        with np.errstate(invalid="ignore"):
            mean: Floats = losses / scored
        return mean

    @property
    def loss_so_far(self) -> Floats:
        """The mean squared error from the first row to the end of each stretch (n,)."""
        losses, scored, _ = self.rounds.by_stretch
        mean: Floats = np.cumsum(losses) / np.maximum(np.cumsum(scored), 1)
        return mean

    @property
    def money(self) -> Floats:
        """The money spent up to the end of each stretch (n,)."""
        return np.cumsum(self.rounds.by_stretch[2])

    @property
    def sample(self) -> Floats:
        """Predictions and labels (2, n) of rows spread evenly over the second half."""
        return self.rounds.sample

    @property
    def bought(self) -> list[str]:
        """The attributes that were ever bought, the most frequent first."""
        return [name for name, facts in self.summary["attributes"].items() if facts["bought"]]

    @property
    def share(self) -> Floats:
        """The share of the rows of each stretch in which an attribute was bought (bought, n)."""
        return self.ledger.bought[self._bought] / np.diff(self.edges)

    @property
    def weights(self) -> Floats:
        """The weights at the end of each stretch (bought, n)."""
        return self.ledger.weights[self._bought]

    @property
    def _bought(self) -> list[int]:
        place = {name: i for i, name in enumerate(self.names)}
        return [place[name] for name in self.bought]

    def bought_now(self, support: Sequence[int]) -> list[str]:
        """Return the sources of the learner's support, and those bought in most of the last tenth of the rows."""
        catalog = self.schema.catalog
        now = bought_now(catalog, support, self.rounds.late_bought, self.rounds.late_rows)
        return [catalog.sources[s] for s in now]

    def still_explored(self, basket: Sequence[str]) -> list[str]:
        """Return the sources outside the basket that were bought in at least a tenth of the last tenth of the rows."""
        catalog, late = self.schema.catalog, self.rounds
        bought = zip(catalog.sources, late.late_bought[catalog.first], strict=True)
        return [name for name, n in bought if name not in basket and 10 * n >= max(late.late_rows, 1)]


def read_records(folder: Path, rows: int, schema: Schema, learner: Learner, moments: Moments | None) -> RunData:
    """Return the statistics of the records in a run folder, without its summary; memory use is bounded."""
    borders, names = stretches(rows), schema.names
    rounds = (RoundSums.of(t, borders, names) for t in _rounds(folder / "rounds.parquet", rows))
    ledger = (LedgerSums.of(t, borders, names) for t in _tables(folder / "ledger.parquet"))
    return RunData(
        edges=borders,
        schema=schema,
        rounds=reduce(RoundSums.__add__, rounds, RoundSums.zero(borders, len(names))),
        ledger=reduce(LedgerSums.__add__, ledger, LedgerSums.zero(borders, len(names))),
        moments=moments,
        reasons=reasons(learner),
    )


def _tables(path: Path) -> Iterable[pa.Table]:
    with pq.ParquetFile(path) as file:
        for i in range(file.num_row_groups):
            yield file.read_row_group(i)


def _rounds(path: Path, rows: int) -> Iterable[pa.Table]:
    """Yield the rounds, with their purchases only where these are needed."""
    with pq.ParquetFile(path) as file:
        last = 0
        for i in range(file.num_row_groups):
            last += file.metadata.row_group(i).num_rows
            late = ["bought"] if last > 0.9 * rows else []
            yield file.read_row_group(i, columns=[*_ROUND_COLUMNS, *late])


_KEPT = ("adds", "fair_price", "probability", "reason")


def sources_of(totals: Totals, learner: Learner) -> dict[str, Plain]:
    """Return the spending on each source, in descending order, with the learner's explanation of it."""
    catalog, support = totals.catalog, set(learner.support.tolist())
    explain = getattr(learner, "explain", None)
    said: Mapping[str, dict[str, Plain]] = {e.name: _kept(e) for e in explain()} if explain else {}
    facts: dict[str, Plain] = {}
    spent, prices = totals.spent_on_each[catalog.first], totals.mean_prices[catalog.first]
    for s in np.argsort(-spent, kind="stable"):
        name, brings = catalog.sources[s], catalog.members[s]
        facts[name] = {
            "attributes": [catalog.names[j] for j in brings],
            "bought": int(totals.bought[brings[0]]),
            "price": float(prices[s]),
            "spent": float(spent[s]),
            "in_support": bool(support.intersection(brings.tolist())),
            **said.get(name, {}),
        }
    return facts


def _kept(said: object) -> dict[str, Plain]:
    """Return the fields of an explanation that JSON can hold; missing and non-finite values are omitted."""
    found = {key: getattr(said, key, nan) for key in _KEPT}
    return {key: value for key, value in found.items() if not isinstance(value, float) or isfinite(value)}


def summary_of(
    settings: Settings,
    data: RunData,
    learner: Learner,
    totals: Totals,
    baselines: Mapping[str, Line],
    messages: Sequence[str],
    rounds: Path,
) -> dict[str, Any]:
    """Return the content of `summary.json`, the same however often the run was interrupted.

    `messages` are the learner's warnings; `rounds` is the file with the records of the rounds.
    """
    schema, catalog, n = data.schema, data.schema.catalog, max(totals.rows, 1)
    ranges = ValueRanges.of(schema, settings.clip)
    warned = _warnings(totals, schema, ranges, settings.clip, messages)
    basket = data.bought_now(learner.support.tolist())
    summary: dict[str, Any] = (
        {"format": FORMAT}
        | _means(data)
        | {
            "title": settings.title,
            "file": Path(settings.file).name,
            "target": schema.target,
            "algorithm": settings.learner["name"],
            "learner": settings.learner,
            "k": learner.k,
            "k0": learner.k0,
            "d": learner.d,
            "budget_per_row": settings.budget_per_row,
            "total_budget": settings.total_budget,
            "expected_rows": settings.expected_rows,
            "spent_before": _spent_before(settings, learner, totals),
            "last_paid_row": data.rounds.last_paid,
            "error_cost": settings.error_cost,
            "currency": schema.currency,
            "unit": schema.unit,
            "free": list(schema.free),
            "panels": not catalog.plain,
            "past_rows": learner.n_past_rows,
            "abandoned": totals.unlabelled,
            "attributes_per_row": float(totals.bought.sum()) / n,
            "sources_per_row": totals.ordered / n,
            "price_per_row": totals.spent / n,
            "spent": totals.spent,
            "attributes": _attributes(totals, learner),
            "sources": sources_of(totals, learner),
            "basket": basket,
            "still_explored": data.still_explored(basket),
            "support": [learner.names[i] for i in learner.support],
            "baselines": {name: _known(line) for name, line in baselines.items()},
            "first_row": "counts" if schema.label.stated_center is not None or settings.start else "left out",
            "label_variance": None if data.moments is None else data.moments.variance,
            "hindsight": _in_hindsight(data.moments, catalog, basket),
            "coverage": totals.coverage,
            "alarms": totals.alarms,
            "warnings": [warning.text for warning in warned],
            "warned": [{"kind": warning.kind, "name": warning.name} for warning in warned],
            "constant": list(ranges.constant(totals.values)),
            "command": settings.command,
        }
    )
    if learner.binary:
        summary["probabilities"] = _probabilities(rounds)
    return summary | {"verdict": replace(data, summary=summary).advice.sentence}


def _spent_before(settings: Settings, learner: Learner, totals: Totals) -> float:
    """Return what a model had spent of its total budget before it continued in this run."""
    if settings.total_budget is None or learner.t == totals.rows:
        return 0.0
    return max(0.0, float(getattr(learner, "spent", totals.spent)) - totals.spent)


def _probabilities(rounds: Path) -> ProbabilityScores:
    """Return the scores of the probabilities in a run's rounds.parquet."""
    table = pq.read_table(rounds, columns=["prediction", "label", "loss"])
    y, p, loss = (table[name].to_numpy().astype(np.float64) for name in ("label", "prediction", "loss"))
    counts = ~np.isnan(loss)
    return score(y[counts], p[counts])


def _means(data: RunData) -> dict[str, object]:
    """Return means over the recorded rows."""
    return {
        "rows": data.rows,
        "labelled": data.rounds.labelled,
        "explored": data.rounds.explored,
        "scored": data.rounds.scored,
        "mse": data.rounds.loss / max(data.rounds.scored, 1),
        "mse_last_tenth": data.rounds.late_loss / max(data.rounds.late_scored, 1),
    }


def _known(line: Line) -> dict[str, float | None]:
    """Return a baseline for JSON, with None instead of NaN."""
    return {key: None if np.isnan(value) else value for key, value in line._asdict().items()}


def _in_hindsight(moments: Moments | None, catalog: SourceCatalog, basket: Sequence[str]) -> float | None:
    """Return the final prediction error of the learner's final purchases and the free attributes."""
    if moments is None:
        return None
    return moments.final_prediction_error(catalog.attributes([catalog.sources.index(s) for s in basket]))


def _attributes(totals: Totals, learner: Learner) -> dict[str, Plain]:
    """Return the statistics of each attribute, the most frequently bought first."""
    order = np.argsort(-totals.bought, kind="stable")
    clipped, weights, prices, spent = totals.clipped, learner.weights, totals.mean_prices, totals.spent_on_each
    return {
        totals.catalog.names[i]: {
            "source": totals.catalog.sources[totals.catalog.of[i]] if totals.catalog.of[i] >= 0 else "",
            "bought": int(totals.bought[i]),
            "unobserved": int(totals.unobserved[i]),
            "clipped": int(clipped[i]),
            "price": float(prices[i]),
            "spent": float(spent[i]),
            "weight": float(weights[i]),
        }
        for i in order
    }


class _Warning(NamedTuple):
    """A sentence for a reader, with its kind and its column for programs; "" if there is none."""

    text: str
    kind: str = ""
    name: str = ""


def _warnings(
    totals: Totals, schema: Schema, ranges: ValueRanges, clip: bool, messages: Sequence[str]
) -> list[_Warning]:
    """Return all warnings for the reader."""
    by_name = {"missing": missing_sentences(totals), "clipped": ranges.sentences(totals.values) if clip else {}}
    by_name["other"] = unseen_sentences(schema, totals.unseen)
    found = [_Warning(text) for text in messages]
    found += [_Warning(text, kind, name) for kind, texts in by_name.items() for name, text in texts.items()]
    if constant := ranges.constant(totals.values):
        found.append(_Warning(f"constant so far: {', '.join(constant)}", "constant"))
    if totals.unlabelled:
        text = f"{totals.unlabelled} of {totals.rows} rows had no label: abandoned, in no mean"
        found.append(_Warning(text, "unlabelled"))
    return found
