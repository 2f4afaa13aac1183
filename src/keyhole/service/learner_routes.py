"""The calls about learners."""

import json
import math
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Path, Request

from ..core import introspection
from ..core.learner import Learner
from ..core.registry.footprint import footprint
from ..errors import ConfigError, ProtocolError
from ..store.store import Store
from ..store.stored_learner import StoredLearner
from .auth import Opened, may, visible
from .problems import RESPONSES
from .schemas import LearnerState, LearnerSummary, NewLearner, PastRows, PastRowsResponse, finite, losses
from .server_settings import Settings

__all__ = ["NamePath", "router", "state_of"]

router = APIRouter(prefix="/v1", tags=["learners"], responses=RESPONSES)
NamePath = Annotated[str, Path(description="The learner's name.", max_length=64)]


@router.post("/learners", status_code=201, dependencies=[Depends(may("create"))])
def create(request: Request, new: NewLearner, store: Opened) -> LearnerState:
    """Make a learner; one of equal configuration is returned as it is."""
    arguments: dict[str, object] = dict(new.model_extra or {})
    note = dict(new.note)
    if new.table is not None:
        if new.names is not None or new.d is not None:
            raise ConfigError("give names, d or schema: one of the three")
        known, told = _from_schema(new.table, new.algorithm)
        arguments, note = known | arguments, told | note
    for name in ("names", "d", "k", "seed"):
        if getattr(new, name) is not None:
            arguments[name] = getattr(new, name)
    _check_size(request.app.state.settings, new.algorithm, arguments)
    if arguments.keys() & {"name", "algorithm", "store", "self"}:
        raise ConfigError("an option may not be called self, store, name or algorithm")
    return state_of(make_learner(store, new.name, new.algorithm, note, {"k0": new.k0, **arguments}))


@router.get("/learners")
def list_learners(request: Request, store: Opened) -> list[LearnerSummary]:
    """All learners that the caller may read."""
    seen = visible(request)
    return [
        LearnerSummary(
            name=one.name,
            algorithm=one.algorithm,
            n_rounds=one.totals.n_asked,
            n_open=one.totals.n_open,
            n_labels=one.totals.n_labels,
            **losses(one.totals),
        )
        for one in store.summaries()
        if seen(one.name)
    ]


@router.get("/learners/{name}", dependencies=[Depends(may("read"))])
def show(name: NamePath, store: Opened) -> LearnerState:
    """One learner: support, weights, loss, money, open rounds, warnings."""
    return state_of(store[name])


@router.post("/learners/{name}/past_rows", dependencies=[Depends(may("tell"))])
def learn(name: NamePath, past: PastRows, store: Opened) -> PastRowsResponse:
    """Learn from rows that are known already: nothing is asked, nothing is paid."""
    stored = store[name]
    own = stored.read(lambda learner: learner.names)
    names = own if past.names is None else tuple(past.names)
    if sorted(names) != sorted(own):
        raise ProtocolError(f"the rows must have the learner's columns: {', '.join(own[:8])}")
    order = [names.index(column) for column in own]
    for i, row in enumerate(past.rows):
        if len(row) != len(own):
            raise ProtocolError(f"row {i + 1} has {len(row)} cells; the learner has {len(own)} attributes")
    rows = [[math.nan if row[j] is None else row[j] for j in order] for row in past.rows]
    labels = [math.nan if y is None else y for y in past.labels]
    new = stored.learn(np.array(rows, dtype=np.float64).reshape(len(rows), len(own)), labels)
    return PastRowsResponse(new=new, n_past_rows=stored.read(lambda learner: learner.n_past_rows))


@router.get("/learners/{name}/totals", dependencies=[Depends(may("read"))])
def totals(name: NamePath, store: Opened) -> dict[str, float | int]:
    """The running sums of a learner."""
    return store[name].totals()._asdict()


def _check_size(settings: Settings, algorithm: str, arguments: dict[str, object]) -> None:
    """Refuse a learner that takes more memory or time than this server allows."""
    names, d, k = arguments.get("names"), arguments.get("d"), arguments.get("k")
    size = footprint(
        algorithm, len(names) if isinstance(names, list) else int(str(d or 1)), k if isinstance(k, int) else None
    )
    if size.memory > 1e6 * settings.max_learner_memory or settings.max_learner_seconds < max(
        size.build_seconds, size.round_seconds
    ):
        allowed = f"{settings.max_learner_memory:g} MB and {settings.max_learner_seconds:g} s"
        raise ConfigError(f"this '{algorithm}' takes about {size}; this server allows {allowed}")


def make_learner(
    store: Store, name: str, algorithm: str, note: dict[str, str], arguments: dict[str, object]
) -> StoredLearner:
    """`store.create`, where whatever a stranger sends is at worst a `ConfigError`."""
    try:
        return store.create(name, algorithm, note=note, **arguments)
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as fault:
        if isinstance(fault, ConfigError):
            raise
        raise ConfigError(f"'{algorithm}' cannot be made with these arguments: {fault}") from None


def state_of(stored: StoredLearner) -> LearnerState:
    """Everything there is to know of a learner at this moment."""
    totals = stored.totals()

    def look(learner: Learner) -> LearnerState:
        weights = {n: float(w) for n, w in zip(learner.names, learner.weights, strict=True) if w}
        return LearnerState(
            name=stored.name,
            algorithm=learner.name,
            d=learner.d,
            k=learner.k,
            n_rounds=totals.n_asked,
            n_open=totals.n_open,
            n_labels=totals.n_labels,
            n_abandoned=totals.n_abandoned,
            **losses(totals),
            support=[learner.names[i] for i in learner.support],
            weights={n: w for n, w in weights.items() if finite(w) is not None},
            warnings=[*introspection.alarms(learner), *stored.warnings()],
            note=stored.note,
            last_event=stored.head,
        )

    return stored.read(look)


def _from_schema(text: str, algorithm: str) -> tuple[dict[str, object], dict[str, str]]:
    """Names and prices in a schema file, and what people should read."""
    from ..core.registry.catalogue import options_of
    from ..data.schema import Schema

    schema = Schema.from_toml(text)
    takes = options_of(algorithm)
    known: dict[str, object] = {"names": list(schema.names)}
    known |= {key: value for key, value in schema.offer().items() if key != "prices" or key in takes}
    note = {"label": schema.target, "unit": schema.unit, "currency": schema.currency}
    ranges = {}
    for e in schema.encoded:
        part: dict[str, float | str] = {k: x for k, x in (("low", e.low), ("high", e.high)) if math.isfinite(x)}
        column = next(a for a in schema.attributes if a.name == schema.column_of[e.name])
        part |= {"estimated": 1.0} if part and e.estimated else {}
        ranges[e.name] = part | ({"unit": column.unit} if column.unit else {})
    note["ranges"] = json.dumps({name: part for name, part in ranges.items() if part})
    return known, {key: text for key, text in note.items() if text}
