"""Exhibits about one request: the stations it passes, what others call them, and its ticks one by one."""

from __future__ import annotations

from fractions import Fraction

from engine import History, Service, TickRecord, explain, simulate
from engine.measuring.progress import Life
from engine.scheduling.explain import sentence
from engine.traces import main_trace
from engine.words import Catalogue, engine_words
from puzzles.exhibits.model import Exhibit
from puzzles.finished import finished
from puzzles.quantization import Sheet
from puzzles.views.logs import concerned
from puzzles.words import DASH, number

FOLLOWED = "R03"
STATIONS = ("queue", "scheduler", "pages", "prefill", "decode", "sampler", "stream")
SYSTEMS = ("vllm", "tensorrt")  # what they call a station is in the catalogue
POLICIES = ("static", "continuous")


def journey(words: Catalogue) -> Exhibit:
    """A row per station: when the request is there under static and continuous, and its other names."""
    found = [_moments(_run(policy), words) for policy in POLICIES]
    rows = tuple(
        (
            words(f"exhibit.journey.{name}"),
            *(moments[name] for moments in found),
            *(words(f"exhibit.journey.{name}.{system}") for system in SYSTEMS),
        )
        for name in STATIONS
    )
    heads = (words("exhibit.journey.station"), *POLICIES, "vLLM", "TensorRT-LLM")
    sheet = Sheet(words("exhibit.journey.title"), heads, rows, numbers=False, labels=3)
    return Exhibit(sheets=(sheet,), notes=(words("exhibit.journey.source"),), answers=True)


def _run(policy: str) -> History:
    return simulate(main_trace(), Service(policy=policy))


def _moments(history: History, words: Catalogue) -> dict[str, str]:
    """From when to when the request is at each station, as text."""
    life, tick = _life(history), Fraction(history.service.tick)
    arrival, start = Fraction(life.request.arrival), (life.start or 0) * tick
    tokens = [number((token + 1) * tick) for token in life.tokens]
    pages = max(len(record.pages.get(FOLLOWED, ())) for record in history.records)
    return {
        "queue": f"{number(arrival)}–{number(start)}",
        "scheduler": number((life.admitted or 0) * tick),
        "pages": words("exhibit.journey.count", count=pages, at=number((life.admitted or 0) * tick)),
        "prefill": f"{number(start)}–{tokens[0]}",
        "decode": f"{tokens[0]}–{tokens[-1]}",
        "sampler": ", ".join(tokens),
        "stream": tokens[-1],
    }


def _life(history: History) -> Life:
    return finished({"run": history})["run"].lives[FOLLOWED]


def stations(words: Catalogue) -> Exhibit:
    """The request tick by tick under both policies: where it is, its pages, its tokens, and why."""
    sheets = []
    for policy in POLICIES:
        history = _run(policy)
        rows = tuple(_tick_row(record, words) for record in history.records if concerned(record, FOLLOWED))
        names = ("tick", "station", "pages", "token", "why")
        heads = tuple(words(f"exhibit.stations.{name}") for name in names)
        caption = words("exhibit.stations.caption", id=FOLLOWED, policy=policy)
        sheets.append(Sheet(caption, heads, rows, numbers=False))
    return Exhibit(sheets=tuple(sheets), answers=True)


def _tick_row(record: TickRecord, words: Catalogue) -> tuple[str, ...]:
    said = [str(index + 1) for key, index, _ in record.emitted if key == FOLLOWED]
    return (
        str(record.tick),
        words(f"exhibit.journey.{_station(record)}"),
        str(len(record.pages.get(FOLLOWED, ()))),
        ", ".join(said) or DASH,
        sentence(explain(record, FOLLOWED), engine_words(words.language)),
    )


def _station(record: TickRecord) -> str:
    """Where the request is in a tick."""
    if FOLLOWED in {key for key, *_ in record.prefill}:
        return "prefill"
    if FOLLOWED in {key for key, _ in record.decode}:
        return "decode"
    return "pages" if FOLLOWED in record.active else "queue"
