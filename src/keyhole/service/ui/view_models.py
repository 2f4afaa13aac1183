"""View models: the values that the pages show, without HTML."""

import json
import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from ..._internal.formatting import Units, decimals_of, plain_number, shown_decimals
from ..._internal.formatting import number as short
from ...core import introspection
from ...core.introspection import Reason
from ...core.learner import Learner
from ...core.round import Round
from ...store.models import Totals
from ...store.store import Store, StoredLearner

__all__ = ["Field", "LearnerCard", "LearnerPage", "card", "fields", "learner_page", "number", "typed", "when"]

_LAST = 12
_REASONS = 12
# Usual ranges: rounds they are computed from, minimum number of values, and tolerance as a multiple of the range.
_LOOKED_AT, _ENOUGH, _FAR = 500, 20, 0.5


@dataclass(frozen=True)
class LearnerCard:
    """One learner in the list."""

    name: str
    algorithm: str
    error: str
    """Typical error so far, in the label's unit."""
    baseline: str
    """The typical error of predicting the mean of the labels so far."""
    spent: str
    per_round: str
    n_asked: int
    n_labels: int
    n_open: int


@dataclass(frozen=True)
class LearnerPage:
    """Everything on the page of one learner."""

    card: LearnerCard
    label: str
    budget: str
    reasons: list[Reason]
    more: int
    """The number of attributes that are not shown."""
    alarms: list[str]
    warnings: list[str]
    open: tuple[Round, ...]
    last: tuple[Round, ...]
    head: int
    n_past_rows: int
    takes_past_rows: bool
    currency: str = ""
    decimals: int | None = None
    """The decimals of a prediction: as many as the labels have."""


@dataclass(frozen=True)
class Field:
    """An input field for one number."""

    name: str
    value: str
    range: str = ""
    """The usual range with its unit: "16 to 44 kg/m2"."""
    fault: bool = False


@dataclass(frozen=True)
class UsualRange:
    """The range in which an attribute is expected, stated in a schema or observed in earlier rounds."""

    low: float
    high: float
    unit: str = ""
    stated: bool = False

    @property
    def words(self) -> str:
        """Format the range for display."""
        return f"{short(self.low, 4)} to {short(self.high, 4)} {self.unit}".strip()

    def is_unusual(self, x: float) -> bool:
        """Whether a value is outside; an observed range is extended by half of its width on either side."""
        reach = 0.0 if self.stated else _FAR * (self.high - self.low)
        return not math.isnan(x) and not self.low - reach <= x <= self.high + reach


def usual_ranges(stored: StoredLearner) -> dict[str, UsualRange]:
    """Return the usual range of each attribute, from the schema or else from enough recent rounds with labels."""
    seen: dict[str, list[float]] = {}
    for r in stored.rounds("labelled", limit=_LOOKED_AT, newest=True):
        for name, x in (r.values or {}).items():
            if not math.isnan(x):
                seen.setdefault(name, []).append(x)
    found = {name: UsualRange(min(x), max(x)) for name, x in seen.items() if len(x) >= _ENOUGH}
    for name, part in _stated_ranges(stored.note).items():
        before = found.get(name, UsualRange(-math.inf, math.inf))
        low, high = float(part.get("low", before.low)), float(part.get("high", before.high))
        found[name] = UsualRange(low, high, str(part.get("unit", "")), "low" in part and "estimated" not in part)
    return {name: r for name, r in found.items() if math.isfinite(r.low) and math.isfinite(r.high)}


def _stated_ranges(note: dict[str, str]) -> dict[str, dict[str, float | str]]:
    """Return the ranges in the note of a learner; a client may have written anything there, which is no range."""
    try:
        stated = json.loads(note.get("ranges", "{}"))
    except (ValueError, RecursionError):
        return {}
    parts = stated.items() if isinstance(stated, dict) else ()
    return {name: part for name, part in parts if isinstance(part, dict) and _bounds_are_numbers(part)}


def _bounds_are_numbers(part: dict[str, object]) -> bool:
    bounds = [part[bound] for bound in ("low", "high") if bound in part]
    return all(isinstance(x, float) or (isinstance(x, int) and abs(x) < 2**63) for x in bounds)


def doubtful(r: Round, ranges: dict[str, UsualRange]) -> list[str]:
    """Return one sentence for each value of a round that lies outside its usual range."""
    values = (r.values or {}).items()
    return [
        f"{name} = {number(x)} is outside {ranges[name].words} ({'stated' if ranges[name].stated else 'seen so far'})"
        for name, x in values
        if name in ranges and ranges[name].is_unusual(x)
    ]


def label_decimals(stored: StoredLearner) -> int | None:
    """Return how many decimals a prediction shows: as many as the last labels have; None for a probability."""
    labels = [e.label for e in stored.rounds("labelled", limit=_LOOKED_AT, newest=True) if e.label is not None]
    if len(labels) < _ENOUGH:
        return None
    y = np.array(labels)
    if np.isin(y, (0.0, 1.0)).all():
        return None
    return shown_decimals(decimals_of(y), float(y.max() - y.min()))


def cards(store: Store) -> list[LearnerCard]:
    """Return the cards of all learners, sorted by name."""
    return [card(one.name, one.algorithm, one.totals, one.note) for one in store.summaries()]


def card(name: str, algorithm: str, totals: Totals, note: dict[str, str]) -> LearnerCard:
    """Format the numbers of a learner for its card."""
    currency, n = note.get("currency", ""), totals.n_scored
    unit = Units(note.get("unit", "")).error_unit
    error = f"{number(math.sqrt(totals.loss / n))} {unit}".strip() if n else "-"
    baseline = f"{number(math.sqrt(totals.baseline_loss / n))} {unit}".strip() if n else "-"
    money = Units(currency=currency).money
    spent, per_round = money(totals.spent), money(totals.spent / totals.n_asked) if totals.n_asked else "-"
    return LearnerCard(
        name, algorithm, error, baseline, spent, per_round, totals.n_asked, totals.n_labels, totals.n_open
    )


def learner_page(stored: StoredLearner) -> LearnerPage:
    """Build the view model of the page of one learner."""
    note, totals = stored.note, stored.totals()

    def look(learner: Learner) -> tuple[str, str, list[Reason], list[str], int, bool]:
        kind = "attributes" if learner.catalog.plain else "sources"
        what = f"at most {learner.k} of {len(learner.catalog.sources)} {kind} a round"
        why, alarms = introspection.reasons(learner), introspection.alarms(learner)
        return learner.name, what, why, alarms, learner.n_past_rows, learner.takes_past_rows

    algorithm, budget, reasons, alarms, n_past_rows, takes_past_rows = stored.read(look)
    ranges = usual_ranges(stored)
    outside = sum(len(doubtful(r, ranges)) for r in stored.rounds(limit=_LOOKED_AT, newest=True))
    unusual = [f"{outside} values of the last rounds are outside their usual range: check them"] if outside else []
    return LearnerPage(
        card=card(stored.name, algorithm, totals, note),
        label=note.get("label", "label"),
        budget=budget,
        reasons=reasons[:_REASONS],
        more=max(0, len(reasons) - _REASONS),
        alarms=alarms,
        warnings=[*stored.warnings(), *unusual],
        open=stored.rounds("open", limit=50),
        last=stored.rounds(limit=_LAST, newest=True),
        head=stored.head,
        n_past_rows=n_past_rows,
        takes_past_rows=takes_past_rows,
        currency=note.get("currency", ""),
        decimals=label_decimals(stored),
    )


def fields(r: Round, given: dict[str, str] | None = None, ranges: dict[str, UsualRange] | None = None) -> list[Field]:
    """Return the input fields of a round, filled with what was typed or recorded before."""
    known = {name: "" if math.isnan(x) else repr(x).removesuffix(".0") for name, x in (r.values or {}).items()}
    words = {name: usual.words for name, usual in (ranges or {}).items()}
    return [Field(name, (given or known).get(name, ""), words.get(name, "")) for name in r.names]


def typed(text: str) -> float | None:
    """Parse a number as people type it, 6.1 or 6,1; an empty text is NaN, anything else is None.

    >>> typed("6.1"), typed(" 6,1 "), typed(""), typed("six"), typed("1e999"), typed("1_5")
    (6.1, 6.1, nan, None, None, None)
    """
    text = text.strip()
    if not text:
        return math.nan
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    return plain_number(text)


def number(x: float, decimals: int | None = None) -> str:
    """Format a number with as many decimals as the labels have, if that is known, otherwise with four digits.

    >>> number(0.123456), number(12345.6), number(6.0), number(6.04, 1)
    ('0.1235', '12 346', '6', '6.0')
    """
    if decimals is not None and math.isfinite(x):
        return f"{x:,.{decimals}f}".replace(",", " ")
    return short(x, 4)


def when(at: float | None) -> str:
    """Format a time in UTC."""
    if at is None:
        return ""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f}"


def is_late(r: Round) -> bool:
    """Whether an open round is past its deadline."""
    return r.status == "open" and r.deadline is not None and r.deadline < time.time()
