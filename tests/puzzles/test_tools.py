"""Which tool's TPOT, and the calculators: arithmetic that has nothing to do with an exercise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from engine import InputError, Request, Service, simulate
from engine.serving.speculation import expected_tokens
from engine.traces import main_trace
from puzzles.calculator import MODELS, Shape, model, tokens_per_round
from puzzles.tools import TOOLS, tool_values


def values(key: str, service: Service) -> dict[str, float | None]:
    found = tool_values(simulate(main_trace(), service).metrics().requests[key])
    return {name: None if value is None else round(float(value), 4) for name, value in found.items()}


def test_one_request_that_waits_before_its_first_token() -> None:
    assert values("R02", Service(policy="static")) == {
        "lab": 0.1,
        "llmservingsim": 0.1,
        "blis": 0.1,
        "splitwise": 0.05,
        "vidur": 0.05,
        "guidellm": 0.65,
    }


def test_one_request_that_waits_between_its_tokens() -> None:
    assert values("R04", Service(tick="1.0")) == {  # type: ignore[arg-type]
        "lab": 2.0,
        "llmservingsim": 2.0,
        "blis": 2.0,
        "splitwise": 1.0,
        "vidur": 1.0,
        "guidellm": 1.81,
    }


def test_a_single_token_has_no_gap_and_the_tools_disagree_what_that_means() -> None:
    one = simulate([Request("R01", "0", 3, 1)], Service()).metrics().requests["R01"]  # type: ignore[arg-type]
    found = tool_values(one)
    assert (found["lab"], found["blis"], found["llmservingsim"]) == (None, None, 0)


def test_an_unfinished_request_has_no_value_anywhere() -> None:
    cut = simulate(main_trace(), Service(), horizon="1.0").metrics().requests["R01"]
    assert all(tool_values(cut)[name] is None for name in TOOLS if name != "blis")


# ---- KV ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "per_token"),
    [("llama_3_8b", 131_072), ("qwen3_32b", 262_144), ("plain_7b", 524_288), ("deepseek_v3", 70_272)],
)
def test_bytes_of_one_token(name: str, per_token: int) -> None:
    assert model(name).per_token == per_token


def test_a_long_context_of_a_plain_model_is_a_gibibyte() -> None:
    assert model("plain_7b").of(2048) == 2**30


def test_heads_and_width_decide_nothing() -> None:
    one = MODELS["llama_3_8b"]
    other = Shape(one.layers, 1, one.kv_heads, one.head_dim, 1)
    assert other.per_token == one.per_token


def test_half_the_bytes_are_half_the_kv() -> None:
    assert Shape(32, 32, 8, 128, 4096, bytes=1).per_token * 2 == MODELS["llama_3_8b"].per_token


@pytest.mark.parametrize("wrong", [{"layers": 0}, {"kv_heads": -1}, {"bytes": 1.5}, {"latent": 0}])
def test_a_shape_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    shape = {"layers": 2, "heads": 2, "kv_heads": 2, "head_dim": 8, "hidden": 16} | wrong
    with pytest.raises(InputError, match=next(iter(wrong))):
        Shape(**shape)


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="llama_3_8b"):
        model("llama")


# ---- speculation -------------------------------------------------------------------------------


@pytest.mark.parametrize("acceptance", ["0", "0.3", "0.8", "1"])
@pytest.mark.parametrize("guesses", [1, 2, 4, 8])
def test_a_round_is_what_the_engine_expects(acceptance: str, guesses: int) -> None:
    found = tokens_per_round(Fraction(acceptance), guesses)
    assert float(found) == pytest.approx(expected_tokens(float(acceptance), guesses))
