"""The figures of a run (SEMANTICS §3) as plain values. A value that does not exist is None, never 0."""

from __future__ import annotations

import msgspec

from engine.measuring.percentiles import Range

Value = float | None


class RequestMetrics(msgspec.Struct, frozen=True):
    """One request. Times in seconds, None where they do not exist; ``itl`` lists the token gaps,
    ``stall`` is the time from each preemption to the next token.

    ``status`` is what was to be seen by the end of the window: finished, cancelled, failed, refused,
    unfinished (at a horizon), or, in a run without one that is under way, waiting or active.
    ``output_tokens`` are those asked for; an output that ended at a stop has fewer."""

    id: str
    arrival: float
    prompt_tokens: int
    output_tokens: int
    status: str
    queue: Value
    ttft: Value
    tpot: Value
    e2e: Value
    itl: tuple[float, ...]
    preempted: int
    recomputed_tokens: int
    stall: float


class Summary(msgspec.Struct, frozen=True):
    """The run as a whole. Times in seconds, rates per second of ``window``; Range where censored.

    ``offered`` counts the arrivals; the ``refused`` are apart. Of the ``unfinished``, ``in_flight`` hold
    a place and ``waiting`` do not. ``left_out`` counts, per metric, who was cancelled or failed before
    the event.

    ``goodput`` is ``met`` per second of the window, ``attainment`` the share ``met`` has of ``met``,
    ``missed`` and ``undecided``: the refused and the failed are missed, and who was cancelled in time
    counts in none. ``throughput`` counts every output token delivered in the window,
    ``throughput_finished`` only those of finished requests.

    ``mean_ttft``, ``mean_tpot``, ``mean_e2e`` and ``mean_queue`` weigh requests, ``mean_itl`` weighs
    gaps. Peaks of tokens and pages are those at the end of a tick, ``peak_backlog`` (``peak_waiting`` is
    the same) is the longest queue after a tick's admission. ``mean_in_system`` is L,
    ``mean_time_in_system`` W, None when the window ends with somebody inside.

    ``recomputed_tokens`` are those that preemption lost, ``recompute_tax`` the share of computed tokens
    that were computed again for it (what the prefix cache has kept is lost and not computed again).
    ``prefix_hits`` of ``prefix_queries`` prompt tokens were found at first admissions.
    ``tokens_per_round`` is what a speculative round of one request gave, ``accepted_at`` in how many
    rounds the guess at each place was accepted, ``draft_ms`` what guessing took (ms).
    """

    ticks: int
    window: float
    offered: int
    finished: int
    unfinished: int
    in_flight: int
    waiting: int
    refused: int
    cancelled: int
    failed: int
    left_out: dict[str, int]
    throughput: Value
    throughput_finished: Value
    goodput: Value
    attainment: Value
    met: int
    missed: int
    undecided: int
    mean_ttft: Value
    p50_ttft: Value | Range
    p95_ttft: Value | Range
    p99_ttft: Value | Range
    mean_tpot: Value
    p95_tpot: Value | Range
    mean_itl: Value
    mean_e2e: Value
    p95_e2e: Value | Range
    mean_queue: Value
    peak_backlog: int
    peak_waiting: int
    peak_reserved_tokens: int
    peak_held_tokens: int
    peak_written_tokens: int
    peak_pages: int
    arrival_rate: Value
    mean_in_system: Value
    mean_time_in_system: Value
    preemptions: int
    recomputed_tokens: int
    recompute_tax: Value
    prefix_queries: int
    prefix_hits: int
    draft_rounds: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...]
    tokens_per_round: Value
    draft_ms: float


class Metrics(msgspec.Struct, frozen=True):
    """``requests`` by key (the id, or id#2 … when it was used again), as submitted, and the ``summary``."""

    requests: dict[str, RequestMetrics]
    summary: Summary
