"""What quantization refuses, as a type."""

from __future__ import annotations


class QuantizationError(ValueError):
    """A weight that no format can hold, or settings that make no sense.

    The message names the layer, says what is wrong and where.
    """
