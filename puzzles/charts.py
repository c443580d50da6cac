"""Pictures of a few lines or points on two axes: where each thing stands, in the units of the drawing.

A chart is data; ``drawing`` places it, the template draws it as SVG. No script, no font, no size of its own:
it is as wide as the page lets it be. Series differ in hue, in the shape of their points and in their dashes.
"""

from __future__ import annotations

import math

import msgspec

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 22, 14, 46
SHAPES = ("circle", "square", "triangle", "diamond")
HUES = (6, 5, 2, 7)  # of the request colours: dark enough for lines on paper


class Axis(msgspec.Struct, frozen=True):
    """From ``low`` to ``high``, with a line and a number at each of ``ticks``; ``log``: equal factors are
    equally far apart."""

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Where ``value`` lies between the ends: 0 at ``low``, 1 at ``high``."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


class Point(msgspec.Struct, frozen=True):
    """A value of each axis, and what is written beside it."""

    x: float
    y: float
    label: str = ""


class Series(msgspec.Struct, frozen=True):
    """Points of one kind. ``line`` joins them; ``marks`` draws each; ``below``: labels stand below.

    ``quiet`` is for what others are compared with, such as a roof: dashes in the colour of text.
    """

    name: str
    points: tuple[Point, ...]
    line: bool = True
    marks: bool = True
    below: bool = False
    quiet: bool = False


class Chart(msgspec.Struct, frozen=True):
    """``name`` is unique on the page, ``description`` says in words what the picture shows."""

    name: str
    title: str
    description: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]


class Mark(msgspec.Struct, frozen=True):
    """A point of the drawing: its centre, its shape as a path, its label and where that stands."""

    path: str
    x: float
    label: str
    label_y: float


class Curve(msgspec.Struct, frozen=True):
    """A series of the drawing: ``hue`` None is the colour of text; ``dash`` its place among the dashes."""

    name: str
    hue: int | None
    dash: int
    line: str
    marks: tuple[Mark, ...]
    sample: str


class Line(msgspec.Struct, frozen=True):
    """A line of the grid: where, and its number."""

    at: float
    text: str


class Drawing(msgspec.Struct, frozen=True):
    """Everything the template draws, in units of the view box."""

    columns: tuple[Line, ...]
    rows: tuple[Line, ...]
    curves: tuple[Curve, ...]


def drawing(chart: Chart) -> Drawing:
    """The chart with every coordinate. Raises ValueError for a value outside its axis."""
    loud = [one for one in chart.series if not one.quiet]
    return Drawing(
        tuple(Line(_x(chart, tick), _text(tick)) for tick in chart.x.ticks),
        tuple(Line(_y(chart, tick), _text(tick)) for tick in chart.y.ticks),
        tuple(_curve(chart, one, None if one.quiet else loud.index(one)) for one in chart.series),
    )


def _curve(chart: Chart, series: Series, place: int | None) -> Curve:
    spots = [(_x(chart, point.x), _y(chart, point.y)) for point in series.points]
    shape = SHAPES[(place or 0) % len(SHAPES)]
    line = " ".join(f"{'L' if at else 'M'}{x:g} {y:g}" for at, (x, y) in enumerate(spots))
    shift = 17 if series.below else -9
    marks = tuple(
        Mark(_shape(shape, x, y), x, point.label, round(y + shift, 1))
        for point, (x, y) in zip(series.points, spots, strict=True)
    )
    return Curve(
        series.name,
        None if place is None else HUES[place % len(HUES)],
        0 if place is None else place,
        line if series.line else "",
        marks if series.marks else (),
        _shape(shape, 14, 7) if series.marks else "",
    )


def _x(chart: Chart, value: float) -> float:
    return _inside(chart.x, value, LEFT, WIDTH - RIGHT)


def _y(chart: Chart, value: float) -> float:
    return _inside(chart.y, value, HEIGHT - BOTTOM, TOP)


def _inside(axis: Axis, value: float, first: float, last: float) -> float:
    place = axis.place(value)
    if not -1e-9 <= place <= 1 + 1e-9:
        raise ValueError(f"{axis.label}: {value:g} is not within {axis.low:g} and {axis.high:g}")
    return round(first + place * (last - first), 1)


def _shape(name: str, x: float, y: float, size: float = 4.5) -> str:
    """A path around its centre."""
    if name == "circle":
        half = f"a{size:g} {size:g} 0 1 0"
        return f"M{x - size:g} {y:g}{half} {2 * size:g} 0{half} {-2 * size:g} 0z"
    corners = {
        "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
        "triangle": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
        "diamond": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    }[name]
    steps = (f"{x + size * dx:g} {y + size * dy:g}" for dx, dy in corners)
    return "M" + "L".join(steps) + "z"


def _text(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def powers(low: float, high: float, factor: float) -> tuple[float, ...]:
    """``low``, ``low · factor`` … up to ``high``."""
    count = int(math.log(high / low) / math.log(factor) + 1e-9)
    return tuple(low * factor**place for place in range(count + 1))


MOST_STEPS = 6


def steps(values: list[float]) -> tuple[float, ...]:
    """0 and equal round steps up to the first that no value exceeds; at most ``MOST_STEPS`` of them."""
    top = max(values)
    unit = 10.0 ** math.floor(math.log10(top / MOST_STEPS))
    step = next(unit * factor for factor in (1, 2, 5, 10) if top <= MOST_STEPS * unit * factor)
    return tuple(round(step * place, 9) for place in range(math.ceil(round(top / step, 9)) + 1))
