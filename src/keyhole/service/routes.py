"""The API under /v1: learners, rounds, and many late labels in one request."""

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel

from .._internal.formatting import plain_number
from ..core import introspection
from ..core.learner import Learner
from ..core.registry.catalogue import footprint_of
from ..core.registry.footprint import Footprint, footprint
from ..core.round import STATUSES, Round
from ..errors import ConfigError, ProtocolError
from ..store.models import Outcome
from ..store.store import Store, StoredLearner
from ..store.transaction import LearnerTransaction
from .problems import RESPONSES
from .schemas import (
    Ask,
    FootprintResponse,
    Label,
    LearnerState,
    LearnerSummary,
    NewLearner,
    PastRows,
    PastRowsResponse,
    RoundResponse,
    Values,
    finite,
    losses,
    numbers,
    round_response,
)
from .security import Opened, may, split, visible
from .server import Settings

__all__ = ["NamePath", "find", "labels", "learners", "rounds", "state_of"]

# -- learners


learners = APIRouter(prefix="/v1", tags=["learners"], responses=RESPONSES)
NamePath = Annotated[str, Path(description="The learner's name.", max_length=64)]


@learners.post("/learners", status_code=201, dependencies=[Depends(may("create"))])
def create(request: Request, new: NewLearner, store: Opened) -> LearnerState:
    """Create a learner, or return the existing one of equal configuration."""
    arguments: dict[str, object] = dict(new.model_extra or {})
    note = dict(new.note)
    if new.table is not None:
        if new.names is not None or new.d is not None:
            raise ConfigError("give exactly one of names, d and schema")
        stated, stated_note = _from_schema(new.table, new.algorithm)
        arguments, note = stated | arguments, stated_note | note
    for name in ("names", "d", "k", "seed"):
        if getattr(new, name) is not None:
            arguments[name] = getattr(new, name)
    if arguments.keys() & {"name", "algorithm", "store", "self"}:
        raise ConfigError("an option may not be called self, store, name or algorithm")
    arguments = {"k0": new.k0, **arguments}
    _check_size(request.app.state.settings, new.algorithm, arguments)
    return state_of(make_learner(store, new.name, new.algorithm, note, arguments))


@learners.get("/learners")
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


@learners.get("/learners/{name}", dependencies=[Depends(may("read"))])
def show_learner(name: NamePath, store: Opened) -> LearnerState:
    """One learner: its support, weights, losses, money spent, open rounds and warnings."""
    return state_of(store[name])


@learners.post("/learners/{name}/past_rows", dependencies=[Depends(may("tell"))])
def learn(name: NamePath, past: PastRows, store: Opened) -> PastRowsResponse:
    """Learn from past rows: no round is opened and nothing is paid."""
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


@learners.get("/learners/{name}/totals", dependencies=[Depends(may("read"))])
def totals(name: NamePath, store: Opened) -> dict[str, float | int]:
    """The running sums of a learner."""
    return store[name].totals()._asdict()


@learners.get("/footprint", dependencies=[Depends(may("create"))])
def size(
    request: Request,
    algorithm: Annotated[str, Query(max_length=64)],
    d: Annotated[int, Query(ge=1, le=100_000, description="The number of attributes.")],
    k: Annotated[int | None, Query(ge=1, le=100_000, description="How many may be bought per row.")] = None,
    k0: Annotated[int, Query(ge=0, le=100_000, description="How many more after the label.")] = 0,
) -> FootprintResponse:
    """The memory and time that a learner of this size would take; nothing is built."""
    if k is not None and k > d:
        raise ConfigError(f"k must be between 1 and d = {d}; it is {k}")
    estimate = footprint(algorithm, d, k, k0)
    return FootprintResponse(
        memory=finite(estimate.memory),
        build_seconds=finite(estimate.build_seconds),
        round_seconds=finite(estimate.round_seconds),
        allowed=_is_allowed(request.app.state.settings, estimate),
    )


def _check_size(settings: Settings, algorithm: str, arguments: dict[str, object]) -> None:
    """Refuse a learner that needs more memory or time than this server allows."""
    with _untrusted(algorithm):
        estimate = footprint_of(algorithm, **arguments)  # type: ignore[arg-type]  # it checks each
    if not _is_allowed(settings, estimate):
        allowed = f"{settings.max_learner_memory:g} MB and {settings.max_learner_seconds:g} s"
        raise ConfigError(f"this '{algorithm}' takes about {estimate}; this server allows {allowed}")


def _is_allowed(settings: Settings, estimate: Footprint) -> bool:
    seconds = max(estimate.build_seconds, estimate.round_seconds)
    return estimate.memory <= 1e6 * settings.max_learner_memory and seconds <= settings.max_learner_seconds


def make_learner(
    store: Store, name: str, algorithm: str, note: dict[str, str], arguments: dict[str, object]
) -> StoredLearner:
    """Create a learner from untrusted arguments; every fault in them becomes a `ConfigError`."""
    with _untrusted(algorithm):
        return store.create(name, algorithm, note=note, **arguments)


@contextmanager
def _untrusted(algorithm: str) -> Iterator[None]:
    """Turn whatever invalid arguments of a learner raise into a `ConfigError`."""
    try:
        yield
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as fault:
        if isinstance(fault, ConfigError):
            raise
        raise ConfigError(f"'{algorithm}' cannot be created with these arguments: {fault}") from None


def state_of(stored: StoredLearner) -> LearnerState:
    """Return the current state of a learner."""
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
    """Return the arguments (names, prices) from a schema file, and the texts for display."""
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


# -- rounds: ask, predict, tell, abandon


rounds = APIRouter(prefix="/v1", tags=["rounds"], responses=RESPONSES)
IdPath = Annotated[str, Path(description="The id of a round, such as icu:17.", max_length=80)]
# One dependency checks the right and provides the store, because each dependency takes more time than the check.
MayAsk = Annotated[Store, Depends(may("ask"))]
MayTell = Annotated[Store, Depends(may("tell"))]


@rounds.post("/learners/{name}/rounds", status_code=201, response_model=RoundResponse)
def ask(name: NamePath, question: Ask, store: MayAsk) -> Response:
    """Open a round; the answer lists what to order. The same key gives the same round."""
    stored = store[name]
    deadline = None if question.deadline is None else question.deadline.timestamp()
    return _change(stored, lambda t: t.ask(question.key, question.available, deadline, question.prices), 201)


@rounds.get("/learners/{name}/rounds", dependencies=[Depends(may("read"))])
def list_rounds(
    name: NamePath,
    store: Opened,
    status: Annotated[str | None, Query(pattern=f"^({'|'.join(STATUSES)})$")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only rounds with a larger index.")] = 0,
) -> list[RoundResponse]:
    """The rounds in the order asked, one page at a time."""
    return [round_response(r) for r in store[name].rounds(status, limit=limit, after=after)]


@rounds.get("/rounds/{id}", dependencies=[Depends(may("read"))])
def show_round(id: IdPath, store: Opened) -> RoundResponse:
    """One round."""
    stored, index = find(store, id)
    return round_response(stored.round(index))


@rounds.post("/rounds/{id}/prediction", response_model=RoundResponse)
def predict(id: IdPath, results: Values, store: MayAsk) -> Response:
    """Predict from the results. The prediction is recorded; the last one before the label counts."""
    stored, index = find(store, id)
    return _change(stored, lambda t: t.predict(index, numbers(results.values)))


@rounds.post("/rounds/{id}/label", response_model=RoundResponse)
def tell(id: IdPath, label: Label, store: MayTell) -> Response:
    """Tell the label, however late; telling the same label again changes nothing."""
    stored, index = find(store, id)
    values = None if label.values is None else numbers(label.values)
    extra = None if label.extra is None else numbers(label.extra)
    return _change(stored, lambda t: t.tell(index, values, label.y, extra_values=extra))


@rounds.post("/rounds/{id}/abandon", response_model=RoundResponse)
def abandon(id: IdPath, store: MayTell) -> Response:
    """Stop waiting for the label; a later label is still accepted."""
    stored, index = find(store, id)
    return _change(stored, lambda t: t.abandon(index))


def _change(stored: StoredLearner, act: Callable[[LearnerTransaction], Round], status: int = 200) -> Response:
    """Change a round and answer with it; the answer is not validated again, which would take a tenth of the call."""
    body = round_response(*stored.change(act)).model_dump_json()
    return Response(body, status, media_type="application/json")


def find(store: Store, id: str) -> tuple[StoredLearner, int]:
    """Return the learner and the index that the id of a round names."""
    name, index = split(id)
    return store[name], index


# -- many late labels, as CSV or JSON lines; the answer reports the outcome of each line


labels = APIRouter(prefix="/v1", tags=["labels"], responses=RESPONSES)


class Line(BaseModel):
    """The outcome of one line."""

    line: int
    key: str
    status: str
    """"labelled", "known already" or "refused"."""
    message: str


class Outcomes(BaseModel):
    """The outcomes of all lines."""

    labelled: int
    known_already: int
    refused: int
    lines: list[Line]


async def _body(request: Request) -> str:
    try:
        return (await request.body()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ProtocolError("the labels are not UTF-8 text") from None


_TEXT = {"schema": {"type": "string", "example": "key,y\npatient-17,6.1\n"}}
_LINES = {"schema": {"type": "string", "example": '{"key": "patient-17", "y": 6.1}\n'}}


@labels.post(
    "/learners/{name}/labels",
    dependencies=[Depends(may("tell"))],
    openapi_extra={"requestBody": {"required": True, "content": {"text/csv": _TEXT, "text/plain": _LINES}}},
)
async def tell_many(name: NamePath, store: Opened, text: Annotated[str, Depends(_body)]) -> Outcomes:
    """Tell labels by key, as CSV (`key,y`) or JSON lines (a brace first); a refused line does not stop the others."""
    return await run_in_threadpool(lambda: _tell_lines(store[name], _some_lines(text)))


MAX_LINES = 100_000
"""Maximum number of labels in one request; the other calls of the learner wait for their one transaction."""

Parsed = tuple[int, str, float | str]
"""The line number, the key, and the label or the error message of the line."""


def _tell_lines(stored: StoredLearner, parsed: list[Parsed]) -> Outcomes:
    answers = iter(stored.tell_many((key, y) for _, key, y in parsed if not isinstance(y, str)))
    lines = []
    for line, key, y in parsed:
        outcome = Outcome(key, "refused", y) if isinstance(y, str) else next(answers)
        lines.append(Line(line=line, key=key, status=outcome.status, message=outcome.message))
    count = Counter(one.status for one in lines)
    return Outcomes(
        labelled=count["labelled"], known_already=count["known already"], refused=count["refused"], lines=lines
    )


def _some_lines(text: str) -> list[Parsed]:
    parsed = list(islice(_parsed_lines(text), MAX_LINES + 1))
    if len(parsed) > MAX_LINES:
        raise ProtocolError(f"there are more than {MAX_LINES} labels in one request; send them in parts")
    return parsed


def _parsed_lines(text: str) -> Iterator[Parsed]:
    if text.lstrip()[:1] == "{":
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield _json_line(number, line)
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = [cell.strip() for cell in next(reader, [])]
        if sorted(head) != ["key", "y"]:
            raise ProtocolError("the CSV header must be 'key,y'; or send JSON lines with the fields 'key' and 'y'")
        for cells in reader:
            if cells:
                yield _csv_line(reader.line_num, head, cells)
    except csv.Error as fault:
        raise ProtocolError(f"line {reader.line_num} of the CSV cannot be read: {fault}") from None


def _csv_line(number: int, head: list[str], cells: list[str]) -> Parsed:
    if len(cells) != 2:
        return number, cells[0][:200], f"a line has 2 cells, this one {len(cells)}"
    row = dict(zip(head, cells, strict=True))
    y = plain_number(row["y"])
    if y is None:
        return number, row["key"][:200], f"the label must be a number, not '{row['y'][:40]}'"
    return number, row["key"], y


def _json_line(number: int, line: str) -> Parsed:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or set(row) != {"key", "y"} or not isinstance(row["key"], str):
        return number, "", 'a line is an object of "key" (text) and "y" (a number), nothing else'
    key, y = row["key"].encode("utf-8", "replace").decode(), row["y"]
    if isinstance(y, bool) or not isinstance(y, int | float) or abs(y) > 1e300:
        return number, key[:200], "the label must be a finite number"
    return number, key, float(y)
