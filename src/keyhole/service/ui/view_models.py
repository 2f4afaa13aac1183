"""The values that the pages show, without HTML."""

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from ...core import introspection
from ...core.introspection import Reason
from ...core.learner import Learner
from ...store.models import StoredRound, Totals
from ...store.store import Store
from ...store.stored_learner import StoredLearner

__all__ = ["Field", "LearnerCard", "LearnerPage", "card", "fields", "learner_page", "number", "typed", "when"]

_LAST = 12
_REASONS = 12


@dataclass(frozen=True)
class LearnerCard:
    """One learner in the list."""

    name: str
    algorithm: str
    error: str
    """Typical error so far, in the label's unit."""
    baseline: str
    """The typical error of buying nothing."""
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
    """How many attributes are not shown."""
    alarms: list[str]
    warnings: list[str]
    open: tuple[StoredRound, ...]
    last: tuple[StoredRound, ...]
    head: int


@dataclass(frozen=True)
class Field:
    """One number to type."""

    name: str
    value: str
    fault: bool = False


def cards(store: Store) -> list[LearnerCard]:
    """All learners, by name."""
    return [card(one.name, one.algorithm, one.totals, one.note) for one in store.summaries()]


def card(name: str, algorithm: str, totals: Totals, note: dict[str, str]) -> LearnerCard:
    """The numbers of a learner in words."""
    unit, currency, n = note.get("unit", ""), note.get("currency", ""), totals.n_scored
    error = f"{number(math.sqrt(totals.loss / n))} {unit}".strip() if n else "-"
    baseline = f"{number(math.sqrt(totals.baseline_loss / n))} {unit}".strip() if n else "-"
    spent = f"{totals.spent:.2f} {currency}".strip()
    per_round = f"{totals.spent / totals.n_asked:.2f} {currency}".strip() if totals.n_asked else "-"
    return LearnerCard(
        name, algorithm, error, baseline, spent, per_round, totals.n_asked, totals.n_labels, totals.n_open
    )


def learner_page(stored: StoredLearner) -> LearnerPage:
    """The page of one learner."""
    note, totals = stored.note, stored.totals()

    def look(learner: Learner) -> tuple[str, str, list[Reason], list[str]]:
        kind = "attributes" if learner.catalog.plain else "sources"
        what = f"at most {learner.k} of {len(learner.catalog.sources)} {kind} a round"
        return learner.name, what, introspection.reasons(learner), introspection.alarms(learner)

    algorithm, budget, reasons, alarms = stored.read(look)
    return LearnerPage(
        card=card(stored.name, algorithm, totals, note),
        label=note.get("label", "label"),
        budget=budget,
        reasons=reasons[:_REASONS],
        more=max(0, len(reasons) - _REASONS),
        alarms=alarms,
        warnings=stored.warnings(),
        open=stored.rounds("open", limit=50),
        last=stored.rounds(limit=_LAST, newest=True),
        head=stored.head,
    )


def fields(entry: StoredRound, given: dict[str, str] | None = None) -> list[Field]:
    """The numbers of a round to type, with what was typed before or recorded."""
    known = {name: "" if math.isnan(x) else repr(x) for name, x in (entry.values or {}).items()}
    return [Field(name, (given or known).get(name, "")) for name in entry.round.names]


def typed(text: str) -> float | None:
    """A number as people type it: 6.1 or 6,1; nothing is NaN, anything else is None.

    >>> typed("6.1"), typed(" 6,1 "), typed(""), typed("six"), typed("1e999")
    (6.1, 6.1, nan, None, None)
    """
    text = text.strip()
    if not text:
        return math.nan
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number(x: float) -> str:
    """Four digits are enough for a person.

    >>> number(0.123456), number(12345.6), number(6.0)
    ('0.1235', '12346', '6')
    """
    return f"{x:.0f}" if abs(x) >= 1000 and math.isfinite(x) else f"{x:.4g}"


def when(at: float | None) -> str:
    """A moment in UTC."""
    if at is None:
        return ""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f}"


def is_late(entry: StoredRound) -> bool:
    """Whether an open round is beyond its deadline."""
    return entry.status == "open" and entry.deadline is not None and entry.deadline < time.time()
