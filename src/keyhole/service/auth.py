"""Authorization: tokens, where the server can be reached from other machines."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from ..store.store import Store
from ..store.tokens import Token, find_token
from .server_settings import Settings

__all__ = ["COOKIE", "Opened", "allowed", "may", "split", "visible"]

COOKIE = "keyhole_token"


async def opened(request: Request) -> Store:
    """The store of this app. (A coroutine, because FastAPI runs plain functions in another thread.)"""
    store: Store = request.app.state.store
    return store


Opened = Annotated[Store, Depends(opened)]


def split(id: str) -> tuple[str, int]:
    """The learner's name and the index in the id of a round.

    >>> split("icu:17"), split("nonsense")
    (('icu', 17), ('nonsense', 0))
    """
    name, colon, index = id.rpartition(":")
    good = colon and index.isascii() and index.isdigit() and len(index) < 10
    return (name, int(index)) if good else (id, 0)


def may(right: str) -> Callable[[Request], Awaitable[Store]]:
    """A dependency: the store, if the caller has this right on the learner in the path (or else on all learners)."""

    async def check(request: Request) -> Store:
        settings: Settings = request.app.state.settings
        if settings.auth:
            await run_in_threadpool(allowed, request, right, _learner(request))
        return await opened(request)

    return check


def allowed(request: Request, right: str, learner: str | None) -> Token:
    """The caller's token, if it allows this."""
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
    """The token in the header of a machine, or in the cookie of a person."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        text = request.cookies.get(COOKIE, "")
    store: Store = request.app.state.store
    return find_token(store.database, text.strip())


def visible(request: Request) -> Callable[[str], bool]:
    """Which learners the caller may read; a caller without the right to read is refused."""
    settings: Settings = request.app.state.settings
    if not settings.auth:
        return lambda name: True
    token = token_of(request)
    if token is None or "read" not in token.may:
        token = allowed(request, "read", None)  # which refuses
    learner = token.learner
    return lambda name: learner is None or learner == name


def _learner(request: Request) -> str | None:
    if "id" in request.path_params:
        return split(request.path_params["id"])[0]
    name: str | None = request.path_params.get("name")
    return name
