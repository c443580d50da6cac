"""Speculative decoding: the same tokens in fewer ticks, and the law of sampling kept."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine, InputError, Request, Service
from engine.history import tokens_of
from engine.model.config import ModelConfig
from engine.model.reference import generate
from engine.model.transformer import build
from engine.replay import replay
from engine.requests import prompt_bytes
from engine.serving.speculation import (
    DraftCost,
    DraftModel,
    Question,
    accept_greedy,
    accept_sampled,
    expected_tokens,
    look_up,
)
from tests.engine.models import SMALL, small_model
from tests.engine.strategies import services, traces


class Oracle:
    """Guesses what the model will say, each guess right with a given chance."""

    def __init__(self, chance: float, seed: int = 0) -> None:
        self.chance = chance
        self.random = random.Random(seed)

    def guess(self, questions: Sequence[Question], cost: DraftCost) -> dict[str, list[int]]:
        return {q.id: [self._one(token) for token in self._future(q)] for q in questions}

    def _future(self, question: Question) -> list[int]:
        return generate(small_model(), list(question.tokens), question.most).tokens

    def _one(self, right: int) -> int:
        return right if self.random.random() < self.chance else (right + 1) % 256

    def settle(self, key: str, length: int) -> None: ...
    def forget(self, key: str) -> None: ...
    def resize(self, pages: int) -> None: ...


@given(traces(most=5), services(kv_layout="paged"), st.integers(1, 8), st.sampled_from((0.0, 0.6, 1.0)))
@settings(max_examples=80, deadline=None)
def test_greedy_output_is_that_of_plain_decoding(
    trace: list[Request], service: Service, k: int, chance: float
) -> None:
    plain = Engine(service, model=small_model()).run(trace)
    quick = Engine(service.replace(speculate=k), model=small_model(), draft=Oracle(chance)).run(trace)
    for one in trace:
        assert tokens_of(quick.records, one.id) == tokens_of(plain.records, one.id)
    for record in quick.records:
        assert all(0 <= accepted <= guessed <= k for _, guessed, accepted in record.drafts)
        assert (record.work.forwards if record.work else 0) == int(bool(record.decode or record.prefill))
    assert replay(quick, context=SMALL.context).records == [r.without_work() for r in quick.records]


@given(traces(most=5), services(kv_layout="paged", prefix_cache=True), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_draft_model_and_the_prefix_cache_change_no_token(
    trace: list[Request], service: Service, k: int
) -> None:
    plain = Engine(service.replace(prefix_cache=False), model=small_model()).run(trace)
    shape = ModelConfig(width=32, layers=1, query_heads=2, kv_heads=1, head_dim=16, hidden=64, context=128)
    draft = DraftModel(build(shape, seed=5), service.pages or 64, service.page_size)
    quick = Engine(service.replace(speculate=k), model=small_model(), draft=draft).run(trace)
    for one in trace:
        assert tokens_of(quick.records, one.id) == tokens_of(plain.records, one.id)
    assert draft.written == {}


@pytest.mark.parametrize("most", range(1, 8))
def test_a_round_never_goes_past_the_length(most: int) -> None:
    service = Service(speculate=4, kv_reserve="on_demand")
    engine = Engine(service, model=small_model(), draft=Oracle(1.0))
    handle = engine.submit("To be", most)
    engine.run()
    assert len(handle.tokens) == most
    last = engine.history.records[-1]
    assert last.written == 5 + most - 1
    assert len(last.pages[handle.id]) == -(-last.written // service.page_size)


def test_right_guesses_save_ticks() -> None:
    ticks = {}
    for k in (None, 1, 4):
        engine = Engine(Service(speculate=k), model=small_model(), draft=Oracle(1.0))
        engine.submit("To be", 11)
        engine.run()
        ticks[k] = len(engine.history.records)
    assert ticks == {None: 11, 1: 6, 4: 3}


def test_a_stop_inside_a_round() -> None:
    tokens = generate(small_model(), prompt_bytes("To be"), 9).tokens
    engine = Engine(Service(speculate=8), model=small_model(), draft=Oracle(1.0))
    handle = engine.submit("To be", 9)
    engine._endings[handle.id] = type(engine._endings[handle.id])((bytes(tokens[3:5]),))
    behind = engine.submit("next", 3)
    engine.run()
    assert handle.tokens == tokens[:5]
    assert handle.finish_reason == "stop"
    assert behind.tokens == generate(small_model(), prompt_bytes("next"), 3).tokens
    assert engine.pool.tables() == {}
    summary = engine.history.metrics().summary
    assert (summary.draft_rounds, summary.tokens_per_round) == (2, (4 + 2) / 2)


class Terse:
    """Guesses for one request only, and not in a list."""

    def guess(self, questions: Sequence[Question], cost: DraftCost) -> dict[str, Sequence[int]]:
        return {q.id: b"abcdefgh" for q in questions if q.id == "a"}

    def settle(self, key: str, length: int) -> None: ...
    def forget(self, key: str) -> None: ...
    def resize(self, pages: int) -> None: ...


def test_a_draft_may_leave_requests_out_and_say_too_much() -> None:
    engine = Engine(Service(speculate=2), model=small_model(), draft=Terse())
    handles = [engine.submit("To be", 5, request_id=name) for name in "ab"]
    engine.run()
    expected = generate(small_model(), prompt_bytes("To be"), 5).tokens
    assert [handle.tokens for handle in handles] == [expected, expected]
    assert {key for record in engine.history.records for key, _, _ in record.drafts} == {"a"}


@pytest.mark.parametrize(
    ("guesses", "choices", "accepted"),
    [([1, 2, 3], [1, 2, 3, 4], 3), ([1, 2, 3], [1, 5, 3, 4], 1), ([7], [1, 2], 0), ([], [1], 0)],
)
def test_greedy_acceptance(guesses: list[int], choices: list[int], accepted: int) -> None:
    assert accept_greedy(guesses, choices) == accepted


def first_tokens(target: tuple[float, ...], draft: tuple[float, ...], rounds: int) -> tuple[float, float]:
    """Share of token 0 among first tokens, and share of accepted guesses, over ``rounds`` rounds."""
    generator = torch.Generator().manual_seed(7)
    p, q = torch.tensor([target, target]), torch.tensor([draft])
    zeros = accepted = 0
    for _ in range(rounds):
        guess = int(torch.multinomial(q[0], 1, generator=generator))
        tokens = accept_sampled([guess], q, p, generator)
        zeros += tokens[0] == 0
        accepted += len(tokens) == 2
    return zeros / rounds, accepted / rounds


def test_sampling_follows_the_target() -> None:
    share, accepted = first_tokens((0.7, 0.3), (0.4, 0.6), 20_000)
    assert abs(share - 0.70) < 0.0097
    assert abs(accepted - 0.70) < 0.0097
    share, accepted = first_tokens((0.5, 0.5), (0.6, 0.4), 20_000)
    assert abs(share - 0.50) < 0.0106
    assert abs(accepted - 0.90) < 0.0106


def test_after_a_rejection_the_rest_of_the_target_is_left() -> None:
    generator = torch.Generator().manual_seed(1)
    p, q = torch.tensor([[0.7, 0.3], [0.7, 0.3]]), torch.tensor([[0.4, 0.6]])
    rejected = [tokens for _ in range(200) if len(tokens := accept_sampled([1], q, p, generator)) == 1]
    assert rejected
    assert all(tokens == [0] for tokens in rejected)


def test_prompt_lookup_copies_what_followed_last_time() -> None:
    assert look_up([1, 2, 3, 9, 1, 2, 3], 2) == [9, 1]
    assert look_up([5, 1, 7, 1], 3) == [7, 1]
    assert look_up([1, 2, 3], 2) == []
    assert look_up([], 2) == []


def test_expected_tokens_per_round() -> None:
    assert expected_tokens(0.0, 4) == 1
    assert expected_tokens(1.0, 4) == 5
    assert expected_tokens(0.5, 2) == pytest.approx(1.75)


def test_speculation_needs_the_cache_and_a_known_draft() -> None:
    with pytest.raises(InputError, match="KV cache"):
        Engine(Service(speculate=2), model=small_model(), kv_cache=False)
    with pytest.raises(InputError, match="draft"):
        Engine(Service(speculate=2), model=small_model(), draft="oracle")


def test_statistics_are_in_the_summary() -> None:
    engine = Engine(Service(speculate=4), model=small_model(), draft=Oracle(1.0))
    engine.run([Request("R", Decimal(0), 5, 11, (1, 2, 3, 4, 5))])
    summary = engine.history.metrics().summary
    assert (summary.draft_rounds, summary.drafted, summary.accepted) == (2, 8, 8)
    assert summary.tokens_per_round == 5
    assert summary.accepted_at == (2, 2, 2, 2)
