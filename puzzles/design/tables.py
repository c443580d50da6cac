"""The task and its outcome as tables of finished texts: what the console prints and the pages show."""

from __future__ import annotations

from collections.abc import Iterable

from engine.words import Catalogue
from puzzles.design.fields import BY_NAME
from puzzles.design.plan import Plan
from puzzles.design.task import Kind, Task
from puzzles.design.trials import EVERYBODY, YOURS, Share, Trial, Trials
from puzzles.design.verdict import Verdict
from puzzles.quantization import Sheet
from puzzles.words import DASH, number, plain

MACHINE = ("tick", "prefill_budget", "decode_slots", "pool", "kv_bytes_per_token")


def traffic_table(task: Task, say: Catalogue) -> Sheet:
    """Who comes: a row per class."""
    heads = tuple(say(f"traffic.{name}") for name in ("class", "share", "prompt", "output", "rate"))
    rows = tuple(_traffic(task, kind, say) for kind in task.classes)
    return Sheet(say("traffic.title", rate=task.rate, count=task.count), heads, rows)


def _traffic(task: Task, kind: Kind, say: Catalogue) -> tuple[str, ...]:
    return (
        say(f"class.{kind.name}"),
        f"{kind.share} %",
        f"{kind.prompt[0]}–{kind.prompt[1]}",
        f"{kind.output[0]}–{kind.output[1]}",
        f"{plain(task.rate * kind.share / 100)} req/s",
    )


def machine_lines(task: Task, say: Catalogue) -> list[str]:
    """What is given, a sentence each."""
    machine = task.machine
    pool = machine["pages"] * machine["page_size"]
    megabytes = plain(round(pool * machine["kv_bytes_per_token"] / 1e6))
    values = {name: str(value) for name, value in machine.items()}
    values |= {"pool": f"{pool:,}", "megabytes": megabytes, "kv_bytes_per_token": _thousands(machine)}
    return [say(f"machine.{name}", **values) for name in MACHINE]


def _thousands(machine: dict[str, int]) -> str:
    return f"{machine['kv_bytes_per_token']:,}"


def requests_table(task: Task, say: Catalogue) -> Sheet:
    """Every request."""
    heads = tuple(say(f"requests.{name}") for name in ("id", "arrival", "prompt", "output"))
    rows = tuple(
        (one.id, number(one.arrival), str(one.prompt_tokens), str(one.output_tokens)) for one in task.requests
    )
    return Sheet(say("requests.title", count=task.count, seed=task.seed), heads, rows)


# ---- designs -------------------------------------------------------------------------------------------


def settings_text(settings: dict[str, str]) -> str:
    """What a design sets, as flags would say it; what is as always is left out."""
    set_apart = [(name, text) for name, text in settings.items() if text != BY_NAME[name].default]
    return ", ".join(f"{name} {text}" for name, text in set_apart) or "policy continuous"


def designs_table(task: Task, say: Catalogue) -> Sheet:
    """The baselines: what each sets."""
    rows = tuple(
        (say(f"design.{one.name}"), settings_text(one.settings), say(f"design.{one.name}.about"))
        for one in task.baselines
    )
    heads = tuple(say(f"designs.{name}") for name in ("name", "settings", "about"))
    return Sheet(say("designs.title"), heads, rows, numbers=False)


def compared_table(ran: Trials, plan: Plan, say: Catalogue) -> Sheet:
    """The table the task is about: a row per design."""
    names = ("goodput", "attainment", "short", "long", "waiting", "pages", "preemptions", "window")
    heads = (say("designs.name"), *(say(f"compared.{name}") for name in names))
    best = max(trial.goodput for trial in ran.values())
    rows = tuple(_compared(trial, best, say) for trial in ran.values())
    limits = {"ttft": plain(plan.slo_ttft), "tpot": plain(plan.slo_tpot)}
    return Sheet(say("compared.title", count=len(ran), **limits), heads, rows)


def _compared(trial: Trial, best: float, say: Catalogue) -> tuple[str, ...]:
    found = trial.summary
    star = "★ " if trial.goodput == best else ""
    return (
        star + say(f"design.{trial.name}"),
        f"{number(round(trial.goodput, 2))} req/s",
        f"{plain(round(100 * trial.attainment, 1))} %",
        *(f"{share.met}/{share.count}" for name, share in trial.shares.items() if name != EVERYBODY),
        str(found.peak_backlog),
        str(found.peak_pages),
        str(found.preemptions),
        f"{number(found.window)} s",
    )


def times_table(ran: Trials, say: Catalogue) -> Sheet:
    """TTFT and TPOT of each design, for all and for each class."""
    names = ("p50_ttft", "p95_ttft", "p50_tpot", "p95_tpot")
    heads = (say("times.who"), *(say(f"times.{name}") for name in names))
    rows = tuple(
        (f"{say(f'design.{trial.name}')} · {say(f'class.{name}')}", *_times(share))
        for trial in ran.values()
        for name, share in trial.shares.items()
    )
    return Sheet(say("times.title"), heads, rows)


def _times(share: Share) -> tuple[str, ...]:
    values = (share.p50_ttft, share.p95_ttft, share.p50_tpot, share.p95_tpot)
    return tuple(DASH if value is None else number(round(value, 3)) for value in values)


def little_table(ran: Trials, say: Catalogue) -> Sheet:
    """λ, W and L as measured, each over its own window."""
    heads = (say("designs.name"), *(say(f"little.{name}") for name in ("window", "rate", "time", "inside")))
    rows = tuple(
        (
            say(f"design.{trial.name}"),
            f"{number(trial.summary.window)} s",
            f"{number(round(trial.summary.arrival_rate or 0, 3))} req/s",
            f"{number(round(trial.summary.mean_time_in_system or 0, 3))} s",
            number(round(trial.summary.mean_in_system or 0, 3)),
        )
        for trial in ran.values()
    )
    return Sheet(say("little.title"), heads, rows)


def held_table(trial: Trial, say: Catalogue) -> Sheet:
    """What held whom in one design."""
    names = ("head", "behind", "who", "short", "long", "missed")
    heads = (say("held.reason"), *(say(f"held.{name}") for name in names))
    rows = []
    for one in trial.held:
        short = sum(ticks for key, ticks in one.who.items() if key.startswith("S"))
        figures = (one.head, one.behind, len(one.who), short, one.ticks - short, one.of(trial.missed))
        rows.append((say(f"reason.{one.code}"), *(f"{figure:,}" for figure in figures)))
    if not rows:
        rows = [(say("reason.nothing"), *[DASH] * len(names))]
    return Sheet(say("held.title", design=say(f"design.{trial.name}")), heads, tuple(rows))


def stretches_table(ran: Trials, say: Catalogue) -> Sheet:
    """The learner's design over time: nothing here says who met a limit."""
    names = ("arrived", "waiting", "active", "pages")
    heads = (say("stretches.start"), *(say(f"stretches.{name}") for name in names))
    rows = tuple(
        (f"{one.start} s", *(str(getattr(one, name)) for name in names)) for one in ran[YOURS].stretches
    )
    return Sheet(say("stretches.title"), heads, rows)


# ---- what was said -------------------------------------------------------------------------------------


def judged_table(found: Verdict, say: Catalogue) -> Sheet:
    """Each prediction against the run."""
    heads = tuple(say(f"judged.{name}") for name in ("what", "given", "found", "result"))
    rows = tuple(
        (
            say(f"field.{one.name}"),
            _shown(one.name, one.given, say),
            _shown(one.name, one.found, say),
            say("judged.right" if one.right else "judged.wrong"),
        )
        for one in found.judged
    )
    return Sheet(say("judged.title"), heads, rows)


def _shown(name: str, text: str, say: Catalogue) -> str:
    """A value with its unit; a choice in words."""
    field = BY_NAME[name]
    if field.kind == "choice":
        return choice_text(name, text, say)
    return f"{text} {say(f'unit.{field.unit}')}"


def choice_text(name: str, text: str, say: Catalogue) -> str:
    """A choice in words; a word of the field's own stays as the field writes it."""
    key = f"choice.{name}.{text}"
    return say(key) if key in say else text


def pick_lines(found: Verdict, say: Catalogue, *, everything: bool) -> Iterable[tuple[str, str]]:
    """(name, result and reason) for each picked variable, or for each of the list."""
    for one in found.picks:
        if one.picked or everything:
            verdict = ("right" if one.measured else "wrong") if one.picked else "left"
            yield (
                say(f"variable.{one.name}"),
                say(
                    "picks.line",
                    verdict=say(f"picks.{verdict}"),
                    kind=say("picks.measured" if one.measured else "picks.known"),
                    why=say(f"variable.{one.name}.why"),
                ),
            )
