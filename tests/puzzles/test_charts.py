"""Charts: where things stand, what tells series apart, and that nothing is drawn outside."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Chart,
    Point,
    Series,
    drawing,
    powers,
    steps,
)
from puzzles.render import chart_figure

X = Axis("x", 1, 100, (1, 10, 100), log=True)
Y = Axis("y", 0, 8, (0, 4, 8))


def chart(*series: Series) -> Chart:
    return Chart("one", "A title", "What it shows", X, Y, series)


def series(name: str, *points: tuple[float, float], **more: bool) -> Series:
    return Series(name, tuple(Point(x, y) for x, y in points), **more)


def test_corners_are_where_they_belong() -> None:
    drawn = drawing(chart(series("a", (1, 0), (100, 8))))
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
    assert drawn.curves[0].line == f"M{left} {bottom} L{right} {top}"
    assert [line.at for line in drawn.columns] == [left, (left + right) / 2, right]
    assert [line.text for line in drawn.rows] == ["0", "4", "8"]


@given(st.floats(1, 100), st.floats(1, 100))
def test_equal_factors_are_equally_far_apart(first: float, second: float) -> None:
    middle = (first * second) ** 0.5
    assert X.place(middle) == pytest.approx((X.place(first) + X.place(second)) / 2, abs=1e-6)


@pytest.mark.parametrize("point", [(0.5, 1), (101, 1), (10, 8.1), (10, -1)])
def test_what_would_stand_outside_is_refused(point: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="is not within"):
        drawing(chart(series("a", point)))


def test_series_differ_in_hue_shape_and_dash() -> None:
    names = "abcd"
    loud = [series(name, (10, place)) for place, name in enumerate(names)]
    drawn = drawing(chart(series("roof", (1, 1), (100, 1), quiet=True), *loud))
    quiet, *curves = drawn.curves
    assert quiet.hue is None
    assert len({curve.hue for curve in curves}) == len({curve.dash for curve in curves}) == 4
    assert len({re.sub(r"[\d. -]+", "", curve.sample) + str(len(curve.sample)) for curve in curves}) == 4


def test_text_is_escaped_and_labels_are_printed() -> None:
    labelled = Series("<b>", (Point(10, 4, "16"),), below=True)
    figure = str(chart_figure(chart(labelled)))
    assert "&lt;b&gt;" in figure
    assert "<b>" not in figure
    assert ">16</text>" in figure
    assert 'aria-labelledby="chart-one-title chart-one-text"' in figure


def test_ticks() -> None:
    assert powers(0.25, 256, 4) == (0.25, 1, 4, 16, 64, 256)
    assert powers(1, 1024, 4) == (1, 4, 16, 64, 256, 1024)


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        (0.92, (0, 0.2, 0.4, 0.6, 0.8, 1)),
        (6, (0, 1, 2, 3, 4, 5, 6)),
        (20.2, (0, 5, 10, 15, 20, 25)),
        (62, (0, 20, 40, 60, 80)),
    ],
)
def test_an_axis_ends_beyond_its_values_in_round_steps(top: float, expected: tuple[float, ...]) -> None:
    assert steps([0.1, top]) == expected


@given(st.floats(0.001, 1e6))
def test_steps_are_few_and_enough(top: float) -> None:
    found = steps([top])
    assert found[0] == 0
    assert found[-1] >= top * (1 - 1e-9)
    assert 2 <= len(found) <= 8
