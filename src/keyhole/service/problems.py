"""Errors as problem documents (RFC 9457): each has one clear sentence and means that nothing was changed."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ..errors import ConfigError, ProtocolError, StateError
from ..store.models import Conflict, NoSuchLearner, NoSuchRound, Taken

__all__ = ["RESPONSES", "Problem", "add_handlers", "away", "problem"]

TYPE = "application/problem+json"


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(description="urn:keyhole:protocol, :config, :conflict, :missing, :access, :state, or about:blank")
    title: str
    status: int
    detail: str = Field(description="One sentence: what, where, and what to do.")


_CONTENT = {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
RESPONSES: "dict[int | str, dict[str, object]]" = {
    "4XX": {"description": "Nothing was changed; the answer says why.", "content": _CONTENT}
}

# The first matching entry is used.
_KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    (Conflict, 409, "urn:keyhole:conflict"),
    (NoSuchRound, 404, "urn:keyhole:missing"),
    (Taken, 409, "urn:keyhole:config"),
    (ProtocolError, 422, "urn:keyhole:protocol"),
    (ConfigError, 422, "urn:keyhole:config"),
    (NoSuchLearner, 404, "urn:keyhole:missing"),
    (StateError, 500, "urn:keyhole:state"),
)


def problem(status: int, detail: str, kind: str = "about:blank", headers: dict[str, str] | None = None) -> JSONResponse:
    """Create the response for a problem document."""
    title = HTTPStatus(status).phrase
    written = detail.encode("utf-8", "replace").decode()  # a request may hold halves of characters, which no answer can
    content = {"type": kind, "title": title, "status": status, "detail": written}
    return JSONResponse(content, status, headers, TYPE)


def away(detail: str) -> JSONResponse:
    """Create the response for a temporary error.

    Every call may be repeated, because keys, predictions and labels are idempotent.
    """
    return problem(503, detail, headers={"Retry-After": "1"})


def add_handlers(app: FastAPI) -> None:
    """Answer every error of this app with a problem document."""
    for error, status, kind in _KINDS:
        app.add_exception_handler(error, _handler(status, kind))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _broken)


def _handler(status: int, kind: str) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, fault: Exception) -> Response:
        return problem(status, str(fault), kind)

    return handle


async def _invalid(request: Request, fault: Exception) -> Response:
    first = fault.errors()[0]  # type: ignore[attr-defined]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    what = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        where, what = "", f"it is not JSON: {first['ctx']['error']} (at character {where})"
    return problem(422, f"{where or 'the body'}: {what}"[:500], "urn:keyhole:protocol")


async def _http(request: Request, fault: Exception) -> Response:
    if not isinstance(fault, HTTPException):
        return await _broken(request, fault)
    kind = "urn:keyhole:access" if fault.status_code in (401, 403) else "about:blank"
    return problem(fault.status_code, str(fault.detail), kind, dict(fault.headers or {}))


async def _broken(request: Request, fault: Exception) -> Response:
    return problem(500, "the server failed to do this; its log says why")
