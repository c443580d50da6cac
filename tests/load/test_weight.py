"""What a browser loads: everything packed, nothing from outside, and little the second time."""

from __future__ import annotations

import asyncio
import gzip
from urllib.parse import parse_qs, urlsplit

import pytest

from app.bench.weight import Visit, body_of, is_kept, kind_of, page_weight
from tests.serving import Answer, Serving

BUDGET = 1_000_000  # bytes of a cold visit, as they travel
SMALL = 1024  # bytes below which a file may travel as it is
TEXT = ("script", "sheet")


@pytest.fixture(scope="module")
def visit(lab: Serving) -> Visit:
    """A cold visit of the main exercise."""
    made = Visit(lab.page)
    asyncio.run(made.load())
    return made


def test_the_visit_found_what_the_page_is_made_of(visit: Visit) -> None:
    names = {urlsplit(address).path.rsplit("/", 1)[-1] for address in visit.answers}
    wanted = "bokeh.min.js panel.min.js shared.js grid.js timelines.js desk.js lab.css panels.css page.css"
    assert names >= set(wanted.split())
    assert all(answer.code == 200 for answer in visit.answers.values())


def test_every_script_and_sheet_travels_packed_with_the_right_headers(visit: Visit) -> None:
    for address, answer in visit.answers.items():
        if kind_of(address) not in TEXT or len(body_of(answer)) < SMALL:
            continue
        assert answer.headers["Content-Encoding"] == "gzip", address
        assert set(answer.headers["Vary"].split(", ")) == {"Accept-Encoding"}, address
        assert int(answer.headers["Content-Length"]) == len(answer.body), address
        plain = Answer(address)
        assert plain.headers["Content-Encoding"] is None
        assert gzip.decompress(answer.body) == plain.body, address
        kind = {"script": "javascript", "sheet": "text/css"}[kind_of(address)]
        assert kind in answer.headers["Content-Type"], address


def test_a_cold_visit_weighs_less_than_a_megabyte(lab: Serving) -> None:
    weight = asyncio.run(page_weight(lab.page))
    assert weight.bytes <= BUDGET, weight
    assert weight.outside == []
    assert weight.second_visit < weight.bytes / 20


def test_nothing_that_changes_is_kept_and_nothing_else_is_asked_for_twice(visit: Visit) -> None:
    """An address with a version is kept; one without is asked for again, and answered by a 304."""
    for address, answer in visit.answers.items():
        if kind_of(address) not in TEXT:
            continue
        versioned = "v" in parse_qs(urlsplit(address).query)
        assert is_kept(answer) == versioned, address
        if not versioned:
            assert answer.headers["Cache-Control"] == "no-cache", address
            asked = {"If-None-Match": answer.headers["Etag"], "Accept-Encoding": "gzip"}
            assert Answer(address, **asked).status == 304, address


def test_the_page_itself_is_never_kept(lab: Serving) -> None:
    page = Answer(lab.page, **{"Accept-Encoding": "gzip"})
    assert "max-age" not in (page.headers["Cache-Control"] or "")
    assert page.headers["Content-Encoding"] == "gzip"


def test_what_is_from_outside_is_seen(lab: Serving) -> None:
    strange = Visit(lab.page)
    assert not strange._is_ours("https://cdn.example/x.js")
    assert strange.outside == ["https://cdn.example/x.js"]
