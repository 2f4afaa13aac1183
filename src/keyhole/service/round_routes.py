"""The calls of the protocol: ask, predict, tell, abandon."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from ..store.store import Store
from ..store.stored_learner import StoredLearner
from .auth import Opened, may, split
from .executor import answer
from .learner_routes import NamePath
from .problems import RESPONSES
from .schemas import Ask, AskedRound, Label, RoundStatus, Said_, Values, asked, numbers, said

__all__ = ["find", "router"]

router = APIRouter(prefix="/v1", tags=["rounds"], responses=RESPONSES)
IdPath = Annotated[str, Path(description="The id of a round, such as icu:17.", max_length=80)]
# The store, for who may: one dependency, because each costs more than what it does.
MayAsk = Annotated[Store, Depends(may("ask"))]
MayTell = Annotated[Store, Depends(may("tell"))]


@router.post("/learners/{name}/rounds", status_code=201, response_model=AskedRound)
async def ask(request: Request, name: NamePath, question: Ask, store: MayAsk) -> Response:
    """Open a round: what to order. The same key, the same round."""

    def call() -> AskedRound:
        stored = store[name]
        entry = stored.order(question.key, question.available, question.deadline, question.prices)
        return asked(entry, stored.extra(entry.round))

    return await answer(request, call, 201)


@router.get("/learners/{name}/rounds", dependencies=[Depends(may("read"))])
def list_rounds(
    name: NamePath,
    store: Opened,
    status: Annotated[str | None, Query(pattern="^(open|told|abandoned)$")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only rounds with a larger index.")] = 0,
) -> list[AskedRound]:
    """The rounds in the order asked, a page at a time."""
    stored = store[name]
    return [asked(entry, stored.extra(entry.round)) for entry in stored.rounds(status, limit=limit, after=after)]


@router.get("/rounds/{id}", dependencies=[Depends(may("read"))])
def show(id: IdPath, store: Opened) -> AskedRound:
    """How a round stands."""
    stored, index = find(store, id)
    entry = stored.round(index)
    return asked(entry, stored.extra(entry.round))


@router.post("/rounds/{id}/prediction", response_model=Said_)
async def predict(request: Request, id: IdPath, results: Values, store: MayAsk) -> Response:
    """The prediction from the results, written down: the last one before the label counts."""

    def call() -> Said_:
        stored, index = find(store, id)
        return said(stored.say(index, numbers(results.values)))

    return await answer(request, call)


@router.post("/rounds/{id}/label", response_model=RoundStatus)
async def tell(request: Request, id: IdPath, label: Label, store: MayTell) -> Response:
    """The label, however late; exactly the same label again changes nothing."""

    def call() -> RoundStatus:
        stored, index = find(store, id)
        values = None if label.values is None else numbers(label.values)
        extra = None if label.extra is None else numbers(label.extra)
        return RoundStatus(id=id, status="told", new=stored.tell(index, values, label.y, extra_values=extra))

    return await answer(request, call)


@router.post("/rounds/{id}/abandon", response_model=RoundStatus)
async def abandon(request: Request, id: IdPath, store: MayTell) -> Response:
    """Take a round off the list of open ones; a label may still come."""

    def call() -> RoundStatus:
        stored, index = find(store, id)
        return RoundStatus(id=id, status="abandoned", new=stored.abandon(index))

    return await answer(request, call)


def find(store: Store, id: str) -> tuple[StoredLearner, int]:
    """The learner and the index in the id of a round."""
    name, index = split(id)
    return store[name], index
