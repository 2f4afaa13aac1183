"""The service, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from sqlalchemy.exc import DBAPIError
from starlette.staticfiles import StaticFiles

from .. import __version__
from ..store.store import Store
from . import event_stream, exports, label_upload, learner_routes, metrics, round_routes
from .executor import Threads
from .problems import Problem, add_handlers, away
from .security_middleware import SecurityMiddleware
from .server_settings import Settings
from .supervisor import leave_with
from .ui import pages

__all__ = ["create_app", "from_environment"]

_ABOUT = "Learners that many processes share: ask what to buy, predict, tell the label when it comes."


def create_app(settings: Settings) -> FastAPI:
    """An ASGI app on the store of these settings."""
    store = Store(settings.url)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.watch = event_stream.EventPoller(store)
        yield
        app.state.threads.close()
        store.close()

    # The page of the documentation is our own (`pages`): the usual one fetches its scripts from elsewhere.
    app = FastAPI(
        title="keyhole", version=__version__, description=_ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.store, app.state.settings = store, settings
    app.state.meter, app.state.threads = metrics.Metrics(), Threads()
    # What is called most is looked for first.
    for part in (round_routes, learner_routes, label_upload, exports, event_stream, metrics, pages):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    add_handlers(app)
    app.add_exception_handler(DBAPIError, _store_is_away)
    app.add_middleware(SecurityMiddleware, local=settings.local and not settings.auth)
    app.add_middleware(metrics.MetricsMiddleware, meter=app.state.meter)
    _describe_problems(app)
    return app


def from_environment() -> FastAPI:
    """The app of a worker."""
    settings = Settings.from_environment()
    if settings.supervisor is not None:
        leave_with(settings.supervisor)
    return create_app(settings)


async def _store_is_away(request: Request, fault: Exception) -> Response:
    return away("the store does not answer; try again")


def _describe_problems(app: FastAPI) -> None:
    """The shape of a problem belongs to the document, though no call gives it as its answer."""
    build = app.openapi

    def openapi() -> dict[str, object]:
        document = build()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema()
        for path in document["paths"].values():
            for call in path.values():
                call.get("responses", {}).pop("422", None)  # FastAPI's own shape, which we do not use
        return document

    app.openapi = openapi  # type: ignore[method-assign]
