"""The six steps: what each needs, what it keeps, and that nobody gets ahead of the lock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from app.pages.texts import Texts
from app.server import Server
from app.settings import Settings
from app.state import Lesson, NotAllowed
from app.store import Draft
from app.worker import WorkerLost
from puzzles import fields, load, names, solve
from tests.app.classroom import classroom
from tests.databases import both

pytestmark = both
LEARNER = "d" * 32


@pytest_asyncio.fixture
async def server(settings: Settings) -> AsyncIterator[Server]:
    made = classroom(settings)
    yield made
    await made.close()


@pytest.fixture
def lesson(server: Server) -> Lesson:
    return Lesson(server=server, learner=LEARNER)


def back(lesson: Lesson) -> Lesson:
    """The same browser after a reload, or after the server was started again."""
    return Lesson(server=lesson._server, learner=lesson.learner)


def right_answers(lesson: Lesson) -> dict[str, str]:
    correct = solve(lesson.exercise)
    return {key: str(correct[key]) for key in lesson.exercise.required}


async def locked(lesson: Lesson) -> Lesson:
    assert await lesson.lock(right_answers(lesson) | {"confidence": "3", "why": "because"}) == {}
    return lesson


async def observed(lesson: Lesson) -> Lesson:
    await locked(lesson)
    await lesson.run_to_end()
    assert await lesson.observe("1.1") is None
    return lesson


# ---- the path -----------------------------------------------------------


async def test_the_whole_path(lesson: Lesson) -> None:
    assert (lesson.step, lesson.locked, lesson.attempt) == ("read", False, 1)
    await lesson.read()
    assert lesson.step == "predict"
    await locked(lesson)
    assert lesson.step == "run"
    histories = await lesson.run_step()
    assert {len(history.records) for history in histories.values()} == {1}
    assert (lesson.known, lesson.last, lesson.step) == (1, None, "run")
    await lesson.run_to_end()
    assert lesson.last == lesson.known - 1
    assert lesson.step == "observe"
    assert await lesson.observe("1.1 s") is None
    assert (lesson.step, lesson.observed) == ("verdict", {"text": "1.1 s", "value": 1.1})
    await lesson.reveal()
    assert lesson.revealed
    await lesson.again()
    assert (lesson.step, lesson.attempt, lesson.locked, lesson.known) == ("read", 2, False, 0)


async def test_steps_one_by_one_reach_the_same_end(lesson: Lesson) -> None:
    await locked(lesson)
    for _ in range(100):
        await lesson.run_step()
        if lesson.done:
            break
    assert lesson.step == "observe"
    known = lesson.known
    await lesson.run_to_end()
    assert lesson.known == known


async def test_what_is_wrong_is_said_by_field_and_nothing_is_locked(lesson: Lesson) -> None:
    problems = await lesson.lock({"static.R02.ttft": "soon", "confidence": "3"})
    assert problems["static.R02.ttft"].key == "problem.number"
    assert set(problems) == set(lesson.exercise.required)
    assert not lesson.locked
    assert lesson._server.store.prediction(lesson.place) is None


async def test_confidence_and_why_are_kept_and_bounded(lesson: Lesson) -> None:
    await lesson.lock(right_answers(lesson) | {"confidence": "9", "why": "x" * 10_000})
    assert lesson.prediction is not None
    assert lesson.prediction.confidence is None
    assert len(lesson.prediction.why) == 500


async def test_empty_is_absent_not_zero(lesson: Lesson) -> None:
    await lesson.lock(right_answers(lesson) | {"immediate.R03.ttft": "  "})
    assert lesson.prediction is not None
    assert "immediate.R03.ttft" not in lesson.prediction.answers


# ---- nobody gets ahead -----------------------------------------------------------


@pytest.mark.parametrize("ask", ["run_step", "run_to_end", "reveal", "again"])
async def test_nothing_runs_before_the_lock(lesson: Lesson, ask: str) -> None:
    with pytest.raises(NotAllowed) as refused:
        await getattr(lesson, ask)()
    assert refused.value.code == "lock_first"
    assert lesson._server.runs.worker.calls == 0
    assert (lesson.known, lesson.step) == (0, "read")


async def test_a_lock_that_is_not_in_the_store_is_none(lesson: Lesson) -> None:
    lesson.step = "run"
    with pytest.raises(NotAllowed):
        await lesson.run_to_end()
    with pytest.raises(NotAllowed):
        await lesson.observe("1.1")


async def test_the_verdict_needs_the_run_and_the_observation(lesson: Lesson) -> None:
    await locked(lesson)
    await lesson.run_step()
    for ask, code in (
        (lesson.observe("1.1"), "run_first"),
        (lesson.reveal(), "observe_first"),
        (lesson.again(), "verdict_first"),
    ):
        with pytest.raises(NotAllowed) as refused:
            await ask
        assert refused.value.code == code
    assert lesson.observed is None


@pytest.mark.parametrize("text", ["", "   ", "soon", "-1", "1,1"])
async def test_an_observation_must_be_a_number(lesson: Lesson, text: str) -> None:
    await locked(lesson)
    await lesson.run_to_end()
    assert await lesson.observe(text) is not None
    assert (lesson.step, lesson.observed) == ("observe", None)


async def test_the_first_observation_counts(lesson: Lesson) -> None:
    await observed(lesson)
    await lesson.observe("1.2")
    assert lesson.observed == {"text": "1.1", "value": 1.1}


# ---- twice, and from two sides -----------------------------------------------------------


async def test_a_second_lock_changes_nothing(lesson: Lesson) -> None:
    await locked(lesson)
    first = lesson.prediction
    await lesson.lock(right_answers(lesson) | {"static.R02.ttft": "0.1"})
    assert lesson.prediction == first
    assert back(lesson).prediction == first


async def test_two_tabs_share_one_lock(lesson: Lesson) -> None:
    other = back(lesson)
    await locked(lesson)
    assert await other.lock({"static.R02.ttft": "0.1"}) == {}
    assert other.prediction == lesson.prediction
    third = back(lesson)
    third.prediction = None
    await third.run_step()
    assert third.known == 1


async def test_an_older_tab_follows_the_farther_one(lesson: Lesson) -> None:
    await locked(lesson)
    older = back(lesson)
    await lesson.run_to_end()
    await lesson.observe("1.1")
    await lesson.reveal()
    await older.run_step()
    assert (older.step, older.observed, older.revealed) == ("verdict", lesson.observed, True)
    assert back(lesson).step == "verdict"


async def test_learners_do_not_mix(server: Server, lesson: Lesson) -> None:
    await locked(lesson)
    other = Lesson(server=server, learner="e" * 32)
    assert not other.locked
    with pytest.raises(NotAllowed):
        await other.run_step()


async def test_a_draft_ends_with_the_lock(lesson: Lesson) -> None:
    await lesson.save_draft({"static.R02.ttft": "0.3", "confidence": "2", "why": "hm"})
    assert back(lesson).draft == {"static.R02.ttft": "0.3", "confidence": "2", "why": "hm"}
    await locked(lesson)
    await lesson.save_draft({"static.R02.ttft": "9"})
    stored = lesson._server.store.draft(lesson.place)
    assert stored == Draft({"static.R02.ttft": "0.3"}, 2, "hm")


# ---- coming back -----------------------------------------------------------


async def test_a_reload_keeps_lock_tick_and_step(lesson: Lesson) -> None:
    await locked(lesson)
    for _ in range(5):
        await lesson.run_step()
    await lesson.move(3)
    again = back(lesson)
    assert (again.step, again.tick, again.known, again.last) == ("run", 3, 5, None)
    assert again.prediction == lesson.prediction
    histories = await again.catch_up()
    assert {len(history.records) for history in histories.values()} == {5}


async def test_a_reload_of_a_finished_run_knows_its_end(lesson: Lesson) -> None:
    await observed(lesson)
    again = back(lesson)
    await again.catch_up()
    assert again.last == lesson.last
    await again.reveal()
    assert again.revealed


async def test_what_was_read_stays_read(lesson: Lesson) -> None:
    await lesson.read()
    assert back(lesson).step == "predict"


async def test_nothing_comes_back_before_the_lock(lesson: Lesson) -> None:
    assert await lesson.catch_up() == {}
    assert lesson._server.runs.worker.calls == 0


@pytest.mark.parametrize("tick", [-5, -1, 2, 99])
async def test_the_tick_stays_within_what_is_known(lesson: Lesson, tick: int) -> None:
    await locked(lesson)
    for _ in range(3):
        await lesson.run_step()
    await lesson.move(tick)
    assert lesson.tick == max(-1, min(tick, 2))


async def test_the_tick_cannot_be_moved_before_the_lock(lesson: Lesson) -> None:
    await lesson.move(4)
    assert lesson.tick == -1


# ---- when the engine fails -----------------------------------------------------------


async def test_a_failed_run_changes_nothing_and_the_next_works(lesson: Lesson) -> None:
    await locked(lesson)
    await lesson.run_step()
    before = (lesson.known, lesson.last, lesson.step)
    worker: Any = lesson._server.runs.worker
    worker.fail = WorkerLost("gone")
    with pytest.raises(WorkerLost):
        await lesson.run_to_end()
    assert (lesson.known, lesson.last, lesson.step) == before
    await lesson.run_to_end()
    assert lesson.done


# ---- again -----------------------------------------------------------


async def test_each_next_try_is_another_trace(lesson: Lesson) -> None:
    await observed(lesson)
    await lesson.reveal()
    first = lesson.exercise.requests
    await lesson.again()
    assert lesson.seed
    assert lesson.exercise.requests != first
    assert back(lesson).seed == lesson.seed
    await observed(lesson)
    await lesson.reveal()
    assert load("main").requests == first


# ---- another exercise ---------------------------------------------------


async def test_each_exercise_keeps_its_own_progress(lesson: Lesson) -> None:
    await locked(lesson)
    other = Lesson(server=lesson._server, learner=LEARNER, exercise_name="tpot")
    assert (other.step, other.locked) == ("read", False)
    await other.read()
    assert back(lesson).step == "run"


async def test_a_run_is_shown_as_far_as_its_window(server: Server) -> None:
    lesson = await locked(Lesson(server=server, learner=LEARNER, exercise_name="censored-p95"))
    runs = await lesson.run_to_end()
    assert len(runs["cut"].records) == 10
    assert len(runs["continuous"].records) == 12
    assert lesson.last == 11


async def test_the_end_of_the_window_is_the_end(server: Server) -> None:
    lesson = await locked(Lesson(server=server, learner=LEARNER, exercise_name="attainment"))
    for _ in range(10):
        assert not lesson.done
        await lesson.run_step()
    assert (lesson.known, lesson.last) == (10, 9)


@pytest.mark.parametrize("name", names())
def test_every_exercise_has_its_pictures(server: Server, name: str) -> None:
    texts = Texts(Lesson(server=server, learner=LEARNER, exercise_name=name))
    exercise = load(name)
    shown = texts.side_by_side + texts.other_clocks
    assert len({exercise.service_of(run).tick for run in texts.side_by_side}) == 1
    assert {run for field in fields(exercise) for run in field.runs} <= set(shown)
    assert set(texts.pools) <= {run.name for run in exercise.runs}
    assert texts.context()["observe_question"]
