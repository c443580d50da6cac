"""The pages without JavaScript: fresh, small, valid, readable from the file system under any prefix."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urldefrag

import pytest

from engine.words import LANGUAGES
from puzzles import fields, histories, load, names, solve
from puzzles.site import build, stale, write
from puzzles.site.build import all_exercises, file_name
from puzzles.words import number, puzzle_words
from tests.puzzles.html import Page

FILES = build()
PAGES = sorted(place for place in FILES if place.endswith(".html"))
LARGEST = 60_000  # bytes


def test_the_committed_pages_are_fresh() -> None:
    """When this fails: python -m puzzles static."""
    assert stale(files=FILES) == []


def test_every_page_is_there_in_both_languages() -> None:
    for language in LANGUAGES:
        found = {place.split("/")[1] for place in PAGES if place.startswith(f"{language}/")}
        assert found == {place.split("/")[1] for place in PAGES if "/" in place}
        assert {"index.html", "glossary.html", "weights.html", "main.html"} <= found
        assert len([name for name in found if re.fullmatch(r"main-\d+\.html", name)]) >= 1


@pytest.mark.parametrize("place", PAGES)
def test_a_page_is_valid_small_and_without_script(place: str) -> None:
    page = Page(FILES[place])
    assert page.errors == []
    assert len(FILES[place].encode()) <= LARGEST
    assert page.count("script") == 0
    assert page.count("h1") == page.count("main") == 1
    assert len(set(page.ids)) == len(page.ids)
    assert "\N{REPLACEMENT CHARACTER}" not in FILES[place]


@pytest.mark.parametrize("place", PAGES)
def test_links_are_relative_and_resolve(place: str) -> None:
    for link in Page(FILES[place]).links:
        assert not re.match(r"[a-z]+:|/", link), link
        target, fragment = urldefrag(link)
        found = place if not target else _resolve(place, target)
        assert found in FILES, link
        if fragment:
            assert fragment in Page(FILES[found]).ids


def _resolve(place: str, link: str) -> str:
    return (Path("/") / place).parent.joinpath(link).resolve().relative_to("/").as_posix()


@pytest.mark.parametrize("place", [place for place in PAGES if "/" in place])
def test_a_page_says_its_language_and_links_its_twin(place: str) -> None:
    language, name = place.split("/")
    page, words = Page(FILES[place]), puzzle_words(language)
    other = next(code for code in LANGUAGES if code != language)
    assert page.languages[0] == words("page.lang")
    assert f"../{other}/{name}" in page.links
    assert page.all("a")[0]["href"] == "#content"


def test_the_style_needs_nobody_else() -> None:
    style = FILES["style.css"]
    assert "@import" not in style
    assert "url(" not in style
    assert "http" not in style


@pytest.mark.parametrize("place", PAGES)
def test_every_table_has_a_caption_scopes_and_a_named_focusable_region(place: str) -> None:
    page = Page(FILES[place])
    assert page.count("table") == page.count("caption")
    assert all(head.get("scope") in ("row", "col", "colgroup") for head in page.all("th"))
    regions = [one for one in page.all("div") if one.get("role") == "region"]
    assert len(regions) == page.count("table")
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in regions)
    names = [one["aria-label"] for one in regions]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_answers_before_the_details(language: str) -> None:
    """Above the first <details> stand rules, trace and question; the one figure is the reading of the KV."""
    for exercise in (one for one in all_exercises() if one.name == "main"):
        before = FILES[f"{language}/{file_name(exercise)}"].split("<details")[0]
        correct = solve(exercise)
        for key in ("immediate.R02.ttft", "static.R03.ttft", "static.R04.ttft"):
            assert number(correct[key]) not in _text(before)  # type: ignore[arg-type]
        sheet = FILES[f"{language}/{file_name(exercise, 'sheet')}"]
        assert number(correct["immediate.R02.ttft"]) not in _text(sheet)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", names())
def test_a_question_does_not_tell_its_answer(name: str, language: str) -> None:
    """The texts above the first <details>: the lead, what is asked, the labels."""
    one, words = load(name), load(name).words(language)
    asked = [words("lead"), *(words(f"part.{part.name}.ask") for part in one.parts)]
    asked += [field.label(words) for field in fields(one)]
    told = set(re.findall(r"\d+\.\d+", " ".join(asked)))
    for field in fields(one):
        value = solve(one)[field.key]
        if isinstance(value, float) and field.required and value not in GIVEN:
            assert number(round(value, 3)) not in told, field.key


GIVEN = {0.1, 1.0}  # the ticks


def _text(html: str) -> str:
    return re.sub(r"<[^>]+>", " ", html)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answers_are_there(language: str) -> None:
    text = _text(FILES[f"{language}/main.html"])
    for figure in (
        "1.20",
        "1.28",
        "1.42",
        "1.08",
        "0.92",
        "0.18",
        "0.12",
        "2.00",
        "7.5 MB",
        "10.25",
        "12.67",
    ):
        assert figure in text
    assert "24" in text


def test_the_timeline_table_is_the_run() -> None:
    page = FILES["en/main.html"]
    history = histories(load("main"))["static"]
    row = "".join(f'<td class="k-{kind}">' for kind in ("first", "last", "seat"))
    assert re.search(
        r'<td class="k-first">F</td><td class="k-last">L</td><td class="k-seat">s</td></tr>', page
    )
    assert row
    assert len(history.records) == 15


def test_stale_and_missing_pages_are_named(tmp_path: Path) -> None:
    written = write(tmp_path, FILES)
    assert stale(tmp_path, FILES) == []
    (tmp_path / "en/main.html").write_text("old", "utf-8")
    (tmp_path / "style.css").unlink()
    (tmp_path / "zh/gone.html").write_text("nobody writes this any more", "utf-8")
    assert stale(tmp_path, FILES) == ["style.css", "en/main.html", "zh/gone.html"]
    assert set(written) == set(FILES)


@pytest.mark.slow
def test_building_twice_gives_the_same_bytes() -> None:
    assert build() == FILES


CONTRASTS = [
    (ink, paper) for ink in ("ink", "muted", "accent", "good", "bad") for paper in ("paper", "raised")
] + [("accent-ink", "accent")]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("ink", "paper"), CONTRASTS)
def test_contrast(ink: str, paper: str, dark: bool) -> None:
    colours = _colours(dark)
    assert _contrast(colours[ink], colours[paper]) >= 4.5


@pytest.mark.parametrize("place", range(8))
def test_letters_on_request_colours(place: int) -> None:
    colours = _colours(False)
    ink = colours["request-ink-6" if place == 6 else "request-ink"]
    assert _contrast(ink, colours[f"request-{place}"]) >= 4.5


def _colours(dark: bool) -> dict[str, str]:
    light, *rest = FILES["style.css"].split("@media screen and (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", light))
    return found | (dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", rest[0])) if dark else {})


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
