"""What goes wrong while the engine runs: bad callers, callbacks that step, a forward that raises."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from engine import Engine, InputError, Outcome, Plan, Request, Service, simulate, skim
from engine.exact import start_of
from engine.model.reference import generate
from engine.replay import replay
from engine.requests import prompt_bytes
from engine.serving.front_door import FrontDoor
from engine.serving.handle import Handle
from engine.traces import main_trace
from tests.engine.models import SMALL, small_model


def engine_for(**settings: Any) -> Engine:
    return Engine(Service(**settings), model=small_model())


def expected(prompt: str, count: int) -> list[int]:
    return generate(small_model(), prompt_bytes(prompt), count).tokens


class Failing:
    """An executor that raises once, in its forward number ``number``."""

    def __init__(self, inner: Any, number: int, error: BaseException) -> None:
        self.inner, self.left, self.error = inner, number, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def execute(self, plan: Plan) -> Outcome:
        self.left -= plan.has_work
        if self.left == 0 and plan.has_work:
            raise self.error
        outcome: Outcome = self.inner.execute(plan)
        return outcome


def failing(number: int, error: BaseException, **settings: Any) -> Engine:
    engine = engine_for(**settings)
    engine.executor = Failing(engine.executor, number, error)  # type: ignore[assignment]
    return engine


# ---- callers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        (5, {}),
        (None, {}),
        ("\ud800", {}),
        ([True], {}),
        ([256], {}),
        ([1.0], {}),
        ({"a": 1}, {}),
        ("a", {"stop": None}),
        ("a", {"stop": 5}),
        ("a", {"stop": ["b", 3]}),
        ("a", {"stop": "\ud800"}),
        ("a", {"request_id": "\ud800"}),
        ("a", {"request_id": 5}),
        ("a", {"on_token": 5}),
        ("a", {"priority": 1.5}),
        ("a", {"max_tokens": 10**30}),
        ("a", {"max_tokens": -(10**5000)}),
        ("a", {"arrival": "1_0"}),
    ],
)
def test_malformed_requests_are_refused_and_leave_nothing(prompt: Any, options: dict[str, Any]) -> None:
    engine = engine_for()
    with pytest.raises(InputError) as caught:
        engine.submit(prompt, **{"max_tokens": 1, **options})
    assert "\n" not in str(caught.value)
    assert engine.live == ()
    assert engine.step().arrived == ()


def test_a_trace_with_one_bad_request_starts_nothing() -> None:
    good, engine = Request("good", "0", 3, 2, "abc"), engine_for()
    with pytest.raises(InputError, match="needs its prompt"):
        engine.run([good, Request("bare", "0", 3, 2)])
    assert engine.live == ()
    for run in (engine.run, simulate):
        with pytest.raises(InputError, match="request 2: 'x' is not a Request"):
            run([good, "x"])


def test_an_id_that_is_the_key_of_a_live_request_is_taken() -> None:
    engine = engine_for()
    list(engine.submit("abc", 1, request_id="a"))
    second = engine.submit("abc", 1, request_id="a")
    assert second.id == "a#2"
    with pytest.raises(InputError, match="'a#2' is live"):
        engine.submit("abc", 1, request_id="a#2")


def test_a_name_of_ours_gives_way_to_one_that_was_chosen() -> None:
    engine = engine_for()
    chosen = engine.submit("abc", 1, request_id="request-1")
    assert [chosen.id, engine.submit("abc", 1).id] == ["request-1", "request-2"]


def test_any_number_of_names_may_have_been_chosen() -> None:
    engine = engine_for()
    for number in range(1, 1500):
        engine.submit("abc", 1, request_id=f"request-{number}")
    assert engine.submit("abc", 1).id == "request-1500"


def test_an_id_ends_with_its_request() -> None:
    engine = engine_for()
    list(engine.submit("abc", 1, request_id="a"))
    assert not engine.cancel("a")
    second = engine.submit("abc", 1, request_id="a")
    assert engine.cancel("a")
    assert not engine.cancel(second.id)
    third = engine.submit("abc", 1, request_id="a")
    assert engine.cancel(third.id)
    assert (second.status, third.status, third.id, engine.live) == ("cancelled", "cancelled", "a#3", ())


@pytest.mark.parametrize("service", ["fp32", {"policy": "static"}, 3])
def test_what_is_no_service(service: Any) -> None:
    for run in (Engine, partial(simulate, main_trace()), partial(skim, main_trace())):
        with pytest.raises(InputError, match=r"^service: .* is not a Service$"):
            run(service)


@pytest.mark.parametrize("trace", [Request("a", "0", 1, 1), None, 3])
def test_what_is_no_trace(trace: Any) -> None:
    for run in (simulate, skim):
        with pytest.raises(InputError, match="is not a list of requests"):
            run(trace)


def test_a_draft_is_checked_also_where_nobody_guesses() -> None:
    with pytest.raises(InputError, match="draft: 'nope' is not one of model, lookup"):
        Engine(Service(), model=small_model(), draft="nope")


def test_priority_of_a_submitted_request() -> None:
    engine = engine_for(policy="immediate", queue_order="priority")
    low, high = engine.submit("abc", 1), engine.submit("abc", 1, priority=1)
    engine.step()
    assert (low.status, high.status) == ("waiting", "finished")


def test_the_start_of_a_tick_keeps_every_digit() -> None:
    tick = Decimal("0.66666666666666666666666666666666666667")
    assert start_of(3, tick) == Decimal("2.00000000000000000000000000000000000001")
    engine = engine_for(tick=tick)
    for _ in range(3):
        engine.step()
    handle = engine.submit("abc", 1)
    assert engine.step().arrived == (handle.id,)


# ---- callbacks -------------------------------------------------------------------------------------


def step(engine: Engine, other: Handle) -> None:
    engine.step()


def run(engine: Engine, other: Handle) -> None:
    engine.run([Request("new", "0", 3, 2, "abc")])


def read(engine: Engine, other: Handle) -> None:
    list(other)


@pytest.mark.parametrize("action", [step, run, read])
def test_a_callback_that_drives_the_engine_fails_and_the_others_go_on(action: Any) -> None:
    engine = engine_for()
    other: list[Handle] = []
    calling = engine.submit("To be", 6, on_token=lambda *_: action(engine, other[0]))
    other.append(engine.submit("My lord", 6))
    engine.run()
    assert (calling.status, len(calling.tokens)) == ("failed", 1)
    assert isinstance(calling.error, RuntimeError)
    assert other[0].tokens == expected("My lord", 6)
    assert other[0].text == bytes(other[0].tokens).decode(errors="replace")
    assert [record.tick for record in engine.history.records] == list(range(len(engine.history.records)))
    assert engine.live == ()


def test_an_interrupt_in_a_callback_comes_out_after_everybody_has_their_token() -> None:
    def interrupt(handle: Handle, token: int, text: str) -> None:
        raise KeyboardInterrupt

    engine = engine_for()
    calling, other = engine.submit("To be", 6, on_token=interrupt), engine.submit("My lord", 6)
    with pytest.raises(KeyboardInterrupt):
        engine.run()
    assert (calling.status, len(other.tokens)) == ("failed", 1)
    engine.run()
    assert other.tokens == expected("My lord", 6)


def test_a_request_that_has_finished_in_this_tick_can_no_longer_be_cancelled() -> None:
    engine = engine_for()
    answers: list[bool] = []
    handles: list[Handle] = []

    def cancel_the_others(handle: Handle, token: int, text: str) -> None:
        if len(handle.tokens) == 3:
            answers.extend(other.cancel() for other in handles)

    engine.submit("To be", 6, on_token=cancel_the_others)
    handles += [engine.submit("My lord", 3), engine.submit("abc", 4)]
    engine.run()
    assert answers == [False, True]
    figures = engine.history.metrics().requests
    assert [handle.status for handle in handles] == ["finished", "cancelled"]
    assert [figures[handle.id].status for handle in handles] == ["finished", "cancelled"]
    assert handles[0].tokens == expected("My lord", 3)


def call_from_outside(engine: Engine, action: Callable[[], Any]) -> None:
    """Start ``action`` in another thread and return once it waits for the engine."""
    threading.Thread(target=action, daemon=True).start()
    while not engine.lock.waiting:
        pass


def test_another_thread_can_cancel_during_a_run() -> None:
    engine = engine_for(pages=None)

    def give_up(handle: Handle, token: int, text: str) -> None:
        if len(handle.tokens) == 3:
            call_from_outside(engine, other.cancel)

    calling = engine.submit("To be", 60, on_token=give_up)
    other = engine.submit("My lord", 60)
    engine.run()
    assert (other.status, other.tokens) == ("cancelled", expected("My lord", 3))
    assert calling.tokens == expected("To be", 60)


# ---- the forward -----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("no more memory"), KeyboardInterrupt()])
def test_a_forward_that_raises_ends_those_it_was_for_and_nobody_else(error: BaseException) -> None:
    engine = failing(3, error, max_active=2, prefix_cache=True, page_size=2, pages=64, prefill_budget=6)
    decoding, half = engine.submit("To be", 6), engine.submit("a prompt of many chunks", 6)
    waiting, early = engine.submit("My lord", 6), engine.submit("abc", 4)
    engine.step()
    engine.step()
    early.cancel()
    with pytest.raises(type(error)):
        engine.run()
    assert [h.status for h in (decoding, half, waiting, early)] == [
        "failed",
        "failed",
        "waiting",
        "cancelled",
    ]
    assert decoding.error is half.error is error
    assert decoding.finish_reason == "failed"
    broken = engine.history.records[-1]
    assert broken.cancelled == (early.id,)  # the record of the broken tick is kept
    assert set(broken.finished) == {(decoding.id, "failed"), (half.id, "failed")}
    assert broken.emitted == ()
    engine.run()
    assert waiting.tokens == expected("My lord", 6)
    assert engine.pool.tables() == {}
    again = engine.submit("a prompt of many chunks", 6)  # pages that were never written are not found
    engine.run()
    assert again.tokens == expected("a prompt of many chunks", 6)
    statuses = {key: figures.status for key, figures in engine.history.metrics().requests.items()}
    assert statuses[decoding.id] == statuses[half.id] == "failed"


def test_a_failed_forward_wrote_no_page() -> None:
    engine = failing(2, RuntimeError("broken"))
    engine.submit("To be", 6)
    with pytest.raises(RuntimeError, match="broken"):
        engine.run()
    writes = [[kind for kind, _, _ in r.page_events if kind == "write"] for r in engine.history.records]
    assert [len(events) for events in writes] == [2, 0]  # five prompt tokens, then nothing


def test_a_broken_run_can_be_told_again() -> None:
    engine = failing(3, RuntimeError("broken"), prefill_budget=6)
    trace = [Request("A", "0", 5, 6, "To be"), Request("B", "0", 18, 3, "a prompt of pieces")]
    with pytest.raises(RuntimeError, match="broken"):
        engine.run(trace)
    engine.run([Request("C", "0.5", 3, 2, "abc")])
    told = replay(engine.history, context=SMALL.context)
    assert told.records == [record.without_work() for record in engine.history.records]


# ---- the front door --------------------------------------------------------------------------------


def test_a_callback_that_waits_for_the_serving_thread_fails_instead_of_hanging() -> None:
    engine = engine_for()
    other = engine.submit("My lord", 6)
    with FrontDoor(engine) as door:
        calling = door.submit("To be", 6, on_token=lambda *_: list(other))
        assert list(calling) == calling.tokens
        assert list(other) == expected("My lord", 6)
    assert calling.status in ("failed", "finished")  # finished: the other was, so there was no wait


def test_an_error_of_the_engine_reaches_every_reader_and_shuts_the_door() -> None:
    engine = failing(3, ValueError("broken"), max_active=1)
    door = FrontDoor(engine)
    handles = [door.submit("To be", 20), door.submit("My lord", 20)]
    causes: dict[str, BaseException | None] = {}

    def reader(handle: Handle) -> None:
        try:
            list(handle)
        except RuntimeError as error:
            causes[handle.id] = error.__cause__

    threads = [threading.Thread(target=reader, args=(handle,)) for handle in handles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    served, waiting = handles
    assert (served.status, waiting.status) == ("failed", "waiting")
    assert str(served.error) == str(causes[waiting.id]) == "broken"
    assert causes.get(served.id, served.error) is served.error  # raised to a reader who was waiting for it
    with pytest.raises(RuntimeError, match="has stopped"):
        door.submit("abc", 1)
    door.close()
    assert engine.live == ()
    assert engine.pool.tables() == {}


def test_a_request_that_comes_during_a_tick_is_in_the_next() -> None:
    engine = engine_for(pages=None)
    late: list[Handle] = []

    def knock(handle: Handle, token: int, text: str) -> None:
        if len(handle.tokens) == 3:
            call_from_outside(engine, lambda: late.append(door.submit("My lord", 2)))

    with FrontDoor(engine) as door:
        tokens = list(door.submit("To be", 60, on_token=knock))
        assert list(late[0]) == expected("My lord", 2)
    assert tokens == expected("To be", 60)
    arrived = {key: record.tick for record in engine.history.records for key in record.arrived}
    assert sorted(arrived.values()) == [0, 3]  # three tokens are three ticks: 0, 1, 2


def test_a_reader_hears_of_a_cancellation_that_did_not_pass_the_door() -> None:
    engine = engine_for(pages=None, prefill_budget=1)
    with FrontDoor(engine):
        handle = engine.submit("a prompt that takes a while", 100)
        reader = threading.Thread(target=list, args=(handle,), daemon=True)
        reader.start()
        handle.cancel()
        reader.join(timeout=120)
        assert not reader.is_alive()


async def test_readers_in_a_loop_do_not_wait_for_each_other() -> None:
    """One thread for all of them would be taken by the reader whose request is still in the queue."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    engine, news, read, in_time = engine_for(policy="immediate", pages=None), threading.Condition(), [], []

    def hold(handle: Handle, token: int, text: str) -> None:
        """No tick ends before the reader has what the ticks before it gave."""
        before = len(handle.tokens) - 1
        with news:
            in_time.append(news.wait_for(lambda: len(read) >= before, timeout=120))

    async def read_all(handle: Handle) -> None:
        async for token in handle:
            with news:
                read.append(token)
                news.notify_all()

    with FrontDoor(engine) as door:
        with engine.lock:  # else the first tick holds up the second request
            first, behind = door.submit("To be", 6, on_token=hold), door.submit("My lord", 6)
        async with asyncio.TaskGroup() as readers:
            readers.create_task(read_all(behind))
            readers.create_task(read_all(first))
    assert in_time == [True] * 6
    assert read == expected("To be", 6) + expected("My lord", 6)


async def test_a_reader_in_a_loop_hears_of_an_error() -> None:
    engine = failing(2, ValueError("broken"), max_active=1)
    with FrontDoor(engine) as door:
        served, waiting = door.submit("To be", 20), door.submit("My lord", 20)
        with pytest.raises(RuntimeError, match="has stopped"):
            [token async for token in waiting]
    assert served.status == "failed"


def test_a_closing_door_takes_nobody() -> None:
    door = FrontDoor(engine_for())
    refused: list[BaseException] = []

    def close_and_submit(handle: Handle, token: int, text: str) -> None:
        door.close()
        try:
            door.submit("abc", 1)
        except InputError as error:
            refused.append(error)

    handle = door.submit("To be", 6, on_token=close_and_submit)
    assert len(list(handle)) == 1
    door.close()
    assert handle.status == "cancelled"
    assert len(refused) == 1
