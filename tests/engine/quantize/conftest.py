"""One thread, and the comparison measured once for all tests that look at it."""

from __future__ import annotations

import pytest
import torch

from engine.model.transformer import Transformer
from engine.model.weights import load_preset
from engine.quantize import Comparison, comparison
from engine.quantize.recorded import FORMATS


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def trained() -> Transformer:
    return load_preset("tiny")


@pytest.fixture(scope="session")
def measured(trained: Transformer) -> Comparison:
    return comparison(formats=FORMATS, model=trained, held_out_bytes=4096)
