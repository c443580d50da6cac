"""Which addresses the teacher's server has. All of them are under /teach, where its cookie is sent."""

from __future__ import annotations

from typing import Any

from tornado.web import RedirectHandler, RequestHandler

from app.classroom.classroom import Classroom
from app.classroom.pages import HERE, ClassFiles, Nothing
from app.teacher.classes import ClassAct, ClassList
from app.teacher.directing import Direct, OpenReading
from app.teacher.exporting import Export
from app.teacher.projector import Project, ProjectPart
from app.teacher.teaching import Part, Teach

TOKENS = r"/components/app\.components\.base/LabComponent/_css/(tokens\.css)"  # as on the lab's own server


class NoIcon(RequestHandler):
    """Browsers ask for one."""

    def get(self) -> None:
        self.set_status(204)


def teacher_routes(classroom: Classroom) -> list[Any]:
    """The addresses and their handlers."""
    shared = {"classroom": classroom}
    return [
        (r"/", RedirectHandler, {"url": "/teach", "permanent": False}),
        (r"/teach", Teach, shared),
        (r"/teach/(board|exercises)", Part, shared),
        (r"/teach/direct", Direct, shared),
        (r"/teach/reading", OpenReading, shared),
        (r"/teach/predictions\.(csv|json)", Export, shared),
        (r"/teach/classes", ClassList, shared),
        (r"/teach/classes/(start|rename|end|resume|delete)", ClassAct, shared),
        (r"/teach/project", Project, shared),
        (r"/teach/project/part", ProjectPart, shared),
        (r"/class/(.*)", ClassFiles, {"path": str(HERE / "files")}),
        (TOKENS, ClassFiles, {"path": str(HERE.parent / "components")}),
        (r"/favicon\.ico", NoIcon),
        (r".*", Nothing, shared),
    ]
