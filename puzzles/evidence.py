"""The tick rows that settle a question: what really happened where a wrong picture says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from engine import Metrics, TickRecord
from engine.measuring.progress import Life
from engine.words import Catalogue
from puzzles.finished import Finished
from puzzles.page_counts import pages_of
from puzzles.views.common import why
from puzzles.words import plain

MOST = 3  # rows: enough to refute, few enough to read


class EvidenceRow(msgspec.Struct, frozen=True):
    """One tick of a run in words; ``request`` None when the sentence is about the whole pool."""

    run: str
    tick: int
    request: str | None
    sentence: str


class Scene(msgspec.Struct, frozen=True):
    """Where to look: a run, and the request in question (None: the one served worst)."""

    name: str
    run: Finished
    request: str | None
    words: Catalogue

    @property
    def key(self) -> str:
        """The request looked at."""
        return self.request or worst(self.run.metrics)

    @property
    def records(self) -> list[TickRecord]:
        """The ticks of the run."""
        return self.run.history.records

    @property
    def life(self) -> Life:
        """The life of the request looked at."""
        return self.run.lives[self.key]

    def row(self, tick: int, key: str | None = None) -> EvidenceRow:
        """What happened to ``key`` in ``tick``."""
        key = key or self.key
        return EvidenceRow(self.name, tick, key, self._sentence(self.records[tick], key))

    def _sentence(self, record: TickRecord, key: str) -> str:
        """Why, in words. A request that comes inside a tick is seen at the start of the next one."""
        arrived = self.run.lives[key].arrived
        if arrived is not None and record.tick == arrived - 1:
            history = self.run.history
            arrival, start = history.requests[key].arrival, arrived * history.service.tick
            blanks = {"arrival": plain(arrival), "start": plain(start)}
            return self.words("evidence.inside", id=key, tick=arrived, **blanks)
        return why(record, key, arrived is not None and record.tick >= arrived, self.words)

    def kv_row(self, tick: int) -> EvidenceRow:
        """The three KV figures at the end of ``tick``."""
        record = self.records[tick]
        separator = self.words("list.separator")
        figures = {name: getattr(record, name) for name in ("reserved", "held", "written")}
        blanks = figures | {"ids": separator.join(record.active), "pages": pages_of(record)}
        return EvidenceRow(self.name, tick, None, self.words("evidence.kv", **blanks))


def worst(metrics: Metrics) -> str:
    """The request with the largest TTFT."""
    found = metrics.requests
    return max(found, key=lambda key: found[key].ttft or 0.0)


def evidence(rule: str, scene: Scene) -> tuple[EvidenceRow, ...]:
    """The rows of ``rule`` in ``scene``, at most three, each tick and request once. Where the run has nothing
    of what the rule looks for: those of the plain rule that stands in for it."""
    rows = dict.fromkeys(RULES[rule](scene)) or dict.fromkeys(RULES[INSTEAD.get(rule, rule)](scene))
    return tuple(rows)[:MOST]


def happens(rule: str, scene: Scene) -> bool:
    """Whether the run has what ``rule`` looks for, such as a tick without a slot."""
    return scene.key in scene.run.lives and any(True for _ in RULES[rule](scene))


def _waits(scene: Scene) -> Iterable[EvidenceRow]:
    """From the arrival to the first token: the start of the wait, its last tick, its end."""
    life = scene.life
    if life.arrived is None or not life.tokens:
        return []
    seen, end = life.arrived, life.tokens[0]
    inside = seen * scene.run.history.service.tick != life.request.arrival
    start = seen - 1 if inside and seen == end else seen
    return [scene.row(tick) for tick in sorted({start, max(end - 1, start), end})]


def _tokens(scene: Scene) -> Iterable[EvidenceRow]:
    """The first token, the next, the last: the gaps that TPOT divides."""
    tokens = scene.life.tokens
    return [scene.row(tick) for tick in dict.fromkeys((*tokens[:2], *tokens[-1:]))]


def _crowd(scene: Scene) -> Iterable[EvidenceRow]:
    """A tick in which most requests decode: each gets one token, and the next tick gives one more."""
    records = scene.records
    mine = [record for record in records if scene.key in dict(record.decode)]
    if not mine:
        return []
    busiest = max(mine, key=lambda record: len(record.decode))
    others = [key for key, _ in busiest.decode if key != scene.key]
    rows = [scene.row(busiest.tick), *(scene.row(busiest.tick, key) for key in others[:1])]
    after = [record.tick for record in mine if record.tick > busiest.tick]
    return rows + [scene.row(tick) for tick in after[:1]]


def _contest(scene: Scene) -> Iterable[EvidenceRow]:
    """A tick in which it gets no decode slot, between two of its tokens."""
    tokens = scene.life.tokens
    blocked = [tick for tick in range(tokens[0], tokens[-1]) if tick not in tokens] if tokens else []
    return [scene.row(tick) for tick in (tokens[0], blocked[0], tokens[-1])] if blocked else []


def _seats(scene: Scene) -> Iterable[EvidenceRow]:
    """Who has finished and keeps its seat, while the request in question waits."""
    for record in scene.records:
        held = [key for key, reason in record.blocked if reason.code == "seat_held"]
        if held and scene.key in record.waiting:
            return [
                scene.row(record.tick, held[0]),
                scene.row(record.tick),
                scene.row(scene.life.tokens[0]),
            ]
    return []


def _stalls(scene: Scene) -> Iterable[EvidenceRow]:
    """Who is thrown out, the tick after, and when it goes on."""
    for record in scene.records:
        if record.preempted:
            key = record.preempted[0]
            after = [tick for tick in scene.run.lives[key].tokens if tick > record.tick]
            ticks = (record.tick, min(record.tick + 1, len(scene.records) - 1), *after[:1])
            return [scene.row(tick, key) for tick in ticks]
    return []


def _open(scene: Scene) -> Iterable[EvidenceRow]:
    """Who has not finished when the window ends: its first token, and the last tick that was seen."""
    left = [key for key, life in scene.run.lives.items() if life.arrived is not None and life.ended is None]
    if not left:
        return []
    key, last = left[0], len(scene.records) - 1
    return [scene.row(tick, key) for tick in (*scene.run.lives[key].tokens[:1], last)]


def _kv(scene: Scene) -> Iterable[EvidenceRow]:
    """The pool when the first request has come in, at its fullest, and in the last tick."""
    records = scene.records
    if scene.request:
        life = scene.life
        ticks = [life.start or 0, life.ended or 0]
    else:
        fullest = max(records, key=lambda record: record.held)
        ticks = [0, fullest.tick, len(records) - 1]
    return [scene.kv_row(tick) for tick in ticks]


RULES: dict[str, Callable[[Scene], Iterable[EvidenceRow]]] = {
    "waits": _waits,
    "tokens": _tokens,
    "crowd": _crowd,
    "contest": _contest,
    "seats": _seats,
    "stalls": _stalls,
    "open": _open,
    "kv": _kv,
}

# What stands in for a rule whose thing does not happen in the run.
INSTEAD = {"crowd": "tokens", "contest": "tokens", "stalls": "tokens", "seats": "waits", "open": "waits"}

# What to show for a metric when no belief is known: how the number comes about.
RULE_OF_METRIC = {
    "ttft": "waits",
    "queue": "waits",
    "e2e": "waits",
    "best_p95": "waits",
    "tpot": "contest",
    "p95_e2e": "open",
    **dict.fromkeys(("attainment", "undecided", "finished", "good_of_finished"), "open"),
    **dict.fromkeys(("peak_reserved", "peak_held", "peak_written", "peak_slots", "peak_pages"), "kv"),
    **dict.fromkeys(("used_at_start", "pool_pages", "together"), "kv"),
    **dict.fromkeys(("preemptions", "recomputed", "recomputed_tokens"), "stalls"),
    "kv_mb": "kv",
    "peak_mb": "kv",
}
