"""The pages without JavaScript in a class: their answers are left out until the teacher opens them."""

from __future__ import annotations

import re
from pathlib import Path

from app.classroom.opening import is_open
from app.classroom.pages import rendered
from app.classroom.words import class_words
from app.web.handlers import Read
from app.web.identity import language_of
from engine.words import LANGUAGES

ANSWERS = re.compile(r'<h2 id="answers">.*?(?=<h2 id="again">|</main>)', re.DOTALL)
LEFT = '<details class="answers">'
DETAILS = re.compile(r"<details\b[^>]*>|</details>")
OF_RUNS = re.compile(r"-(kv|sheet)\.html$")  # pages of nothing but a run


def without_answers(name: str, page: str, notice: str) -> str | None:
    """``page`` with ``notice`` where its answers were; None when the page is nothing but a run."""
    cut, found = ANSWERS.subn(lambda _: notice, page)
    if not found and OF_RUNS.search(name):
        return None
    while LEFT in cut:
        start = cut.index(LEFT)
        cut = cut[:start] + notice + cut[_end(cut, start) :]
    return cut


def _end(page: str, start: int) -> int:
    """Where the element that begins at ``start`` ends, with all that it holds."""
    depth = 0
    for tag in DETAILS.finditer(page, start):
        depth += -1 if tag[0].startswith("</") else 1
        if depth == 0:
            return tag.end()
    return len(page)


class ClassRead(Read):
    """The pages without JavaScript, with or without their answers."""

    absolute_path: str | None = None

    async def get(self, path: str, include_body: bool = True) -> None:
        self.path = self.parse_url_path(path)
        found = self.validate_absolute_path(self.root, self.get_absolute_path(self.root, self.path))
        if found is None:
            return
        if not found.endswith(".html") or await is_open():
            await super().get(path, include_body)
            return
        self._send_closed(Path(found), include_body)

    def compute_etag(self) -> str | None:
        """The file's own tag belongs to the whole page, never to one without its answers."""
        return super().compute_etag() if self.absolute_path else None

    def _send_closed(self, file: Path, include_body: bool) -> None:
        words = class_words(file.parent.name if file.parent.name in LANGUAGES else language_of(self))
        notice = f'<p class="note">{words("reading.closed")}</p>\n'
        page = without_answers(file.name, file.read_text(encoding="utf-8"), notice)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        if page is None:
            self.set_status(403)
            page = rendered(self, "error.html.j2", text=words("reading.closed"))
        if include_body:
            self.write(page)
