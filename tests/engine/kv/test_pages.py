"""The page pools against plain models, proved after every single operation."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from engine import PagePool, Service, simulate
from engine.kv.pages import ContiguousPool
from tests.engine.main_runs import counts

KEYS = st.sampled_from(("A", "B", "C", "D"))


class PagedMachine(RuleBasedStateMachine):
    """Takes, trims and releases in any order; the model is how many pages each key should have."""

    @initialize(total=st.integers(1, 12), size=st.integers(1, 4))
    def begin(self, total: int, size: int) -> None:
        self.pool = PagePool(total, size)
        self.model: dict[str, int] = {}

    @rule(key=KEYS, count=st.integers(1, 5))
    def take(self, key: str, count: int) -> None:
        before = self.pool.tables()
        fits = sum(self.model.values()) + count <= (self.pool.total or 0)
        assert self.pool.has(count) == fits
        if fits:
            self.pool.take(key, count)
            self.model[key] = self.model.get(key, 0) + count
            assert tuple(self.pool.table(key))[: len(before.get(key, ()))] == before.get(key, ())
        else:
            with pytest.raises(MemoryError, match=f"{key} wants {count} pages"):
                self.pool.take(key, count)
            assert self.pool.tables() == before

    @rule(key=KEYS)
    def release(self, key: str) -> None:
        self.pool.release(key)
        self.model.pop(key, None)
        self.pool.release(key)  # twice is once

    @invariant()
    def adds_up(self) -> None:
        if not hasattr(self, "pool"):
            return
        self.pool.check()
        assert {key: len(table) for key, table in self.pool.tables().items()} == self.model
        assert self.pool.free_count() == (self.pool.total or 0) - sum(self.model.values())


class ContiguousMachine(RuleBasedStateMachine):
    """Runs are taken and released; the model places them by looking at every slot."""

    @initialize(total=st.integers(4, 24))
    def begin(self, total: int) -> None:
        self.pool = ContiguousPool(total, None)
        self.slots: list[str | None] = [None] * total

    def first_fit(self, count: int) -> int | None:
        starts = range(len(self.slots) - count + 1)
        return next((s for s in starts if not any(self.slots[s : s + count])), None)

    @rule(key=KEYS, count=st.integers(1, 9))
    def take(self, key: str, count: int) -> None:
        if key in self.slots:
            return
        start = self.first_fit(count)
        assert self.pool.has(count) == (start is not None)
        if start is None:
            with pytest.raises(MemoryError, match=f"{key} wants a run of {count} slots"):
                self.pool.take(key, count)
            return
        self.pool.take(key, count)
        self.slots[start : start + count] = [key] * count

    @rule(key=KEYS)
    def release(self, key: str) -> None:
        self.pool.release(key)
        self.slots = [None if owner == key else owner for owner in self.slots]
        self.pool.release(key)

    @invariant()
    def adds_up(self) -> None:
        if not hasattr(self, "pool"):
            return
        self.pool.check()
        owners = {
            key: tuple(i for i, o in enumerate(self.slots) if o == key) for key in set(self.slots) - {None}
        }
        assert self.pool.tables() == owners
        assert self.pool.free_count() == self.slots.count(None)


TestPaged = PagedMachine.TestCase
TestContiguous = ContiguousMachine.TestCase
for case in (TestPaged, TestContiguous):
    case.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_an_unlimited_pool_grows_and_reuses() -> None:
    pool = PagePool(None, 4)
    pool.take("A", 3)
    pool.take("B", 2)
    pool.release("A")
    pool.take("C", 4)
    pool.check()
    assert sorted(pool.table("B") + pool.table("C")) == list(range(6))
    assert pool.free_count() is None


def test_events_tell_every_change_in_order() -> None:
    pool = PagePool(4, 4)
    pool.take("A", 2)
    pool.release("A")
    assert pool.events == [("allocate", 0, "A"), ("allocate", 1, "A"), ("free", 1, "A"), ("free", 0, "A")]


@pytest.mark.parametrize("harm", ["share", "lose", "double"])
def test_check_finds_what_does_not_add_up(harm: str) -> None:
    pool = PagePool(4, 4)
    pool.take("A", 2)
    pool.take("B", 1)
    if harm == "share":
        pool.table("B").append(pool.table("A")[0])
    elif harm == "lose":
        pool.table("A").pop()
    else:
        freed = list(pool.table("B"))
        pool.release("B")
        pool.share("A", freed)
    with pytest.raises(AssertionError):
        pool.check()


def test_a_second_run_for_the_same_key_is_refused() -> None:
    pool = ContiguousPool(16, None)
    pool.take("A", 4)
    with pytest.raises(ValueError, match="A has a run"):
        pool.take("A", 4)
    assert pool.tables() == {"A": (0, 1, 2, 3)}


def test_external_fragmentation() -> None:
    """20 of 28 slots are free, and yet a request of 16 waits: they are not adjacent."""
    trace = counts(("0", 10, 2), ("0", 4, 4), ("0", 6, 2), ("0.3", 12, 4))
    exact = {"kv_layout": "contiguous_exact", "page_size": 4, "pages": 7}
    record = simulate(trace, Service(**exact)).records[3]
    assert (record.free, dict(record.blocked)["R04"].code) == (20, "no_run")
    assert (dict(record.blocked)["R04"].have, dict(record.blocked)["R04"].need) == (12, 16)
    assert "R04" in simulate(trace, Service(page_size=4, pages=7)).records[3].admitted


def test_max_len_wastes_what_paging_does_not() -> None:
    """Runs of the trace's longest request: two fit where pages hold all four."""
    trace = counts(("0", 20, 12), ("0", 4, 4), ("0", 4, 4), ("0", 4, 4))
    contiguous = simulate(trace, Service(kv_layout="contiguous")).records[0]
    assert (contiguous.active, contiguous.free) == (("R01", "R02"), 0)
    assert len(simulate(trace, Service()).records[0].active) == 4
