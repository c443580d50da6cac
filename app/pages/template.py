"""The frame of every page: our own HTML, escaped by default, in the visitor's language."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from app.pages.contents import MAIN, contents
from app.settings import settings
from app.web.policy import THEME_SCRIPT, with_nonce
from app.words import HTML_LANG, app_words
from engine.words import LANGUAGES
from puzzles.design.words import design_words
from puzzles.render import table_styles

HERE = Path(__file__).parent
ASKED_LENGTH = 60  # characters shown of a name that nobody knows
CODE = (HERE, HERE.parent / "components", HERE.parent / "play")


@cache
def environment() -> Environment:
    """Templates of this room. Everything put in is escaped unless it says it is safe."""
    loader = FileSystemLoader(HERE.parent / "templates")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["without"] = without
    made.filters["with_nonce"] = with_nonce
    return made


def without(scripts: str, name: str) -> str:
    """``scripts`` without the one whose address has ``name`` in it."""
    return re.sub(rf'<script[^>]*src="[^"]*{re.escape(name)}[^"]*"[^>]*></script>', "", scripts)


def template(name: str) -> Template:
    return environment().get_template(name)


@cache
def version() -> str:
    """A short digest of our scripts and sheets: a new release gets new addresses."""
    digest = hashlib.sha256()
    digest.update(table_styles().encode())
    for path in sorted(
        path for folder in CODE for path in folder.iterdir() if path.suffix in (".js", ".css")
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def frame(language: str, exercise: str | None = None, root: str = "") -> dict[str, Any]:
    """What every page needs: its language, its words, the other languages, its style sheets, the exercises.

    ``exercise`` is the one that the page is about; ``root`` leads from its address to those of the lab.
    """
    words = app_words(language)
    return {
        "language": language,
        "html_lang": HTML_LANG[language],
        "words": words,
        "languages": [(name, HTML_LANG[name], app_words(name)("language.name")) for name in LANGUAGES],
        "exercise": exercise,
        "theme_script": THEME_SCRIPT,
        "main_exercise": MAIN,
        "contents": contents(language),
        "design_title": design_words(language)("title"),
        "free_play": settings().free_play,
        "marks": {},
        "signs": {},
        "root": root,
        "tokens": f"components/app.components.base/LabComponent/_css/tokens.css?v={version()}",
        "tables": f"lab/tables.css?v={version()}",
        "connection": f"components/app.pages.desk/Desk/_js/connection.js?v={version()}",
        "theme_switch": f"components/app.pages.desk/Desk/_js/theme.js?v={version()}",
        "sheet": f"components/app.pages.desk/Desk/_css/page.css?v={version()}",
    }


def error_page(language: str) -> str:
    """What a visitor sees when the page cannot be built: what happened and what to do, no traceback."""
    return template("error.html.j2").render(**frame(language))


def unknown_page(language: str, asked: str) -> str:
    """What a visitor sees who asks for an exercise that does not exist: that, and those there are."""
    return template("unknown.html.j2").render(**frame(language), asked=asked[:ASKED_LENGTH])


def message_page(language: str, key: str) -> str:
    """A page that says one thing, ``<key>.title`` and ``<key>.text``, and where to go on."""
    return template("message.html.j2").render(**frame(language), key=key)
