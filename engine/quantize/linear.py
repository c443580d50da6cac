"""Linear layers whose weight is stored as whole levels.

Each has the contract of `nn.Linear`: (…, inputs) to (…, outputs), float32 in and out. The weight
lives in buffers only, and no float32 copy of it outlives a call.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.quantize import kernels
from engine.quantize.grid import EIGHT_BIT, FOUR_BIT, Rounded, asymmetric, check_weight, in_groups, symmetric
from engine.quantize.nibbles import MIDDLE, pack, unpack


class QuantizedLinear(nn.Module):
    """What all quantized layers share.

    `exact` (see `set_exact`) makes a row's result independent of the rows beside it, to the last
    bit and for any number of rows. `format` is the short name that tables show.
    """

    format: str
    bias: Tensor | None

    def __init__(self, in_features: int, out_features: int, bias: Tensor | None) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.exact = False
        self.tile: int | None = None
        self.register_buffer("bias", None if bias is None else bias.detach().clone())

    def forward(self, rows: Tensor) -> Tensor:
        """(…, inputs) to (…, outputs). Raises `RuntimeError` for another width or type, like `nn.Linear`."""
        if rows.shape[-1] != self.in_features or rows.dtype != torch.float32:
            given = f"{rows.dtype} of shape {tuple(rows.shape)}"
            raise RuntimeError(f"rows of {self.in_features} float32 numbers are needed, not {given}")
        result = self.multiply(rows.reshape(-1, self.in_features))
        if self.bias is not None:
            result += self.bias
        return result.view(*rows.shape[:-1], self.out_features)

    def multiply(self, rows: Tensor) -> Tensor:
        """(rows, inputs) times the weight, the bias left out: a fresh (rows, outputs)."""
        raise NotImplementedError

    def dequantized(self) -> Tensor:
        """The weight as float32 (outputs, inputs), made anew with each call."""
        raise NotImplementedError

    def set_exact(self, exact: bool) -> None:
        """Choose between the fastest product and one whose rows do not depend on each other."""
        self.exact = exact
        self.tile = self._safe_tile() if exact else None

    def _safe_tile(self) -> int | None:
        return kernels.safe_tile(self.dequantized())

    def extra_repr(self) -> str:
        """For `print(model)`."""
        return f"{self.format}, in_features={self.in_features}, out_features={self.out_features}"


class Int8Linear(QuantizedLinear):
    """Weight in int8, one float32 scale per output channel.

    `levels` (outputs, inputs) are -127…127, `scale` is (outputs,). `packed` allows torch's packed
    kernel, which rounds activations to bfloat16 (see `kernels`).
    """

    format = "int8"
    levels: Tensor
    scale: Tensor

    def __init__(self, rounded: Rounded, bias: Tensor | None = None, *, packed: bool = False) -> None:
        super().__init__(rounded.levels.shape[1], len(rounded.levels), bias)
        self.register_buffer("levels", rounded.levels)
        self.register_buffer("scale", rounded.scale)
        self.packed = packed

    @classmethod
    @torch.no_grad()
    def from_linear(cls, linear: nn.Linear, layer: str = "linear") -> Int8Linear:
        """The nearest int8 layer. Raises `QuantizationError`, naming `layer`, for a weight that has none."""
        check_weight(linear.weight, layer)
        return cls(symmetric(linear.weight.float(), EIGHT_BIT), linear.bias)

    def multiply(self, rows: Tensor) -> Tensor:
        """The scale is applied to the product, which has fewer numbers than the weight."""
        if self.packed and (self.exact or len(rows) <= kernels.packed_rows()):
            return kernels.int8_packed(rows, self.levels, self.scale)
        return kernels.product(rows, self.levels.float(), self.tile).mul_(self.scale)

    def dequantized(self) -> Tensor:
        """Level times scale."""
        return self.levels.float().mul_(self.scale[:, None])

    def _safe_tile(self) -> int | None:
        return None if self.packed else kernels.safe_tile(self.levels.float())


class Int4Linear(QuantizedLinear):
    """Weight in 4 bits, two values per byte, one bfloat16 scale per group of inputs.

    `levels` is uint8 (outputs, groups, group / 2), `scale` (outputs, groups). A symmetric grid has
    levels -7…7; an asymmetric one 0…15 and a uint8 `zero` (outputs, groups). `channel` (inputs,)
    multiplies the columns, for methods that rescale them before rounding.
    """

    levels: Tensor
    scale: Tensor
    zero: Tensor | None
    channel: Tensor | None

    def __init__(
        self, rounded: Rounded, inputs: int, bias: Tensor | None = None, channel: Tensor | None = None
    ) -> None:
        super().__init__(inputs, len(rounded.levels), bias)
        stored = rounded.levels if rounded.zero is not None else rounded.levels + MIDDLE
        self.group = stored.shape[-1]
        self.register_buffer("levels", pack(stored))
        self.register_buffer("scale", rounded.scale)
        self.register_buffer("zero", rounded.zero)
        self.register_buffer("channel", channel)
        self.format = "int4"

    @classmethod
    @torch.no_grad()
    def from_linear(
        cls, linear: nn.Linear, layer: str = "linear", *, group: int = 32, symmetric_grid: bool = True
    ) -> Int4Linear:
        """The nearest int4 layer. Raises `QuantizationError`, naming `layer`, for a weight that has none."""
        check_weight(linear.weight, layer)
        groups = in_groups(linear.weight.float(), group)
        if symmetric_grid:
            rounded = symmetric(groups, FOUR_BIT, torch.bfloat16)
        else:
            rounded = asymmetric(groups, torch.bfloat16)
        return cls(rounded, linear.in_features, linear.bias)

    def multiply(self, rows: Tensor) -> Tensor:
        """Write the weight out, multiply, forget it."""
        return kernels.product(rows, self.dequantized(), self.tile)

    def dequantized(self) -> Tensor:
        """(level - zero) · scale, column factors applied."""
        levels = unpack(self.levels).float()
        levels -= MIDDLE if self.zero is None else self.zero.unsqueeze(-1)
        groups = levels.mul_(self.scale.float().unsqueeze(-1))
        weight = groups.view(self.out_features, -1)[:, : self.in_features]
        return weight if self.channel is None else weight * self.channel


class PackedInt4Linear(QuantizedLinear):
    """The same numbers as a symmetric `Int4Linear`, in the order of torch's CPU kernel.

    `layout` is uint8 (outputs, inputs / 2) and `scales` bfloat16 (groups, outputs, 2): the kernel
    wants a second number per group, here always 0. Activations are rounded to bfloat16. One kernel
    serves every number of rows, so the result is row-invariant as it is.
    """

    layout: Tensor
    scales: Tensor

    def __init__(self, plain: Int4Linear) -> None:
        super().__init__(plain.in_features, plain.out_features, plain.bias)
        self.group = plain.group
        self.format = plain.format
        scales = torch.stack((plain.scale.T, torch.zeros_like(plain.scale.T)), -1)
        self.register_buffer("layout", kernels.int4_layout(unpack(plain.levels).view(self.out_features, -1)))
        self.register_buffer("scales", scales.contiguous())

    @staticmethod
    def suits(plain: Int4Linear) -> bool:
        """Whether torch's kernel holds exactly these numbers."""
        plain_grid = plain.zero is None and plain.channel is None
        device = plain.levels.device
        return plain_grid and kernels.suits_int4(plain.out_features, plain.in_features, plain.group, device)

    def multiply(self, rows: Tensor) -> Tensor:
        """One kernel for any number of rows."""
        return kernels.int4_packed(rows, self.layout, self.group, self.scales)

    def dequantized(self) -> Tensor:
        """Level times scale; slow, for measuring."""
        levels = kernels.int4_levels(self.layout, self.in_features, self.group).float()
        scale = self.scales[..., 0].T.float().unsqueeze(-1)
        return (levels.view(self.out_features, -1, self.group) * scale).view(self.out_features, -1)

    def _safe_tile(self) -> int | None:
        return None
