"""quantize makes a new model, exchanges what can be exchanged and lists the rest."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from engine.model.config import ModelConfig
from engine.model.paged import exact_tile
from engine.model.transformer import Transformer, build
from engine.quantize import (
    FORMATS,
    Int4Linear,
    Int8Linear,
    PackedInt4Linear,
    QuantizationError,
    QuantizedLinear,
    inventory,
    kernels,
    quantize,
    set_exact,
    stored,
)
from tests.engine.quantize.weights import float_tensors

SMALL = ModelConfig(width=48, layers=2, query_heads=2, kv_heads=1, head_dim=16, hidden=80, context=64)
LINEAR = [
    f"blocks.{layer}.{name}"
    for layer in (0, 1)
    for name in ("attention.qkv", "attention.output", "mlp.gate_up", "mlp.down")
] + ["head"]


@pytest.fixture(scope="module")
def small() -> Transformer:
    return build(SMALL)


@pytest.fixture(scope="module")
def text() -> Tensor:
    return torch.randint(256, (4, 32), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("format", FORMATS)
def test_the_given_model_is_unchanged_and_shares_nothing(
    small: Transformer, text: Tensor, format: str
) -> None:
    before = {name: value.clone() for name, value in small.state_dict().items()}
    model = quantize(small, format, calibration=text)
    for name, value in small.state_dict().items():
        assert torch.equal(value, before[name])
    owned = {value.data_ptr() for value in small.state_dict().values()}
    assert not owned & {value.data_ptr() for value in model.state_dict().values()}
    assert not model.training
    assert model(text).shape == (4, 32, 256)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "fp32"])
def test_every_part_is_listed(small: Transformer, text: Tensor, format: str) -> None:
    parts = {part.name: part for part in inventory(quantize(small, format, calibration=text))}
    assert [name for name, part in parts.items() if part.reason is None] == LINEAR
    assert {parts[name].format for name in LINEAR} == {format}
    assert (parts["embedding"].format, parts["embedding"].reason) == ("fp32", "lookup")
    assert (parts["norm"].reason, parts[""].reason) == ("vector", "table")


@pytest.mark.parametrize(("format", "kind"), [("int8", Int8Linear), ("int4", Int4Linear)])
def test_layers_are_of_the_right_kind(small: Transformer, format: str, kind: type[nn.Module]) -> None:
    model = quantize(small, format)
    assert all(type(model.get_submodule(name)) is kind for name in LINEAR)


def test_bytes_are_those_of_the_trained_model(trained: Transformer) -> None:
    plain = stored(trained)
    assert plain.linear_ratio == 1
    assert plain.linear == 4 * sum(
        module.weight.numel() for module in trained.modules() if isinstance(module, nn.Linear)
    )
    for format, most in (("int8", 0.30), ("int4", 0.20), ("int4-asymmetric", 0.20)):
        small = stored(quantize(trained, format))
        assert small.linear_ratio <= most
        assert small.linear_fp32 == plain.linear
        assert small.other == plain.other


def test_layers_can_be_kept(small: Transformer) -> None:
    model = quantize(small, "int4", keep=["head"])
    assert type(model.head) is nn.Linear
    assert {part.name: part.reason for part in inventory(model)}["head"] == "kept"


def test_shared_weights_and_strange_layers_are_kept_with_their_reason() -> None:
    class Strange(nn.Linear):
        pass

    model = nn.ModuleDict(
        {"table": nn.Embedding(8, 4), "head": nn.Linear(4, 8, bias=False), "strange": Strange(4, 4)}
    )
    model["head"].weight = model["table"].weight
    parts = {part.name: part for part in inventory(quantize(model, "int8"))}
    assert {name: part.reason for name, part in parts.items()} == {
        "table": "lookup",
        "head": "shared",
        "strange": "subclass",
    }
    assert parts["table"].bytes + parts["head"].bytes == 8 * 4 * 4


def test_a_layer_used_twice_stays_one_layer() -> None:
    linear = nn.Linear(32, 32)
    model = quantize(nn.Sequential(linear, nn.ReLU(), linear), "int8")
    assert isinstance(model[0], Int8Linear)
    assert model[0] is model[2]


def test_a_single_layer_is_a_model_too() -> None:
    assert isinstance(quantize(nn.Linear(32, 16), "int8"), Int8Linear)


def test_quantizing_again_changes_nothing(small: Transformer, text: Tensor) -> None:
    model = quantize(small, "int8")
    assert torch.equal(quantize(model, "int4")(text), model(text))


@pytest.mark.parametrize("format", FORMATS)
def test_a_bad_weight_names_its_layer(format: str, text: Tensor) -> None:
    model = build(SMALL)
    model.blocks[1].mlp.down.weight.data[3, 7] = torch.nan
    if format == "fp32":
        quantize(model, format)
        return
    with pytest.raises(QuantizationError, match=r"blocks\.1\.mlp\.down: .* row 3, column 7: nan"):
        quantize(model, format, calibration=text)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"format": "int5"}, "format: 'int5' is not one of fp32, int8"),
        ({"kernel": "fast"}, "kernel: 'fast' is not one of auto"),
        ({"keep": ["tail"]}, "keep: the model has no layer 'tail'"),
    ],
)
def test_senseless_settings_are_refused(small: Transformer, settings: dict[str, object], words: str) -> None:
    with pytest.raises(QuantizationError, match=words):
        quantize(small, **settings)  # type: ignore[arg-type]


def test_large_layers_take_the_packed_kernels_by_themselves() -> None:
    model = nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 64))
    faster = kernels.packed_rows() > 0
    assert isinstance(quantize(model, "int4")[0], PackedInt4Linear if faster else Int4Linear)
    assert isinstance(quantize(model, "int4")[1], Int4Linear)
    assert [layer.packed for layer in quantize(model, "int8")] == [faster, False]
    assert isinstance(quantize(model, "int4", kernel="float32")[0], Int4Linear)
    assert isinstance(quantize(model, "int4-asymmetric")[0], Int4Linear)


@pytest.mark.parametrize("format", ["int8", "int4"])
def test_exactness_is_switched_for_all_layers(trained: Transformer, format: str) -> None:
    model = quantize(trained, format)
    layers = [module for module in model.modules() if isinstance(module, QuantizedLinear)]
    set_exact(model)
    assert len(layers) == 17
    assert all(layer.exact and layer.tile for layer in layers)
    assert exact_tile(model) == 8
    set_exact(model, False)
    assert not any(layer.exact or layer.tile for layer in layers)


def test_no_float_copy_of_a_model_stays_behind(small: Transformer, text: Tensor) -> None:
    sizes = {small.get_submodule(name).weight.numel() for name in LINEAR} - {small.embedding.weight.numel()}
    before = float_tensors(sizes)
    models = [
        quantize(small, format, calibration=text) for format in ("int8", "int4", "int4-gptq", "int4-awq")
    ]
    for model in models:
        model(text)
    assert float_tensors(sizes) == before
