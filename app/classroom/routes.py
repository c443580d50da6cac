"""Which addresses a class has beside those of the lab."""

from __future__ import annotations

from typing import Any

from bokeh.server import urls
from bokeh.server.util import create_hosts_allowlist

from app.classroom.classroom import Classroom
from app.classroom.handlers import (
    ClassHealth,
    JoinedCalculators,
    JoinedDesign,
    JoinedPage,
    Landing,
    Ready,
)
from app.classroom.pages import HERE, ClassFiles, Nothing
from app.classroom.reading import ClassRead
from app.server import server
from app.state.following import Following
from app.web.application import LabApplication
from app.web.handlers import READ, LearnerPage
from app.web.routes import install


def class_routes(classroom: Classroom) -> list[Any]:
    """The addresses and their handlers."""
    shared = {"classroom": classroom}
    return [
        (r"/", Landing, shared),
        (r"/read/(.*)", ClassRead, {"path": str(READ), "default_filename": "index.html"}),
        (r"/class/(.*)", ClassFiles, {"path": str(HERE / "files")}),
        (r"/lab/design", JoinedDesign, shared),
        (r"/lab/calculators", JoinedCalculators, shared),
        (r"/teach.*", Nothing, shared),  # it has a server of its own; a key sent here is in no log
        (r"/healthz", ClassHealth),
        (r"/readyz", Ready),
    ]


def install_class(classroom: Classroom) -> None:
    """Put the handlers of the class before those of the lab, and a door before the lab. Once per process."""
    install()
    shared = server()
    shared.following = Following(shared.store.classes, shared.looked_up)
    urls.toplevel_patterns[:0] = class_routes(classroom)
    urls.per_app_patterns[:] = [
        (pattern[0], _behind_the_door(classroom)) if pattern[1] is LearnerPage else pattern
        for pattern in urls.per_app_patterns
    ]
    LabApplication.hosts = tuple(create_hosts_allowlist(classroom.origins, classroom.options.port))


def _behind_the_door(classroom: Classroom) -> type[JoinedPage]:
    return type("ClassPage", (JoinedPage,), {"classroom": classroom})
