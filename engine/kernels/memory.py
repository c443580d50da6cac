"""The most memory that a function's tensors take at a time."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(function: Callable[[], object]) -> int:
    """The peak of the bytes of all tensors that `function` makes, its result included.

    Counted is the memory behind each new tensor, once however many views of it there are, until the
    last of them is gone. What an operation allocates inside itself is not seen.
    """
    with _Ledger() as ledger:
        function()
    peak: int = ledger.peak
    return peak


class _Ledger(TorchDispatchMode):
    """Keeps the books: which memory is in use, how many tensors name it, and the most there was."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes: dict[int, int] = {}
        self.names: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self, function: Any, types: Iterable[Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        known = {_place(tensor) for tensor in _tensors((args, kwargs))}
        result = function(*args, **(kwargs or {}))
        for tensor in _tensors(result):
            if _place(tensor) in self.sizes or _place(tensor) not in known:
                self._enter(tensor)
        self.peak = max(self.peak, sum(self.sizes.values()))
        return result

    def _enter(self, tensor: Tensor) -> None:
        place = _place(tensor)
        self.sizes[place] = tensor.untyped_storage().nbytes()
        self.names[place] = self.names.get(place, 0) + 1
        weakref.finalize(tensor, self._leave, place)

    def _leave(self, place: int) -> None:
        self.names[place] -= 1
        if not self.names[place]:
            del self.names[place], self.sizes[place]


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _tensors(value: object) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
