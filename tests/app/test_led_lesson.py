"""A lesson in a class: what the teacher's phase allows, whoever comes late, twice, again or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from app.server import Server
from app.settings import Settings
from app.state import Lesson, NotAllowed
from app.state.directions import ENDED, PHASES
from app.store import Place
from puzzles import solve
from tests.app.classroom import classroom

LEARNER, OTHER = "d" * 32, "e" * 32
FIELD = "static.R02.ttft"


@pytest_asyncio.fixture
async def server(settings: Settings) -> AsyncIterator[Server]:
    made = classroom(settings)
    made.store.classes.start("5b")
    yield made
    await made.close()


def class_id(server: Server) -> int:
    return server.store.classes.all()[0][0].id


def open_page(server: Server, learner: str = LEARNER) -> Lesson:
    """The lesson of a member's page as it is built now."""
    server.store.classes.join(learner, class_id(server))
    return Lesson(server=server, learner=learner, class_id=class_id(server))


def lead(server: Server, phase: str, **more: Any) -> None:
    """The teacher decides."""
    if phase == ENDED:
        server.store.classes.end(class_id(server))
        return
    for name, value in {"phase": phase, **more}.items():
        server.store.classes.decide(class_id(server), name, value, exercise="main")


def answers(lesson: Lesson, **changes: str) -> dict[str, str]:
    correct = solve(lesson.exercise)
    texts = {key: str(correct[key]) for key in lesson.exercise.required} | {"confidence": "3"}
    return texts | {key.replace("__", "."): text for key, text in changes.items()}


async def vote(lesson: Lesson, **changes: str) -> None:
    assert await lesson.lock(answers(lesson, **changes)) == {}
    assert lesson.locked


async def refused(asked: Any) -> str:
    with pytest.raises(NotAllowed) as error:
        await asked
    return error.value.code


# ---- the whole flow --------------------------------------------------------------------------------


async def test_two_votes_a_run_in_lock_step_and_the_verdict(server: Server) -> None:
    lead(server, "vote1")
    lesson = open_page(server)
    await lesson.read()
    await vote(lesson, static__R02__ttft="0.43")
    assert (lesson.step, lesson.shown_step) == ("run", "predict")
    lead(server, "vote2")
    await lesson.follow()
    assert not lesson.locked
    assert lesson.draft[FIELD] == "0.43"
    assert lesson.draft.keys() == answers(lesson).keys()
    await lesson.save_draft(lesson.draft | {FIELD: "0.9"})
    await vote(lesson, static__R02__ttft="1.2")
    lead(server, "run", tick=2)
    await lesson.follow()
    assert lesson.running
    histories = await lesson.run_along()
    assert {len(history.records) for history in histories.values()} == {3}
    assert lesson.tick == 2
    lead(server, "reveal")
    await lesson.follow()
    await lesson.reveal()
    assert (lesson.shown_step, lesson.revealed) == ("verdict", True)
    assert lesson.prediction is not None
    assert lesson.earlier is not None
    assert (lesson.earlier.answers[FIELD], lesson.prediction.answers[FIELD]) == (0.43, 1.2)
    await lesson.again()
    assert (lesson.attempt, lesson.prediction, lesson.earlier) == (2, None, None)
    lead(server, "closed")
    await lesson.follow()
    await lesson.lock(answers(lesson))  # the further try is the learner's own
    assert lesson.locked
    await lesson.run_to_end()


# ---- every phase, from the server's side -----------------------------------------------------------


LOCKS = {phase: phase in ("free", "vote1", "vote2") for phase in (*PHASES, ENDED)}


@pytest.mark.parametrize("phase", LOCKS)
async def test_a_late_joiner_may_lock_where_a_vote_is_open(server: Server, phase: str) -> None:
    lead(server, phase)
    lesson = open_page(server)
    if not LOCKS[phase]:
        assert await refused(lesson.lock(answers(lesson))) == "lock_held"
        assert server.store.votes(lesson.place) == []
        assert lesson.shown_step in ("read", "predict")
    else:
        await vote(lesson)
        assert [one.vote for one in server.store.votes(lesson.place)] == [2 if phase == "vote2" else 1]
    if phase != "free":
        assert await refused(lesson.run_step()) in ("lock_first", "run_held")
        assert server.runs.worker.calls == 0


@pytest.mark.parametrize("phase", ["closed", "vote1", "discuss", "vote2"])
@pytest.mark.parametrize("over", [False, True])
async def test_who_has_locked_runs_nothing_before_the_run_is_open(
    server: Server, phase: str, over: bool
) -> None:
    lesson = open_page(server)
    await vote(lesson)
    lead(server, phase)  # the page has not heard of it: the store is asked
    if over:
        lead(server, ENDED)
    for ask in (lesson.run_step, lesson.run_to_end, lesson.compare_formats):
        assert await refused(ask()) == "run_held"
    assert await refused(lesson.observe("1.1")) == "run_held"
    assert await refused(lesson.reveal()) == "verdict_held"
    assert await refused(lesson.again()) == "again_held"
    assert server.runs.worker.calls == 0
    assert lesson.known == 0


async def test_the_verdict_waits_for_the_teacher_and_then_not_for_the_observation(server: Server) -> None:
    lead(server, "vote1")
    lesson = open_page(server)
    await vote(lesson)
    lead(server, "run")
    await lesson.run_to_end()
    assert await lesson.observe("1.1") is None
    assert (lesson.step, lesson.observed is not None) == ("observe", True)
    assert await refused(lesson.reveal()) == "verdict_held"
    assert await refused(lesson.again()) == "again_held"
    lead(server, "reveal")
    assert await lesson.reveal()
    other = open_page(server, OTHER)
    assert await refused(other.reveal()) == "lock_first"


async def test_a_late_joiner_of_the_run_sees_nothing_until_it_is_free_and_then_predicts_first(
    server: Server,
) -> None:
    lead(server, "run", tick=4)
    lesson = open_page(server)
    await lesson.read()
    assert not lesson.running
    assert await refused(lesson.run_along()) == "lock_first"
    lead(server, "free")
    await lesson.follow()
    assert await refused(lesson.run_to_end()) == "lock_first"
    await vote(lesson)
    await lesson.run_to_end()


# ---- lock step -------------------------------------------------------------------------------------


async def test_nobody_steps_beyond_the_tick_of_the_class(server: Server) -> None:
    lesson = open_page(server)
    await vote(lesson)
    lead(server, "run", tick=1)
    await lesson.run_step()
    await lesson.run_step()
    assert lesson.known == 2
    assert await refused(lesson.run_step()) == "run_limit"
    assert await refused(lesson.run_to_end()) == "run_limit"
    assert await refused(lesson.compare_formats()) == "run_limit"
    lead(server, "run", tick=None)
    await lesson.run_to_end()
    assert lesson.done


async def test_going_back_takes_no_tick_away_but_moves_the_cursor(server: Server) -> None:
    lesson = open_page(server)
    await vote(lesson)
    lead(server, "run", tick=5)
    await lesson.run_along()
    lead(server, "run", tick=2)
    await lesson.follow()
    await lesson.run_along()
    assert (lesson.known, lesson.tick) == (6, 2)
    assert await refused(lesson.run_step()) == "run_limit"


async def test_what_one_ran_alone_before_is_not_sent_again_in_lock_step(server: Server) -> None:
    lesson = open_page(server)
    await vote(lesson)
    await lesson.run_to_end()
    lead(server, "run", tick=3)
    again = open_page(server)
    histories = await again.catch_up()
    assert {len(history.records) for history in histories.values()} == {4}
    assert (again.known, again.shown_step) == (4, "observe")
    histories = await again.run_along()
    assert max(len(history.records) for history in histories.values()) == 4


# ---- reload, two tabs, a phone that slept ------------------------------------------------------------


@pytest.mark.parametrize("phase", ["closed", "vote1", "discuss", "vote2"])
async def test_a_reload_brings_no_run_back_while_it_is_held_back(server: Server, phase: str) -> None:
    lesson = open_page(server)
    await vote(lesson)
    await lesson.run_to_end()
    await lesson.observe("1.1")
    await lesson.reveal()
    lead(server, phase)
    again = open_page(server)
    assert await again.catch_up() == {}
    assert not again.running
    assert again.shown_step == "predict"
    lead(server, "free")
    await again.follow()
    assert await again.catch_up()
    assert again.shown_step == "verdict"


async def test_a_reload_in_vote_2_goes_on_with_what_was_typed(server: Server) -> None:
    lead(server, "vote1")
    lesson = open_page(server)
    await vote(lesson, static__R02__ttft="0.43")
    lead(server, "vote2")
    first = open_page(server)
    assert first.draft[FIELD] == "0.43"
    await first.save_draft(first.draft | {FIELD: "0.8"})
    assert open_page(server).draft[FIELD] == "0.8"
    await vote(open_page(server), static__R02__ttft="0.9")
    locked = open_page(server)
    assert locked.locked
    assert locked.prediction is not None
    assert locked.prediction.answers[FIELD] == 0.9


async def test_two_tabs_have_one_vote_in_each_round(server: Server) -> None:
    lead(server, "vote1")
    one, two = open_page(server), open_page(server)
    await vote(one, static__R02__ttft="0.1")
    await vote(two, static__R02__ttft="0.2")
    lead(server, "vote2")
    await vote(two, static__R02__ttft="0.3")
    await vote(one, static__R02__ttft="0.4")
    votes = server.store.votes(one.place)
    assert [(found.vote, found.answers[FIELD]) for found in votes] == [(1, 0.1), (2, 0.3)]
    assert one.prediction == two.prediction == votes[1]


async def test_who_slept_through_vote_2_keeps_vote_1_and_sees_its_verdict(server: Server) -> None:
    lead(server, "vote1")
    lesson = open_page(server)
    await vote(lesson, static__R02__ttft="0.43")
    lead(server, "vote2")
    lead(server, "reveal")
    await lesson.follow()
    await lesson.reveal()
    assert (lesson.prediction.vote, lesson.earlier) == (1, None)


async def test_what_a_late_joiner_typed_in_the_discussion_is_there_in_vote_2(server: Server) -> None:
    lead(server, "discuss")
    lesson = open_page(server)
    await lesson.save_draft({FIELD: "0.7"})
    lead(server, "vote2")
    assert open_page(server).draft == {FIELD: "0.7"}
    await lesson.follow()
    assert lesson.draft == {FIELD: "0.7"}
    assert not lesson.locked


async def test_a_page_whose_class_has_ended_writes_nothing_more(server: Server) -> None:
    lesson = open_page(server)
    await vote(lesson)
    await lesson.run_step()
    lead(server, ENDED)
    await lesson.follow()
    await lesson.run_step()
    assert server.store.progress(lesson.place).known == 1
    server.store.classes.delete(class_id(server))
    await lesson.save_draft({FIELD: "9"})
    await lesson.move(0)
    await lesson.read()
    assert await refused(lesson.run_step()) == "run_held"
    assert server.store.latest(LEARNER, "main") is None
    assert server.store.votes(Place(LEARNER, "main", 1)) == []


async def test_a_verdict_that_was_open_stays_when_the_class_ends(server: Server) -> None:
    lead(server, "vote1")
    lesson = open_page(server)
    await vote(lesson)
    lead(server, "reveal")
    await lesson.reveal()
    lead(server, ENDED)
    await lesson.follow()
    assert lesson.shown_step == "verdict"
    assert lesson.running
    assert await refused(lesson.again()) == "again_held"


async def test_another_exercise_of_the_class_is_free(server: Server) -> None:
    lead(server, "closed")
    server.store.classes.join(LEARNER, class_id(server))
    lesson = Lesson(server=server, learner=LEARNER, exercise_name="itl", class_id=class_id(server))
    await vote(lesson)
    await lesson.run_to_end()


async def test_without_a_class_no_decision_counts(server: Server) -> None:
    lead(server, "closed")
    lesson = Lesson(server=server, learner=LEARNER)
    await vote(lesson)
    await lesson.run_to_end()
