"""What the static page of the transfer task shows: the task, the baselines' run, one worked design."""

from __future__ import annotations

from typing import Any

import msgspec

from puzzles.design.checking import check
from puzzles.design.fields import FIELDS, GROUPS
from puzzles.design.plan import Plan, plan_of, read
from puzzles.design.tables import (
    choice_text,
    compared_table,
    designs_table,
    held_table,
    little_table,
    machine_lines,
    pick_lines,
    requests_table,
    settings_text,
    times_table,
    traffic_table,
)
from puzzles.design.task import Task, task
from puzzles.design.trials import YOURS, Trials, trials
from puzzles.design.verdict import verdict
from puzzles.design.words import design_words
from puzzles.render import sheet_table

SIMPLE = {"expect_time": "1.5", "expect_inside": "6"}  # what the worked design expects beforehand


def worked_plan(found: Task) -> Plan:
    """The worked design under the task's own limits."""
    texts, problems = read(found.worked | found.limits | SIMPLE, required=False)
    assert not problems, problems
    return plan_of(texts)


def page_context(language: str) -> dict[str, Any]:
    """Everything that the template prints, in ``language``."""
    say, found = design_words(language), task()
    plan = worked_plan(found)
    ran = trials(found, plan)
    ran[YOURS] = msgspec.structs.replace(ran[YOURS], name="worked")
    rivals: Trials = {name: trial for name, trial in ran.items() if name != YOURS}
    judged = verdict(found, plan, ran)
    return {
        "say": say,
        "task": found,
        "machine": machine_lines(found, say),
        "given": [sheet_table(one) for one in (traffic_table(found, say), designs_table(found, say))],
        "requests": sheet_table(requests_table(found, say)),
        "groups": [
            (name, [(one, choices(one, say)) for one in FIELDS if one.group == name]) for name in GROUPS[:-1]
        ],
        "rivals": [sheet_table(compared_table(rivals, plan, say)), sheet_table(little_table(rivals, say))],
        "settings": settings_text(found.worked),
        "findings": [(one.level, one.sentence(say)) for one in check(found, plan)],
        "worked": [
            sheet_table(one)
            for one in (compared_table(ran, plan, say), times_table(ran, say), held_table(ran[YOURS], say))
        ],
        "said": [one.sentence(say) for one in judged.said],
        "names": [name for name, _ in pick_lines(judged, say, everything=True)],
        "picks": list(pick_lines(judged, say, everything=True)),
    }


def choices(field: Any, say: Any) -> str:
    """What a field takes, as one writes it on paper."""
    if field.choices:
        return " · ".join(choice_text(field.name, text, say) for text in field.choices)
    return f"____ {say(f'unit.{field.unit}')}"
