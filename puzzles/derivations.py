"""How a correct value comes about, in one line of arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from engine.measuring.progress import Life
from engine.words import Catalogue
from puzzles.asking import Field
from puzzles.expressions import Path, Side, evaluate, names_in, sides_of, sign_of
from puzzles.figures import KV, RECORDED, figure, finder
from puzzles.finished import Finished
from puzzles.measures import MEASURES, megabytes, p95_ttft
from puzzles.tools import TOOLS
from puzzles.units import printed
from puzzles.words import DASH, exact, grouped, number, plain, run_name

SIGNS = {"Gt": ">", "Lt": "<", "GtE": "≥", "LtE": "≤", "Eq": "=", "NotEq": "≠"}
Blanks = dict[str, str]
Runs = Mapping[str, Finished]


def derivation(field: Field, runs: Runs, words: Catalogue) -> str:
    """The arithmetic behind the correct value of ``field``, from finished runs."""
    if field.value is not None:
        return grouped(_expression(field, runs, words))
    if field.choices is not None:
        tails = (_tail(name, runs[name], words) for name in field.choices)
        return words("derive.best_p95", tails=words("list.separator").join(tails))
    run = runs[field.run]
    if field.metric.removeprefix(TOOL) in TOOLS:
        return words("derive.tool", **_tool(field, run))
    if field.metric not in BLANKS:
        return words("derive.read") if MEASURES[field.metric].run else words("derive.read.request")
    blanks = BLANKS[field.metric](run, field.request or "")
    return words(f"derive.{field.metric}", **blanks) if blanks else words("derive.none")


TOOL = "tpot_"


def _tool(field: Field, run: Finished) -> Blanks:
    """A tool's formula, and what goes into it."""
    one = run.metrics.requests[field.request or ""]
    times = {name: number(getattr(one, name) or 0.0) for name in ("e2e", "ttft")}
    formula = TOOLS[field.metric.removeprefix(TOOL)].expression
    return times | {"formula": formula, "n": str(one.output_tokens)}


def _tail(name: str, run: Finished, words: Catalogue) -> str:
    value = p95_ttft(run.metrics)
    return f"{run_name(name, words)} {number(value)} s" if value is not None else name


# ---- expressions -----------------------------------------------------------------------------------


def _expression(field: Field, runs: Runs, words: Catalogue) -> str:
    """Every figure of the expression with its value; then, of arithmetic, the same with values."""
    assert field.value is not None
    if field.choices is not None:
        told = words("list.items").join(_sides(field.value, runs, words))
        return _compared(field.value, told, runs, words) or words("derive.terms", terms=told)
    terms = {path: _term(path, runs, words) for path in names_in(field.value)}
    told = words("list.items").join(_pair(label_of(path, words), text, words) for path, text in terms.items())
    if not _arithmetic(field.value):
        return words("derive.terms", terms=told)
    value = evaluate(field.value, finder(runs))
    assert isinstance(value, Fraction)
    total = f"{_with_values(field.value, terms)} = {printed(float(value), field.unit, words)}"
    return words("derive.sum", terms=told, sum=total) if terms else words("derive.terms", terms=total)


def _sides(text: str, runs: Runs, words: Catalogue) -> list[str]:
    """What the sides come to; a bare number says nothing beside the comparison."""
    sides = sides_of(text)
    worth = [side for side in sides if side.name or names_in(side.text) or _arithmetic(side.text)]
    return [_side(side, runs, words) for side in worth or sides]


def _compared(text: str, told: str, runs: Runs, words: Catalogue) -> str:
    """Both sides of a comparison as ``told``, and how they compare; empty for what compares nothing."""
    sign, answer = sign_of(text), evaluate(text, finder(runs))
    values = [evaluate(side.text, finder(runs)) for side in sides_of(text)]
    numbers = [_short(value, 3) for value in values if isinstance(value, Fraction)]
    if sign is None or answer is None or len(numbers) != 2:
        return ""
    return words(
        "derive.compared",
        terms=told,
        relation=f"{numbers[0]} {SIGNS[sign]} {numbers[1]}",
        answer=words(f"choice.{answer}"),
    )


def _pair(name: str, value: str, words: Catalogue) -> str:
    return words("derive.pair", name=name, value=value)


def _side(side: Side, runs: Runs, words: Catalogue) -> str:
    """One side of a comparison, or one of those a choice is made from, with its value."""
    names = names_in(side.text)
    if not _arithmetic(side.text) and names:
        return _pair(label_of(names[0], words), _term(names[0], runs, words), words)
    value = evaluate(side.text, finder(runs))
    shown = _short(value, 3) if isinstance(value, Fraction) else DASH
    if side.name:
        unit = _unit(side.text)
        told = printed(float(value), unit, words) if unit and isinstance(value, Fraction) else shown
        return _pair(run_name(side.name, words), told, words)
    terms = {path: _term(path, runs, words) for path in names}
    formula = _with_values(side.text, terms)
    return formula if formula == shown else f"{formula} = {shown}"


def _unit(text: str) -> str:
    """The unit of a sum or difference of figures of runs that have the same; else none."""
    paths = names_in(text)
    if not paths or re.search(r"[*/(]", text) or any(path[0] in (KV, RECORDED) for path in paths):
        return ""
    units = {MEASURES[path[-1]].unit for path in paths}
    return units.pop() if len(units) == 1 else ""


POWER, RAISED = re.compile(r"\^(\d+)"), str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ROUND = re.compile(r"tokens_per_round\(([\d.]+), (\d+)\)")


def _arithmetic(text: str) -> bool:
    """Whether there is anything to calculate."""
    return bool(re.search(r" [-+*/] |\(", text))


def _term(path: Path, runs: Runs, words: Catalogue) -> str:
    """The value of one figure, with its unit where it has one."""
    value = figure(path, runs)
    if not isinstance(value, Fraction):
        return str(value or "—")
    unit = "" if path[0] in (KV, RECORDED) else MEASURES[path[-1]].unit
    return printed(float(value), unit, words) if unit else _short(value)


def _short(value: Fraction, places: int = 4) -> str:
    """Without needless zeros; a number too small for ``places`` decimals by its power of ten."""
    if value and not round(value, places):
        return f"{float(value):.1e}"
    return plain(round(value, places))


def _with_values(text: str, terms: Mapping[Path, str]) -> str:
    """The expression as a reader would write it, its names replaced by their values."""
    for path in sorted(terms, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape('.'.join(path))}(?![\w.])", terms[path].split(" ")[0], text)
    text = ROUND.sub(lambda found: f"[(1 − {found[1]}^{int(found[2]) + 1}) ÷ (1 − {found[1]})]", text)
    text = text.replace(" * ", " × ").replace(" / ", " ÷ ").replace(" - ", " − ").replace(" ** ", "^")
    return POWER.sub(lambda found: found[1].translate(RAISED), text)


def label_of(path: Path, words: Catalogue) -> str:
    """What a figure is called."""
    if path[0] == KV:
        return words(f"figure.{path[2]}")
    if path[0] == RECORDED:
        about = f"given.{path[1]}"
        return words(f"figure.{path[2]}", format=words(about) if about in words else path[1])
    request = path[1] if len(path) > 2 else ""
    return words(f"field.{path[-1]}", run=run_name(path[0], words), request=request)


# ---- measures ----------------------------------------------------------------------------------------


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


def _peak(name: str) -> Callable[[Finished, str], Blanks]:
    """The tick in which a figure of the pool is largest."""

    def blanks(run: Finished, _: str) -> Blanks:
        service = run.history.service
        fullest = max(run.history.records, key=lambda record: int(getattr(record, name)))
        tokens = int(getattr(fullest, name))
        megabyte = plain(megabytes(tokens, service))
        known = {"tick": str(fullest.tick), "tokens": str(tokens), "ids": ", ".join(fullest.active)}
        return known | {"k": plain(megabytes(1, service)), "value": megabyte}

    return blanks


def _mean(metric: str) -> Callable[[Finished, str], Blanks]:
    """The values behind a mean over requests."""

    def blanks(run: Finished, _: str) -> Blanks:
        found = [getattr(one, metric) for one in run.metrics.requests.values()]
        values = [exact(value) for value in found if value is not None]
        if not values:
            return {}
        total, mean = sum(values, Fraction(0)), sum(values, Fraction(0)) / len(values)
        shown = {"count": str(len(values)), "total": number(total), "mean": number(round(mean, 4))}
        listed = [number(value) for value in values[:MOST]] + (["…"] if len(values) > MOST else [])
        return shown | {"values": " + ".join(listed)}

    return blanks


MOST = 8  # values that a line lists


def _ranks(percent: int) -> Callable[[Finished, str], Blanks]:
    def blanks(run: Finished, _: str) -> Blanks:
        count = run.metrics.summary.offered - run.metrics.summary.refused
        return {"percent": str(percent), "count": str(count), "rank": str(-(-percent * count // 100))}

    return blanks


def _finished(run: Finished, _: str) -> Blanks:
    ids = [key for key, life in run.lives.items() if life.status == "finished"]
    return {"window": number(run.metrics.summary.window), "ids": ", ".join(ids) or DASH}


def _rates(run: Finished, _: str) -> Blanks:
    summary = run.metrics.summary
    counts = {name: str(getattr(summary, name)) for name in ("met", "missed", "undecided", "finished")}
    tokens = str(sum(life.token_count for life in run.lives.values()))
    return counts | {"tokens": tokens, "window": number(summary.window)}


BLANKS: dict[str, Callable[[Finished, str], Blanks]] = {
    **{name: _times(name) for name in ("ttft", "tpot", "e2e", "queue")},
    **{f"mean_{name}": _mean(name) for name in ("ttft", "tpot", "e2e", "queue")},
    **{f"peak_{name}": _peak(name) for name in ("reserved", "held", "written")},
    **{name: _ranks(percent) for name, percent in (("p50_ttft", 50), ("p95_ttft", 95), ("p95_e2e", 95))},
    **dict.fromkeys(("throughput", "goodput", "attainment", "good_of_finished"), _rates),
    "finished": _finished,
    "kv_mb": _reserve,
    "peak_mb": _peak("held"),
}
