"""The worked table of SEMANTICS §4."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.main_runs import run, values

TTFT_AND_E2E = [
    ({"policy": "immediate"}, [0.10, 1.20, 1.28, 1.42], [1.20, 1.30, 1.48, 1.52]),
    ({"policy": "static"}, [0.10, 1.20, 1.08, 0.92], [1.20, 1.30, 1.28, 1.02]),
    ({"policy": "static", "max_wait": "0.4"}, [0.40, 0.30, 0.28, 1.22], [1.50, 0.40, 0.48, 1.32]),
    ({}, [0.10, 0.10, 0.18, 0.12], [1.20, 0.20, 0.38, 0.22]),
]
SIZES = [
    ({"policy": "immediate"}, 19, 30, 30),
    ({"policy": "static"}, 15, 30, 30),
    ({"policy": "static", "max_wait": "0.4"}, 17, 46, 46),
    ({}, 12, 47, 41),
    ({"tick": "1.0"}, 12, 55, 44),
]


@pytest.mark.parametrize(("settings", "ttft", "e2e"), TTFT_AND_E2E)
def test_ttft_and_e2e(settings: dict[str, Any], ttft: list[float], e2e: list[float]) -> None:
    metrics = run(**settings).metrics()
    assert values(metrics, "ttft") == ttft
    assert values(metrics, "e2e") == e2e
    assert values(metrics, "tpot") == [0.1] * 4


def test_contested_slots_at_a_tick_of_one_second() -> None:
    metrics = run(tick="1.0").metrics()
    assert values(metrics, "ttft") == [1.00, 1.90, 1.78, 1.62]
    assert values(metrics, "tpot") == [1.00, 1.00, 1.00, 2.00]


@pytest.mark.parametrize(("settings", "ticks", "reserved", "held"), SIZES)
def test_ticks_and_peaks(settings: dict[str, Any], ticks: int, reserved: int, held: int) -> None:
    summary = run(**settings).metrics().summary
    found = (summary.ticks, summary.peak_reserved_tokens, summary.peak_held_tokens)
    assert found == (ticks, reserved, held)


@pytest.mark.parametrize(
    ("tick", "moment", "first"), [("0.1", "0.3", 3), ("0.1", "0.7", 7), ("0.3", "0.9", 3)]
)
def test_arrival_on_a_tick_is_visible_in_it(tick: str, moment: str, first: int) -> None:
    from engine import Request

    history = run(trace=[Request("A", moment, 1, 1)], tick=tick)
    assert [record.tick for record in history.records if record.arrived] == [first]
