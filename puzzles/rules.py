"""The rule card: how the toy works, in ten lines, with the exercise's own settings."""

from __future__ import annotations

import msgspec

from engine import Service
from engine.words import Catalogue
from puzzles.asking import runs_of_part
from puzzles.exercise import Exercise, Run
from puzzles.measures import megabytes
from puzzles.words import number, plain, run_name

RULES = ("tick", "prefill", "decode", "first", "queue", "immediate", "static", "continuous", "kv", "toy")

IN_RULES = (  # the settings that these name
    *("tick", "prefill_budget", "decode_slots", "batch_size"),
    *("page_size", "pages", "kv_bytes_per_token"),
)


def rule_lines(exercise: Exercise, words: Catalogue) -> list[str]:
    """The rules as sentences."""
    blanks = rule_blanks(exercise)
    endless = first_service(exercise).pages is None
    names = ("kv_endless" if endless and name == "kv" else name for name in RULES)
    return [words(f"rule.{name}", **blanks) for name in names] + run_lines(exercise, words)


def own_lines(exercise: Exercise, usual: Exercise, words: Catalogue) -> list[str]:
    """The lines of the rule card that another exercise, ``usual``, does not have."""
    known = set(rule_lines(usual, usual.words(words.language)))
    return [line for line in rule_lines(exercise, words) if line not in known]


def run_lines(exercise: Exercise, words: Catalogue) -> list[str]:
    """What is special about each run that is asked about: settings, trace, window."""
    named = [run for part in exercise.parts for run in runs_of_part(exercise, part.name)]
    lines = ((name, special(exercise, exercise.run(name), words)) for name in named)
    return [words("rule.run", run=run_name(name, words), settings=text) for name, text in lines if text]


def special(exercise: Exercise, run: Run, words: Catalogue) -> str:
    """What the rules do not tell of a run: settings and edits, as a list; empty when there is nothing."""
    told_above = msgspec.structs.asdict(first_service(exercise))
    usual = msgspec.structs.asdict(Service()) | {name: told_above[name] for name in IN_RULES}
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
    told += _spread(run, words)
    told += [words("edit.prompt", id=key, tokens=count) for key, count in run.prompts.items()]
    told += [words("edit.output", id=key, tokens=count) for key, count in run.outputs.items()]
    return told + ([words("edit.horizon", seconds=plain(run.horizon))] if run.horizon else [])


def _spread(run: Run, words: Catalogue) -> list[str]:
    if run.spread == 1:
        return []
    return [words("edit.spread", factor=plain(run.spread)) if run.spread else words("edit.together")]


def first_service(exercise: Exercise) -> Service:
    """The settings that the rules name: those of the first run."""
    return exercise.service_of(exercise.runs[0].name)


def rule_blanks(exercise: Exercise) -> dict[str, str]:
    """The settings that the rules name, as they are written there."""
    service = first_service(exercise)
    return {
        "tick": number(service.tick, 1),
        "budget": str(service.prefill_budget),
        "slots": str(service.decode_slots),
        "batch": str(service.batch_size),
        "page": str(service.page_size),
        "pages": str(service.pages),
        "tokens": str(service.slots),
        "k": plain(megabytes(1, service)),
    }
