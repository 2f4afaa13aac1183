"""Many late labels in one request, as CSV or JSON lines; the answer has the outcome of each line."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from .._internal.formatting import plain_number
from ..errors import ProtocolError
from ..store.models import Outcome
from ..store.stored_learner import StoredLearner
from .auth import Opened, may
from .learner_routes import NamePath
from .problems import RESPONSES

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["labels"], responses=RESPONSES)


class Line(BaseModel):
    """The outcome of one line."""

    line: int
    key: str
    status: str
    """"told", "known already" or "refused"."""
    message: str


class Outcomes(BaseModel):
    """The outcomes of all lines."""

    told: int
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


@router.post(
    "/learners/{name}/labels",
    dependencies=[Depends(may("tell"))],
    openapi_extra={"requestBody": {"required": True, "content": {"text/csv": _TEXT, "text/plain": _LINES}}},
)
async def tell_many(name: NamePath, store: Opened, text: Annotated[str, Depends(_body)]) -> Outcomes:
    """Labels by key, as CSV (`key,y`) or JSON lines (a brace first); a refused line does not stop the others."""
    return await run_in_threadpool(lambda: _tell_lines(store[name], list(_parsed_lines(text))))


Parsed = tuple[int, str, float | str]
"""Line number, key, and the label or the fault of the line."""


def _tell_lines(stored: StoredLearner, parsed: list[Parsed]) -> Outcomes:
    answers = iter(stored.tell_many((key, y) for _, key, y in parsed if not isinstance(y, str)))
    lines = []
    for line, key, y in parsed:
        outcome = Outcome(key, "refused", y) if isinstance(y, str) else next(answers)
        lines.append(Line(line=line, key=key, status=outcome.status, message=outcome.message))
    count = {status: sum(one.status == status for one in lines) for status in ("told", "known already", "refused")}
    return Outcomes(told=count["told"], known_already=count["known already"], refused=count["refused"], lines=lines)


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
            raise ProtocolError("the first line of the CSV must be key,y; or send JSON lines with key and y")
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
