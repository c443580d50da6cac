"""Bytes are tokens, and text comes out whole however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.tokens import TextStream, decode, encode


def pieces(tokens: list[int]) -> list[str]:
    stream = TextStream()
    return [stream.push(token) for token in tokens] + [stream.flush()]


@given(st.text())
def test_text_survives_and_a_good_character_never_becomes_a_replacement_mark(text: str) -> None:
    assert decode(encode(text)) == text
    streamed = pieces(encode(text))
    assert "".join(streamed) == text
    assert sum("\ufffd" in piece for piece in streamed) == text.count("\ufffd")


@given(st.binary())
def test_any_bytes_streamed_are_the_bytes_decoded(content: bytes) -> None:
    assert "".join(pieces(list(content))) == decode(content)
    assert encode(content) == list(content)


@given(st.binary(max_size=20))
def test_nothing_is_held_back_longer_than_three_bytes(content: bytes) -> None:
    stream = TextStream()
    for byte in content:
        stream.push(byte)
        assert 0 <= stream.pending <= 3
    stream.flush()
    assert stream.pending == 0


def test_a_character_over_several_tokens_comes_with_its_last_byte() -> None:
    assert pieces(encode("床a")) == ["", "", "床", "a", ""]


def test_a_wrong_byte_delays_nothing() -> None:
    assert pieces([0xE5, 0x41]) == ["", "\ufffdA", ""]
    assert pieces([0xFF, 0x41]) == ["\ufffd", "A", ""]
    assert pieces([0xE5, 0xBA]) == ["", "", "\ufffd"]


def test_a_stream_can_be_used_again_after_flush() -> None:
    stream = TextStream()
    stream.push(0xE5)
    assert stream.flush() == "\ufffd"
    assert stream.push(*encode("To")) == "To"


def test_the_prompts_of_the_lab_are_eighteen_tokens() -> None:
    assert len(encode("To be, or not to b")) == len(encode("床前明月光，")) == 18


def test_a_token_that_is_no_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="range"):
        decode([256])
