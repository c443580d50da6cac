"""Texts that would break a page that forgets to escape, and what finds them in one that did."""

from __future__ import annotations

import json
from html.parser import HTMLParser

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</script><script>alert(1)</script>",
    "</textarea></title></style><script>alert(1)</script>",
    "<!--<script>alert(1)//-->",
    "{{7*7}}${7*7}#{7*7}",
    "javascript:alert(1)",
    "\u202egnp.exe\u202c \u200f\u2067right\u2069",
    "null\x00byte",
    "a\rb\nc\td",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "x" * 1_000_000,
)
ADDRESSES = ("href", "src", "action", "formaction", "data")
SPREADSHEET = ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1+1", '=HYPERLINK("http://x")')


class _Looker(HTMLParser):
    """Notes every element and attribute that runs something, and the texts of all scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._script: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._script = tag if tag == "script" else None
        for name, value in attributes:
            if name.startswith("on") or (
                name in ADDRESSES and (value or "").strip().lower().startswith("javascript:")
            ):
                self.found.append(f"<{tag} {name}={value!r}>")

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script and "alert(1)" in data and not _is_json(data):
            self.found.append(f"<script>{data[:80]}")
        if "49" in data and "7*7" not in data and "${49}" in data:
            self.found.append("a template was filled in")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def intruders(page: str) -> list[str]:
    """What in ``page``, an HTML page, would run although it is only somebody's text."""
    looker = _Looker()
    looker.feed(page)
    looker.close()
    return looker.found
