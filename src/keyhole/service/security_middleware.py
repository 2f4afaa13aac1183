"""What stands before every call: limits of size, the right host, the right origin, and headers that bind a browser."""

from asyncio import CancelledError
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import away, problem
from .server_settings import is_loopback

__all__ = ["LIMIT", "SecurityMiddleware"]

LIMIT = 4 * 1024 * 1024
"""Bytes of a body: a nightly file of a hundred thousand labels."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_DRESS = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
_UNSTORED = [*_DRESS, (b"cache-control", b"no-store")]
_SAFE = ("GET", "HEAD", "OPTIONS")


class _TooLarge(Exception):
    pass


class SecurityMiddleware:
    """An ASGI layer around the app.

    A server without tokens answers only to names of this machine: another host name means that a proxy, or a page
    that rebinds its own name, stands in front of it. No page of another site may post anything.
    """

    def __init__(self, app: ASGIApp, local: bool) -> None:
        self.app, self.local = app, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await problem(*refusal)(scope, receive, _dressed(send, scope["path"]))
            return
        await self._limited(scope, receive, send)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self.local and not _this_machine(host):
            return 403, "this server answers on this machine only; behind a proxy, start it with --auth"
        foreign = headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        origin = headers.get("origin")
        foreign = foreign or (origin is not None and origin.partition("://")[2] != host)
        if foreign and method not in _SAFE:
            return 403, "a page of another site may not call this server"
        if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > LIMIT:
            return 413, f"the body is larger than {LIMIT} bytes; send it in parts"
        return None

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, started = 0, False

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > LIMIT:
                raise _TooLarge
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await dressed(message)

        dressed = _dressed(send, scope["path"])
        try:
            await self.app(scope, counted, watched)
        except _TooLarge:
            if not started:
                await problem(413, f"the body is larger than {LIMIT} bytes; send it in parts")(scope, receive, dressed)
        except CancelledError:  # a server that is told to go waits no longer; what was asked for may still be done
            if started:
                raise
            await away("the server is going; try again")(scope, receive, dressed)


@lru_cache(maxsize=64)
def _this_machine(host: str) -> bool:
    """Whether a host header names this machine, and can be taken apart at all."""
    plausible = host.count("[") == host.count("]") <= 1 and not set(host) & set("/?#@\\ ")
    name = urlsplit(f"//{host}").hostname if plausible else None
    return name is not None and is_loopback(name)


def _dressed(send: Send, path: str) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            dress = _DRESS if path.startswith("/static/") else _UNSTORED
            names = {name for name, _ in dress}
            message["headers"] = [pair for pair in message.get("headers", ()) if pair[0] not in names] + dress
        await send(message)

    return with_headers
