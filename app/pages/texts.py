"""What the page says about a lesson, in its language: questions, problems, the rules, the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from app.components.base import component_words
from app.pages.cases import cases
from app.pages.contents import MAIN
from app.pages.standing import SIGNS, Standing, on_path
from app.pages.template import template
from app.state import Lesson
from app.state.drafts import locked_texts
from app.words import app_words
from engine import History
from puzzles import Field, Problem, field_of, fields, load
from puzzles.asking import right
from puzzles.course import following, room_of
from puzzles.judging import Item, Verdict, reads_runs, shown
from puzzles.render import items_table, metrics_table, rule_card, trace_table
from puzzles.rules import own_lines
from puzzles.terms import Term, terms_of
from puzzles.units import unit_name
from puzzles.words import puzzle_words, run_name

# Beside which exercises which calculator helps.
CALCULATOR_OF = {
    **dict.fromkeys(("kv-heads", "head-dim", "gigabyte", "kv-in-half"), "kv"),
    **dict.fromkeys(("does-it-fit", "bits-and-bytes"), "fit"),
    **dict.fromkeys(("tokens-per-round", "draft-cost", "how-many-guesses"), "rounds"),
    "little": "little",
}


# The table of policies in every verdict has these.
OF_A_VERDICT = ("ttft", "tpot", "e2e", "p95", "slo", "goodput", "throughput", "backlog", "kv", "held")
OF_THE_RULES = ("immediate", "static", "continuous")  # the rule card says what they do


@lru_cache(maxsize=256)
def _terms(text: str, language: str) -> tuple[Term, ...]:
    """The terms that a page with this text explains; found once for all who read it."""
    found = terms_of(text, puzzle_words(language), always=OF_A_VERDICT)
    return tuple(term for term in found if term.key not in OF_THE_RULES)


class Texts:
    """Everything about a lesson that is words. Asks the lesson, changes nothing."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.exercise = lesson.exercise
        self.words = app_words(lesson.language)
        self.puzzle_words = self.exercise.words(lesson.language)

    # ---- the exercise ---------------------------------------------------------------------------

    def context(self) -> dict[str, Any]:
        """What the template of the page needs to know about the exercise."""
        observed = field_of(self.exercise, self.exercise.observe or "")
        return {
            "exercise_title": self.puzzle_words("title"),
            "heading": self.heading(),
            "quantized": self.quantized,
            "slow": bool(self.other_clocks),
            "lead": self.puzzle_words("lead"),
            "calculator": CALCULATOR_OF.get(self.exercise.name),
            "rules": self.rules(),
            "own_rules": own_lines(self.exercise, load(MAIN), self.puzzle_words),
            "terms": self.terms(),
            "trace": trace_table(self.exercise, self.lesson.language),
            "observe_question": self.words("observe.question", field=observed.label(self.puzzle_words)),
            "observe_unit": unit_name(observed.unit, self.puzzle_words),
            "observed_text": (self.lesson.observed or {}).get("text", ""),
        }

    def heading(self) -> str:
        """What the page is about: the question of the lab, or the exercise."""
        main = self.lesson.exercise_name == MAIN
        return self.words("page.question") if main else self.puzzle_words("title")

    # ---- the course -----------------------------------------------------------------------------

    def progress(self, standing: Standing) -> dict[str, str]:
        """The mark of this exercise in the list, its sign and its word, and how far the path is walked."""
        mark = standing.marks.get(self.lesson.exercise_name, "")
        seen, count = standing.path()
        return {
            "mark": mark,
            "sign": SIGNS.get(mark, ""),
            "mark_said": self.words(f"mark.{mark}") if mark else "",
            "path": self.words("path.seen", seen=seen, all=count),
        }

    def onward(self) -> dict[str, str] | None:
        """The exercise after this one: its address and what the link says."""
        name = following(self.lesson.exercise_name)
        if name is None:
            return None
        key = "again.next_path" if on_path(name) else "again.next"
        return {"name": name, "said": self.words(key, title=self._title(name))}

    def resume(self, standing: Standing) -> dict[str, str] | None:
        """Where a learner who opens the plain address was, and the way there."""
        last, name = standing.last, standing.going_on()
        if last is None or name is None or MAIN in (last, name):
            return None
        mark = self.words(f"mark.{standing.marks[last]}")
        said = self.words("resume.text", title=self._title(last), mark=mark)
        return {"name": name, "said": said, "link": self.words("resume.link", title=self._title(name))}

    def _title(self, name: str) -> str:
        return load(name).words(self.lesson.language)("title")

    def attempt(self) -> str:
        """Which try this is."""
        number = self.lesson.attempt
        return self.words("attempt.first") if number == 1 else self.words("attempt.later", number=number)

    def rules(self) -> str:
        """HTML of the rule card, as the pages without JavaScript print it."""
        return rule_card(self.exercise, self.lesson.language)

    def terms(self) -> tuple[Term, ...]:
        """The terms this page uses, explained: those of its rules and questions, and of every verdict."""
        words = self.puzzle_words
        asked = (field.label(words) for field in fields(self.exercise))
        parts = (text for part in self.parts() for text in part.values())
        text = " ".join((words("lead"), Markup(self.rules()).striptags(), *parts, *asked))
        return _terms(text, self.lesson.language)

    @property
    def shown_runs(self) -> list[str]:
        """The runs that have a timeline: what is asked about, and all else but other layouts and weights."""
        asked = {run for field in fields(self.exercise) for run in field.runs}
        return [
            run.name
            for run in self.exercise.runs
            if run.name in asked or (run.weights == "fp32" and run.name not in self.exercise.layouts)
        ]

    @property
    def side_by_side(self) -> list[str]:
        """The runs that share one time axis: those with the clock of the first."""
        first = self.shown_runs[0]
        return [name for name in self.shown_runs if self._tick(name) == self._tick(first)]

    @property
    def other_clocks(self) -> list[str]:
        """The runs with another clock, and so with another time axis."""
        beside = self.side_by_side
        return [name for name in self.shown_runs if name not in beside]

    def _tick(self, name: str) -> float:
        return float(self.exercise.service_of(name).tick)

    @property
    def pools(self) -> list[str]:
        """The runs whose KV pools are compared: those named by the exercise, or one of each kind of pool."""
        if self.exercise.layouts:
            return list(self.exercise.layouts)
        kinds = {self._pool(name): name for name in self.side_by_side}
        return [name for name in self.side_by_side if name in kinds.values()]

    def _pool(self, name: str) -> tuple[object, ...]:
        service = self.exercise.service_of(name)
        return service.pages, service.page_size, service.kv_layout, service.kv_reserve, service.prefix_cache

    @property
    def formats(self) -> list[str]:
        """The runs whose texts are compared: one service in every weight format."""
        last = self.side_by_side[-1]
        return [last, *(run.name for run in self.exercise.runs if run.weights != "fp32")]

    @property
    def quantized(self) -> bool:
        """Whether the exercise is about weight formats."""
        name = self.exercise.name
        return len(self.formats) > 1 or room_of(name).name == "compression"

    @property
    def titles(self) -> dict[str, str]:
        """A short title for each run, where space is short."""
        return {run.name: run_name(run.name, self.puzzle_words) for run in self.exercise.runs}

    @property
    def tick_seconds(self) -> float:
        return self._tick(self.side_by_side[0])

    # ---- the form --------------------------------------------------------------------------------

    def fields(self) -> list[dict[str, Any]]:
        """The questions as the form takes them."""
        return [self._field(field) for field in fields(self.exercise)]

    def parts(self) -> list[dict[str, str]]:
        """The parts of the form: what each is about, and what it asks."""
        words = self.puzzle_words
        return [
            {
                "name": part.name,
                "title": words(f"part.{part.name}.title"),
                "note": words(self._question(f"part.{part.name}.ask")),
            }
            for part in self.exercise.parts
        ]

    def _question(self, key: str) -> str:
        """The key of what a part asks: its own text; of a part without one, the first asks what the exercise
        is about, so that the question stands beside the answer."""
        first = f"part.{self.exercise.parts[0].name}.ask"
        own = self.exercise.texts[self.lesson.language]
        return "lead" if key == first and key not in own else key

    def _field(self, field: Field) -> dict[str, Any]:
        return {
            "key": field.key,
            "part": field.part,
            "run": field.run,
            "policy": field.policy,
            "request": field.request,
            "metric": field.metric,
            "unit": unit_name(field.unit, self.puzzle_words),
            "required": field.required,
            "choices": self._choices(field),
            "label": field.label(self.puzzle_words),
        }

    def _choices(self, field: Field) -> list[dict[str, str]] | None:
        if field.choices is None:
            return None
        return [{"value": name, "label": run_name(name, self.puzzle_words)} for name in field.choices]

    def problem(self, problem: Problem) -> str:
        return problem.sentence(self.puzzle_words)

    def problems(self, problems: Mapping[str, Problem]) -> dict[str, str]:
        """A sentence per field."""
        return {key: self.problem(problem) for key, problem in problems.items()}

    # ---- what was locked ---------------------------------------------------------------------------

    def locked_draft(self) -> dict[str, str]:
        """The locked answers as texts, as the form shows them."""
        prediction = self.lesson.prediction
        if prediction is None:
            return {}
        return locked_texts(prediction)

    def predictions(self) -> dict[str, dict[str, float]]:
        """The predicted TTFTs as the timelines mark them: run, request, seconds."""
        marks: dict[str, dict[str, float]] = {}
        if self.lesson.prediction is None:
            return marks
        for field in fields(self.exercise):
            value = self.lesson.prediction.answers.get(field.key)
            if field.metric == "ttft" and field.request and isinstance(value, (int, float)):
                marks.setdefault(field.run, {})[field.request] = float(value)
        return marks

    # ---- the verdict ---------------------------------------------------------------------------------

    def verdict(self, histories: Mapping[str, History]) -> str:
        """HTML of the verdict: the table of policies, your numbers, what wrong ones betray."""
        prediction = self.lesson.prediction
        assert prediction is not None
        case = cases.case(self.lesson, histories)
        judged = case.verdict(prediction.answers)
        return template("verdict.html.j2").render(
            words=self.words,
            policies=metrics_table(judged.table, self.lesson.language) if reads_runs(self.exercise) else "",
            items=items_table(judged, self.lesson.language, words=self.puzzle_words),
            points=self._points(case.points),
            misses=[item for item in judged.items if item.given is not None and not item.right],
            score=self._score(judged),
            beforehand=self._beforehand(),
            observed=self._observed(judged),
            votes=self._votes(judged),
        )

    def _points(self, points: Mapping[str, str]) -> list[tuple[str, str]]:
        """What the runs show, each sentence with the title of its part."""
        return [(self.puzzle_words(f"part.{part}.title"), said) for part, said in points.items()]

    def _score(self, judged: Verdict) -> str:
        key = "verdict.score.first" if self.lesson.attempt == 1 else "verdict.score.later"
        return self.words(key, score=judged.score, asked=judged.asked)

    def _beforehand(self) -> list[str]:
        """How sure the learner was, and why: what was locked beside the numbers."""
        prediction, words = self.lesson.prediction, component_words(self.lesson.language)
        assert prediction is not None
        said = []
        if prediction.confidence is not None:
            sure = words(f"component.form.confidence_{prediction.confidence}")
            said.append(self.words("verdict.sure", sure=sure))
        if prediction.why:
            said.append(self.words("verdict.reason", why=prediction.why))
        return said

    def _observed(self, judged: Verdict) -> str:
        """Whether the number read off the timeline is the one it shows; empty when none was read."""
        if self.lesson.observed is None:
            return ""
        field = field_of(self.exercise, self.exercise.observe or "")
        item = next(item for item in judged.items if item.key == field.key)
        value = self.lesson.observed["value"]
        key = "verdict.observed.right" if right(field, value, item.correct) else "verdict.observed.wrong"
        return self.words(
            key,
            value=self._shown(value, field.unit),
            correct=self._shown(item.correct, field.unit),
            field=field.label(self.puzzle_words),
        )

    def _votes(self, judged: Verdict) -> list[str]:
        """What changed from the first vote to the second, which is the one judged; nothing after one vote."""
        first, last = self.lesson.earlier, self.lesson.prediction
        if first is None or last is None:
            return []
        changed = [item for item in judged.items if first.answers.get(item.key) != last.answers.get(item.key)]
        if not changed:
            return [self.words("verdict.votes.same")]
        return [
            self.words("verdict.votes"),
            *(self._change(item, first.answers.get(item.key)) for item in changed),
        ]

    def _change(self, item: Item, before: Any) -> str:
        values = ("—" if value is None else self._shown(value, item.unit) for value in (before, item.given))
        return self.words("verdict.votes.change", label=item.label, before=next(values), after=next(values))

    def _shown(self, value: Any, unit: str) -> str:
        return shown(value, unit, self.puzzle_words)
