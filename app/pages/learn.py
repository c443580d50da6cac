"""The learner's page: components around one lesson."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakMethod

import panel as pn
from bokeh.document import Document
from panel.io.resources import LOCAL_DIST

from app.components import Player, PredictionForm
from app.journal import tell
from app.pages.contents import MAIN, known_exercise
from app.pages.desk import Desk, clean
from app.pages.led import Led
from app.pages.pictures import Pictures
from app.pages.standing import SIGNS, standing
from app.pages.template import frame, template
from app.pages.texts import Texts
from app.server import Server
from app.state import STEPS, Lesson, NotAllowed
from app.state.directions import ENDED
from app.state.following import Following
from app.store import StoreError, Visit
from app.texts import tidy
from app.web.identity import LANGUAGE, LEARNER, known_learner, new_learner
from app.web.notices import web_words
from app.web.socket import slowed
from app.words import choose_language, first_argument
from app.worker import WorkerError
from engine import History

log = logging.getLogger(__name__)

TEXT_LENGTH = 500  # characters of one answer


class LearnPage:
    """Wires one lesson to the components of one session. All that happens on the page passes here."""

    def __init__(
        self,
        lesson: Lesson,
        following: Following | None = None,
        visits: Sequence[Visit] = (),
        *,
        plain: bool = False,
    ) -> None:
        self.lesson = lesson
        self.standing = standing(visits)
        self.plain = plain  # the address names no exercise
        self.texts = Texts(lesson)
        self.pictures = Pictures(lesson, self.texts)
        self.known = {field["key"] for field in self.texts.fields()} | {"confidence", "why"}
        self.number = 0
        self.document: Document | None = None
        self.following = following
        self.form = PredictionForm(
            language=lesson.language,
            fields=self.texts.fields(),
            requests=[request.id for request in lesson.exercise.requests],
            parts=self.texts.parts(),
            columns=self.texts.titles,
            draft=self.texts.locked_draft() if lesson.locked else dict(lesson.draft),
            locked=lesson.locked,
            storage_id=self.storage_id(),
        )
        self.desk = Desk(session=secrets.token_hex(8), state=self.state())
        self.commands: dict[str, Callable[..., Awaitable[None]]] = {
            "read": self._read,
            "observe": self._observe,
            "reveal": self._reveal,
            "again": self._again,
        }
        self.led = Led(self)
        self.led.arrange()
        self._watch()

    def storage_id(self) -> str:
        """The name of the browser's own copy of the draft; each vote has its own."""
        lesson = self.lesson
        place = f"{lesson.learner}:{lesson.exercise_name}:{lesson.attempt}"
        return f"{place}:2" if lesson.rules.vote == 2 else place

    @property
    def player(self) -> Player:
        return self.pictures.player

    @property
    def roots(self) -> dict[str, Any]:
        """Every component of the page, by the name the template gives its place."""
        return {"form": self.form, **self.pictures.roots, "desk": self.desk}

    def state(self, **more: Any) -> dict[str, Any]:
        """Where the lesson stands, for the browser: no answer and no run is in it."""
        lesson = self.lesson
        return {
            "step": lesson.shown_step,
            "locked": lesson.locked and lesson.shown_step not in ("read", "predict"),
            "done": lesson.done,
            "observed": lesson.observed is not None,
            **self.texts.progress(self.standing.at(lesson)),
            **more,
        }

    def _watch(self) -> None:
        self.form.param.watch(self._draft, "draft")
        self.form.param.watch(self._lock, "lock")
        self.player.param.watch(self._step, "request_step")
        self.player.param.watch(self._end, "request_end")
        self.player.param.watch(self._move, "tick")
        self.pictures.quantization.param.watch(self._compare, "asked")
        self.desk.param.watch(self._command, "command")

    # ---- what the learner does -----------------------------------------------------------------

    async def _draft(self, event: Any) -> None:
        try:
            await self.lesson.save_draft(self._known_texts(event.new))
        except StoreError:  # the browser keeps what is typed, and every lock brings it along
            self.say(self.texts.words("unstored.draft"), kind="refused")

    def _known_texts(self, draft: dict[str, Any]) -> dict[str, str]:
        """Only texts of questions that are asked, and not too long: a draft comes from a browser."""
        return {
            key: tidy(text, TEXT_LENGTH)
            for key, text in draft.items()
            if key in self.known and isinstance(text, str)
        }

    async def _lock(self, _: Any) -> None:
        try:
            problems = await self.lesson.lock(self._known_texts(self.form.draft))
        except StoreError:
            self.form.refuse({}, note=self.texts.words("unstored.lock"))
            return
        except NotAllowed as error:
            self.form.refuse({})
            self._refuse(error)
            return
        if problems:
            self.form.refuse(self.texts.problems(problems))
            return
        with pn.io.hold():  # in one message
            self.form.param.update(draft=dict(self.texts.locked_draft()), locked=True)
            if not self.lesson.running:
                self.led.arrange()
                self._tell("said.kept", "led")
                return
            self.pictures.open()
            self._tell("said.locked")

    async def _step(self, _: Any) -> None:
        await self._run(self.lesson.run_step)

    async def _end(self, _: Any) -> None:
        await self._run(self.lesson.run_to_end)

    async def _run(self, ask: Any) -> None:
        self.player.problem = ""
        before = self.lesson.done
        try:
            histories = await ask()
            with pn.io.hold():  # in one message
                self.pictures.show(histories)
                if self.lesson.done and not before:
                    self._tell("said.done")
        except NotAllowed as error:
            self.player.refuse()
            self._refuse(error)
        except WorkerError as error:
            self.player.problem = self._failure(error)
        except StoreError:
            self.player.problem = self.texts.words("unstored.run")
        except Exception:
            # Nobody foresaw it: the learner must not wait for ever.
            self.player.problem = self.texts.words("run.error.failed")
            raise

    async def _move(self, event: Any) -> None:
        with suppress(StoreError):  # a reload comes back to an earlier tick: nobody has to be told
            await self.lesson.move(event.new)

    async def _compare(self, _: Any) -> None:
        try:
            comparison = await self.lesson.compare_formats()
            histories = await self.lesson.catch_up()
        except NotAllowed as error:
            self._refuse(error)
        except WorkerError as error:
            self.pictures.quantization.problem = self._failure(error)
        except StoreError:
            self.pictures.quantization.problem = self.texts.words("unstored.run")
        else:
            self.pictures.compare(comparison, histories)

    async def _command(self, event: Any) -> None:
        """One of ``commands`` with its texts; whatever else a browser sends is passed over."""
        command = clean(event.new)
        if command is None:
            return
        name = command.pop("name")
        try:
            await self.commands[name](**command)
        except NotAllowed as error:
            self._refuse(error)
        except WorkerError as error:
            self.say(self._failure(error), kind="refused")
        except StoreError:
            self.say(self.texts.words("unstored.step"), kind="refused")

    async def _read(self) -> None:
        await self.lesson.read()
        self.desk.state = self.state()

    async def _observe(self, text: str) -> None:
        problem = await self.lesson.observe(tidy(text, TEXT_LENGTH))
        if problem:
            self.say(self.texts.problem(problem), kind="observe")
            return
        if not self.lesson.rules.verdict:
            self._tell("said.observed", "led")
            return
        await self._reveal()

    async def _reveal(self) -> None:
        histories = await self.lesson.reveal()
        with pn.io.hold():  # in one message
            self.show_verdict(histories)
            self._tell("said.verdict")

    def show_verdict(self, histories: Mapping[str, History]) -> None:
        """Show what the finished runs say about what was locked."""
        self.desk.verdict = self.texts.verdict(histories)

    async def _again(self) -> None:
        await self.lesson.again()
        self.desk.state = self.state(reload=True)

    def _failure(self, error: WorkerError) -> str:
        """What the learner is told; the log has the rest."""
        if error.code in ("failed", "refused"):
            tell("engine.failed", logging.WARNING, sparing=True, text=error)
        words = self.texts.words
        return words(f"run.error.{error.code}", text=error.told(words.language))

    def fail(self, error: WorkerError) -> None:
        """The engine could not do what the page needed."""
        self.player.problem = self._failure(error)

    # ---- what the page says ----------------------------------------------------------------------

    def _tell(self, key: str, kind: str = "said", **values: str) -> None:
        message = self._message(self.texts.words(key, **values), kind)
        self.desk.param.update(state=self.state(), message=message)  # in one message to the browser

    def _refuse(self, error: NotAllowed) -> None:
        """Not now. The teacher may have decided something that this page had not heard of."""
        self.led.arrange()
        ended = self.lesson.direction.phase == ENDED  # then no sentence about later is true
        self._tell("led.ended" if ended else f"refused.{error.code}", kind="refused")

    def say(self, text: str, kind: str, link: dict[str, str] | None = None) -> None:
        """Say ``text``; ``link`` has ``href`` and ``text``."""
        self.desk.message = self._message(text, kind) | ({"link": link} if link else {})

    def _message(self, text: str, kind: str) -> dict[str, Any]:
        self.number += 1
        return {"text": text, "kind": kind, "number": self.number}

    def say_slowed(self) -> None:
        """More was sent than the server takes at once."""
        self.say(web_words(self.lesson.language)("slowed"), kind="said")

    # ---- coming back -------------------------------------------------------------------------------

    async def restore(self) -> None:
        """After the page has been painted: bring back the run this learner had, and the verdict."""
        if self.lesson.running and self.lesson.known:
            try:
                self.pictures.show(await self.lesson.catch_up())
                if self.lesson.revealed and self.lesson.rules.verdict:
                    self.show_verdict(await self.lesson.reveal())
            except WorkerError as error:
                self.fail(error)
            except StoreError:
                self.player.problem = self.texts.words("unstored.run")
        await self._join_class()

    async def _join_class(self) -> None:
        """From now on hear what the teacher decides, and begin where the class is."""
        if self.following is None or self.document is None or self.lesson.class_id is None:
            return
        self.following.join(self.led, self.document)
        if self.lesson.direction.phase != "free":
            self.led.say()
            await self.led.show()

    def leave(self) -> None:
        """The session is over."""
        if self.following is not None:
            self.following.leave(self.led)

    # ---- the document --------------------------------------------------------------------------------

    def put_on(self, document: Document) -> None:
        """Make this page the document's."""
        self.document = document
        context = frame(self.lesson.language, self.lesson.exercise_name) | self.texts.context()
        # A session made by a websocket (after a restart) would ask Panel's CDN for its style sheets.
        document.template_variables["dist_url"] = LOCAL_DIST
        with document.models.freeze():  # look for the models once, not after each component
            for name, component in self.roots.items():
                component.server_doc(document, title=context["exercise_title"], location=False)
                document.roots[-1].name = name
        slowed[document] = WeakMethod(self.say_slowed)
        document.template = template("lab.html.j2")
        document.template_variables.update(
            context,
            state=self.state(),
            attempt_text=self.texts.attempt(),
            steps=STEPS,
            marks=self.standing.at(self.lesson).marks,
            familiar=self.standing.knows_the_rules(self.lesson.exercise_name),
            signs=SIGNS,
            onward=self.texts.onward(),
            projector=first_argument(pn.state.session_args, "projector") == "1",
            resume=self.texts.resume(self.standing) if self.plain else None,
            built=True,
        )


def learn_page(shared: Server) -> LearnPage:
    """The page of whoever asks."""
    lesson = lesson_of(shared)
    plain = first_argument(pn.state.session_args, "ex") is None
    visits = shared.read(shared.store.visits, lesson.learner)
    return LearnPage(lesson, shared.following, visits, plain=plain)


def lesson_of(shared: Server) -> Lesson:
    """The lesson of the browser behind this session."""
    cookies, accepted = pn.state.cookies, str(pn.state.headers.get("Accept-Language") or "")
    asked = first_argument(pn.state.session_args, "lang")
    learner = known_learner(cookies.get(LEARNER)) or new_learner()
    member = shared.store.classes.member(learner) if shared.following is not None else None
    return Lesson(
        server=shared,
        learner=learner,
        class_id=member.class_id if member else None,
        language=choose_language(asked, cookies.get(LANGUAGE), accepted),
        exercise_name=known_exercise(first_argument(pn.state.session_args, "ex")) or MAIN,
    )
