"""The prefix cache: whole pages, compared by their tokens, found only after they were written."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine, InputError, PagePool, Reason, Request, Service, simulate
from engine.history import History, tokens_of
from engine.kv.prefix import PrefixIndex
from engine.model.cache import PagedKVCache
from engine.model.layout import Chunk
from engine.model.paged import forward
from engine.model.reference import generate, last_logits
from engine.replay import replay
from tests.engine.models import SMALL, small_model
from tests.engine.strategies import services


def served(requests: list[Request], **settings_: object) -> History:
    """A run with the prefix cache on."""
    service = Service(**{"prefix_cache": True, "pages": None, **settings_})  # type: ignore[arg-type]
    return Engine(service, model=small_model()).run(requests)


def request(name: str, arrival: str, prompt: list[int], output: int = 3) -> Request:
    return Request(name, Decimal(arrival), len(prompt), output, tuple(prompt))


def hits(history: History) -> dict[str, int]:
    return {key: count for record in history.records for key, count in record.hits}


def test_one_token_is_always_computed() -> None:
    prompt = list(range(10, 18))
    run = served([request("a", "0", prompt), request("b", "1", prompt), request("c", "2", [*prompt, 99])])
    assert hits(run) == {"a": 0, "b": 4, "c": 8}
    assert tokens_of(run.records, "b") == tokens_of(run.records, "a")
    assert tokens_of(run.records, "c") == generate(small_model(), [*prompt, 99], 3).tokens


@pytest.mark.parametrize(("shared", "reused"), [(15, 0), (16, 16), (17, 16), (31, 16), (32, 32), (33, 32)])
def test_reuse_is_in_whole_pages(shared: int, reused: int) -> None:
    common = list(range(1, shared + 1))
    trace = [
        request("first", "0", [*common, 200, 201]),
        request("second", "2", [*common, 210, 211]),
        request("control", "4", [*reversed(common), 210, 211]),
    ]
    assert hits(served(trace, page_size=16, prefill_budget=64)) == {
        "first": 0,
        "second": reused,
        "control": 0,
    }


def test_pages_cannot_be_found_in_the_tick_that_writes_them() -> None:
    prompt = list(range(12))
    run = served([request("a", "0", prompt, 6), request("b", "0", prompt), request("c", "0.1", prompt)])
    assert hits(run) == {"a": 0, "b": 0, "c": 8}


def test_the_same_page_of_tokens_behind_another_beginning_is_another_page() -> None:
    index = PrefixIndex(2)
    pool = PagePool(8, 2, index)
    pool.take("a", 3)
    pool.publish("a", [1, 2, 3, 4, 5, 6])
    pool.take("b", 2)
    pool.publish("b", [9, 9, 3, 4])
    a, b = pool.table("a"), pool.table("b")
    assert pool.match([1, 2, 3, 4, 7, 7], 9) == a[:2]
    assert pool.match([9, 9, 3, 4, 5, 6], 9) == b
    assert pool.match([3, 4, 5, 6], 9) == []
    pool.check()


def test_eviction_takes_the_longest_unused_and_the_end_of_a_text_first() -> None:
    pool = PagePool(4, 2, PrefixIndex(2))
    for key, tokens in (("a", [1, 2, 3, 4]), ("b", [5, 6, 7, 8])):
        pool.take(key, 2)
        pool.publish(key, tokens)
    a, b = list(pool.table("a")), list(pool.table("b"))
    pool.release("a")
    pool.release("b")
    assert (pool.free_count(), pool.cached_count()) == (0, 4)
    pool.take("c", 1)
    assert pool.table("c") == [a[1]]
    assert pool.match([1, 2, 3, 4], 9) == a[:1]
    assert pool.match([5, 6, 7, 8], 9) == b
    pool.check()


def test_room_for_a_hit_is_not_counted_twice() -> None:
    pool = PagePool(3, 2, PrefixIndex(2))
    pool.take("a", 2)
    pool.publish("a", [1, 2, 3, 4])
    found = pool.match([1, 2, 3, 4], 9)
    pool.release("a")
    assert pool.has(1, beside=found)
    assert not pool.has(2, beside=found)


def test_the_reason_for_waiting_does_not_count_the_pages_found() -> None:
    """Found pages are not room for the rest: who needs 3 beside them and has 1 says 1."""
    known = list(range(8))
    trace = [
        request("a", "0", known, 1),
        request("b", "0.2", [50, 51, 52], 6),
        request("c", "0.3", [*known, *range(60, 68)], 1),
    ]
    run = simulate(trace, Service(pages=6, prefix_cache=True))
    reasons = {why for record in run.records for key, why in record.blocked if key == "c"}
    assert reasons == {Reason("no_pages", ("b",), have=1, need=3)}


@given(st.lists(st.lists(st.integers(0, 1), max_size=9), max_size=6), st.data())
def test_the_index_finds_what_a_plain_list_of_texts_finds(
    texts: list[list[int]], data: st.DataObject
) -> None:
    index, known, pages = PrefixIndex(2), {}, itertools.count()
    for tokens in texts:
        table = [next(pages) for _ in range(len(tokens) // 2)]
        index.add(table, tokens)
        known.update({page: tokens[: 2 * place] for place, page in enumerate(table, 1)})
    for page in data.draw(st.lists(st.sampled_from(sorted(known)), unique=True)) if known else ():
        index.drop(page)
        del known[page]
    for tokens in texts:
        holders = [[p for p in known if known[p] == tokens[:end]] for end in range(2, len(tokens) + 1, 2)]
        assert index.match(tokens, 9) == [held[0] for held in itertools.takewhile(bool, holders)]
    assert len(index) == len(known)
    for page in known:
        index.drop(page)
    assert index._empty.longer == {}  # a dropped text leaves nothing behind


def test_copy_on_write() -> None:
    pool = PagePool(3, 4)
    pool.take("a", 1)
    shared = pool.table("a")[0]
    pool.share("b", [shared])
    assert pool.references[shared] == 2
    moved = pool.own("b", 0)
    assert moved is not None
    assert moved == (shared, pool.table("b")[0])
    assert pool.own("a", 0) is None
    pool.check()
    pool.release("a")
    pool.release("b")
    assert pool.free_count() == 3


def test_copy_on_write_keeps_both_texts_right() -> None:
    """Two texts share their pages, the last one half full, and then part."""
    model, common = small_model(), [7, 8, 9, 10, 11, 12]
    pool, cache = PagePool(4, 4), PagedKVCache(SMALL, 4, 4)
    pool.take("a", 2)
    forward(model, cache, [Chunk(common, 0, pool.table("a"))])
    pool.share("b", pool.table("a"))
    moved = pool.own("b", 1)
    assert moved is not None
    cache.copy_page(*moved)
    pool.check()
    ends = [Chunk([token], 6, pool.table(key)) for key, token in (("a", 50), ("b", 60))]
    logits = forward(model, cache, ends)
    for row, token in enumerate((50, 60)):
        assert torch.allclose(logits[row], last_logits(model, [*common, token]), atol=1e-4)


def test_the_event_log_tells_the_life_of_a_page() -> None:
    trace = [request("a", "0", list(range(8)), 2), request("b", "0.3", list(range(8)), 2)]
    run = served(trace, pages=4)
    log = [(kind, page, key) for record in run.records for kind, page, key in record.page_events]
    a, b = run.records[0].pages["a"], run.records[-1].pages["b"]
    assert log[:6] == [
        *(("allocate", p, "a") for p in a),
        *(("write", p, "a") for p in a[:2]),
        ("write", a[2], "a"),
    ]
    assert ("share", a[0], "b") in log
    assert {kind for kind, _, key in log if key == "b"} == {"share", "allocate", "write", "free", "cache"}
    assert b[0] == a[0]


def test_own_pages_do_not_count_as_hits_after_a_preemption() -> None:
    trace = [request("a", "0", list(range(8)), 8), request("b", "0", list(range(50, 58)), 8)]
    run = served(trace, pages=5, kv_reserve="on_demand")
    metrics = run.metrics()
    assert sum(m.preempted for m in metrics.requests.values()) > 0
    assert metrics.summary.prefix_hits == 0
    assert metrics.summary.prefix_queries == 16


def test_contiguous_kv_has_no_prefix_cache() -> None:
    with pytest.raises(InputError, match="prefix_cache"):
        Service(prefix_cache=True, kv_layout="contiguous")


@st.composite
def families(draw: st.DrawFn) -> list[Request]:
    """Requests that begin with one of two texts."""
    stems = [list(range(30)), list(range(100, 130))]
    found = []
    for number in range(draw(st.integers(2, 7))):
        stem = draw(st.sampled_from(stems))[: draw(st.integers(1, 14))]
        prompt = stem + draw(st.lists(st.integers(0, 255), max_size=4))
        arrival = str(Decimal(draw(st.integers(0, 200))) / 100)
        found.append(request(f"R{number}", arrival, prompt, draw(st.integers(1, 8))))
    return found


@given(families(), services(kv_layout="paged"))
@settings(max_examples=150, deadline=None)
def test_same_tokens_with_the_cache_on_and_off(trace: list[Request], service: Service) -> None:
    off = Engine(service, model=small_model()).run(trace)
    on = Engine(service.replace(prefix_cache=True), model=small_model()).run(trace)
    for one in trace:
        assert tokens_of(on.records, one.id) == tokens_of(off.records, one.id)
    assert replay(on, context=SMALL.context).records == [record.without_work() for record in on.records]


def test_pages_are_offered_when_they_are_full_and_not_in_every_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offering a text walks all of it: once a token, that is the square of its length."""
    offered: list[int] = []
    publish = PagePool.publish

    def counted(pool: PagePool, key: str, tokens: Sequence[int]) -> None:
        offered.append(len(tokens))
        publish(pool, key, tokens)

    monkeypatch.setattr(PagePool, "publish", counted)
    served([request("a", "0", list(range(10)), 12)], page_size=8, prefill_budget=5)
    assert offered == [10, 16]
