"""The tables that rooms show beside their exercises; every figure in them is computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from markupsafe import Markup

from engine import Service, simulate
from engine.traces import main_trace
from engine.words import Catalogue
from puzzles.calculator import MODELS, tokens_per_round
from puzzles.finished import finished
from puzzles.quantization import Sheet
from puzzles.render import sheet_table
from puzzles.tools import TOOLS, tool_values
from puzzles.words import DASH, number, puzzle_words

Rows = tuple[tuple[str, ...], ...]


def exhibit(name: str, language: str) -> dict[str, object]:
    """Title, lead and table of the exhibit ``name``. Raises KeyError for an unknown one."""
    words = puzzle_words(language)
    title = words(f"exhibit.{name}.title")
    heads, rows = EXHIBITS[name](words)
    table: Markup = sheet_table(Sheet(title, heads, rows))
    return {"title": title, "lead": words(f"exhibit.{name}"), "table": table}


# ---- which tool's TPOT? ----------------------------------------------------------------------------

# The two requests on which the formulas differ most: one that waits before its first token, one after.
CASES = (("R02", Service(policy="static")), ("R04", Service(tick="1.0")))  # type: ignore[arg-type]


def tools(words: Catalogue) -> tuple[tuple[str, ...], Rows]:
    """A row per formula, a column per case."""
    found = [tool_values(simulate(main_trace(), service).metrics().requests[key]) for key, service in CASES]
    heads = [words("exhibit.tools.case", id=key, run=_run(service)) for key, service in CASES]
    rows = tuple(
        (", ".join(tool.names), tool.expression, *(_seconds(values[name]) for values in found))
        for name, tool in TOOLS.items()
    )
    return (words("exhibit.tools.tool"), words("exhibit.tools.formula"), *heads), rows


def _run(service: Service) -> str:
    return f"{service.policy}, tick {service.tick} s"


def _seconds(value: Fraction | None) -> str:
    return DASH if value is None else f"{number(value)} s"


# ---- KV calculator ---------------------------------------------------------------------------------

CONTEXT = 2048  # tokens
MIB = 2**20


def kv(words: Catalogue) -> tuple[tuple[str, ...], Rows]:
    """A row per named model: its shape, the bytes of one token, and of a context."""
    heads = [words(f"figure.{name}") for name in ("layers", "kv_heads", "head_dim", "per_token")]
    rows = tuple(
        (
            words(f"given.{name}"),
            str(shape.layers),
            str(shape.kv_heads) if shape.latent is None else f"MLA {shape.latent}",
            str(shape.head_dim) if shape.latent is None else DASH,
            f"{shape.per_token:,}",
            f"{shape.of(CONTEXT) / MIB:,.1f} MiB",
        )
        for name, shape in MODELS.items()
    )
    return (words("exhibit.kv.model"), *heads, words("exhibit.kv.context", tokens=CONTEXT)), rows


# ---- speculation -----------------------------------------------------------------------------------

GUESSES = (1, 2, 4, 8)
ACCEPTANCES = ("0.2", "0.5", "0.8", "0.9")


def rounds(words: Catalogue) -> tuple[tuple[str, ...], Rows]:
    """Tokens of a round, by acceptance and number of guesses."""
    rows = tuple(
        (a, *(number(round(tokens_per_round(Fraction(a), k), 3)) for k in GUESSES)) for a in ACCEPTANCES
    )
    return (words("exhibit.rounds.acceptance"), *(f"k = {k}" for k in GUESSES)), rows


def _tokens(acceptance: Fraction, guesses: int) -> str:
    return number(round(tokens_per_round(acceptance, guesses), 3))


# ---- journey ---------------------------------------------------------------------------------------

FOLLOWED = "R03"
STATIONS = ("queue", "pages", "prefill", "decode", "stream")
SYSTEMS = ("vllm", "tensorrt")  # what they call a station is in the catalogue


def journey(words: Catalogue) -> tuple[tuple[str, ...], Rows]:
    """A row per station: when the request is there under static and continuous, and its other names."""
    policies = ("static", "continuous")
    found = [_moments(policy) for policy in policies]
    rows = tuple(
        (
            words(f"exhibit.journey.{name}"),
            *(moments[name] for moments in found),
            *(words(f"exhibit.journey.{name}.{system}") for system in SYSTEMS),
        )
        for name in STATIONS
    )
    return (words("exhibit.journey.station"), *policies, "vLLM", "TensorRT-LLM"), rows


def _moments(policy: str) -> dict[str, str]:
    """From when to when the request is at each station, as text."""
    run = finished({policy: simulate(main_trace(), Service(policy=policy))})[policy]
    life, tick = run.lives[FOLLOWED], Fraction(run.history.service.tick)
    arrival, start = Fraction(life.request.arrival), (life.start or 0) * tick
    first, last = ((token + 1) * tick for token in (life.tokens[0], life.tokens[-1]))
    return {
        "queue": f"{number(arrival)}–{number(start)}",
        "pages": number((life.admitted or 0) * tick),
        "prefill": f"{number(start)}–{number(first)}",
        "decode": f"{number(first)}–{number(last)}",
        "stream": number(last),
    }


EXHIBITS: dict[str, Callable[[Catalogue], tuple[tuple[str, ...], Rows]]] = {
    "tools": tools,
    "kv": kv,
    "rounds": rounds,
    "journey": journey,
}
