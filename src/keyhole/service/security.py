"""Protection of the service: tokens and rights, limits of size and time, no calls from pages of other sites."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..store.store import Store
from ..store.tokens import Token, find_token
from .problems import away, problem
from .server import Settings

if TYPE_CHECKING:
    from .server import LimitedConnection

__all__ = ["COOKIE", "MAX_BODY", "Opened", "SecurityMiddleware", "allowed", "may", "split", "visible"]

# -- tokens


COOKIE = "keyhole_token"


async def opened(request: Request) -> Store:
    """Return the store of this app. This is a coroutine because FastAPI runs plain functions in another thread."""
    store: Store = request.app.state.store
    return store


Opened = Annotated[Store, Depends(opened)]


def split(id: str) -> tuple[str, int]:
    """Split the id of a round into the learner's name and the index.

    >>> split("icu:17"), split("nonsense")
    (('icu', 17), ('nonsense', 0))
    """
    name, colon, index = id.rpartition(":")
    good = colon and index.isascii() and index.isdigit() and len(index) < 10
    return (name, int(index)) if good else (id, 0)


def may(right: str) -> Callable[[Request], Awaitable[Store]]:
    """Create a dependency that provides the store if the caller has this right.

    The right is needed on the learner in the path or, if the path names none, on all learners.
    """

    async def check(request: Request) -> Store:
        settings: Settings = request.app.state.settings
        if settings.auth:
            await run_in_threadpool(allowed, request, right, _learner(request))
        return await opened(request)

    return check


def allowed(request: Request, right: str, learner: str | None) -> Token:
    """Return the caller's token if it grants this right; otherwise refuse the call."""
    token = token_of(request)
    if token is None:
        raise HTTPException(
            401, "this call needs a token: Authorization: Bearer kh_...", {"WWW-Authenticate": "Bearer"}
        )
    if not token.allows(right, learner):
        where = f"learner '{learner}'" if learner else "the whole store"
        raise HTTPException(403, f"this token may not {right} on {where}")
    return token


def token_of(request: Request) -> Token | None:
    """Return the token in the header (programs) or in the cookie (people)."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        text = request.cookies.get(COOKIE, "")
    store: Store = request.app.state.store
    return find_token(store.database, text.strip())


def visible(request: Request) -> Callable[[str], bool]:
    """Return a filter for the learners that the caller may read; refuse a caller without the right to read."""
    settings: Settings = request.app.state.settings
    if not settings.auth:
        return lambda name: True
    token = token_of(request)
    if token is None or "read" not in token.may:
        token = allowed(request, "read", None)  # raises if the right is missing
    learner = token.learner
    return lambda name: learner is None or learner == name


def _learner(request: Request) -> str | None:
    if "id" in request.path_params:
        return split(request.path_params["id"])[0]
    name: str | None = request.path_params.get("name")
    return name


# -- the middleware around every call


MAX_BODY = 4 * 1024 * 1024
"""Maximum size of a request body in bytes; enough for a file of a hundred thousand labels."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NOT_CACHED = [*_HEADERS, (b"cache-control", b"no-store")]
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_TOO_LARGE = f"the body is larger than {MAX_BODY} bytes; send it in parts"


class SecurityMiddleware:
    """An ASGI middleware that protects the app.

    Parameters
    ----------
    request_timeout : seconds in which a client must send the whole body of a request.
    """

    def __init__(self, app: ASGIApp, request_timeout: float) -> None:
        self.app, self.request_timeout = app, request_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        connection: LimitedConnection | None = scope.get("state", {}).get("connection")
        try:
            await self._answer(scope, receive, _with_headers(send, scope["path"]), connection)
        finally:
            if connection is not None:
                connection.wait()

    async def _answer(self, scope: Scope, receive: Receive, send: Send, connection: "LimitedConnection | None") -> None:
        headers = Headers(scope=scope)
        if connection is not None:
            has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
            connection.wait_for_body() if has_body else connection.work()
        refusal = _refusal(scope["method"], headers)
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return
        size, started, complete = 0, False, False
        end = asyncio.get_running_loop().time() + self.request_timeout

        async def limited() -> Message:
            nonlocal size, complete
            if complete:  # the app is waiting for the client to disconnect
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                detail = f"the body did not come within {self.request_timeout:g} seconds; send it again"
                raise HTTPException(408, detail, {"Connection": "close"}) from None
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if complete and connection is not None:
                connection.work()
            if size > MAX_BODY:
                raise HTTPException(413, _TOO_LARGE, {"Connection": "close"})
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            if not started and connection is not None:
                connection.work()
            started = True
            await send(message)

        try:
            await self.app(scope, limited, watched)
        except asyncio.CancelledError:  # the server is stopping; the call may still take effect
            if started:
                raise
            await away("the server is going; try again")(scope, receive, send)


def _refusal(method: str, headers: Headers) -> tuple[int, str] | None:
    foreign = headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
    origin = headers.get("origin")
    foreign = foreign or (origin is not None and origin.partition("://")[2] != headers.get("host", ""))
    if foreign and method not in _SAFE_METHODS:
        return 403, "a page of another site may not call this server"
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > MAX_BODY):
        return 413, _TOO_LARGE
    return None


def _with_headers(send: Send, path: str) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = _HEADERS if path.startswith("/static/") else _NOT_CACHED
            names = {name for name, _ in own}
            message["headers"] = [pair for pair in message.get("headers", ()) if pair[0] not in names] + own
        await send(message)

    return with_headers
