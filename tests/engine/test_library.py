"""What ``import engine`` offers: every name is there, and none loads torch before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import engine
from engine import Engine, FrontDoor, History, Request, Service, TickRecord, load_trace, simulate
from engine.serving.front_door import FrontDoor as Door
from tests.engine.models import small_model


def test_every_name_is_there() -> None:
    assert [name for name in engine.__all__ if not hasattr(engine, name)] == []
    assert engine.__all__ == sorted(engine.__all__, key=lambda name: (name.islower(), name))
    assert FrontDoor is Door


def test_a_trace_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("id,arrival,prompt_tokens,output_tokens\na,0,18,12\nb,0.1,6,2\n")
    assert load_trace(str(path)) == load_trace(path)
    history = simulate(load_trace(path).requests)
    assert history.metrics().requests["b"].ttft == 0.1


class Busy(list[TickRecord]):
    """The records of an engine that another thread steps: whoever reads them finds more from then on."""

    def __init__(self, server: Engine) -> None:
        super().__init__(server.history.records)
        self.server = server

    def __iter__(self) -> Iterator[TickRecord]:
        if len(self) < 4:
            self.server.submit("late", 1)
            self.server.step()
        return super().__iter__()


def test_metrics_of_an_engine_that_goes_on() -> None:
    server = Engine(Service(), model=small_model())
    server.submit("early", 9)
    server.step()
    server.history.records = Busy(server)
    found = server.history.metrics()
    assert found.summary.ticks == 1
    assert [request.status for request in found.requests.values()] == ["active"]


def test_an_id_may_be_used_again_and_again_at_no_cost() -> None:
    asked = 0

    class Keys(dict[str, Request]):
        def __contains__(self, key: object) -> bool:
            nonlocal asked
            asked += 1
            return super().__contains__(key)

    history = History(Service(), Keys())
    for number in range(1, 101):
        key = history.new_key("a")
        assert key == ("a" if number == 1 else f"a#{number}")
        history.requests[key] = Request("a", Decimal(0), 1, 1)
    assert asked <= 200


def test_what_is_printed_is_short() -> None:
    server = Engine(Service(), model=small_model())
    handle = server.submit("To be", 3)
    server.step()
    assert repr(handle) == "<Handle request-1: active, 1 tokens>"
    assert repr(server.history) == "<History of 1 ticks and 1 requests>"
