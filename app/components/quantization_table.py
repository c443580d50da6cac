"""fp32 | int8 | int4 in numbers and in texts: what stands beside the curves, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from app.components.base import section
from app.components.quantization_figures import (
    Comparison,
    Words,
    layer_name,
    quantized,
    token_names,
    token_text,
)

Milliseconds = Mapping[str, Sequence[float | None]]  # measured, per tick, by format
DASH = "—"


def quantization_tables(comparison: Comparison, language: str, ms: Milliseconds | None = None) -> str:
    """Two tables: the figures of each format, and what each writes when it reads its own tokens."""
    words = section("quantization", language)
    return _figures(comparison, words, ms or {}) + _texts(comparison, words)


def figure_tables(comparison: Comparison, language: str) -> list[str]:
    """The numbers of each figure, in the order of ``quantization_figures``."""
    words = section("quantization", language)
    return [_layers(comparison, words), _tokens(comparison, words)]


def _layers(comparison: Comparison, words: Words) -> str:
    results = quantized(comparison)
    rows = zip(
        *([one for one in result["layers"] if one["output_error"] is not None] for result in results),
        strict=True,
    )
    body = "".join(
        _row(
            " ".join(layer_name(row[0]["part"]["name"], words)), [f"{one['output_error']:.4f}" for one in row]
        )
        for row in rows
    )
    return _table(words["layer_title"], _head(words["layer"], results), body, numbers=True)


def _tokens(comparison: Comparison, words: Words) -> str:
    results = quantized(comparison)
    rows = zip(token_names(comparison), *(_forced(result) for result in results), strict=True)
    body = "".join(_row(" ".join(name), [token_text(one, words) for one in row]) for name, *row in rows)
    return _table(words["token_title"], _head(words["token"], results), body, numbers=True)


def _head(first: str, results: Sequence[Mapping[str, Any]]) -> str:
    cells = (first, *(result["format"] for result in results))
    return "<tr>" + "".join(f'<th scope="col">{escape(text)}</th>' for text in cells) + "</tr>"


def _row(first: str, numbers: Sequence[str]) -> str:
    return (
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f'<td class="number">{escape(text)}</td>' for text in numbers)
        + "</tr>"
    )


def _figures(comparison: Comparison, words: Words, ms: Milliseconds) -> str:
    formats = comparison["formats"]
    rows = [(label, [value(result) for result in formats]) for label, value in _rows(words, ms)]
    body = "".join(_row(label, texts) for label, texts in rows)
    return _table(words["figures"], _head(words["format"], formats), body, numbers=True)


def _rows(words: Words, ms: Milliseconds) -> Iterator[tuple[str, Any]]:
    """Label of each row, and its text for the result of a format."""
    yield words["linear_bytes"], lambda result: f"{result['linear_bytes']:,}"
    yield words["linear_ratio"], lambda result: f"{result['linear_ratio']:.3f} ×"
    yield words["total_bytes"], lambda result: f"{result['total_bytes']:,}"
    yield words["total_ratio"], lambda result: f"{result['total_ratio']:.3f} ×"
    yield words["layer_error"], _worst_layer
    yield words["largest"], lambda result: _number(max(each["largest"] for each in _forced(result)))
    yield words["changed"], _changed
    yield words["first"], lambda result: _first(result, words)
    yield words["loss"], lambda result: f"{result['held_out']['loss']:.4f}"
    yield words["ms"], lambda result: _mean_ms(ms.get(result["format"], ()))


def _forced(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for prompt in result["prompts"] for each in prompt["forced"]]


def _number(value: float) -> str:
    return "0" if value == 0 else f"{value:.3f}"


def _worst_layer(result: Mapping[str, Any]) -> str:
    errors = [layer["output_error"] for layer in result["layers"] if layer["output_error"] is not None]
    return f"{max(errors):.2%}" if errors else DASH


def _changed(result: Mapping[str, Any]) -> str:
    forced = _forced(result)
    return f"{sum(each['token'] != each['chosen'] for each in forced)} / {len(forced)}"


def _first(result: Mapping[str, Any], words: Words) -> str:
    """Request and token number of the earliest divergence of the free texts."""
    places = [
        (prompt["free"]["first_difference"], prompt["id"])
        for prompt in result["prompts"]
        if prompt["free"]["first_difference"] is not None
    ]
    if not places:
        return words["never"]
    place, request = min(places)
    return words["where"].format(id=request, number=place + 1)


def _mean_ms(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):.2f}" if known else DASH


def _texts(comparison: Comparison, words: Words) -> str:
    """The free-running texts; what follows the first differing token is marked."""
    formats = comparison["formats"]
    head = "".join(f'<th scope="col">{escape(result["format"])}</th>' for result in formats)
    body = "".join(
        f'<tr><th scope="row">{escape(prompt["id"])}</th><td class="text">{_visible(prompt["prompt"])}</td>'
        + "".join(_free(result["prompts"][place]["free"], words) for result in formats)
        + "</tr>"
        for place, prompt in enumerate(comparison["prompts"])
    )
    row = f'<tr><td></td><th scope="col">{escape(words["prompt"])}</th>{head}</tr>'
    return _table(words["texts"], row, body)


def _free(run: Mapping[str, Any], words: Words) -> str:
    """A text, cut where it leaves fp32's: tokens are bytes, so the cut is made in bytes."""
    place = run["first_difference"]
    if place is None:
        return f'<td class="text">{_visible(run["text"])}</td>'
    data = bytes(run["tokens"])
    same, other = (part.decode(errors="replace") for part in (data[:place], data[place:]))
    note = escape(words["differs"].format(number=place + 1))
    return f'<td class="text">{_visible(same)}<mark>{_visible(other)}</mark> <small>{note}</small></td>'


def _visible(text: str) -> str:
    return escape(text).replace("\n", "⏎")


def _table(caption: str, head: str, body: str, numbers: bool = False) -> str:
    title, kind = escape(caption), "plain numbers" if numbers else "plain"
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}"><table class="{kind}">'
        f"<caption>{title}</caption><thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )
