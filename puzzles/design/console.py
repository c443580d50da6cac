"""The transfer task as plain text: what ``python -m puzzles design`` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from engine.words import Catalogue
from puzzles.console import fold, table
from puzzles.design.checking import Finding, check
from puzzles.design.fields import FIELDS, GROUPS, Field
from puzzles.design.plan import Plan
from puzzles.design.tables import (
    compared_table,
    designs_table,
    held_table,
    judged_table,
    little_table,
    machine_lines,
    pick_lines,
    times_table,
    traffic_table,
)
from puzzles.design.task import Task
from puzzles.design.trials import YOURS, Trials, trials
from puzzles.design.variables import VARIABLES
from puzzles.design.verdict import Verdict, verdict
from puzzles.quantization import Sheet


def problem(task: Task, say: Catalogue) -> str:
    """The task and how to answer it; no run."""
    blocks = [
        say("title"),
        fold(say("lead", rate=task.rate)),
        _sheet(traffic_table(task, say)),
        "\n".join(fold(f"{place}. {line}", "   ") for place, line in enumerate(machine_lines(task, say), 1)),
        _sheet(designs_table(task, say)),
        fold(say("asked", attain=task.attain, **task.limits)),
        *(f"{say(f'group.{group}')}\n{_fields(group, say)}" for group in GROUPS if group != "variables"),
        f"{say('group.variables')}\n{_variables(say)}",
        fold(say("console.how")),
    ]
    return "\n\n".join(blocks)


def _fields(group: str, say: Catalogue) -> str:
    return table([_field(field, say) for field in FIELDS if field.group == group])


def _field(field: Field, say: Catalogue) -> tuple[str, ...]:
    takes = "|".join(field.choices) if field.choices else say(f"unit.{field.unit}")
    default = "" if field.default is None else f"[{field.default}]"
    return ("--" + field.name.replace("_", "-"), takes, default, say(f"field.{field.name}"))


def _variables(say: Catalogue) -> str:
    return table([(name, say(f"variable.{name}")) for name in VARIABLES])


def _sheet(sheet: Sheet) -> str:
    return f"{sheet.caption}\n{table([sheet.heads, *sheet.rows])}"


def answer(task: Task, plan: Plan, say: Catalogue) -> str:
    """The first check, the run and the verdict."""
    ran = trials(task, plan)
    found = verdict(task, plan, ran)
    blocks = [
        f"{say('check.title')}\n{_findings(check(task, plan), say)}",
        _sheet(compared_table(ran, plan, say)),
        _sheet(times_table(ran, say)),
        _sheet(little_table(ran, say)),
        _sheet(held_table(ran[YOURS], say)),
    ]
    if found.judged:
        blocks.append(_sheet(judged_table(found, say)))
    blocks.append("\n".join(fold(f"- {said.sentence(say)}", "  ") for said in found.said))
    if plan.variables:
        blocks.append(_picks(found, say))
    return "\n\n".join(blocks)


def _findings(findings: Iterable[Finding], say: Catalogue) -> str:
    return "\n".join(fold(f"{say(f'level.{one.level}')} {one.sentence(say)}", "  ") for one in findings)


def _picks(found: Verdict, say: Catalogue) -> str:
    lines = [say("picks.passed" if found.named else "picks.failed")]
    for name, result in pick_lines(found, say, everything=False):
        lines.append(fold(f"- {name}: {result}", "  "))
    return "\n".join(lines)


def document(task: Task, plan: Plan, say: Catalogue) -> dict[str, Any]:
    """The answer as one object: what was handed in, the check, each design's figures, the verdict."""
    ran = trials(task, plan)
    found = verdict(task, plan, ran)
    return {
        "seed": task.seed,
        "plan": msgspec.to_builtins(plan, str_keys=True),
        "check": [_told(one.code, one.level, one.sentence(say), one.values) for one in check(task, plan)],
        "designs": {name: _figures(ran, name) for name in ran},
        "verdict": {
            "rank": found.rank,
            "pays": found.pays,
            "solved": found.solved,
            "judged": msgspec.to_builtins(found.judged),
            "said": [one.sentence(say) for one in found.said],
            "variables": {
                "passed": found.named,
                "picked": [
                    {"name": one.name, "measured": one.measured, "why": say(f"variable.{one.name}.why")}
                    for one in found.picks
                    if one.picked
                ],
            },
        },
    }


def _told(code: str, level: str, sentence: str, values: dict[str, str]) -> dict[str, Any]:
    return {"code": code, "level": level, "sentence": sentence, "values": values}


def _figures(ran: Trials, name: str) -> dict[str, Any]:
    trial = ran[name]
    return {
        "service": msgspec.to_builtins(trial.service),
        "summary": msgspec.to_builtins(trial.summary),
        "classes": msgspec.to_builtins(trial.shares),
        "held": [
            {"code": one.code, "head": one.head, "behind": one.behind, "who": one.who} for one in trial.held
        ],
        "missed": sorted(trial.missed),
    }
