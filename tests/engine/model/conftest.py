"""One thread: small products gain nothing from more, and runs stay comparable."""

from __future__ import annotations

import pytest
import torch

from engine.model.transformer import Transformer
from engine.model.weights import load_preset


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def trained() -> Transformer:
    return load_preset("tiny")
