"""The closed set of reasons. Their words stand in ``locale``, as ``reason.<code>``."""

from __future__ import annotations

from engine.records import Reason

WAITING = (
    "behind",  # by: the head of the queue, have: requests ahead
    "one_at_a_time",  # by: who is served
    "batch_closed",  # by: unfinished members of the running batch
    "filling_batch",  # have, need: requests
    "max_active",  # have: admitted requests, need: how many are allowed
    "no_pages",  # have, need: pages, by: who is active
    "no_run",  # have: longest run of free slots, need: slots, by: who is active
    "after_preemption",  # by: who was preempted in this tick
    "preempted",  # by: who asked for the page, have: tokens whose K/V is lost, need: tokens delivered
)
ACTIVE = (
    "no_slot",  # have: decode slots, need: requests that could decode, by: who got them
    "shared_budget",  # by: whose decodes used it; need: requests that could decode, or tokens to prefill
    "no_prefill_budget",  # need: tokens still to be processed, by: who got the budget
    "whole_prompt",  # have: tokens of the budget left, need: tokens to be processed in one piece
    "prefill_behind",  # by: the request that could not start
    "seat_held",  # by: unfinished members of the batch
)
REFUSED = (
    "never_fits",  # have: pages in the pool, need: pages
    "never_fits_run",  # the same in slots, for contiguous KV
    "too_long",  # have: context of the engine in tokens, need: tokens
    "over_max_len",  # have: slots per request, need: tokens
)
PROGRESS = (
    "not_arrived",
    "prefill",  # have: tokens processed in this tick, need: so far
    "recompute",  # the same, after a preemption
    "recomputed",  # have: tokens processed in this tick, need: which output token comes out
    "first_token",  # have: tokens processed in this tick
    "decode",  # have: which output token
    "finished",  # have: output tokens
    "failed",
    "ended",
    "cancelled",
    "idle",
)
PAGES = (  # why a page (with contiguous KV: a slot) is as it is
    "page_never",
    "page_given_back",  # by: who had it, have: tick
    "page_taken_away",  # by: who was preempted, have: tick
    "page_cached",  # by: who wrote or used it last, have: tick
    "page_reserved",  # by: owner, have: tick it was taken in
    "page_written",  # by: owner, have: slots written, need: slots of the page
    "page_shared",  # by: all who use it, have and need as before
    "run_free",  # have: adjacent slots
)
CODES = WAITING + ACTIVE + REFUSED + PROGRESS

__all__ = ["ACTIVE", "CODES", "PAGES", "PROGRESS", "REFUSED", "WAITING", "Reason"]
