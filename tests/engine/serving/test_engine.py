"""The torch engine: it keeps to the ledger's plans, and its tokens are those of the reference."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine, InputError, Reason, Request, Service, simulate
from engine.history import tokens_of
from engine.kv.pages import Pool
from engine.model.reference import generate
from engine.replay import replay
from engine.requests import prompt_bytes
from engine.serving.handle import Handle
from engine.traces import main_trace
from tests.engine.models import SMALL, small_model
from tests.engine.strategies import services, traces


def engine_for(service: Service, **changes: Any) -> Engine:
    return Engine(service, model=small_model(), **changes)


def reference_tokens(request: Request) -> list[int]:
    assert request.prompt is not None
    return generate(small_model(), prompt_bytes(request.prompt), request.output_tokens).tokens


def close_calls(request: Request) -> list[int]:
    """Indexes of the output tokens that the reference chose by less than 1e-4."""
    assert request.prompt is not None
    margins = generate(small_model(), prompt_bytes(request.prompt), request.output_tokens).margins
    return [index for index, margin in enumerate(margins) if margin < 1e-4]


@given(traces(), services())
@settings(max_examples=500, deadline=None)
def test_engine_keeps_to_the_ledger(trace: list[Request], service: Service) -> None:
    run = engine_for(service).run(trace)
    assert run.comparable() == simulate(trace, service).comparable()
    told_again = replay(run, context=SMALL.context)
    assert told_again.records == [record.without_work() for record in run.records]
    for record in run.records:
        works = bool(record.decode or record.prefill)
        assert (record.work.forwards if record.work else 0) == int(works)


@given(traces(most=4), services(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_tokens_are_those_of_the_reference(trace: list[Request], service: Service, exact: bool) -> None:
    run = engine_for(service, exact=exact).run(trace)
    for key, life in run.metrics().requests.items():
        expected = reference_tokens(run.requests[key]) if life.status == "finished" else []
        if not close_calls(run.requests[key]):
            assert tokens_of(run.records, key) == expected


def submit(engine: Engine, request: Request) -> Handle:
    """Submit a request of a trace."""
    assert request.prompt is not None
    lengths = (request.prompt, request.output_tokens)
    return engine.submit(*lengths, request_id=request.id, arrival=request.arrival, priority=request.priority)


def shuffled(pool: Pool, random: Any) -> list[int]:
    """The free pages, after all of them were taken and came back in random order."""
    keys = [f"shuffle {place}" for place in range(pool.free_count() or 0)]
    for key in keys:
        pool.take(key, 1)
    random.shuffle(keys)
    pages = [page for key in keys for page in pool.table(key)]
    for key in keys:
        pool.release(key)
    pool.events.clear()
    return pages


@given(traces(most=5), services(kv_layout="paged"), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_page_order_and_stale_pages_change_no_token(
    trace: list[Request], service: Service, random: Any
) -> None:
    plain = engine_for(service).run(trace)
    engine = engine_for(service)
    for request in trace:
        submit(engine, request)
    engine.close()
    while not engine.scheduler.idle:
        engine.executor.cache.poison(shuffled(engine.pool, random))
        engine.step()
    assert [r.emitted for r in engine.history.records] == [r.emitted for r in plain.records]


@given(traces(most=5), services(), st.data())
@settings(max_examples=60, deadline=None)
def test_alone_equals_batched_bit_for_bit(
    trace: list[Request], service: Service, data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(trace))
    together, alone = engine_for(service), engine_for(Service(pages=None))
    logits = {id(engine): [] for engine in (together, alone)}
    for engine, requests in ((together, trace), (alone, [chosen])):
        for request in requests:
            submit(engine, request)
        engine.close()
        while not engine.scheduler.idle:
            engine.step()
            if chosen.id in engine.executor.logits:
                logits[id(engine)].extend(engine.executor.logits[chosen.id])
    batched, single = logits[id(together)], logits[id(alone)]
    assert all((a == b).all() for a, b in zip(batched, single, strict=False))
    assert len(batched) in (0, len(single))  # 0: refused


def test_tokens_stream_in_order_and_text_follows() -> None:
    engine, seen = engine_for(Service()), []
    handle = engine.submit("To be", 5, on_token=lambda h, token, text: seen.append((h.id, token, text)))
    assert list(handle) == handle.tokens == [token for _, token, _ in seen]
    assert (
        "".join(text for _, _, text in seen) + handle.text[len("".join(t for _, _, t in seen)) :]
        == handle.text
    )
    assert (handle.status, handle.finish_reason) == ("finished", "length")


def test_a_live_id_is_refused_and_may_be_used_again_afterwards() -> None:
    engine = engine_for(Service())
    first = engine.submit("aaaa", 8, request_id="x")
    engine.step()
    with pytest.raises(InputError, match="'x' is live"):
        engine.submit("bbbb", 8, request_id="x")
    assert list(first) == generate(small_model(), prompt_bytes("aaaa"), 8).tokens
    again = engine.submit("cccc", 2, request_id="x")
    assert again.id == "x#2"
    assert list(again) == generate(small_model(), prompt_bytes("cccc"), 2).tokens


def test_cancelling_a_queued_request_leaves_no_trace() -> None:
    engine = engine_for(Service(policy="immediate"))
    busy = engine.submit("aaaa", 40, request_id="busy")
    engine.step()
    engine.submit("q", 3, request_id="q")
    for _ in range(1000):
        assert engine.cancel("q")
        engine.submit("q", 3, request_id="q")
    engine.run()
    last = engine.history.metrics().requests["q#1001"]
    assert (last.status, len(tokens_of(engine.history.records, "q#1001"))) == ("finished", 3)
    assert busy.status == "finished"
    assert not engine._handles
    assert not engine.executor._tokens
    assert engine.pool.tables() == {}
    assert engine.scheduler.idle


@pytest.mark.parametrize("after", range(8))
@pytest.mark.parametrize("policy", ["immediate", "static", "continuous"])
def test_cancel_in_every_phase(policy: str, after: int) -> None:
    service = Service(policy=policy, prefill_budget=4)
    engine = engine_for(service)
    victim = engine.submit("To be, or not", 6)
    neighbour = engine.submit("O Romeo", 3)
    for _ in range(after):
        engine.step()
    given = list(victim.tokens)
    ended = victim.ended
    assert victim.cancel() is not ended
    assert victim.cancel() is False
    assert victim.id not in engine.pool.tables()
    engine.run()
    assert victim.tokens == given
    assert neighbour.tokens == generate(small_model(), prompt_bytes("O Romeo"), 3).tokens
    assert engine.pool.tables() == {}


def test_callbacks_may_cancel_submit_and_raise() -> None:
    engine = engine_for(Service())
    born = []

    def busy(handle: Any, token: int, text: str) -> None:
        if len(handle.tokens) == 2:
            born.append(engine.submit("new", 2))
            handle.cancel()

    def broken(handle: Any, token: int, text: str) -> None:
        raise RuntimeError("the reader went away")

    one, two = engine.submit("aaaa", 6, on_token=busy), engine.submit("bbbb", 6, on_token=broken)
    three = engine.submit("cccc", 6)
    engine.run()
    assert (one.status, len(one.tokens)) == ("cancelled", 2)
    assert (two.status, len(two.tokens), str(two.error)) == ("failed", 1, "the reader went away")
    assert three.tokens == generate(small_model(), prompt_bytes("cccc"), 6).tokens
    assert born[0].status == "finished"
    summary = engine.history.metrics().summary
    assert (summary.finished, summary.cancelled, summary.failed) == (2, 1, 1)


def test_an_idle_step_is_a_tick_in_which_nothing_happens() -> None:
    engine = engine_for(Service())
    record = engine.step()
    assert (record.tick, record.active, record.work) == (0, (), None)
    assert engine.submit("a", 1).status == "waiting"
    assert engine.history.requests["request-1"].arrival == Decimal("0.1")


def test_too_long_is_refused_and_the_run_goes_on() -> None:
    trace = [Request("long", Decimal(0), 100, 100, (1,) * 100), Request("short", Decimal(0), 2, 2, (1, 2))]
    metrics = engine_for(Service(pages=None)).run(trace).metrics()
    assert [m.status for m in metrics.requests.values()] == ["refused", "finished"]


def test_a_handle_says_why_it_was_refused() -> None:
    engine = engine_for(Service())
    handle, small = engine.submit("To be, or not to b", 100), engine.submit("a", 1)
    assert list(handle) == []
    assert (handle.status, handle.refusal) == ("refused", Reason("never_fits", have=16, need=30))
    assert small.refusal is None


def test_a_horizon_holds_until_the_engine_goes_on() -> None:
    engine = engine_for(Service())
    handle = engine.submit("abc", 6)
    engine.run(horizon="0.3")
    engine.history.metrics()
    assert engine.history.metrics().requests[handle.id].status == "unfinished"
    list(handle)
    found = engine.history.metrics()
    assert (found.requests[handle.id].status, found.requests[handle.id].e2e) == ("finished", 0.6)
    assert found.summary.window == 0.6


def test_an_idle_tick_before_the_horizon_leaves_it() -> None:
    engine = engine_for(Service())
    engine.submit("abc", 2)
    engine.run(horizon="0.3")
    engine.step()
    assert engine.history.horizon == Decimal("0.3")
    engine.step()
    assert engine.history.horizon is None


def test_a_request_without_a_prompt_or_on_a_closed_engine_is_malformed() -> None:
    engine = engine_for(Service())
    with pytest.raises(InputError, match="needs its prompt"):
        engine.run([Request("R", Decimal(0), 2, 2)])
    with pytest.raises(InputError, match="empty"):
        engine.submit("", 2)
    engine.close()
    with pytest.raises(InputError, match="closed"):
        engine.submit("a", 2)


def test_prompts_of_the_main_trace_are_as_long_as_it_says() -> None:
    assert [(r.id, r.prompt_tokens, len(prompt_bytes(r.prompt or ""))) for r in main_trace()] == [
        ("R01", 18, 18),
        ("R02", 6, 6),
        ("R03", 5, 5),
        ("R04", 7, 7),
    ]
