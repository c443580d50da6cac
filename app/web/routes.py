"""Which address is answered by what, added to the tables that Panel's server builds its routes from.

``panel serve app`` has no switch for routes, and hooks are handed no server; but the application's
``app_hooks`` are loaded before the server is built, and its tables are plain lists.
"""

from __future__ import annotations

from typing import Any

import bokeh.server.server as bokeh_server
import panel.io.server as panel_server
from bokeh.embed.bundle import extension_dirs
from bokeh.server import urls
from bokeh.settings import settings as bokeh_settings

from app.calculators.handlers import Calculators
from app.designing.handlers import ROUTES as DESIGN
from app.web import unstuck
from app.web.application import LabApplication
from app.web.compressed import ComponentFiles, Extensions, Scripts
from app.web.handlers import READ, Alive, Health, Icon, LearnerPage, Read, TableSheet, ToRead, ToRoot
from app.web.socket import LearnerSocket

ROUTES: list[Any] = [
    (r"", ToRoot),
    (r"/favicon.ico", Icon),
    (r"/healthz", Health),
    (r"/lab/alive", Alive),
    (r"/lab/tables.css", TableSheet),
    *DESIGN,
    (r"/lab/calculators", Calculators),
    (r"/read", ToRead),
    (r"/read/(.*)", Read, {"path": str(READ), "default_filename": "index.html"}),
    (r"/static/extensions/(.*)", Extensions, {"root": extension_dirs}),
    (r"/static/(.*)", Scripts),
]
OURS: dict[type[Any], type[Any]] = {
    panel_server.DocHandler: LearnerPage,
    panel_server.WSHandler: LearnerSocket,
}
CLOSED = ("/autoload.js", "/metadata")  # a way to a session, and to its name, that no page of ours takes


def install() -> None:
    """Put our handlers into the tables. May be called again: the second time changes nothing."""
    if any(pattern[1] is Health for pattern in urls.toplevel_patterns):
        return
    urls.toplevel_patterns[:0] = ROUTES
    urls.per_app_patterns[:] = [
        (pattern[0], OURS.get(pattern[1], pattern[1]))
        for pattern in urls.per_app_patterns
        if pattern[0] not in CLOSED
    ]
    # Bokeh would look for a programmer's mistakes in every new page, and guess what a missing name may mean.
    bokeh_settings.perform_document_validation = False
    bokeh_settings.perform_error_diagnostics = False
    bokeh_server.BokehTornado = LabApplication  # type: ignore[attr-defined]
    panel_server.ComponentResourceHandler = ComponentFiles  # type: ignore[misc]
    unstuck.install()
