"""Metrics for Prometheus. Learner metrics are read from the store, so that all workers report the same values."""

import os
import time
from collections.abc import Iterator

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..store.store import Store
from .security import Opened, may

__all__ = ["Metrics", "MetricsMiddleware", "router"]

router = APIRouter(tags=["server"])


class Metrics:
    """The counters of one app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        by = ("method", "path", "status")
        self.calls = Counter("keyhole_http_requests", "Calls answered.", by, registry=self.registry)
        self.seconds = Histogram("keyhole_http_seconds", "Time to answer.", ("path",), registry=self.registry)
        # Cached by label, because looking a counter up takes longer than counting; there are few label combinations.
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count one answered call."""
        kind = (method, path, status)
        if kind not in self._children:
            self._children[kind] = (self.calls.labels(method, path, str(status)), self.seconds.labels(path))
        calls, times = self._children[kind]
        calls.inc()
        times.observe(seconds)

    def exposed(self, store: Store) -> bytes:
        """Return all metrics in the format of Prometheus."""
        shown = CollectorRegistry()
        shown.register(_Learners(store))
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            multiprocess.MultiProcessCollector(shown)  # type: ignore[no-untyped-call]
            return generate_latest(shown)
        return generate_latest(shown) + generate_latest(self.registry)


class _Learners:
    """The totals of each learner."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def collect(self) -> Iterator[Metric]:
        every = self.store.summaries()
        counters = {"rounds": ("Rounds asked.", "n_asked"), "labels": ("Labels recorded.", "n_labels")}
        for name, (help, field) in counters.items():
            family: Metric = CounterMetricFamily(f"keyhole_{name}", help, labels=["learner"])
            for one in every:
                family.add_metric([one.name], getattr(one.totals, field))  # type: ignore[attr-defined]
            yield family
        gauges = {"open_rounds": ("Rounds that wait for a label.", "n_open"), "spent": ("Money ordered for.", "spent")}
        gauges |= {"mean_loss": ("Mean squared error.", "mean_loss")}
        gauges |= {
            "mean_baseline_loss": (
                "Mean squared error of predicting the mean.",
                "mean_baseline_loss",
            )
        }
        for name, (help, field) in gauges.items():
            family = GaugeMetricFamily(f"keyhole_{name}", help, labels=["learner"])
            for one in every:
                family.add_metric([one.name], getattr(one.totals, field) or 0.0)
            yield family


class MetricsMiddleware:
    """An ASGI middleware that counts calls by route, never by a path or a method that a client invented."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

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
            # A client may invent methods too; each would be one more counter, kept for ever.
            method = scope["method"] if path != "none" and status != 405 else "any"
            self.metrics.count(method, path, status, time.perf_counter() - start)


@router.get("/metrics", response_class=PlainTextResponse, dependencies=[Depends(may("read"))])
def metrics(request: Request, store: Opened) -> Response:
    """The metrics, in the format of Prometheus."""
    collected: Metrics = request.app.state.metrics
    return Response(collected.exposed(store), media_type=CONTENT_TYPE_LATEST)


@router.get("/healthz")
def health(store: Opened) -> dict[str, str]:
    """Whether the service can serve learners: all algorithms are imported, and the store can be read."""
    with store.database.reading() as connection:
        connection.row("SELECT id FROM keyhole_learners LIMIT 1")
    return {"status": "ok"}
