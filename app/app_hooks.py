"""What ``panel serve app`` calls when the server comes and goes. Loaded twice, which adds nothing."""

from __future__ import annotations

from typing import Any

from app.journal import configure
from app.server import server
from app.store import StoreError
from app.web.metrics import show_metrics
from app.web.routes import install

install()
configure()


def on_server_loaded(server_context: Any) -> None:
    """Open the store now, not with the first learner, and let the worker load torch meanwhile.

    A database that cannot be had is told in the log; every page asks for it anew.
    """
    show_metrics(server_context.application_context)
    try:
        warm_up = server().warm_up
    except StoreError:
        return
    server_context.application_context.io_loop.add_callback(warm_up)


def on_server_unloaded(server_context: Any) -> None:
    """End the worker. When the server is killed instead, the worker sees its input end and ends itself."""
    try:
        close = server().close
    except StoreError:
        return
    server_context.application_context.io_loop.add_callback(close)
