"""``python -m puzzles design``: the flags of the transfer task, and what it prints."""

from __future__ import annotations

import argparse
import json

from engine import InputError
from engine.cli.flags import flag
from engine.service import SETTINGS as OF_A_SERVICE
from puzzles.design.console import answer, document, problem
from puzzles.design.fields import FIELDS, SETTINGS
from puzzles.design.plan import Plan, plan_of, read
from puzzles.design.task import Task, task
from puzzles.design.words import design_words


def add_design_flags(parser: argparse.ArgumentParser) -> None:
    """The seed, every field under its own name, and the machine's settings, to say that they are given."""
    say = design_words("en")
    parser.add_argument("--seed", type=int, default=0, help=say("flag.seed"))
    for field in FIELDS:
        takes = "|".join(field.choices) if field.kind == "choice" else (field.unit or "A,B,C")
        text = say(f"field.{field.name}").replace("%", "%%")
        parser.add_argument(flag(field.name), metavar=takes, help=text)
    for name in OF_A_SERVICE:
        if name not in SETTINGS:
            parser.add_argument(flag(name), metavar="X", help=argparse.SUPPRESS)
    parser.add_argument("--no-chunked-prefill", dest="chunked_prefill", action="store_const", const="false",
                        help=argparse.SUPPRESS)  # fmt: skip
    parser.add_argument("--json", action="store_true", help=say("flag.json"))


def execute(options: argparse.Namespace) -> str:
    """What to print. Raises InputError for a value that makes no sense."""
    say = design_words(options.lang)
    found = task(options.seed)
    plan = _plan(found, options)
    if plan is None:
        if options.json:
            raise InputError(say("wrong.json"))
        return problem(found, say)
    if options.json:
        return json.dumps(document(found, plan, say), ensure_ascii=False, indent=1)
    return answer(found, plan, say)


def _plan(found: Task, options: argparse.Namespace) -> Plan | None:
    """The plan of the flags; None when nothing was designed. A limit that is not given is the task's own."""
    say = design_words(options.lang)
    for name in OF_A_SERVICE:
        if name not in SETTINGS and getattr(options, name) is not None:
            raise InputError(say("wrong.given", flag=flag(name), value=found.machine.get(name, "—")))
    given = {field.name: getattr(options, field.name) for field in FIELDS}
    raw = {name: text for name, text in given.items() if text is not None}
    if not raw:
        return None
    texts, problems = read(found.limits | raw, required=False)
    for name, wrong in problems.items():
        raise InputError(wrong.sentence(say), flag(name))
    return plan_of(texts)
