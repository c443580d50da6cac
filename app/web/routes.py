"""Which address is answered by what, added to the tables that Panel's server builds its routes from.

``panel serve app`` has no switch for routes, and hooks are handed no server; but the application's
``app_hooks`` are loaded before the server is built, and its tables are plain lists.
"""

from __future__ import annotations

from typing import Any

import panel.io.server as panel_server
from bokeh.embed.bundle import extension_dirs
from bokeh.server import urls

from app.calculators.handlers import Calculators
from app.web.compressed import ComponentFiles, Extensions, Scripts
from app.web.handlers import READ, Health, LearnerPage, Read, TableSheet, ToRead

ROUTES: list[Any] = [
    (r"/healthz", Health),
    (r"/lab/tables.css", TableSheet),
    (r"/lab/calculators", Calculators),
    (r"/read", ToRead),
    (r"/read/(.*)", Read, {"path": str(READ), "default_filename": "index.html"}),
    (r"/static/extensions/(.*)", Extensions, {"root": extension_dirs}),
    (r"/static/(.*)", Scripts),
]


def install() -> None:
    """Put our handlers into the tables. May be called again: the second time changes nothing."""
    if any(pattern[1] is Health for pattern in urls.toplevel_patterns):
        return
    urls.toplevel_patterns[:0] = ROUTES
    for place, pattern in enumerate(urls.per_app_patterns):
        if pattern[1] is panel_server.DocHandler:
            urls.per_app_patterns[place] = (pattern[0], LearnerPage)
    panel_server.ComponentResourceHandler = ComponentFiles  # type: ignore[misc]
