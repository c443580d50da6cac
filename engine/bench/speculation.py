"""Speculative decoding: what k guesses per step give and cost, where it pays and where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial

import msgspec

from engine.bench.load import SERVICE, SLOTS, Served, requests_of, serve
from engine.bench.paper import grid, heading, milli, plain, ratio
from engine.bench.setting import Setting
from engine.bench.timing import median, paired_ratio, take_turns
from engine.cli.figures import NOTHING
from engine.requests import Request
from engine.service import Service
from engine.serving.speculation import Draft, DraftModel, PromptLookup
from engine.words import Catalogue

NAME = "speculation"
GUESSES, QUICK_GUESSES = range(1, 9), (1, 2, 4, 8)
REFRAIN = "The king, the king, the king, the king, the king, the king,"
"""Makes the model repeat itself, so that what it said tells what comes next."""

Key = tuple[str, str, int]  # load, draft, k
MakeDraft = Callable[[Service], Draft]


class Rounds(msgspec.Struct, frozen=True):
    """One load with ``k`` guesses per decode step; k 0 is plain decoding.

    ``accepted_at`` is, per position, the share of the guesses made there that were right (after all
    before them were); ``tokens_per_round`` what a step of one request gave; ``draft_share`` the part
    of the time that guessing took. Seconds are wall-clock per output token over the whole run,
    medians; ``speedup`` is over plain, within the same repeat. ``equal``: the tokens are plain's.
    """

    load: str
    draft: str
    k: int
    accepted_at: tuple[float, ...]
    tokens_per_round: float | None
    draft_share: float
    seconds_per_token: float
    speedup: float
    equal: bool


def loads() -> dict[str, list[Request]]:
    """One request whose text repeats itself; eight that keep all slots busy with texts that do not."""
    alone = [Request("R01", Decimal(0), len(REFRAIN), 160, REFRAIN)]
    return {"alone": alone, "busy": requests_of([(64, 48)] * SLOTS)}


def measure(setting: Setting) -> tuple[Rounds, ...]:
    """Every load, draft and number of guesses, in turn with plain decoding of the same load."""
    counts = QUICK_GUESSES if setting.quick else tuple(GUESSES)
    return tuple(row for name, requests in loads().items() for row in _on(setting, name, requests, counts))


def _on(setting: Setting, name: str, requests: list[Request], counts: Sequence[int]) -> list[Rounds]:
    runs = take_turns(_contenders(setting, name, requests, counts), 2 * setting.repeats)
    plain_runs = runs[name, "none", 0]
    return [_row(key, found, plain_runs) for key, found in runs.items()]


def _contenders(
    setting: Setting, name: str, requests: list[Request], counts: Sequence[int]
) -> dict[Key, Callable[[], Served]]:
    def guessing(service: Service, make: MakeDraft) -> Callable[[], Served]:
        return lambda: serve(setting.model, service, requests, draft=make(service))

    found: dict[Key, Callable[[], Served]] = {
        (name, "none", 0): partial(serve, setting.model, SERVICE, requests)
    }
    for draft, make in _drafts(setting).items():
        found |= {(name, draft, k): guessing(SERVICE.replace(speculate=k), make) for k in counts}
    return found


def _drafts(setting: Setting) -> dict[str, MakeDraft]:
    found: dict[str, MakeDraft] = {"lookup": lambda service: PromptLookup()}
    model = setting.draft
    if model is not None:
        found["model"] = lambda service: DraftModel(model, service.pages or 1, service.page_size)
    return found


def _row(key: Key, runs: Sequence[Served], base: Sequence[Served]) -> Rounds:
    rounds = [(made, right) for record in runs[0].records for _, made, right in record.drafts]
    took, plainly = ([run.seconds for run in found] for found in (runs, base))
    return Rounds(
        *key,
        accepted_at=tuple(accepted_at(rounds, key[2])),
        tokens_per_round=sum(right + 1 for _, right in rounds) / len(rounds) if rounds else None,
        draft_share=median(_draft_seconds(run) / run.seconds for run in runs),
        seconds_per_token=median(took) / runs[0].emitted,
        speedup=paired_ratio(plainly, took),
        equal=runs[0].tokens() == base[0].tokens(),
    )


def accepted_at(rounds: Sequence[tuple[int, int]], k: int) -> list[float]:
    """Per position, of the rounds that guessed there after only right guesses, the share that was right."""
    found = []
    for place in range(k):
        reached = [right > place for made, right in rounds if made > place and right >= place]
        if reached:
            found.append(sum(reached) / len(reached))
    return found


def _draft_seconds(run: Served) -> float:
    return sum(record.work.draft_ms for record in run.records if record.work) / 1000


COLUMNS = "load draft k tokens_per_round draft_share ms_per_token speedup accepted_at"


def tell(result: Sequence[Rounds], words: Catalogue) -> str:
    """The section as text."""
    rows = [
        (
            words(f"bench.load.{row.load}"),
            words(f"bench.draft.{row.draft}"),
            str(row.k) if row.k else NOTHING,
            plain(row.tokens_per_round, 2),
            f"{row.draft_share:.0%}" if row.k else NOTHING,
            milli(row.seconds_per_token, 3),
            ratio(row.speedup),
            " ".join(f"{share:.0%}" for share in row.accepted_at) or NOTHING,
        )
        for row in result
    ]
    lines = [heading(words, NAME)]
    if not any(row.draft == "model" for row in result):
        lines.append(words("bench.note.no_draft"))
    if not all(row.equal for row in result):
        lines.append(words("bench.note.unequal", count=sum(not row.equal for row in result)))
    return "\n".join([*lines, "", grid(words, COLUMNS, rows)])
