"""Numbers for Prometheus. Those of the learners come from the store, so that every worker says the same."""

import os
import time
from collections.abc import Iterator

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy import text
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..store.store import Store
from .auth import Opened, may

__all__ = ["Metrics", "MetricsMiddleware", "router"]

router = APIRouter(tags=["server"])


class Metrics:
    """The counters of one app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        by = ("method", "path", "status")
        self.calls = Counter("keyhole_http_requests", "Calls answered.", by, registry=self.registry)
        self.seconds = Histogram("keyhole_http_seconds", "Time to answer.", ("path",), registry=self.registry)
        # Of both, by their labels: to find them takes longer than to count; methods, routes and statuses are few.
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """One call that was answered."""
        kind = (method, path, status)
        if kind not in self._children:
            self._children[kind] = (self.calls.labels(method, path, str(status)), self.seconds.labels(path))
        calls, times = self._children[kind]
        calls.inc()
        times.observe(seconds)

    def exposed(self, store: Store) -> bytes:
        """Everything, as Prometheus reads it."""
        shown = CollectorRegistry()
        shown.register(_Learners(store))
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            multiprocess.MultiProcessCollector(shown)  # type: ignore[no-untyped-call]
            return generate_latest(shown)
        return generate_latest(shown) + generate_latest(self.registry)


class _Learners:
    """What the store knows, one line per learner."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def collect(self) -> Iterator[Metric]:
        every = self.store.summaries()
        for name, words in (("asked", "Rounds asked."), ("told", "Labels told.")):
            family: Metric = CounterMetricFamily(f"keyhole_rounds_{name}", words, labels=["learner"])
            for one in every:
                family.add_metric([one.name], getattr(one.totals, name))  # type: ignore[attr-defined]
            yield family
        gauges = {"open_rounds": "Rounds that wait for a label.", "spent": "Money ordered for."}
        gauges |= {"loss": "Mean squared error.", "idle_loss": "The same for who buys nothing."}
        for name, words in gauges.items():
            family = GaugeMetricFamily(f"keyhole_{name}", words, labels=["learner"])
            for one in every:
                t, n = one.totals, max(one.totals.scored, 1)
                value = {"open_rounds": t.open, "spent": t.spent, "loss": t.loss / n, "idle_loss": t.idle / n}[name]
                family.add_metric([one.name], value)
            yield family


class MetricsMiddleware:
    """An ASGI layer that counts calls by the route they took, never by what a stranger typed."""

    def __init__(self, app: ASGIApp, meter: Metrics) -> None:
        self.app, self.meter = app, meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            path = getattr(scope.get("route"), "path", "none")
            self.meter.count(scope["method"] if path != "none" else "any", path, status, time.perf_counter() - start)


@router.get("/metrics", response_class=PlainTextResponse, dependencies=[Depends(may("read"))])
def metrics(request: Request, store: Opened) -> Response:
    """For Prometheus."""
    meter: Metrics = request.app.state.meter
    return Response(meter.exposed(store), media_type=CONTENT_TYPE_LATEST)


@router.get("/healthz")
def health(store: Opened) -> dict[str, str]:
    """Whether the store answers."""
    with store.database.reading() as connection:
        connection.execute(text("SELECT 1"))
    return {"status": "ok"}
