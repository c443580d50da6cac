"""Curves of fewer bits: the error of each layer, and Δlogit of each token along fp32's own tokens.

The figures take the page's colours as style, so they follow its theme without the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, NumeralTickFormatter, Range1d
from bokeh.plotting import figure as bokeh_figure

from app.components.base import section

Comparison = Mapping[str, Any]  # engine.quantize.comparison.Comparison as plain values
Words = Mapping[str, str]

# A colour and a marker each: they are told apart without colour, and read on light and dark.
MARKS = {"int8": ("#2a86c8", "circle"), "int4": ("#d55e00", "square")}
OTHER = ("#8a8f98", "triangle")
FONT = "system-ui, sans-serif"

# Not as pairs: Bokeh writes their names in a blue of its own that is too faint on white.
HOVER = "<div><strong>@name</strong> @x</div><div>@text</div>"

STYLE = """
:host {
  --bk-background-fill-color: var(--paper);
  --bk-border-fill-color: var(--paper);
  --bk-outline-line-color: var(--line);
  --bk-grid-line-color: var(--line);
  --bk-axis-line-color: var(--edge);
  --bk-major-tick-line-color: var(--edge);
  --bk-minor-tick-line-color: transparent;
  --bk-major-label-text-color: var(--ink);
  --bk-axis-label-text-color: var(--ink);
  --bk-group-text-color: var(--ink);
  --bk-separator-line-color: var(--line);
}
"""


def quantization_figures(comparison: Comparison, language: str) -> list[Any]:
    """The two figures: error per layer, and the largest Δlogit per token, teacher-forced."""
    words = section("quantization", language)
    return [layer_figure(comparison, words), token_figure(comparison, words)]


def quantized(comparison: Comparison) -> list[Mapping[str, Any]]:
    """The formats that differ from fp32."""
    return [result for result in comparison["formats"] if result["format"] != "fp32"]


# ---- error per layer ----------------------------------------------------------------------------


def layer_figure(comparison: Comparison, words: Words) -> Any:
    """The error of each quantized layer's output, relative to what the layer gives in fp32."""
    series = {result["format"]: list(_layer_errors(result, words)) for result in quantized(comparison)}
    factors = [factor for factor, _ in next(iter(series.values()), [])]
    highest = max((error for points in series.values() for _, error in points), default=0.1)
    plot = _plot(factors, highest * 1.2, words["layer_axis"], words["layer_picture"])
    plot.yaxis.formatter = NumeralTickFormatter(format="0 %")
    for name, points in series.items():
        errors = [error for _, error in points]
        _marks(plot, name, {"x": factors, "y": errors, "text": [f"{error:.2%}" for error in errors]})
    return plot


def _layer_errors(result: Mapping[str, Any], words: Words) -> Iterator[tuple[tuple[str, str], float]]:
    for layer in result["layers"]:
        if layer["output_error"] is not None:
            yield layer_name(layer["part"]["name"], words), layer["output_error"]


def layer_name(name: str, words: Words) -> tuple[str, str]:
    """Where a layer is and what it does: blocks.0.attention.qkv gives (block 0, qkv)."""
    parts = name.split(".")
    return (words["block"].format(number=parts[1]) if len(parts) > 2 else words["outside"], parts[-1])


# ---- Δlogit per token ---------------------------------------------------------------------------


def token_figure(comparison: Comparison, words: Words) -> Any:
    """The largest |Δlogit| of each token; a cross where the format would choose another token."""
    factors = token_names(comparison)
    series = {
        result["format"]: [each for prompt in result["prompts"] for each in prompt["forced"]]
        for result in quantized(comparison)
    }
    highest = max((each["largest"] for tokens in series.values() for each in tokens), default=1.0)
    plot = _plot(factors, highest * 1.2, words["token_axis"], words["token_picture"])
    for name, tokens in series.items():
        texts = [token_text(each, words) for each in tokens]
        _marks(plot, name, {"x": factors, "y": [each["largest"] for each in tokens], "text": texts})
        _crosses(plot, name, factors, tokens)
    return plot


def token_names(comparison: Comparison) -> list[tuple[str, str]]:
    """Request, and number and sign, of every token."""
    return [
        (prompt["id"], f"{place + 1} {_glyph(token)}")
        for prompt in comparison["prompts"]
        for place, token in enumerate(prompt["tokens"])
    ]


def _glyph(token: int) -> str:
    """A byte as one visible sign."""
    return {32: "␣", 10: "⏎"}.get(token) or (chr(token) if 32 < token < 127 else f"{token}")


def token_text(each: Mapping[str, Any], words: Words) -> str:
    """The largest |Δlogit| of a token, and which other token would be chosen."""
    change = "" if each["token"] == each["chosen"] else words["other"].format(token=_glyph(each["chosen"]))
    return f"{each['largest']:.3f} {change}".strip()


def _crosses(plot: Any, name: str, factors: list[tuple[str, str]], tokens: list[Mapping[str, Any]]) -> None:
    """A cross where the format would choose another token."""
    changed = [
        (f, each["largest"])
        for f, each in zip(factors, tokens, strict=True)
        if each["token"] != each["chosen"]
    ]
    if changed:
        plot.scatter(
            x=[factor for factor, _ in changed],
            y=[value for _, value in changed],
            marker="x",
            size=18,
            line_width=3,
            color=MARKS.get(name, OTHER)[0],
        )


# ---- what both share ----------------------------------------------------------------------------


def _plot(factors: list[tuple[str, str]], top: float, axis: str, picture: str) -> Any:
    """An empty figure of fixed ranges: nothing about its size or place is ever told to the server."""
    x_range: Any = FactorRange(factors=factors, range_padding=0.02, group_padding=0.6)
    plot: Any = bokeh_figure(
        x_range=x_range,
        y_range=Range1d(start=0, end=top),
        height=340,
        min_width=560,
        sizing_mode="stretch_width",
        output_backend="canvas",
        toolbar_location=None,
        tools="",
        y_axis_label=axis,
        stylesheets=[STYLE],
        html_attributes={"role": "img", "aria-label": picture},
    )
    plot.lod_threshold = None
    plot.xgrid.grid_line_color = None
    plot.xaxis.major_label_orientation = 1.2
    for line in (plot.xaxis, plot.yaxis):
        line.major_label_text_font_size = "14px"
        line.major_label_text_font = FONT
        line.axis_label_text_font = FONT
        line.axis_label_text_font_size = "14px"
        line.axis_label_text_font_style = "normal"
    plot.xaxis.group_text_font_size = "14px"
    return plot


def _marks(plot: Any, name: str, data: dict[str, Any]) -> None:
    """One format: markers joined by a thin line, and its text under the pointer."""
    colour, marker = MARKS.get(name, OTHER)
    source = ColumnDataSource(data | {"name": [name] * len(data["x"])}, syncable=False)
    plot.line("x", "y", source=source, color=colour, line_width=1.5, line_alpha=0.6)
    marks = plot.scatter("x", "y", source=source, marker=marker, size=9, color=colour)
    plot.add_tools(HoverTool(renderers=[marks], tooltips=HOVER))
