"""The measures on numbers that can be checked by hand, and what they say about the trained model."""

from __future__ import annotations

import math

import msgspec
import pytest
import torch

from engine.errors import InputError
from engine.model.reference import generate
from engine.model.tokens import encode
from engine.model.transformer import Transformer
from engine.quantize import Comparison, QuantizationError, comparison, quantize
from engine.quantize.compare import FormatResult
from engine.quantize.quality import (
    TokenDifference,
    forced_logits,
    free_run,
    layer_errors,
    relative_error,
    token_differences,
)
from engine.quantize.speed import decode_speeds
from engine.requests import Request
from engine.traces import main_trace


def test_relative_error() -> None:
    exact = torch.tensor([3.0, 4.0])
    assert relative_error(exact, exact) == 0
    assert relative_error(torch.tensor([3.0, 4.5]), exact) == pytest.approx(0.1)
    assert relative_error(exact * 1e-30 * 1.1, exact * 1e-30) == pytest.approx(0.1, rel=1e-5)
    assert relative_error(torch.zeros(2), torch.zeros(2)) == 0
    assert relative_error(exact, torch.zeros(2)) == math.inf


def test_differences_of_logits_by_hand() -> None:
    original = torch.tensor([[0.0, math.log(3)], [1.0, 0.0]])
    quantized = torch.tensor([[0.0, 0.0], [1.0, 1.5]])
    first, second = token_differences(original, quantized)
    # 1/4 and 3/4 against 1/2 and 1/2.
    assert first.divergence == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5))
    assert first.largest == pytest.approx(math.log(3))
    assert first.mean == pytest.approx(math.log(3) / 2)
    assert first.margin == pytest.approx(math.log(3))
    assert (second.token, second.chosen, second.changed) == (0, 1, True)


def test_equal_logits_differ_in_nothing() -> None:
    logits = torch.randn(3, 7)
    for difference in token_differences(logits, logits):
        assert (difference.largest, difference.mean, difference.divergence, difference.changed) == (
            0,
            0,
            0,
            False,
        )


def test_forcing_along_its_own_tokens_gives_a_models_own_logits(trained: Transformer) -> None:
    prompt = encode("My lord, ")
    written = generate(trained, prompt, 5)
    torch.testing.assert_close(
        forced_logits(trained, prompt, written.tokens), written.logits, rtol=1e-4, atol=1e-4
    )


def test_a_free_run_names_the_first_other_token(trained: Transformer) -> None:
    prompt = encode("My lord, ")
    tokens = generate(trained, prompt, 5).tokens
    assert free_run(trained, prompt, tokens).first_difference is None
    other = [*tokens[:3], tokens[3] ^ 1, tokens[4]]
    found = free_run(trained, prompt, other)
    assert (found.first_difference, found.tokens) == (3, tokens)


def test_layer_errors_are_those_of_the_layer_alone(trained: Transformer) -> None:
    model, window = quantize(trained, "int4"), torch.tensor([encode("What, is it you?")])
    errors = {error.part.name: error for error in layer_errors(trained, model, [window])}
    head = trained.head
    rows: list[torch.Tensor] = []
    handle = head.register_forward_pre_hook(lambda _, inputs: rows.append(inputs[0][0]))
    trained(window)
    handle.remove()
    approximate = model.head.dequantized()
    assert errors["head"].weight_error == pytest.approx(relative_error(approximate, head.weight))
    expected = relative_error(rows[0] @ approximate.T, head(rows[0]))
    assert errors["head"].output_error == pytest.approx(expected, rel=1e-3)
    assert errors["embedding"].weight_error is None


def test_fp32_compared_with_itself_differs_in_nothing(measured: Comparison) -> None:
    result = measured.of("fp32")
    assert (result.linear_ratio, result.total_ratio) == (1, 1)
    assert not any(token.largest or token.divergence or token.changed for token in result.forced)
    for prompt, text in zip(result.prompts, measured.prompts, strict=True):
        assert prompt.free.first_difference is None
        assert prompt.free.text == text.text


def test_all_requests_of_the_trace_with_their_lengths(measured: Comparison) -> None:
    trace = main_trace()
    assert [prompt.id for prompt in measured.prompts] == [request.id for request in trace]
    for result in measured.formats:
        for request, prompt in zip(trace, result.prompts, strict=True):
            assert len(prompt.forced) == len(prompt.free.tokens) == request.output_tokens
            assert prompt.changed == sum(token.token != token.chosen for token in prompt.forced)
    forced = [[token.token for token in prompt.forced] for prompt in measured.of("int4").prompts]
    assert forced == [prompt.tokens for prompt in measured.prompts]


def test_a_first_difference_is_where_free_and_forced_part(measured: Comparison) -> None:
    """Up to its first other token a free run has read what the forced one read."""
    for result in measured.formats:
        for prompt in result.prompts:
            changed = (place for place, token in enumerate(prompt.forced) if token.changed)
            assert prompt.free.first_difference == next(changed, None)


def test_fewer_bits_cost_more(measured: Comparison) -> None:
    eight, four = measured.of("int8"), measured.of("int4")
    assert eight.linear_ratio <= 0.30
    assert four.linear_ratio <= 0.20
    assert largest(eight.forced) < largest(four.forced)
    assert abs(eight.held_out.loss - measured.of("fp32").held_out.loss) < 0.005
    assert four.held_out.loss < measured.of("fp32").held_out.loss + 0.08
    for small, large in zip(eight.layers, four.layers, strict=True):
        if small.weight_error is not None and large.weight_error is not None:
            assert small.weight_error < 0.02 < large.weight_error < 0.2


def test_one_error_number_does_not_tell_quality(measured: Comparison) -> None:
    """GPTQ moves weights further than plain rounding does, and its outputs and text are better."""
    nearest, chosen = measured.of("int4"), measured.of("int4-gptq")
    assert nearest.linear_bytes == chosen.linear_bytes
    assert mean_error(chosen, "weight_error") > mean_error(nearest, "weight_error")
    assert mean_error(chosen, "output_error") < mean_error(nearest, "output_error")
    assert chosen.held_out.loss < nearest.held_out.loss


def test_a_comparison_is_plain_json(measured: Comparison) -> None:
    assert msgspec.json.decode(msgspec.json.encode(measured), type=Comparison) == measured


def test_what_cannot_be_compared_is_refused(trained: Transformer) -> None:
    with pytest.raises(InputError, match="request A: prompt is missing"):
        comparison([Request("A", "0", 3, 1)], model=trained)
    with pytest.raises(QuantizationError, match="format: 'int3'"):
        comparison(main_trace()[3:], ["int3"], model=trained, held_out_bytes=512)
    with pytest.raises(KeyError):
        Comparison([], []).of("int8")


def test_decode_speeds_are_measured_for_each_model_and_number_of_rows(trained: Transformer) -> None:
    models = {"fp32": trained, "int8": quantize(trained, "int8")}
    speeds = decode_speeds(models, (1, 3), context=16, repeats=2)
    assert [(speed.format, speed.rows) for speed in speeds] == [
        ("fp32", 1),
        ("int8", 1),
        ("fp32", 3),
        ("int8", 3),
    ]
    assert all(speed.milliseconds > 0 for speed in speeds)


def largest(differences: list[TokenDifference]) -> float:
    return max(difference.largest for difference in differences)


def mean_error(result: FormatResult, name: str) -> float:
    errors = [getattr(layer, name) for layer in result.layers if layer.weight_error is not None]
    return sum(errors) / len(errors)
