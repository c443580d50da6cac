"""The rule card: how the toy works, in ten lines, with the exercise's own settings."""

from __future__ import annotations

import msgspec

from engine import Service
from engine.words import Catalogue
from puzzles.asking import runs_of_part
from puzzles.exercise import Exercise, Run
from puzzles.measures import megabytes
from puzzles.words import DASH, number, plain, run_name

RULES = ("tick", "prefill", "decode", "first", "queue", "immediate", "static", "continuous", "kv", "toy")


def rule_lines(exercise: Exercise, words: Catalogue) -> list[str]:
    """The rules as sentences."""
    blanks = rule_blanks(exercise)
    return [words(f"rule.{name}", **blanks) for name in RULES] + run_lines(exercise, words)


def run_lines(exercise: Exercise, words: Catalogue) -> list[str]:
    """What is special about each run that is asked about: settings, trace, window."""
    named = [run for part in exercise.parts for run in runs_of_part(exercise, part.name)]
    lines = ((name, special(exercise, exercise.run(name), words)) for name in named)
    return [words("rule.run", run=run_name(name, words), settings=text) for name, text in lines if text]


def special(exercise: Exercise, run: Run, words: Catalogue) -> str:
    """The settings of a run beyond its policy, and its edits, as a list; empty when there are none."""
    usual = msgspec.structs.asdict(Service())
    settings = msgspec.structs.asdict(exercise.service_of(run.name))
    told = [
        _told(name, words("setting.none") if value is None else _setting(value), words)
        for name, value in settings.items()
        if value != usual[name] and name != "policy"
    ]
    return words("list.items").join(told + _edits(run, words))


def _told(name: str, value: str, words: Catalogue) -> str:
    """A setting in words where it has some, else as it is written."""
    key = f"setting.{name}"
    return words(key, value=value) if key in words else f"{name} = {value}"


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _edits(run: Run, words: Catalogue) -> list[str]:
    told = [words("edit.drop", ids=", ".join(run.drop))] if run.drop else []
    told += [words("edit.order", ids=", ".join(run.order))] if run.order else []
    told += [words("edit.spread", factor=plain(run.spread))] if run.spread != 1 else []
    told += [words("edit.prompt", id=key, tokens=count) for key, count in run.prompts.items()]
    told += [words("edit.output", id=key, tokens=count) for key, count in run.outputs.items()]
    return told + ([words("edit.horizon", seconds=plain(run.horizon))] if run.horizon else [])


def rule_blanks(exercise: Exercise) -> dict[str, str]:
    """The settings that the rules name: those of the first run."""
    service = exercise.service_of(exercise.runs[0].name)
    return {
        "tick": number(service.tick, 1),
        "budget": str(service.prefill_budget),
        "slots": str(service.decode_slots),
        "batch": str(service.batch_size),
        "page": str(service.page_size),
        "pages": str(service.pages or DASH),
        "tokens": str(service.slots or DASH),
        "k": plain(megabytes(1, service)),
    }
