"""What ``import engine`` offers: every name is there, and none loads torch before it is used."""

from __future__ import annotations

from pathlib import Path

import engine
from engine import FrontDoor, load_trace, simulate
from engine.serving.front_door import FrontDoor as Door


def test_every_name_is_there() -> None:
    assert [name for name in engine.__all__ if not hasattr(engine, name)] == []
    assert engine.__all__ == sorted(engine.__all__, key=lambda name: (name.islower(), name))
    assert FrontDoor is Door


def test_a_trace_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("id,arrival,prompt_tokens,output_tokens\na,0,18,12\nb,0.1,6,2\n")
    history = simulate(load_trace(str(path)).requests)
    assert history.metrics().requests["b"].ttft == 0.1
