"""Stops, text that is held back, async readers, and the front door for threads."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine, InputError, Service
from engine.model.reference import generate
from engine.requests import prompt_bytes
from engine.serving.front_door import FrontDoor
from engine.serving.stops import Ending, stop_bytes
from tests.engine.models import small_model


def pieces(data: bytes, stop: tuple[str, ...] = (), ignore_eos: bool = True) -> tuple[list[str], bool]:
    """The text let out by each byte of ``data`` until the output ends, the end's flush included."""
    ending, found = Ending(stop_bytes(stop), ignore_eos=ignore_eos), []
    for token in data:
        piece, ends = ending.push(token)
        found.append(piece)
        if ends:
            return found, True
    return [*found, ending.flush()], False


@pytest.mark.parametrize("text", ["😀", "e\u0301", "床前", "🇨🇭", "👩‍👩‍👧", " hello", "    .", "\nline"])
def test_no_replacement_mark_for_a_good_character(text: str) -> None:
    found, _ = pieces(text.encode())
    assert "".join(found) == text
    assert found[len(text.encode()) - 1]  # the last character comes with its last byte


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"\xe4\xbd\xa0 a", "你 a"), (b"\xffAB", "\ufffdAB"), (b"\xf0\x9f", "\ufffd")],
)
def test_broken_bytes_do_not_stall_the_stream(data: bytes, text: str) -> None:
    found, _ = pieces(data)
    assert "".join(found) == text
    if data[0] == 0xFF:
        assert found[:3] == ["\ufffd", "A", "B"]


@given(st.binary(max_size=40))
def test_stream_equals_decoding_everything(data: bytes) -> None:
    assert "".join(pieces(data)[0]) == data.decode(errors="replace")


def test_a_stop_across_tokens_is_left_out_and_never_shown() -> None:
    found, stopped = pieces(b"alpha beta gamma delta", ("beta gamma",))
    assert ("".join(found), stopped, len(found)) == ("alpha ", True, len("alpha beta gamma"))


def test_text_that_only_looked_like_a_stop_is_released() -> None:
    found, stopped = pieces(b"beta gambit", ("beta gamma",))
    assert ("".join(found), stopped) == ("beta gambit", False)
    assert found[: len("beta gam")] == [""] * len("beta gam")


@pytest.mark.parametrize(
    ("data", "stop", "text"),
    [
        (b"abcd", ("bc", "abcd"), "a"),
        (b"abcd", ("cd", "bcd"), "a"),
        (b"stop", ("stop",), ""),
        ("尾。x".encode(), ("。",), "尾"),
    ],
)
def test_which_stop_wins(data: bytes, stop: tuple[str, ...], text: str) -> None:
    assert "".join(pieces(data, stop)[0]) == text


@given(st.binary(max_size=30), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_stops_on_random_bytes(data: bytes, stop: list[str]) -> None:
    found, stopped = pieces(data, tuple(stop))
    ends = sorted((data.find(s.encode()) + len(s), -len(s)) for s in stop if s.encode() in data)
    shown = data[: ends[0][0] + ends[0][1]] if ends else data
    assert ("".join(found), stopped) == (shown.decode(errors="replace"), bool(ends))


def test_end_of_text_token() -> None:
    assert pieces(b"ab\0cd", ignore_eos=False) == (["a", "b", ""], True)
    assert pieces(b"ab\0cd")[1] is False


def test_an_empty_stop_is_refused() -> None:
    with pytest.raises(InputError, match="stop"):
        Engine(model=small_model()).submit("a", 3, stop=("x", ""))


def test_an_engine_request_ends_at_its_stop_and_frees_its_place() -> None:
    plain = Engine(Service(pages=None)).submit("To be, or not", 24)
    list(plain)
    stop = plain.text[9:12]
    engine, seen = Engine(Service(policy="immediate")), []
    handle = engine.submit(
        "To be, or not", 24, stop=stop, on_token=lambda h, token, piece: seen.append(piece)
    )
    behind = engine.submit("next", 2)
    engine.run()
    assert handle.finish_reason == "stop"
    assert handle.text == "".join(seen) == plain.text[: plain.text.index(stop)]
    assert len(handle.tokens) == plain.text.index(stop) + len(stop)
    assert behind.status == "finished"
    assert engine.pool.tables() == {}


async def test_async_reading_of_two_requests() -> None:
    engine = Engine(Service(), model=small_model())
    one, two = engine.submit("abc", 5), engine.submit("xyz", 7)
    assert [token async for token in one] == generate(small_model(), prompt_bytes("abc"), 5).tokens
    assert [token async for token in two] == generate(small_model(), prompt_bytes("xyz"), 7).tokens


def test_many_threads_through_the_front_door() -> None:
    engine, results = Engine(Service(decode_slots=8), model=small_model()), {}
    with FrontDoor(engine) as door:

        def client(number: int) -> None:
            handle = door.submit(f"prompt {number}", 6)
            if number % 4 == 3:
                door.cancel(handle.id)
            results[number] = (list(handle), handle.status)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for number, (tokens, status) in results.items():
        expected = generate(small_model(), prompt_bytes(f"prompt {number}"), 6).tokens
        assert tokens == expected[: len(tokens)]
        assert status == "cancelled" if len(tokens) < 6 else status in ("finished", "cancelled")
    assert engine.live == ()
    assert engine.pool.tables() == {}


def test_closing_the_front_door_leaves_nothing_behind() -> None:
    engine = Engine(Service(), model=small_model())
    door = FrontDoor(engine)
    handle = door.submit("a long one", 100)
    door.close()
    door.close()
    assert handle.ended
    assert engine.live == ()
    assert engine.pool.tables() == {}
    assert not any(thread.name == "ticklab-engine" for thread in threading.enumerate())
    with pytest.raises(InputError, match="closed"):
        door.submit("b", 1)


def test_no_cache_gives_the_same_tokens_for_more_work() -> None:
    runs = {}
    for cached in (True, False):
        engine = Engine(Service(), model=small_model(), kv_cache=cached)
        handle = engine.submit("To be, or not", 8)
        engine.run()
        runs[cached] = (handle.tokens, [r.work.flops for r in engine.history.records if r.work])
    assert runs[True][0] == runs[False][0]
    with_cache, without = runs[True][1], runs[False][1]
    assert without[0] == with_cache[0]
    assert all(a > b for a, b in zip(without[1:], with_cache[1:], strict=True))
    assert without[-1] > without[1] + 5 * (with_cache[-1] - with_cache[1])


def test_an_engine_has_one_front_door_at_a_time() -> None:
    engine = Engine(Service(), model=small_model())
    with FrontDoor(engine), pytest.raises(InputError, match="already"):
        FrontDoor(engine)
