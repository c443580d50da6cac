"""A strict reader of our pages: what a validator would say of the HTML we use."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

SVG = {"svg", "g", "path", "line", "text", "desc"}  # and title
VOID = {"meta", "link", "br", "hr", "img", "input", "col"}
ALLOWED = {
    "html", "head", "body", "title", "a", "header", "nav", "main", "footer", "h1", "h2", "h3", "p", "ol",
    "ul", "li", "dl", "dt", "dd", "div", "span", "b", "strong", "small", "q", "abbr", "details", "summary",
    "table",
    "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "pre", "code", *SVG, *VOID,
}  # fmt: skip
BLOCKS = {
    "figure",
    "pre",
    "p",
    "div",
    "ul",
    "ol",
    "dl",
    "table",
    "h1",
    "h2",
    "h3",
    "details",
    "header",
    "main",
    "footer",
}
INLINE = {"p", "span", "a", "b", "strong", "small", "q", "abbr", "h1", "h2", "h3", "dt", "caption", "summary"}
PARENTS = {
    "li": {"ul", "ol"},
    "tr": {"thead", "tbody"},
    "td": {"tr"},
    "th": {"tr"},
    "caption": {"table"},
    "thead": {"table"},
    "tbody": {"table"},
    "dt": {"dl", "div"},
    "dd": {"dl", "div"},
    "summary": {"details"},
    "title": {"head", "svg"},
    "desc": {"svg"},
    "g": {"svg"},
    "path": {"svg", "g"},
    "line": {"g"},
    "text": {"svg", "g"},
    "figcaption": {"figure"},
    "code": {"pre"},
}


class Page(HTMLParser):
    """Reads a page and remembers what matters; ``errors`` lists what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.errors: list[str] = []
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.languages: list[str] = []
        self.text: list[str] = []
        if not text.startswith("<!DOCTYPE html>\n"):
            self.errors.append("no doctype")
        self.feed(text)
        self.close()
        self.errors += [f"<{tag}> is never closed" for tag in self.open]

    @classmethod
    def of(cls, path: Path) -> Page:
        return cls(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._check_place(tag)
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.errors.append(f"<{tag}> has an attribute twice")
        found = dict(attrs)
        self.tags.append((tag, found))
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found[name] or "" for name in ("href", "src") if name in found]
        self.languages += [found["lang"] or ""] if "lang" in found else []
        if any(name.startswith("on") or name == "style" for name in names):
            self.errors.append(f"<{tag}> has a script or a style of its own")
        if tag not in VOID:
            self.open.append(tag)

    def _check_place(self, tag: str) -> None:
        parent = self.open[-1] if self.open else ""
        if tag not in ALLOWED:
            self.errors.append(f"<{tag}> is not expected")
        if tag in PARENTS and parent not in PARENTS[tag]:
            self.errors.append(f"<{tag}> inside <{parent}>")
        if parent in ("ul", "ol") and tag != "li":
            self.errors.append(f"<{tag}> inside <{parent}>")
        if tag in BLOCKS and parent in INLINE:
            self.errors.append(f"<{tag}> inside <{parent}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if (
            self.open
            and self.open[-1] in ("table", "tr", "thead", "tbody", "ul", "ol", "dl")
            and data.strip()
        ):
            self.errors.append(f"text inside <{self.open[-1]}>: {data.strip()[:30]}")

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]
