"""What ``panel serve app`` calls when the server comes and goes. Loaded twice, which adds nothing."""

from __future__ import annotations

from typing import Any

from app.server import server
from app.web.metrics import show_metrics
from app.web.routes import install

install()


def on_server_loaded(server_context: Any) -> None:
    """Open the store now, not with the first learner, and let the worker load torch meanwhile."""
    server_context.application_context.io_loop.add_callback(server().warm_up)
    show_metrics(server_context.application_context)


def on_server_unloaded(server_context: Any) -> None:
    """End the worker. When the server is killed instead, the worker sees its input end and ends itself."""
    server_context.application_context.io_loop.add_callback(server().close)
