"""Short links: the same for the same, never for anything else, and not without end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from app.store import ShareRefused, Shares, Store, schema, shares
from app.store.shares import CODE, MOST_BYTES, SHORTEST, code_of


def count(store: Store) -> int:
    with store.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(schema.shares)).scalar_one()


def test_the_same_is_kept_once(store: Store) -> None:
    kept = Shares(store)
    code = kept.keep("content")
    assert kept.keep("content") == code
    assert kept.find(code) == "content"
    assert count(store) == 1
    assert len(code) == SHORTEST
    assert CODE.fullmatch(code)


def test_what_is_not_the_same_has_another_code(store: Store) -> None:
    kept = Shares(store)
    codes = {kept.keep(f"content {n}") for n in range(50)}
    assert len(codes) == 50


def test_a_code_that_is_taken_is_made_longer(store: Store) -> None:
    kept = Shares(store)
    taken = code_of("mine")[:SHORTEST]
    with store.engine.begin() as connection:
        row = {"code": taken, "content": "somebody else's", "made": store.clock()}
        connection.execute(schema.shares.insert().values(row))
    code = kept.keep("mine")
    assert code == code_of("mine")[: SHORTEST + 2]
    assert kept.find(taken) == "somebody else's"
    assert kept.find(code) == "mine"
    assert kept.keep("mine") == code


@pytest.mark.parametrize(
    "code", ["", "x", "' or 1=1 --", "A" * 10, "a" * 9, "a" * 53, "../etc", "abcdefghi0"]
)
def test_what_is_no_code_is_not_looked_for(store: Store, code: str) -> None:
    assert Shares(store).find(code) is None


def test_an_unknown_code_stands_for_nothing(store: Store) -> None:
    assert Shares(store).find("a" * SHORTEST) is None


def test_a_content_has_a_size(store: Store) -> None:
    kept = Shares(store)
    assert kept.find(kept.keep("é" * (MOST_BYTES // 2))) == "é" * (MOST_BYTES // 2)
    with pytest.raises(ShareRefused, match="too_long"):
        kept.keep("é" * (MOST_BYTES // 2) + "x")


def test_there_are_not_more_than_so_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MOST_SHARES", 2)
    kept = Shares(store)
    codes = [kept.keep(text) for text in ("one", "two")]
    with pytest.raises(ShareRefused, match="full"):
        kept.keep("three")
    assert [kept.keep(text) for text in ("one", "two")] == codes


def test_two_who_share_the_same_at_once_get_one_code(store: Store) -> None:
    kept = Shares(store)
    with ThreadPoolExecutor(4) as pool:
        codes = set(pool.map(kept.keep, ["content"] * 16))
    assert len(codes) == 1
    assert count(store) == 1
