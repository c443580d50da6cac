"""The closed set of reasons. Their words stand in ``locale``, as ``reason.<code>``."""

from __future__ import annotations

from engine.records import Reason

WAITING = (
    "behind",  # by: the head of the queue
    "one_at_a_time",  # by: who is served
    "batch_closed",  # by: members of the running batch
    "filling_batch",  # have, need: requests
    "max_active",  # have, need: admitted requests
    "no_pages",  # have, need: pages
    "no_run",  # have: longest run of free slots, need: slots
    "after_preemption",  # by: who was preempted in this tick
    "preempted",  # by: who asked for the page
)
ACTIVE = (
    "no_slot",  # have: decode slots, need: requests that could decode, by: who got them
    "shared_budget",  # have: tokens of the shared budget, by: whose decodes used it
    "no_prefill_budget",  # have: tokens of the budget left, need: tokens left of the prompt, by: who got it
    "whole_prompt",  # have: tokens of the budget left, need: tokens of the prompt
    "prefill_behind",  # by: the request that could not start
    "seat_held",  # by: unfinished members of the batch
)
REFUSED = (
    "never_fits",  # have: pages in the pool, need: pages
    "too_long",  # have: context of the engine in tokens, need: tokens
    "over_max_len",  # have: slots per request, need: tokens
)
PROGRESS = (
    "not_arrived",
    "prefill",  # have: tokens processed in this tick, need: tokens of the prompt
    "recompute",  # the same, after a preemption
    "first_token",
    "decode",  # have: which output token, need: output tokens
    "finished",  # have, need: as for decode
    "ended",
    "cancelled",
    "idle",
)
CODES = WAITING + ACTIVE + REFUSED + PROGRESS

__all__ = ["ACTIVE", "CODES", "PROGRESS", "REFUSED", "WAITING", "Reason"]
