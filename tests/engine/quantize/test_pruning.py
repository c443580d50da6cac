"""Weights left out: the right ones, in a new model, and what that costs and saves."""

from __future__ import annotations

import msgspec
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.model.transformer import Transformer
from engine.quantize import Comparison, QuantizationError, stored
from engine.quantize.exhibits import smaller_models
from engine.quantize.pruning import prune_hidden, prune_two_of_four, prune_weights, sparse_bytes, zero_share
from tests.engine.quantize.weights import linear, weights


@given(weights(), st.floats(0, 0.99))
@settings(max_examples=40, deadline=None)
def test_the_smallest_weights_go_and_the_others_stay(weight: Tensor, share: float) -> None:
    pruned = prune_weights(linear(weight), share).weight
    gone = (pruned == 0) & (weight != 0)
    dropped = int(share * weight.numel())
    assert gone.sum() <= dropped
    assert (pruned == 0).sum() >= dropped
    assert torch.equal(pruned[pruned != 0], weight[pruned != 0])
    if gone.any() and (pruned != 0).any():
        assert weight[gone].abs().max() <= weight[pruned != 0].abs().min()


@given(weights())
@settings(max_examples=40, deadline=None)
def test_two_of_four_stay(weight: Tensor) -> None:
    pruned = prune_two_of_four(linear(weight)).weight
    whole = weight.shape[1] // 4 * 4
    fours = pruned[:, :whole].reshape(-1, 4)
    assert ((fours != 0).sum(1) <= 2).all()
    assert torch.equal(
        fours.abs().sum(1), weight[:, :whole].reshape(-1, 4).abs().sort(1).values[:, 2:].sum(1)
    )
    assert torch.equal(pruned[:, whole:], weight[:, whole:])


def test_hidden_units_that_add_nothing_go_without_a_trace(trained: Transformer) -> None:
    model = prune_hidden(trained, 0)
    for block in model.blocks:
        block.mlp.down.weight.data[:, ::2] = 0
    smaller = prune_hidden(model, 0.5)
    text = torch.randint(128, (1, 20))
    assert smaller.blocks[0].mlp.gate_up.weight.shape == (384, 128)
    assert smaller.blocks[0].mlp.down.weight.shape == (128, 192)
    torch.testing.assert_close(smaller(text), model(text), rtol=1e-4, atol=1e-4)


def test_the_given_model_is_unchanged(trained: Transformer) -> None:
    before = {name: value.clone() for name, value in trained.state_dict().items()}
    for pruned in (prune_weights(trained, 0.5), prune_two_of_four(trained), prune_hidden(trained, 0.5)):
        assert zero_share(pruned) >= zero_share(trained)
    assert all(torch.equal(value, before[name]) for name, value in trained.state_dict().items())


def test_zeros_save_nothing_until_they_are_stored_otherwise(trained: Transformer) -> None:
    pruned, smaller = prune_weights(trained, 0.5), prune_hidden(trained, 0.5)
    assert zero_share(pruned) == pytest.approx(0.5, abs=1e-3)
    assert stored(pruned) == stored(trained)
    assert stored(smaller).linear < 0.65 * stored(trained).linear


def test_sparse_bytes_by_hand() -> None:
    assert sparse_bytes(torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])) == 2 * 4 + 1
    assert sparse_bytes(torch.zeros(4, 4)) == 2


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, float("nan")])
def test_a_senseless_share_is_refused(share: float) -> None:
    for prune in (prune_weights, prune_hidden):
        with pytest.raises(QuantizationError, match="share"):
            prune(nn.Linear(4, 4), share)


def test_exhibits_have_the_same_figures(trained: Transformer) -> None:
    shown = smaller_models(trained, held_out_bytes=1024)
    loss = {result.format: result.held_out.loss for result in shown.formats}
    assert loss["fp32"] < loss["zero-25"] < loss["zero-50"]
    assert loss["units-25"] < loss["units-50"]
    assert loss["fp32"] < loss["student"]
    assert shown.of("units-50").linear_ratio < 0.65
    errors = [layer.weight_error for layer in shown.of("zero-2-of-4").layers if layer.part.name == "head"]
    assert errors[0] == pytest.approx(0.4, abs=0.2)
    assert msgspec.json.decode(msgspec.json.encode(shown), type=Comparison) == shown
