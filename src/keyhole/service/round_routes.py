"""The calls of the protocol: ask, predict, tell, abandon."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from ..store.store import Store
from ..store.stored_learner import StoredLearner
from .auth import Opened, may, split
from .learner_routes import NamePath
from .problems import RESPONSES
from .schemas import (
    Ask,
    Label,
    PredictionResponse,
    RoundResponse,
    RoundStatus,
    Values,
    numbers,
    prediction_response,
    round_response,
)

__all__ = ["find", "router"]

router = APIRouter(prefix="/v1", tags=["rounds"], responses=RESPONSES)
IdPath = Annotated[str, Path(description="The id of a round, such as icu:17.", max_length=80)]
# The right and the store in one dependency, because each dependency costs more time than the check.
MayAsk = Annotated[Store, Depends(may("ask"))]
MayTell = Annotated[Store, Depends(may("tell"))]


@router.post("/learners/{name}/rounds", status_code=201)
def ask(name: NamePath, question: Ask, store: MayAsk) -> RoundResponse:
    """Open a round: what to order. The same key gives the same round."""
    stored = store[name]
    deadline = None if question.deadline is None else question.deadline.timestamp()
    found = stored.open_round(question.key, question.available, deadline, question.prices)
    return round_response(found, stored.extra(found.round))


@router.get("/learners/{name}/rounds", dependencies=[Depends(may("read"))])
def list_rounds(
    name: NamePath,
    store: Opened,
    status: Annotated[str | None, Query(pattern="^(open|told|abandoned)$")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only rounds with a larger index.")] = 0,
) -> list[RoundResponse]:
    """The rounds in the order asked, a page at a time."""
    stored = store[name]
    return [
        round_response(entry, stored.extra(entry.round)) for entry in stored.rounds(status, limit=limit, after=after)
    ]


@router.get("/rounds/{id}", dependencies=[Depends(may("read"))])
def show(id: IdPath, store: Opened) -> RoundResponse:
    """One round."""
    stored, index = find(store, id)
    entry = stored.round(index)
    return round_response(entry, stored.extra(entry.round))


@router.post("/rounds/{id}/prediction")
def predict(id: IdPath, results: Values, store: MayAsk) -> PredictionResponse:
    """The prediction from the results. It is recorded: the last one before the label counts."""
    stored, index = find(store, id)
    return prediction_response(stored.predict_interval(index, numbers(results.values)))


@router.post("/rounds/{id}/label")
def tell(id: IdPath, label: Label, store: MayTell) -> RoundStatus:
    """The label, however late; exactly the same label again changes nothing."""
    stored, index = find(store, id)
    values = None if label.values is None else numbers(label.values)
    extra = None if label.extra is None else numbers(label.extra)
    return RoundStatus(id=id, status="told", new=stored.tell(index, values, label.y, extra_values=extra))


@router.post("/rounds/{id}/abandon")
def abandon(id: IdPath, store: MayTell) -> RoundStatus:
    """Stop waiting for the label; a label that comes later is still accepted."""
    stored, index = find(store, id)
    return RoundStatus(id=id, status="abandoned", new=stored.abandon(index))


def find(store: Store, id: str) -> tuple[StoredLearner, int]:
    """The learner and the index in the id of a round."""
    name, index = split(id)
    return store[name], index
