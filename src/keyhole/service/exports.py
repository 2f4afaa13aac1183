"""Exports: rounds and ledger as CSV and JSON, and the model file."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from fastapi import APIRouter, Depends
from fastapi.responses import Response, StreamingResponse

from .._internal.formatting import to_iso
from ..core.serialization import to_bytes
from ..store.store import StoredLearner
from .problems import RESPONSES
from .routes import NamePath
from .schemas import LabelColumns, finite, iso_or_none
from .security import Opened, may

__all__ = ["router", "safe"]

router = APIRouter(prefix="/v1/learners/{name}", tags=["exports"], responses=RESPONSES)
_PAGE = 2000


@router.get("/rounds.csv", response_class=Response, dependencies=[Depends(may("read"))])
def rounds(name: NamePath, store: Opened) -> StreamingResponse:
    """All rounds: key, status, ordered sources, prediction and label."""
    head = ["id", "key", "status", "asked_at", "labelled_at", "sources", "price", "prediction", "low", "high", "label"]
    return _csv(f"{name}-rounds.csv", head, _round_rows(store[name]))


@router.get("/ledger.csv", response_class=Response, dependencies=[Depends(may("read"))])
def ledger(name: NamePath, store: Opened) -> StreamingResponse:
    """All ordered sources, one line each."""
    stored = store[name]
    lines = ([p.index, p.key, to_iso(p.at), p.name, p.price] for p in stored.ledger())
    return _csv(f"{name}-ledger.csv", ["round", "key", "at", "name", "price"], lines)


@router.get("/history", dependencies=[Depends(may("read"))])
def history(name: NamePath, store: Opened) -> LabelColumns:
    """The labels in order of arrival, each with the last prediction before it, as columns."""
    found = store[name].history()
    return LabelColumns(
        rounds=found.rounds.tolist(),
        keys=list(found.keys),
        labelled_at=[to_iso(at) for at in found.labelled_at.tolist()],
        labels=found.labels.tolist(),
        predictions=[finite(prediction) for prediction in found.predictions.tolist()],
        price=found.price.tolist(),
    )


@router.get("/ledger", dependencies=[Depends(may("read"))])
def purchases(name: NamePath, store: Opened) -> list[dict[str, float | int | str | None]]:
    """All ordered sources."""
    return [vars(purchase) | {"at": to_iso(purchase.at)} for purchase in store[name].ledger()]


@router.get("/model", response_class=Response, dependencies=[Depends(may("read"))])
def model(name: NamePath, store: Opened) -> Response:
    """The current learner as a model file for `kh.load`."""
    data = store[name].read(to_bytes)
    return Response(data, media_type="application/octet-stream", headers=_attachment(f"{name}.kh"))


def safe(cell: object) -> object:
    """Quote a cell that a spreadsheet would interpret as a formula.

    >>> [safe(c) for c in ("=1+1", "-ldl", "age", -1.5, None)]
    ["'=1+1", "'-ldl", 'age', -1.5, '']
    """
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + cell
    return "" if cell is None else cell


def _round_rows(stored: StoredLearner) -> Iterator[list[object]]:
    after = 0
    while page := stored.rounds(limit=_PAGE, after=after):
        for r in page:
            times, sources = (to_iso(r.asked_at), iso_or_none(r.labelled_at)), "; ".join(r.sources or ())
            yield [r.id, r.key, r.status, *times, sources, r.price, r.prediction, r.low, r.high, r.label]
        after = page[-1].index


def _csv(file: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingResponse:
    def lines() -> Iterator[str]:
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        writer.writerow(head)
        for row in rows:
            writer.writerow([safe(cell) for cell in row])
            if buffer.tell() > 1 << 16:
                yield buffer.getvalue()
                buffer.seek(0)
                buffer.truncate()
        yield buffer.getvalue()

    return StreamingResponse(lines(), media_type="text/csv; charset=utf-8", headers=_attachment(file))


def _attachment(file: str) -> dict[str, str]:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "_" for c in file)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}
