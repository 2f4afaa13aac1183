"""The calls of the protocol: ask, predict, tell, abandon."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from ..store.learner import StoredLearner
from ..store.store import Store
from .access import Opened, may, split
from .learners import NamePath
from .problems import RESPONSES
from .shapes import Ask, Asked, Label, Said_, Standing, Values, asked, numbers, said

__all__ = ["find", "router"]

router = APIRouter(prefix="/v1", tags=["rounds"], responses=RESPONSES)
IdPath = Annotated[str, Path(description="The id of a round, such as icu:17.", max_length=80)]


@router.post("/learners/{name}/rounds", status_code=201, dependencies=[Depends(may("ask"))])
def ask(name: NamePath, question: Ask, store: Opened) -> Asked:
    """Open a round: what to order. The same key, the same round."""
    icu = store[name]
    entry = icu.order(question.key, question.available, question.deadline)
    return asked(entry, icu.extra(entry.round))


@router.get("/learners/{name}/rounds", dependencies=[Depends(may("read"))])
def list_rounds(
    name: NamePath,
    store: Opened,
    status: Annotated[str | None, Query(pattern="^(open|told|abandoned)$")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only rounds with a larger index.")] = 0,
) -> list[Asked]:
    """The rounds in the order asked, a page at a time."""
    icu = store[name]
    return [asked(entry, icu.extra(entry.round)) for entry in icu.rounds(status, limit=limit, after=after)]


@router.get("/rounds/{id}", dependencies=[Depends(may("read"))])
def show(id: IdPath, store: Opened) -> Asked:
    """How a round stands."""
    icu, index = find(store, id)
    entry = icu.round(index)
    return asked(entry, icu.extra(entry.round))


@router.post("/rounds/{id}/prediction", dependencies=[Depends(may("ask"))])
def predict(id: IdPath, results: Values, store: Opened) -> Said_:
    """The prediction from the results, written down: the last one before the label counts."""
    icu, index = find(store, id)
    return said(icu.say(index, numbers(results.values)))


@router.post("/rounds/{id}/label", dependencies=[Depends(may("tell"))])
def tell(id: IdPath, label: Label, store: Opened) -> Standing:
    """The label, however late; exactly the same label again changes nothing."""
    icu, index = find(store, id)
    values = None if label.values is None else numbers(label.values)
    extra = None if label.extra is None else numbers(label.extra)
    return Standing(id=id, status="told", new=icu.tell(index, values, label.y, extra_values=extra))


@router.post("/rounds/{id}/abandon", dependencies=[Depends(may("tell"))])
def abandon(id: IdPath, store: Opened) -> Standing:
    """Take a round off the list of open ones; a label may still come."""
    icu, index = find(store, id)
    return Standing(id=id, status="abandoned", new=icu.abandon(index))


def find(store: Store, id: str) -> tuple[StoredLearner, int]:
    """The learner and the index in the id of a round."""
    name, index = split(id)
    return store[name], index
