"""The same engine with fewer bits: its tokens are those of the naive reference on the same weights."""

from __future__ import annotations

import pytest

from engine import Engine, Service
from engine.history import tokens_of
from engine.model.reference import generate
from engine.requests import prompt_bytes
from engine.service import WEIGHTS
from engine.serving.loading import load_model
from engine.traces import main_trace


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_tokens_are_those_of_the_reference(weights: str, exact: bool) -> None:
    model = load_model(weights)
    expected = {r.id: generate(model, prompt_bytes(r.prompt or ""), r.output_tokens) for r in main_trace()}
    for policy in ("immediate", "static", "continuous"):
        for page_size in (1, 4, 7):
            service = Service(policy=policy, page_size=page_size, pages=-(-64 // page_size))
            run = Engine(service, exact=exact, model=model).run(main_trace())
            for key, reference in expected.items():
                assert min(reference.margins) > 1e-4
                assert tokens_of(run.records, key) == reference.tokens
