"""A server that cannot do its work says so in words, with the right status, and shows no traceback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.settings import DATABASE
from tests.serving import Answer, Serving


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server whose database file is none."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "data").mkdir()
    (folder / "data" / DATABASE).write_bytes(b"this was never a database, only text of some length" * 9)
    server = Serving(folder)
    server.start(ready=b'"database": false')
    yield server
    server.stop()


@pytest.mark.parametrize(("language", "said"), [("en", "What you locked is safe"), ("zh", "没有丢")])
def test_the_page_answers_500_in_words(broken: Serving, language: str, said: str) -> None:
    page = Answer(f"{broken.page}?lang={language}")
    assert page.status == 500
    assert said in page.text
    assert page.headers["Cache-Control"] == "no-store"
    for betrayal in ("Traceback", "sqlite", "Error", str(broken.folder)):
        assert betrayal not in page.text


def test_the_log_has_the_reason(broken: Serving) -> None:
    Answer(broken.page)
    told = broken.log.read_text()
    assert told.count("the file is damaged or is no database") == 1
    assert "Traceback" not in told


def test_health_is_503(broken: Serving) -> None:
    assert Answer(f"{broken.url}/healthz").status == 503


def test_reading_goes_on(broken: Serving) -> None:
    assert Answer(f"{broken.url}/read/").status == 200
