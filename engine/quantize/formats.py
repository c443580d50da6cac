"""The weight formats by name."""

from __future__ import annotations

from dataclasses import dataclass

from engine.quantize.errors import QuantizationError

GROUPS = (32, 64, 128)


@dataclass(frozen=True, slots=True)
class Format:
    """How weights are stored and how their levels are chosen.

    `group` counts the inputs that share a scale, None for all of an output. `method` is how
    levels are chosen: `nearest`, or `gptq` or `awq`, which look at calibration text.
    """

    name: str
    bits: int
    group: int | None = None
    symmetric: bool = True
    method: str = "nearest"

    @property
    def calibrated(self) -> bool:
        """Whether calibration text is needed."""
        return self.method != "nearest"


def _int4_formats() -> list[Format]:
    sizes = [("", 32), *((f"-g{group}", group) for group in GROUPS[1:])]
    grids = [("", True), ("-asymmetric", False)]
    nearest = [Format(f"int4{size}{grid}", 4, group, even) for size, group in sizes for grid, even in grids]
    return [*nearest, *(Format(f"int4-{method}", 4, 32, method=method) for method in ("gptq", "awq"))]


FORMATS = {known.name: known for known in (Format("fp32", 32), Format("int8", 8), *_int4_formats())}


def parse_format(name: str) -> Format:
    """The format called `name`. Raises `QuantizationError`, listing the known ones, for another."""
    if name not in FORMATS:
        raise QuantizationError(f"format: {name!r} is not one of {', '.join(FORMATS)}")
    return FORMATS[name]
