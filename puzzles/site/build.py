"""Which pages there are, writing them, and saying which are stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.words import LANGUAGES
from puzzles.course import course, names, room_of
from puzzles.design.page import page_context
from puzzles.design.words import design_words
from puzzles.exercise import Exercise
from puzzles.exhibits import exhibit
from puzzles.exhibits.source import FILES, page_of, source_of
from puzzles.library import load
from puzzles.quantization import read
from puzzles.render import environment, page_styles
from puzzles.site.exercise_page import exercise_context, weights_context
from puzzles.site.glossary import GROUPS
from puzzles.words import puzzle_words

FOLDER = Path(__file__).parents[2] / "static"


def build() -> dict[str, str]:
    """Every file of the site: its place below the folder, and its text. The same on every machine."""
    files = {"style.css": page_styles(), "index.html": _choice()}
    for language in LANGUAGES:
        files |= {f"{language}/{name}": text for name, text in _pages(language)}
    return files


def write(folder: Path = FOLDER, files: Mapping[str, str] | None = None) -> list[str]:
    """Write the site (or ``files`` of it) below ``folder``; the places written."""
    files = build() if files is None else files
    for place, text in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return list(files)


def stale(folder: Path = FOLDER, files: Mapping[str, str] | None = None) -> list[str]:
    """The places that are missing, differ from what would be written, or belong to nobody."""
    files = build() if files is None else files
    wrong = [place for place, text in files.items() if _bytes(folder / place) != text.encode()]
    strays = [path.relative_to(folder).as_posix() for path in folder.glob("*/*.html")]
    return wrong + sorted(set(strays) - files.keys())


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _choice() -> str:
    languages = [{"name": name, "t": puzzle_words(name)} for name in LANGUAGES]
    return environment().get_template("choose.html").render(languages=languages)


def _pages(language: str) -> Iterator[tuple[str, str]]:
    """The pages of one language: (file name, text)."""
    design = design_words(language)
    yield "index.html", _page("index.html", "index.html", language, rooms=_rooms(language), design=design)
    yield "design.html", _page("design.html", "design.html", language, **page_context(language))
    yield "glossary.html", _page("glossary.html", "glossary.html", language, groups=GROUPS)
    yield "weights.html", _page("weights.html", "weights.html", language, **weights_context(language, read()))
    yield from _room_pages(language)
    for path in FILES:
        yield page_of(path), _page("code.html", page_of(path), language, path=path, source=source_of(path))
    shown = all_exercises()
    for exercise in shown:
        siblings = [other for other in shown if other.name == exercise.name and other.seed != exercise.seed]
        yield from _exercise_pages(exercise, language, [_card(other, language) for other in siblings])


def _rooms(language: str) -> list[dict[str, object]]:
    """The rooms in course order, each with its exercises; ``start`` is the number of its first."""
    found: list[dict[str, object]] = []
    start = 1
    for room in course().rooms:
        shown = [one for name in room.exercises for one in _with_variants(load(name))]
        cards = [_card(one, language) for one in shown]
        found.append({"name": room.name, "start": start, "exercises": cards})
        start += len(cards)
    return found


def _room_pages(language: str) -> Iterator[tuple[str, str]]:
    rooms = course().rooms
    for place, room in enumerate(rooms):
        file = f"room-{room.name}.html"
        context = {
            "room": room,
            "exercises": [_card(load(name), language) for name in room.exercises],
            "exhibits": [exhibit(name, language) for name in room.exhibits],
            "before": rooms[place - 1].name if place else None,
            "after": rooms[place + 1].name if place + 1 < len(rooms) else None,
        }
        yield file, _page("room.html", file, language, **context)


def _exercise_pages(
    exercise: Exercise, language: str, others: list[dict[str, str]]
) -> Iterator[tuple[str, str]]:
    """The page of an exercise, its sheets to draw on, and its page maps."""
    files = {
        "page": file_name(exercise),
        "sheet": file_name(exercise, "sheet"),
        "kv": file_name(exercise, "kv"),
    }
    context = exercise_context(exercise, language, read()) | {"others": others, "files": files}
    context |= _neighbours(exercise, language)
    yield files["page"], _page("exercise.html", files["page"], language, **context)
    if context["sheets"]:
        yield files["sheet"], _page("sheet.html", files["sheet"], language, **context)
    if context["kv"]:
        yield files["kv"], _page("kv.html", files["kv"], language, **context)


def _neighbours(exercise: Exercise, language: str) -> dict[str, object]:
    """The room of an exercise, and the cards of those before and after it in the course."""
    order = names()
    place = order.index(exercise.name)
    before = _card(load(order[place - 1]), language) if place else None
    after = _card(load(order[place + 1]), language) if place + 1 < len(order) else None
    return {"room": room_of(exercise.name), "before": before, "after": after}


def all_exercises() -> list[Exercise]:
    """Every exercise followed by its printed variants."""
    return [one for name in names() for one in _with_variants(load(name))]


def _with_variants(exercise: Exercise) -> list[Exercise]:
    return [exercise.variant(seed) for seed in (0, *exercise.variants.printed)]


def file_name(exercise: Exercise, kind: str = "") -> str:
    """main.html, main-7.html for the variant of seed 7, main-7-kv.html for another page of it."""
    parts = [exercise.name, str(exercise.seed) if exercise.seed else "", kind]
    return "-".join(part for part in parts if part) + ".html"


def _card(exercise: Exercise, language: str) -> dict[str, str]:
    words = exercise.words(language)
    lengths = [f"{one.id} {one.prompt_tokens}+{one.output_tokens}" for one in exercise.requests]
    trace = words("list.separator").join(lengths)
    card = {"file": file_name(exercise), "trace": trace}
    if not exercise.seed:
        return card | {"title": words("title"), "summary": words("summary")}
    title = words("again.title", title=words("title"), seed=exercise.seed)
    return card | {"title": title, "summary": words("again.summary", trace=trace)}


def _page(template: str, name: str, language: str, **context: object) -> str:
    """One page. ``t`` of the context, an exercise's own words, wins over the room's."""
    other = next(code for code in LANGUAGES if code != language)
    known = {"t": puzzle_words(language), "name": name, "other": other} | context
    return environment().get_template(template).render(known)
