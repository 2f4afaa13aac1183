"""The ASGI app of the service."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from .. import __version__
from ..core.registry.catalogue import class_of, list_algorithms
from ..store.models import StoreUnavailable
from ..store.store import Store
from . import event_stream, exports, metrics, routes
from .problems import Problem, add_handlers, away
from .security import SecurityMiddleware
from .server import LOOPBACK_NAMES, Settings, leave_with, share_arenas
from .ui import pages

__all__ = ["create_app", "from_environment"]

_ABOUT = "Learners that many processes share: ask what to buy, predict, tell the label when it comes."


def create_app(settings: Settings) -> FastAPI:
    """Create the ASGI app for the store of these settings."""
    for algorithm in list_algorithms():  # imported at start, so that no call fails on an import later
        class_of(algorithm.name)
    store = Store(settings.url)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.poller = event_stream.EventPoller(store)
        yield
        store.close()

    # The documentation page is our own (`pages`), because FastAPI's page loads its scripts from other hosts.
    app = FastAPI(
        title="keyhole", version=__version__, description=_ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.store, app.state.settings = store, settings
    app.state.metrics = metrics.Metrics()
    # The most frequent calls are matched first.
    for router in (routes.rounds, routes.learners, routes.labels):
        app.include_router(router)
    for part in (exports, event_stream, metrics, pages):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    add_handlers(app)
    app.add_exception_handler(StoreUnavailable, _store_unavailable)
    if settings.local and not settings.auth:
        # Without tokens the server answers only to names of this machine: another name means that the request came
        # through a proxy, or from a page that uses DNS rebinding.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK_NAMES], www_redirect=False)
    app.add_middleware(SecurityMiddleware, request_timeout=settings.request_timeout)
    app.add_middleware(metrics.MetricsMiddleware, metrics=app.state.metrics)
    _describe_problems(app)
    return app


def from_environment() -> FastAPI:
    """Create the app in a worker process, from settings in the environment."""
    settings = Settings.from_environment()
    share_arenas()
    # Drawing a figure holds Python's global lock for a tenth of a second; other calls must be able to run in between.
    sys.setswitchinterval(0.0005)
    if settings.supervisor is not None:
        leave_with(settings.supervisor)
    return create_app(settings)


async def _store_unavailable(request: Request, fault: Exception) -> Response:
    return away("the store does not answer; try again")


def _describe_problems(app: FastAPI) -> None:
    """Add the schema of a problem to the OpenAPI document."""
    build = app.openapi

    def openapi() -> dict[str, object]:
        document = build()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema()
        for path in document["paths"].values():
            for call in path.values():
                call.get("responses", {}).pop("422", None)  # FastAPI's own schema, which we do not use
        return document

    app.openapi = openapi  # type: ignore[method-assign]
