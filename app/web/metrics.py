"""Figures for Prometheus, at an address of their own that learners need not reach. Only when asked for."""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler

from app.server import Server, server
from app.settings import settings
from app.web.notices import web_words
from app.web.policy import SafeHeaders

if TYPE_CHECKING:  # whoever checks settings must not load Bokeh before its secrets are set
    from bokeh.server.contexts import ApplicationContext

log = logging.getLogger(__name__)

EVERY = 1.0  # seconds between two looks at the loop

# name, what it is, and whether it can only grow
FIGURES: tuple[tuple[str, str, bool], ...] = (
    ("ticklab_sessions_open", "Pages that are open or were left a short while ago", False),
    ("ticklab_connections_open", "Websockets that are open", False),
    ("ticklab_learners_joined", "Codes of the class that were right", True),
    ("ticklab_locks", "Predictions locked through this server", True),
    ("ticklab_drafts", "Drafts kept through this server", True),
    ("ticklab_engine_queue", "Commands that wait for the engine or are being served", False),
    ("ticklab_engine_ready", "1 while the engine is loaded", False),
    ("ticklab_engine_restarts", "Times the engine process was started again", True),
    ("ticklab_runs", "Runs that the engine has begun", True),
    ("ticklab_runs_kept", "Recorded runs in memory", False),
    ("ticklab_loop_lag_seconds", "How late the event loop was when last looked at", False),
    ("ticklab_loop_lag_worst_seconds", "How late the event loop was at worst since the last reading", False),
    ("ticklab_database_errors", "Calls of the database that failed", True),
)


def what_is_wrong(address: str, language: str) -> str | None:
    """One sentence when figures cannot be shown at ``address`` (host:port), else None."""
    words = web_words(language)
    try:
        importlib.import_module("prometheus_client")
    except ImportError:
        return words("metrics.missing")
    _, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        return words("metrics.form", address=address)
    return None


def show_metrics(context: ApplicationContext) -> None:
    """Listen where the settings say, if they say so. What is wrong is one line of the log."""
    address = settings().metrics
    problem = what_is_wrong(address, "en") if address else None
    if problem:
        log.error(problem)
    elif address:
        IOLoop.current().add_callback(_listen, address, context)


async def _listen(address: str, context: ApplicationContext) -> None:
    from prometheus_client import CollectorRegistry

    registry, pulse = CollectorRegistry(), Pulse()
    registry.register(Collector(server(), context, pulse))
    application = Application([(r"/metrics", Metrics, {"registry": registry})])
    application.add_transform(SafeHeaders)
    host, _, port = address.rpartition(":")
    try:
        HTTPServer(application, max_body_size=1024).listen(int(port), host.strip("[]"))
    except OSError as error:
        log.error(web_words("en")("metrics.address", address=address, reason=error.strerror))
        return
    await pulse.beat()


class Pulse:
    """Looks once a second how late the event loop is."""

    def __init__(self) -> None:
        self.lag = self._worst = 0.0

    async def beat(self) -> None:
        """For as long as the loop runs."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(EVERY)
            self.lag = max(0.0, time.perf_counter() - began - EVERY)
            self._worst = max(self._worst, self.lag)

    def worst(self) -> float:
        """The worst since this was asked last."""
        worst, self._worst = self._worst, 0.0
        return worst


class Collector:
    """Reads the figures when Prometheus asks: nothing is kept for it meanwhile."""

    def __init__(self, shared: Server, context: ApplicationContext, pulse: Pulse) -> None:
        self._server, self._context, self._pulse = shared, context, pulse

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        values = self._values()
        for name, help_text, grows in FIGURES:
            family = CounterMetricFamily if grows else GaugeMetricFamily
            yield family(name, help_text, value=values[name])

    def _values(self) -> dict[str, float]:
        counts, worker, runs = self._server.counts, self._server.worker, self._server.runs
        sessions = list(self._context.sessions)
        return {
            "ticklab_sessions_open": len(sessions),
            "ticklab_connections_open": sum(session.connection_count for session in sessions),
            "ticklab_learners_joined": counts["joined"],
            "ticklab_locks": counts["lock"],
            "ticklab_drafts": counts["save_draft"],
            "ticklab_engine_queue": worker.waiting,
            "ticklab_engine_ready": float(worker.state == "ready"),
            "ticklab_engine_restarts": max(0, worker.starts - 1),
            "ticklab_runs": runs.started,
            "ticklab_runs_kept": runs.kept,
            "ticklab_loop_lag_seconds": self._pulse.lag,
            "ticklab_loop_lag_worst_seconds": self._pulse.worst(),
            "ticklab_database_errors": counts["database_errors"],
        }


class Metrics(RequestHandler):
    """The figures as Prometheus reads them."""

    def initialize(self, registry: Any) -> None:
        self._registry = registry

    def get(self) -> None:
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        self.set_header("Content-Type", CONTENT_TYPE_LATEST)
        self.set_header("Cache-Control", "no-store")
        self.write(generate_latest(self._registry))
