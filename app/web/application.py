"""The server's outermost door: what holds for every address, before and after its handler."""

from __future__ import annotations

from typing import Any

from bokeh.server.tornado import BokehTornado
from bokeh.server.util import check_allowlist
from tornado.httputil import HTTPServerRequest
from tornado.web import Application

from app.web.notices import Notice
from app.web.policy import SafeHeaders

LARGEST_BODY = 64 * 1024  # bytes: the largest form of ours is a hundred
PROBES = ("/healthz", "/readyz")  # asked by machines, under whatever name


class LabApplication(BokehTornado):
    """Bokeh's application with safe headers on every answer, small bodies only, and pages of ours for errors.

    ``hosts`` are the names by which this server may be called, as ``host:port``; None for any. A page
    of another site whose name was pointed at this server is told nothing then.
    """

    hosts: tuple[str, ...] | None = None

    def __init__(self, *args: Any, **names: Any) -> None:
        names.setdefault("default_handler_class", Notice)
        names.setdefault("default_handler_args", {"status": 404})
        super().__init__(*args, **names)
        self.add_transform(SafeHeaders)

    def find_handler(self, request: HTTPServerRequest, **names: Any) -> Any:
        status = self._refused(request)
        if status:
            return Application.get_handler_delegate(self, request, Notice, {"status": status})
        return super().find_handler(request, **names)

    def _refused(self, request: HTTPServerRequest) -> int | None:
        """The status of a request that no handler shall see."""
        connection: Any = request.connection
        connection.set_max_body_size(LARGEST_BODY)
        if _length(request) > LARGEST_BODY:
            return 413
        if "%00" in request.path:  # no file has such a name, and asking for one is an error
            return 404
        path = request.path.removeprefix(self.prefix)
        if self.hosts is None or path in PROBES or check_allowlist(request.host.lower(), self.hosts):
            return None
        return 421


def _length(request: HTTPServerRequest) -> int:
    told = request.headers.get("Content-Length", "0")
    return int(told) if told.isascii() and told.isdigit() else 0
