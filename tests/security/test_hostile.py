"""The finder itself: it must see what would run, and stay calm where all is escaped."""

from __future__ import annotations

from html import escape

import pytest

from tests.security.hostile import HOSTILE, intruders


@pytest.mark.parametrize("text", [HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[4], HOSTILE[5]])
def test_it_sees_what_runs(text: str) -> None:
    assert intruders(f"<p>{text}</p>")


def test_it_sees_what_breaks_out_of_an_attribute() -> None:
    assert intruders(f"<p title='{HOSTILE[3]}'>x</p>")
    assert intruders('<a href=" JavaScript:alert(1)">x</a>')


@pytest.mark.parametrize("text", HOSTILE)
def test_it_is_calm_where_all_is_escaped(text: str) -> None:
    assert intruders(f'<p title="{escape(text)}">{escape(text)}</p>') == []
