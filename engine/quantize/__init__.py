"""Weights in fewer bits: int8 per output channel, int4 in groups, and what that costs.

`quantize` makes the smaller model, `stored` and `inventory` measure its bytes, `comparison` puts
formats side by side on the main trace. How numbers are rounded is in `grid`, how they are
multiplied in `kernels`.
"""

from engine.quantize.compare import Comparison, comparison
from engine.quantize.convert import quantize, set_exact
from engine.quantize.errors import QuantizationError
from engine.quantize.formats import FORMATS, Format
from engine.quantize.inventory import REASONS, Part, Stored, inventory, stored
from engine.quantize.linear import Int4Linear, Int8Linear, PackedInt4Linear, QuantizedLinear
from engine.quantize.recorded import Recorded
from engine.quantize.recorded import load as load_recorded

__all__ = [
    "FORMATS",
    "REASONS",
    "Comparison",
    "Format",
    "Int4Linear",
    "Int8Linear",
    "PackedInt4Linear",
    "Part",
    "QuantizationError",
    "QuantizedLinear",
    "Recorded",
    "Stored",
    "comparison",
    "inventory",
    "load_recorded",
    "quantize",
    "set_exact",
    "stored",
]
