"""Every page of the pool has a reason in every tick, it agrees with the record, and it has words."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine, History, Reason, Request, Service
from engine.reasons import CODES, PAGES
from engine.scheduling.explain import sentence
from engine.scheduling.explain_pages import explain_pages
from engine.words import LANGUAGES, engine_words
from tests.engine.driving import drive
from tests.engine.kv.test_prefix_cache import families, request, served
from tests.engine.main_runs import counts, run
from tests.engine.models import small_model
from tests.engine.random_runs import cancellations, crowded, runs
from tests.engine.scheduling.test_explain import check_words
from tests.engine.strategies import services

TAKEN = ("page_reserved", "page_written", "page_shared")
OPEN = ("page_given_back", "page_taken_away")


def check(history: History) -> None:
    """The reasons say what the tables and the counts of the record say."""
    for record, reasons in zip(history.records, explain_pages(history.records, history.service), strict=True):
        owned = {page for table in record.pages.values() for page in table}
        assert {page for page, reason in reasons.items() if reason.code in TAKEN} == owned
        assert sum(reason.code == "page_cached" for reason in reasons.values()) == record.cached
        used_before = sum(reason.code in OPEN for reason in reasons.values())
        total = history.service.slots if history.service.kv_layout != "paged" else history.service.pages
        if total is not None:
            assert record.free == used_before + total - len(reasons)
        for reason in reasons.values():
            assert reason.code in PAGES
            check_words(reason)


@given(runs() | crowded(), st.data())
@settings(max_examples=200, deadline=None)
def test_every_page_has_a_reason_in_every_tick(
    run: tuple[list[Request], Service], data: st.DataObject
) -> None:
    trace, service = run
    check(drive(trace, service, cancels=data.draw(cancellations(trace))))


@given(families(), services(kv_layout="paged", prefix_cache=True))
@settings(max_examples=100, deadline=None)
def test_cached_and_shared_pages_have_one_too(trace: list[Request], service: Service) -> None:
    check(Engine(service, model=small_model()).run(trace))


def codes(history: History, page: int) -> list[str]:
    found = explain_pages(history.records, history.service)
    return [reasons[page].code if page in reasons else "page_never" for reasons in found]


def test_the_life_of_a_page() -> None:
    """Taken for prompt and output at once, written later, given back with the last token."""
    history = run(trace=counts(("0", 4, 6), ("1.0", 4, 2)))
    assert codes(history, 0) == ["page_written"] * 6 + ["page_given_back"] * 4 + ["page_given_back"] * 2
    assert codes(history, 2)[:6] == ["page_reserved"] * 5 + ["page_written"]
    assert codes(history, 15) == ["page_never"] * len(history.records)
    told = list(explain_pages(history.records, history.service))
    assert told[6][0] == Reason("page_given_back", by=("R01",), have=5)
    assert told[0][2] == Reason("page_reserved", by=("R01",), have=0)
    assert told[0][0] == Reason("page_written", by=("R01",), have=4, need=4)


def test_a_page_that_was_taken_away_names_who_lost_it() -> None:
    history = run(
        trace=counts(("0", 4, 8), ("0", 4, 8)), page_size=1, pages=14, kv_reserve="on_demand", tick="0.1"
    )
    record = next(record for record in history.records if record.preempted)
    reasons = list(explain_pages(history.records, history.service))[record.tick]
    lost = [page for kind, page, _ in record.page_events if kind == "preempt"]
    still = [page for page in lost if page not in {one for table in record.pages.values() for one in table}]
    assert still
    assert {reasons[page] for page in still} == {
        Reason("page_taken_away", by=record.preempted, have=record.tick)
    }


def test_a_cached_page_and_a_shared_one() -> None:
    prompt = list(range(10, 18))
    history = served([request("a", "0", prompt), request("b", "1", prompt)], pages=8)
    first = history.records[0].pages["a"][0]
    found = codes(history, first)
    assert "page_cached" in found
    assert found.index("page_cached") > 0
    together = served([request("a", "0", prompt, 6), request("b", "0.2", prompt, 6)], pages=8)
    assert "page_shared" in codes(together, together.records[0].pages["a"][0])


def test_pages_are_sentences_of_their_own() -> None:
    assert not set(PAGES) & set(CODES)
    for language, stop in zip(LANGUAGES, (".", "。"), strict=True):
        words = engine_words(language)
        assert all(words.texts[f"reason.{code}"].endswith(stop) for code in PAGES)
    one = Reason("page_written", by=("R01",), have=1, need=1)
    assert sentence(one, engine_words("en")) == "R01 has written 1 of 1 slot."
