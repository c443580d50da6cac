"""What every component of the page has in common: its words, its scripts, its address.

A component is a ``.py`` with params and a ``.js`` beside it that draws them. The browser loads the
scripts and style sheets by address, once, so that a new learner costs no bytes of code.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import param

from app.components.lean import LeanComponent
from engine.words import LANGUAGES, Catalogue, catalogue
from puzzles.words import puzzle_words

HERE = Path(__file__).parent
SHEETS = ("tokens.css", "lab.css", "form.css", "player.css", "timelines.css", "panels.css")
SCRIPTS = ("shared.js", "grid.js", "roving.js")


def _version() -> str:
    """A short digest of every script and sheet: a new release gets new addresses."""
    digest = hashlib.sha256()
    for path in sorted([*HERE.glob("*.js"), *HERE.glob("*.css")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


VERSION = _version()


def component_words(language: str) -> Catalogue:
    """The words of all components in ``language``."""
    return catalogue(HERE, language)


@cache
def section(name: str, language: str) -> dict[str, str]:
    """The words of one component: keys ``component.<name>.<key>`` without their prefix."""
    prefix = f"component.{name}."
    words = component_words(language).texts
    return {key.removeprefix(prefix): text for key, text in words.items() if key.startswith(prefix)}


@cache
def puzzle_section(start: str, end: str, language: str) -> dict[str, str]:
    """The words of the puzzles whose keys begin and end so: what they name is called so everywhere."""
    texts = puzzle_words(language).texts
    return {key: text for key, text in texts.items() if key.startswith(start) and key.endswith(end)}


class LabComponent(LeanComponent):
    """Base of the components: ``texts`` in the learner's language, scripts and sheets by address."""

    language: Any = param.Selector(default="en", objects=list(LANGUAGES), doc="Language of ``texts``.")

    texts = param.Dict(default={}, doc="Words by key; filled from the catalogue when left empty.")

    _section: ClassVar[str] = ""  # name of its words in the catalogue
    _puzzle_texts: ClassVar[tuple[tuple[str, str], ...]] = ()  # what it takes from the puzzles' words
    _rename: ClassVar[dict[str, str | None]] = {"language": None}
    # Listed so that Panel's own route for component files serves them, and nothing else.
    _js: ClassVar[list[Path]] = [Path(name) for name in SCRIPTS]
    _css: ClassVar[list[Path]] = [Path(name) for name in SHEETS]

    __abstract = True

    def __init__(self, **params: Any) -> None:
        # As wide as its place, as high as its content; the page decides about distances.
        super().__init__(**({"sizing_mode": "stretch_width", "margin": 0} | params))
        if not self.texts:
            self._load_texts()
        self.param.watch(lambda _: self._load_texts(), "language")

    def _load_texts(self) -> None:
        texts = section(self._section, self.language) if self._section else {}
        for start, end in self._puzzle_texts:
            texts = texts | puzzle_section(start, end, self.language)
        self.texts = texts

    @classmethod
    def _render_esm(cls, compiled: bool | Literal["compiling"] = True, server: bool = False) -> str:
        """The address of the script with the version in it (the script itself outside a server)."""
        esm = str(super()._render_esm(compiled, server))
        return f"{esm}?v={VERSION}" if server and "?" not in esm and "\n" not in esm else esm


class RunComponent(LabComponent):
    """Base of the pictures of a run: which runs, and what they are called."""

    names = param.List(default=[], item_type=str, doc="Names of the runs to show, in order; empty: all.")

    titles = param.Dict(
        default={}, doc="A short title per run name; without one, the short title of the puzzle's texts."
    )

    _puzzle_texts: ClassVar[tuple[tuple[str, str], ...]] = (("run.", ".short"),)

    __abstract = True
