"""What is done with a sheet, as generators: each yields often enough to be stopped, and what it has found."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from app.play import exports
from app.play.experiment import Experiment, NoData, RunPlan, experiment_of
from app.play.figures import figures, seen
from app.play.preparing import prepared
from app.play.running import MOST_CELLS, Outcome, recorded, run_all
from app.play.spec import Figures, Going, Job, Made, News, Nothing, Seen, Switches
from puzzles.play import Switch, play_words, probe, verdict_text


def work(job: Job) -> Iterator[News]:
    """The news of ``job``, in order. Raises InputError and Stalled."""
    try:
        experiment = experiment_of(job.sheet, job.language)
    except NoData:
        yield Nothing()
        return
    if job.kind == "look":
        yield Seen(seen(experiment, job.language))
    elif job.kind == "prepare":
        yield prepared(experiment, job.sheet)
    elif job.kind == "play":
        yield from _play(job, experiment)
    else:
        yield from _file(job, experiment)


def _play(job: Job, experiment: Experiment) -> Iterator[News]:
    outcomes = yield from _outcomes(job, experiment)
    yield figures(outcomes, experiment, job.language)
    switches = yield from _switches(outcomes, experiment)
    words = play_words(job.language)
    yield Switches(
        sentences={name: verdict_text(found, words) for name, found in switches.items()},
        dead=tuple(name for name, found in switches.items() if all(one.dead for one in found.values())),
    )


def _file(job: Job, experiment: Experiment) -> Iterator[News]:
    outcomes = yield from _outcomes(job, experiment)
    yield exports.made(job.kind, outcomes, experiment, job)


def _outcomes(job: Job, experiment: Experiment) -> Generator[Going, None, list[Outcome]]:
    """From the ledger, or told again from what the torch engine has recorded."""
    if not job.recorded:
        return (yield from run_all(experiment))
    return [recorded(plan, experiment, job.recorded[plan.name]) for plan in experiment.runs]


def _switches(
    outcomes: list[Outcome], experiment: Experiment
) -> Generator[Going, None, dict[str, dict[str, Switch]]]:
    """Every setting on every run that is short enough to be run some forty times more, by title."""
    found: dict[str, dict[str, Switch]] = {}
    for outcome in outcomes:
        if not _is_short(outcome):
            continue
        plan = outcome.plan
        for switch in probe(plan.requests, plan.service, outcome.history, experiment.horizon):
            found.setdefault(switch.name, {})[plan.title] = switch
            yield Going(plan.title, outcome.ticks)
    return found


def _is_short(outcome: Outcome) -> bool:
    return outcome.whole and outcome.ticks * len(outcome.plan.requests) <= 2 * MOST_CELLS


__all__ = ["Figures", "Made", "RunPlan", "work"]
