"""The page of free play: the form, the components that show runs, and one ``Play`` behind them."""

from __future__ import annotations

import logging
import secrets
from typing import Any

import msgspec
import panel as pn
from bokeh.document import Document
from panel.io.resources import LOCAL_DIST

from app.pages.desk import Desk
from app.pages.template import frame, template, version
from app.play.desk import PlayDesk
from app.play.form import defaults, groups
from app.play.pictures import Pictures
from app.play.presets import presets
from app.play.sheet import MOST_BYTES, MOST_DRAWN, MOST_ROWS, Sheet, plain, sheet_of
from app.play.state import Play
from app.play.words import play_page_words
from app.server import Server
from app.store import ShareRefused, Shares
from app.web.identity import LANGUAGE
from app.words import app_words, choose_language, first_argument
from app.worker import WorkerError, WorkerRefused
from engine.service import SETTINGS
from engine.words import engine_words
from puzzles.words import puzzle_words

log = logging.getLogger(__name__)

FIELDS = (*SETTINGS, "horizon", "slo_ttft", "slo_tpot")


class PlayPage:
    """Wires one ``Play`` to the components of one session."""

    def __init__(self, play: Play, sheet: Sheet | None, code: str) -> None:
        self.play = play
        self.code = code if sheet else ""
        self.words = play_page_words(play.language)
        self.number = 0
        self.pictures = Pictures(play.language)
        self.frame = Desk(session=secrets.token_hex(8), state={"step": "play"})
        first = presets()[0]
        setup = {"trace": first["trace"], "name": first["name"]}
        self.desk = PlayDesk(
            sheet=plain(sheet) if sheet else plain(msgspec.convert({"setup": setup}, Sheet)),
            shared=sheet is not None,
            presets=presets(),
            defaults=defaults(),
            texts=self.script_texts(),
        )
        self.wishes = {"run": self._run, "look": self._look, "share": self._share}
        self._watch()

    @property
    def roots(self) -> dict[str, Any]:
        """Every component of the page, by the name the template gives its place."""
        return {**self.pictures.roots, "form": self.desk, "frame": self.frame}

    def script_texts(self) -> dict[str, str]:
        """The words of the form's script, and those of the legend of its picture."""
        own = {k.removeprefix("script."): t for k, t in self.words.texts.items() if k.startswith("script.")}
        cells = puzzle_words(self.play.language).texts
        return own | {key: text for key, text in cells.items() if key.startswith("cell.")}

    def _watch(self) -> None:
        self.desk.param.watch(self._wished, "wish")
        self.desk.param.watch(lambda _: self.play.stop(), "stop")
        self.play.param.watch(self._status, ["state", "run", "tick"])
        self.play.param.watch(self._figures, "figures")
        self.play.param.watch(self._switches, "switches")

    # ---- what the visitor does --------------------------------------------------------------------

    async def _wished(self, event: Any) -> None:
        """What was asked for; whatever goes wrong is said in one sentence."""
        wish, sheet = event.new
        try:
            if wish in self.wishes:
                await self._on_sheet(wish, sheet)
            else:
                await self._file(wish)
        except WorkerRefused as error:
            self._refuse(error.told(self.play.language), field=field_of(str(error)))
        except WorkerError as error:
            log.warning("free play failed: %r", error)
            self._refuse(self.words(f"error.{error.code}"))
        except ShareRefused as error:
            self._refuse(self.words(f"error.share.{error.code}"), field="share")

    async def _on_sheet(self, wish: str, sheet: Sheet | None) -> None:
        if sheet is None:
            self._refuse(self.words("error.sheet"))
            return
        await self.wishes[wish](sheet)

    async def _run(self, sheet: Sheet) -> None:
        self.desk.problem = {}
        await self.play.play(sheet)

    async def _look(self, sheet: Sheet) -> None:
        self.desk.problem = {}
        self.desk.seen = await self.play.look(sheet)

    async def _share(self, sheet: Sheet) -> None:
        self.desk.short_link = {"code": await self.play.share(sheet), "number": self._count()}

    async def _file(self, kind: str) -> None:
        made = await self.play.file(kind)
        if made is None:
            self._refuse(self.words("error.nothing_run"))
        else:
            self.desk.file = {**msgspec.to_builtins(made), "number": self._count()}

    # ---- what the page says ------------------------------------------------------------------------

    def _refuse(self, text: str, field: str = "") -> None:
        """One sentence, at the field it is about."""
        self.desk.problem = {"text": text, "field": field, "number": self._count()}

    def _status(self, *_: Any) -> None:
        play = self.play
        text = self.words(f"state.{play.state}", run=play.run, tick=play.tick)
        self.desk.status = {"state": play.state, "text": text, "number": self._count()}

    def _count(self) -> int:
        self.number += 1
        return self.number

    def _figures(self, event: Any) -> None:
        found = event.new
        self.pictures.show(found)
        html, details = (found.html, found.details) if found else ("", "")
        self.desk.param.update(html=html, details=details)

    def _switches(self, event: Any) -> None:
        self.desk.switches = dict(event.new)

    async def restore(self) -> None:
        """Nothing is brought back by itself: a run is made when it is asked for."""

    # ---- the document --------------------------------------------------------------------------------

    def put_on(self, document: Document) -> None:
        """Make this page the document's."""
        language = self.play.language
        # A session made by a websocket (after a restart) would ask Panel's CDN for its style sheets.
        document.template_variables["dist_url"] = LOCAL_DIST
        for name, component in self.roots.items():
            component.server_doc(document, title=self.words("title"), location=False)
            document.roots[-1].name = name
        document.template = template("play.html.j2")
        document.template_variables.update(
            frame(language),
            say=self.words,
            code=self.code,
            groups=groups(language),
            presets=presets(),
            flags={
                name: engine_words(language)(f"flag.{name}") for name in ("horizon", "slo_ttft", "slo_tpot")
            },
            bounds={"bytes": f"{MOST_BYTES:,}", "rows": f"{MOST_ROWS:,}", "drawn": MOST_DRAWN},
            play_sheet=f"components/app.play.desk/PlayDesk/_css/play.css?v={version()}",
            page_title=f"{self.words('title')} · {app_words(language)('site.title')}",
            built=True,
        )


def field_of(sentence: str) -> str:
    """The field that a refusal is about: its English sentence begins with the name of the field, or of the
    trace; empty where it names no place."""
    start, colon, _ = sentence.removeprefix("A: ").partition(":")
    return start if start in FIELDS else "trace" if colon else ""


def play_page(shared: Server) -> PlayPage:
    """The page of whoever asks, with what the short link stands for."""
    arguments, cookies = pn.state.session_args, pn.state.cookies
    accepted = str(pn.state.headers.get("Accept-Language") or "")
    language = choose_language(first_argument(arguments, "lang"), cookies.get(LANGUAGE), accepted)
    code = first_argument(arguments, "play") or ""
    content = Shares(shared.store).find(code) if code else None
    if not shared.settings.free_play:
        raise PermissionError("free play is closed")
    return PlayPage(Play(server=shared, language=language), sheet_of(content) if content else None, code)
