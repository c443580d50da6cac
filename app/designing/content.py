"""What the template shows of a visit: finished texts and tables, nothing that runs before the lock."""

from __future__ import annotations

from typing import Any

from app.components.base import component_words
from app.designing.visit import Visit
from app.designing.words import page_words
from engine.words import Catalogue
from puzzles.design import (
    FIELDS,
    Finding,
    Problem,
    Trial,
    check,
    design_words,
    plan_of,
    read,
    trials,
    verdict,
)
from puzzles.design.fields import GROUPS, Field
from puzzles.design.tables import (
    choice_text,
    compared_table,
    designs_table,
    held_table,
    judged_table,
    little_table,
    machine_lines,
    pick_lines,
    requests_table,
    stretches_table,
    times_table,
    traffic_table,
)
from puzzles.design.task import Task
from puzzles.design.trials import YOURS
from puzzles.design.variables import VARIABLES
from puzzles.quantization import Sheet
from puzzles.render import sheet_table

WRONG = "little.wrong"  # the one finding that keeps a plan from being locked


def content(visit: Visit, language: str, *, checked: bool, unread: bool) -> dict[str, Any]:
    """Everything for the template. ``checked``: say what is wrong with the draft; ``unread``: that what
    was read off the table is no number."""
    say, tell, found = design_words(language), page_words(language), visit.task()
    shown: dict[str, Any] = {
        "visit": visit,
        "say": say,
        "tell": tell,
        "sure": component_words(language),
        "given": [_html(one) for one in (traffic_table(found, say), designs_table(found, say))],
        "machine": machine_lines(found, say),
        "requests": _html(requests_table(found, say)),
        "lead": say("lead", rate=found.rate),
        "asked": say("asked", attain=found.attain, **found.limits),
    }
    if visit.prediction is None:
        return shown | _open(visit, found, say, checked=checked)
    return shown | _locked(visit, found, say, tell) | {"unread": unread}


def _html(sheet: Sheet) -> str:
    return sheet_table(sheet)


# ---- before the lock -----------------------------------------------------------------------------------


def _open(visit: Visit, found: Task, say: Catalogue, *, checked: bool) -> dict[str, Any]:
    """The form, and what the check says of the draft."""
    texts, problems = read(visit.draft.answers, required=True)
    findings = _findings(found, texts) if checked else []
    for one in findings:
        if one.code == WRONG:
            problems["expect_inside"] = Problem("problem.product", one.values)
    sentences = {name: one.sentence(say) for name, one in problems.items()} if checked else {}
    typed = found.limits | visit.draft.answers
    picked = typed.get("variables", "").split(",")
    return {
        "groups": [
            (group, [_field(one, typed, sentences, say) for one in FIELDS if one.group == group])
            for group in GROUPS[:-1]
        ],
        "variables": [(name, say(f"variable.{name}"), name in picked) for name in VARIABLES],
        "variables_problem": sentences.get("variables", ""),
        "problems": len(sentences),
        "findings": _told(findings, say),
    }


def _field(field: Field, typed: dict[str, str], problems: dict[str, str], say: Catalogue) -> dict[str, Any]:
    return {
        "name": field.name,
        "label": say(f"field.{field.name}"),
        "choices": [(text, choice_text(field.name, text, say)) for text in field.choices],
        "asked": field.default is None,
        "value": typed.get(field.name) or field.default or "",
        "unit": say(f"unit.{field.unit}") if field.unit else "",
        "problem": problems.get(field.name, ""),
    }


def _findings(found: Task, texts: dict[str, str]) -> list[Finding]:
    """The check of what is typed, as far as it can be checked."""
    if not {"slo_ttft", "slo_tpot"} <= texts.keys():
        return []
    settings = {field.name: field.default for field in FIELDS if field.default is not None}
    return check(found, plan_of(settings | texts))


def _told(findings: list[Finding], say: Catalogue) -> list[tuple[str, str, str]]:
    """(level, word, sentence) of each."""
    return [(one.level, say(f"level.{one.level}"), one.sentence(say)) for one in findings]


# ---- after it ------------------------------------------------------------------------------------------


def _locked(visit: Visit, found: Task, say: Catalogue, tell: Catalogue) -> dict[str, Any]:
    plan = visit.plan()
    shown: dict[str, Any] = {
        "locked": _html(_locked_table(visit, say, tell)),
        "findings": [(one.level, say(f"level.{one.level}"), one.sentence(say)) for one in check(found, plan)],
    }
    if visit.step == "run":
        return shown
    ran = trials(found, plan)
    shown["stretches"] = _html(stretches_table(ran, say))
    if visit.step == "observe":
        return shown
    judged = verdict(found, plan, ran)
    return shown | {
        "observed": _observed(visit, ran[YOURS], tell),
        "solved": judged.solved,
        "compared": _html(compared_table(ran, plan, say)),
        "judged": _html(judged_table(judged, say)),
        "said": [(one.key.startswith("why."), one.sentence(say)) for one in judged.said],
        "figures": [
            _html(one)
            for one in (
                times_table(ran, say),
                little_table(ran, say),
                *(held_table(trial, say) for trial in ran.values()),
            )
        ],
        "picks": list(pick_lines(judged, say, everything=True)),
        "named": judged.named,
    }


def _locked_table(visit: Visit, say: Catalogue, tell: Catalogue) -> Sheet:
    """What was locked, as it was typed."""
    rows = tuple(
        (say(f"field.{field.name}"), _typed(field, visit.texts[field.name], say))
        for field in FIELDS
        if field.name in visit.texts
    )
    return Sheet(tell("locked.title"), (say("judged.what"), say("judged.given")), rows, numbers=False)


def _typed(field: Field, text: str, say: Catalogue) -> str:
    if field.kind == "several":
        return " · ".join(say(f"variable.{name.strip()}") for name in text.split(","))
    if field.kind == "choice":
        return choice_text(field.name, text, say)
    return f"{text} {say(f'unit.{field.unit}')}" if text != "none" else text


def _observed(visit: Visit, trial: Trial, tell: Catalogue) -> str:
    """What was read off the table, and what stands in it."""
    seen, most = (visit.progress.observed or {}).get("value"), trial.summary.peak_backlog
    return tell("observed.right" if seen == most else "observed.wrong", seen=seen, most=most)
