"""How a correct value comes about, in one line of arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from engine.progress import Life
from engine.words import Catalogue
from puzzles.asking import Field
from puzzles.finished import Finished
from puzzles.measures import megabytes, p95_ttft
from puzzles.words import number, plain, run_name

Blanks = dict[str, str]


def derivation(field: Field, runs: Mapping[str, Finished], words: Catalogue) -> str:
    """The arithmetic behind the correct value of ``field``, from finished runs."""
    if field.choices is not None:
        tails = (_tail(name, runs[name], words) for name in field.choices)
        return words("derive.best_p95", tails=words("list.separator").join(tails))
    blanks = BLANKS[field.metric](runs[field.run], field.request or "")
    return words(f"derive.{field.metric}", **blanks) if blanks else words("derive.none")


def _tail(name: str, run: Finished, words: Catalogue) -> str:
    value = p95_ttft(run.metrics)
    return f"{run_name(name, words)} {number(value)} s" if value is not None else name


def _times(metric: str) -> Callable[[Finished, str], Blanks]:
    """The moments behind a time of a request; none where that time does not exist."""

    def blanks(run: Finished, key: str) -> Blanks:
        value = getattr(run.metrics.requests[key], metric)
        if value is None:
            return {}
        moments = _moments(run.lives[key], Fraction(run.history.service.tick))
        return moments | {metric: number(value)}

    return blanks


def _moments(life: Life, tick: Fraction) -> Blanks:
    """A token of tick k comes out at the end of the tick."""
    tokens = [(token + 1) * tick for token in life.tokens]
    moments = {"arrival": Fraction(life.request.arrival), "start": (life.start or 0) * tick}
    if tokens:
        moments |= {"first": tokens[0], "last": tokens[-1]}
    return {name: number(moment) for name, moment in moments.items()} | {"n": str(len(tokens))}


def _reserve(run: Finished, key: str) -> Blanks:
    request, service = run.history.requests[key], run.history.service
    tokens = request.prompt_tokens + request.output_tokens
    return {
        "prompt": str(request.prompt_tokens),
        "output": str(request.output_tokens),
        "k": plain(megabytes(1, service)),
        "value": plain(megabytes(tokens, service)),
    }


def _peak(run: Finished, _: str) -> Blanks:
    history = run.history
    fullest = max(history.records, key=lambda record: record.held)
    return {
        "tick": str(fullest.tick),
        "tokens": str(fullest.held),
        "k": plain(megabytes(1, history.service)),
        "value": plain(megabytes(fullest.held, history.service)),
    }


BLANKS: dict[str, Callable[[Finished, str], Blanks]] = {
    "ttft": _times("ttft"),
    "tpot": _times("tpot"),
    "e2e": _times("e2e"),
    "queue": _times("queue"),
    "kv_mb": _reserve,
    "peak_mb": _peak,
}
