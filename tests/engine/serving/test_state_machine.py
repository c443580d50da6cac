"""Anything a caller may do, in any order, on tiny pools: no broken invariant, and the right tokens."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine import Engine, InputError
from engine.model.reference import generate
from engine.serving.handle import Handle
from engine.serving.speculation import PromptLookup
from tests.engine.models import small_model
from tests.engine.strategies import services

pytestmark = pytest.mark.slow
PROMPTS = st.lists(
    st.sampled_from((1, 1, 1, 2, 3)), min_size=1, max_size=12
)  # repetitive: prefixes are shared


@lru_cache(maxsize=4096)
def reference(prompt: tuple[int, ...], length: int) -> list[int]:
    return generate(small_model(), prompt, length).tokens


class Callers(RuleBasedStateMachine):
    """Callers of one engine; what each was promised is kept beside it."""

    @initialize(
        service=services(pages=6, page_size=3, kv_layout="paged", tick="0.1"),
        prefix_cache=st.booleans(),
        speculate=st.none() | st.integers(1, 4),
    )
    def start(self, service: Any, prefix_cache: bool, speculate: int | None) -> None:
        chosen = service.replace(prefix_cache=prefix_cache, speculate=speculate)
        self.engine = Engine(chosen, model=small_model(), draft=PromptLookup())
        self.promised: dict[str, tuple[tuple[int, ...], int]] = {}
        self.handles: list[Handle] = []
        self.frozen: dict[str, int] = {}  # tokens at the moment of cancelling

    @rule(
        prompt=PROMPTS,
        length=st.integers(1, 8),
        fails_at=st.none() | st.integers(1, 3),
        name=st.sampled_from("xyz"),
    )
    def submit(self, prompt: list[int], length: int, fails_at: int | None, name: str) -> None:
        def on_token(handle: Handle, token: int, text: str) -> None:
            assert handle.id not in self.frozen
            if len(handle.tokens) == fails_at:
                raise RuntimeError("the reader is gone")

        live = any(self.engine.history.requests[key].id == name for key in self.engine.live)
        try:
            handle = self.engine.submit(prompt, length, request_id=name, on_token=on_token)
        except InputError:
            assert live
            return
        assert not live
        self.promised[handle.id] = (tuple(prompt), length)
        self.handles.append(handle)

    @precondition(lambda self: self.handles)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        handle = data.draw(st.sampled_from(self.handles))
        was_live = handle.id in self.engine.live
        assert handle.cancel() is was_live
        if was_live:
            self.frozen[handle.id] = len(handle.tokens)
            assert handle.id not in self.engine.pool.tables()

    @rule(ticks=st.integers(1, 4))
    def step(self, ticks: int) -> None:
        for _ in range(ticks):
            self.engine.step()

    @invariant()
    def tokens_are_those_of_the_reference(self) -> None:
        for handle in getattr(self, "handles", []):
            prompt, length = self.promised[handle.id]
            assert handle.tokens == reference(prompt, length)[: len(handle.tokens)]
            if handle.status == "finished":
                assert len(handle.tokens) == length
            if handle.id in self.frozen:
                assert len(handle.tokens) == self.frozen[handle.id]

    @invariant()
    def accounts_add_up(self) -> None:
        if hasattr(self, "engine"):
            self.engine.pool.check()
            assert set(self.engine.pool.tables()) <= {s.key for s in self.engine.scheduler.active}

    def teardown(self) -> None:
        if not hasattr(self, "engine"):
            return
        self.engine.run()
        engine = self.engine
        assert all(handle.ended for handle in self.handles)
        assert engine.live == ()
        assert engine.pool.tables() == {}
        assert engine.pool.free_count() + engine.pool.cached_count() == 6  # type: ignore[operator]
        assert not engine.executor._tokens
        assert not engine._endings
        assert not engine.scheduler._live


TestCallers = Callers.TestCase
TestCallers.settings = settings(
    max_examples=1000, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
