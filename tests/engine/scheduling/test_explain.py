"""Every request that can be seen has a reason in every tick, and the reason has words."""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import History, Reason, Request, Service, TickRecord, explain, simulate
from engine.reasons import ACTIVE, CODES, PROGRESS, REFUSED, WAITING
from engine.scheduling.explain import sentence
from engine.words import LANGUAGES, engine_words
from tests.engine.driving import drive
from tests.engine.main_runs import counts, run
from tests.engine.random_runs import cancellations, crowded, runs


def visible(record: TickRecord) -> Iterator[str]:
    """Everybody this tick knows of."""
    gone = [key for key, _ in record.finished]
    yield from {*record.waiting, *record.active, *record.refused, *record.cancelled, *gone}


def check_words(reason: Reason) -> None:
    """The sentence exists in both languages, and each of its blanks has something to say."""
    for language in LANGUAGES:
        words = engine_words(language)
        text = words.texts[f"reason.{reason.code}"]
        for _, blank, _, _ in Formatter().parse(text):
            if blank is not None:
                assert getattr(reason, blank) not in (None, ()), (reason, blank)
        assert "{" not in sentence(reason, words)


def check_kind(record: TickRecord, key: str, reason: Reason) -> None:
    """The reason is of the kind that fits where the request is."""
    worked = {step[0] for step in (*record.decode, *record.prefill)}
    if key in record.waiting:
        assert reason.code in WAITING
    elif key in record.refused:
        assert reason.code in REFUSED
    elif key in record.active and key not in worked:
        assert reason.code in ACTIVE
    else:
        assert reason.code in PROGRESS
        assert reason.code not in ("idle", "ended", "not_arrived")


def check_history(history: History) -> None:
    for record in history.records:
        for key in visible(record):
            reason = explain(record, key)
            assert reason.code in CODES
            check_kind(record, key, reason)
            check_words(reason)


@given(runs() | crowded(), st.data())
@settings(max_examples=200, deadline=None)
def test_everybody_has_a_reason_in_every_tick(
    run: tuple[list[Request], Service], data: st.DataObject
) -> None:
    trace, service = run
    check_history(drive(trace, service, cancels=data.draw(cancellations(trace))))


def codes(history: History, key: str) -> list[str]:
    return [explain(record, key).code for record in history.records]


def test_a_short_story_of_the_main_trace() -> None:
    history = run(policy="static", max_wait="0.4")
    assert codes(history, "R01")[:4] == ["filling_batch"] * 3 + ["first_token"]
    assert codes(history, "R02")[3:8] == ["first_token", "finished", "seat_held", "seat_held", "seat_held"]
    assert codes(history, "R04")[4:8] == ["batch_closed"] * 4


def test_the_reason_counts_who_is_ahead() -> None:
    history = run(policy="immediate", trace=counts(*[("0", 4, 4)] * 4))
    assert explain(history.records[0], "R02") == Reason("one_at_a_time", by=("R01",))
    assert explain(history.records[0], "R04") == Reason("behind", by=("R02",), have=2)


def test_all_are_told_that_the_batch_is_not_full() -> None:
    history = run(policy="static", max_wait="1", trace=counts(("0", 4, 4), ("0", 4, 4), ("0.5", 4, 4)))
    assert {explain(history.records[0], key) for key in ("R01", "R02")} == {
        Reason("filling_batch", have=2, need=3)
    }


def test_a_preemption_names_its_price() -> None:
    history = simulate(
        counts(("0", 4, 8), ("0", 4, 8)), Service(page_size=1, pages=14, kv_reserve="on_demand")
    )
    record = next(record for record in history.records if record.preempted)
    before = history.records[record.tick - 1]
    assert explain(record, "R02") == Reason("preempted", by=("R01",), have=before.written // 2, need=4)
    assert "recomputed" in codes(history, "R02")


def test_contiguous_refusal_speaks_of_slots() -> None:
    trace = counts(("0", 60, 20), ("0", 4, 4))
    refused = explain(simulate(trace, Service(kv_layout="contiguous_exact")).records[0], "R01")
    assert refused == Reason("never_fits_run", have=64, need=80)


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_is_not_there_has_left_or_is_to_come(language: str) -> None:
    words = engine_words(language)
    assert explain(run().records[0], "R04").code == "ended"
    assert sentence(Reason("not_arrived"), words)
