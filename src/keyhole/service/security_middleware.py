"""The layer before every call: limits of size and time, no calls from pages of other sites, headers for browsers."""

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import away, problem

if TYPE_CHECKING:
    from .connection_limits import LimitedConnection

__all__ = ["MAX_BODY", "SecurityMiddleware"]

MAX_BODY = 4 * 1024 * 1024
"""Bytes of a body: a file of a hundred thousand labels."""

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
    """An ASGI layer around the app.

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
            connection.wait() if has_body else connection.work()
        refusal = _refusal(scope["method"], headers)
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return
        size, started, complete = 0, False, False
        end = asyncio.get_running_loop().time() + self.request_timeout

        async def limited() -> Message:
            nonlocal size, complete
            if complete:  # the app waits for the client to go away
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
        except asyncio.CancelledError:  # the server stops and waits no longer; the call may still take effect
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
