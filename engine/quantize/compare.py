"""fp32 | int8 | int4 side by side on the prompts of a trace, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import torch
from torch import Tensor

from engine.errors import InputError
from engine.model.reference import generate
from engine.model.tokens import decode
from engine.model.transformer import Transformer
from engine.model.weights import load_preset, read_checked
from engine.quantize.convert import quantize
from engine.quantize.inventory import stored
from engine.quantize.quality import (
    FreeRun,
    LayerError,
    TokenDifference,
    forced_logits,
    free_run,
    layer_errors,
    token_differences,
)
from engine.requests import Request, prompt_bytes
from engine.traces import main_trace
from engine.training.data import to_tokens
from engine.training.evaluate import evaluate
from engine.training.texts import HELD_OUT_FILE

MAIN_FORMATS = ("fp32", "int8", "int4")
HELD_OUT_BYTES = 8_192
"""Held-out text that a quick comparison reads; `None` for all of it."""


class PromptText(msgspec.Struct, frozen=True):
    """One request and what fp32 writes for it: `tokens`, and the same as `text`."""

    id: str
    prompt: str
    tokens: list[int]
    text: str


class PromptResult(msgspec.Struct, frozen=True):
    """One request under one format: teacher-forced differences token by token, and the free run."""

    id: str
    forced: list[TokenDifference]
    free: FreeRun

    @property
    def changed(self) -> int:
        """Tokens that would be chosen otherwise, fp32's tokens before each being given."""
        return sum(difference.changed for difference in self.forced)


class HeldOut(msgspec.Struct, frozen=True):
    """Loss in nats per byte over `scored` bytes of text that no training step saw.

    `perplexity` is exp(loss); `window` and `stride` are those of `evaluate`.
    """

    loss: float
    perplexity: float
    scored: int
    window: int
    stride: int


class FormatResult(msgspec.Struct, frozen=True):
    """One format: bytes as measured (scales included), errors per part, results per request.

    `linear_ratio` is `linear_bytes` as a share of the original model's linear layers, and
    `total_ratio` the same for the whole model.
    """

    format: str
    linear_bytes: int
    total_bytes: int
    linear_ratio: float
    total_ratio: float
    layers: list[LayerError]
    prompts: list[PromptResult]
    held_out: HeldOut

    @property
    def forced(self) -> list[TokenDifference]:
        """The differences of all tokens of all requests."""
        return [difference for prompt in self.prompts for difference in prompt.forced]


class Comparison(msgspec.Struct, frozen=True):
    """Formats side by side; `prompts` are what fp32 wrote and what every format was forced along."""

    prompts: list[PromptText]
    formats: list[FormatResult]

    def of(self, format: str) -> FormatResult:
        """The result of one format. Raises `KeyError` for one that was not compared."""
        for result in self.formats:
            if result.format == format:
                return result
        raise KeyError(format)


def comparison(
    prompts: Sequence[Request] | None = None,
    formats: Sequence[str] = MAIN_FORMATS,
    *,
    model: Transformer | None = None,
    others: Mapping[str, Transformer] | None = None,
    held_out_bytes: int | None = HELD_OUT_BYTES,
) -> Comparison:
    """Compare `formats` on the prompts and output lengths of `prompts` (default: the main trace).

    `model` (default: the trained one) has float32 weights. `others` are further models to measure
    against it, by the name that stands in the place of a format's: pruned ones, a student. Loss is
    measured on the first `held_out_bytes` of the held-out text, or all of it. Raises `InputError`
    for a request without prompt and `QuantizationError` for an unknown format.
    """
    model = model or load_preset("tiny")
    requests = [(request.id, _tokens(request), request.output_tokens) for request in prompts or main_trace()]
    texts = [_written(model, *request) for request in requests]
    given = [tokens for _, tokens, _ in requests]
    held_out = to_tokens(read_checked(HELD_OUT_FILE)[:held_out_bytes].decode("ascii"))
    results = [
        _result(model, changed, name, given, texts, held_out)
        for name, changed in _models(model, formats, others or {})
    ]
    return Comparison(texts, results)


def _models(
    original: Transformer, formats: Sequence[str], others: Mapping[str, Transformer]
) -> Iterator[tuple[str, Transformer]]:
    """Name and model, made when its turn comes so that one at a time is in memory."""
    for format in formats:
        yield format, quantize(original, format)
    yield from others.items()


def _tokens(request: Request) -> tuple[int, ...]:
    if request.prompt is None:
        raise InputError.of("prompt_missing", at=request.where)
    return prompt_bytes(request.prompt)


def _written(model: Transformer, name: str, prompt: Sequence[int], length: int) -> PromptText:
    tokens = generate(model, prompt, length).tokens
    return PromptText(name, decode(prompt), tokens, decode(tokens))


def _result(
    original: Transformer,
    model: Transformer,
    name: str,
    prompts: Sequence[Sequence[int]],
    texts: Sequence[PromptText],
    held_out: Tensor,
) -> FormatResult:
    before, after = stored(original), stored(model)
    windows = [torch.tensor([[*prompt, *text.tokens]]) for prompt, text in zip(prompts, texts, strict=True)]
    return FormatResult(
        format=name,
        linear_bytes=after.linear,
        total_bytes=after.total,
        linear_ratio=after.linear / before.linear,
        total_ratio=after.total / before.total,
        layers=layer_errors(original, model, windows),
        prompts=[_prompt(original, model, *pair) for pair in zip(prompts, texts, strict=True)],
        held_out=_held_out(model, held_out),
    )


def _prompt(
    original: Transformer, model: Transformer, prompt: Sequence[int], text: PromptText
) -> PromptResult:
    logits = [forced_logits(each, prompt, text.tokens) for each in (original, model)]
    return PromptResult(text.id, token_differences(*logits), free_run(model, prompt, text.tokens))


def _held_out(model: Transformer, text: Tensor) -> HeldOut:
    measured = evaluate(model, text)
    return HeldOut(measured.loss, measured.perplexity, measured.scored, measured.window, measured.stride)
