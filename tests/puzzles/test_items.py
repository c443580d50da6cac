"""The lab's list of what learners get wrong, item by item: right values and wrong ones.

Each row: item, exercise, field, the right value, and the wrong values by belief. Nothing of it stands in
the exercises: there every value is computed.
"""

from __future__ import annotations

import pytest

from puzzles import field_of, load, names, solve
from puzzles.mistakes import beliefs_of, wrong_values

Value = float | str
Row = tuple[int, str, str, Value, dict[str, Value]]

PATH: list[Row] = [
    (1, "tpot", "static.R02.tpot", 0.10, {"tpot_from_arrival": 0.65, "tpot_by_tokens": 0.05}),
    (5, "short-prompt", "immediate.R01.ttft", 0.10, {}),
    (5, "short-prompt", "immediate.R04.ttft", 1.42, {"ttft_is_prefill": 0.1}),
    (5, "short-prompt", "best", "R01", {"short_is_first": "R03"}),
    (5, "short-prompt", "worst", "R04", {"long_is_last": "R01"}),
    (10, "throughput-goodput", "static.throughput", 12.6667, {}),
    (10, "throughput-goodput", "held.throughput", 11.1765, {}),
    (10, "throughput-goodput", "static.met", 1, {}),
    (10, "throughput-goodput", "held.met", 3, {}),
    (10, "throughput-goodput", "static.goodput", 0.6667, {}),
    (10, "throughput-goodput", "held.goodput", 1.7647, {"goodput_in_proportion": 0.5882}),
    (10, "throughput-goodput", "throughput", "falls", {}),
    (10, "throughput-goodput", "service", "rises", {"throughput_is_service": "falls"}),
    (14, "censored-p95", "cut.p95_e2e", "≥ 1.00", {"finished_only": 0.38, "waited_is_value": 1.2}),
    (18, "tokens-no-faster", "immediate.R01.tpot", 0.1, {}),
    (18, "tokens-no-faster", "static.R01.tpot", 0.1, {}),
    (18, "tokens-no-faster", "continuous.R01.tpot", 0.1, {"faster_tokens": 0.0333}),
    (18, "tokens-no-faster", "immediate.mean_ttft", 1.0, {}),
    (18, "tokens-no-faster", "static.mean_ttft", 0.825, {}),
    (18, "tokens-no-faster", "continuous.mean_ttft", 0.125, {"ttft_follows_tpot": 0.825}),
    (18, "tokens-no-faster", "pace", "same", {"pace_improves": "falls"}),
    (23, "ten-times-slower", "e2e", 10.0, {}),
    (23, "ten-times-slower", "pace", 20.0, {"ten_everywhere": 10.0}),
    (23, "ten-times-slower", "wait", 19.0, {"ten_everywhere": 10.0}),
    (23, "ten-times-slower", "slow.R04.tpot", 2.0, {"scale_only": 1.0}),
    (23, "ten-times-slower", "slow.R02.ttft", 1.9, {"scale_only": 1.0}),
    (25, "shortest-first", "slow.R04.e2e", 3.62, {}),
    (25, "shortest-first", "shortest.R04.e2e", 2.62, {}),
    (25, "shortest-first", "shortest.R01.e2e", 13.0, {"long_unharmed": 12.0}),
    (25, "shortest-first", "slow.mean_e2e", 5.575, {}),
    (25, "shortest-first", "shortest.mean_e2e", 5.575, {}),
    (25, "shortest-first", "long", "rises", {"better_for_all": "falls"}),
    (37, "policy-without-memory", "kv32.R01.ttft", 0.10, {}),
    (37, "policy-without-memory", "kv32.R02.ttft", 1.20, {"policy_is_enough": 0.1}),
    (37, "policy-without-memory", "kv32.R03.ttft", 1.08, {}),
    (37, "policy-without-memory", "kv32.R04.ttft", 0.92, {"policy_is_enough": 0.12}),
    (37, "policy-without-memory", "kv32.ticks", 15, {"policy_is_enough": 12}),
    (37, "policy-without-memory", "static.ticks", 15, {}),
    (40, "kv-in-half", "pool38.R04.ttft", 0.92, {}),
    (40, "kv-in-half", "pool76.R04.ttft", 0.12, {"half_the_wait": 0.46}),
    (40, "kv-in-half", "pool76.R04.tpot", 0.10, {"half_the_gap": 0.05}),
    (40, "kv-in-half", "again", "same", {"always_more": "falls"}),
]

METRICS: list[Row] = [
    (2, "which-tpot", "slow.R04.tpot_lab", 2.0, {"queue_everywhere": 1.81}),
    (2, "which-tpot", "slow.R04.tpot_splitwise", 1.0, {"one_definition": 2.0}),
    (2, "which-tpot", "slow.R04.tpot_guidellm", 1.81, {"one_definition": 2.0}),
    (3, "itl", "slow.mean_tpot", 1.25, {"gaps_for_requests": 1.0667}),
    (3, "itl", "slow.mean_itl", 1.0667, {"means_agree": 1.25}),
    (30, "chunks-of-a-stream", "gap", 0.2, {"gap_is_tpot": 0.1}),
    (30, "chunks-of-a-stream", "continuous.R01.tpot", 0.1, {"tpot_is_gap": 0.2}),
    (4, "ttft-split", "static.R04.ttft", 0.92, {"ttft_is_prefill": 0.1}),
    (4, "ttft-split", "static.R04.queue", 0.82, {"no_queue": 0.0}),
    (4, "ttft-split", "static.R04.prefill", 0.10, {"prefill_is_all": 0.92}),
    (6, "pace-of-a-stream", "continuous.throughput", 15.8333, {"stream_is_service": 10.0}),
    (6, "pace-of-a-stream", "stream", 10.0, {"service_is_stream": 15.8333}),
    (7, "goodput", "static.goodput", 0.6667, {"goodput_is_share": 0.25}),
    (7, "goodput", "static.attainment", 25.0, {"every_finished_is_good": 100.0}),
    (7, "goodput", "static.good_tokens", 8.0, {"tokens_of_all": 12.6667}),
    (8, "client-wait", "static.R02.ttft", 1.20, {"server_clock": 0.1}),
    (8, "client-wait", "admitted", 0.10, {"user_clock": 1.2}),
    (9, "p95-of-four", "immediate.p95_ttft", 1.42, {"interpolated": 1.399}),
    (9, "p95-of-four", "immediate.p50_ttft", 1.20, {"interpolated": 1.24}),
    (13, "attainment", "cut.finished", 3, {}),
    (13, "attainment", "cut.good_of_finished", 100.0, {}),
    (13, "attainment", "cut.attainment", 75.0, {"of_the_finished": 100.0}),
    (13, "attainment", "cut.undecided", 1, {"open_is_missed": 0}),
    (17, "little", "continuous.mean_in_system", 1.6667, {"most_is_mean": 3}),
    (14, "stopped-clock", "static_cut.finished", 4, {}),
    (14, "stopped-clock", "continuous_cut.finished", 9, {}),
    (14, "stopped-clock", "static_cut.mean_e2e", 0.735, {}),
    (14, "stopped-clock", "continuous_cut.mean_e2e", 1.1756, {}),
    (14, "stopped-clock", "cut", "rises", {"better_looks_better": "falls"}),
    (14, "stopped-clock", "end", "falls", {"early_mean_tells": "rises"}),
    (17, "little", "law", "holds", {"needs_steady_state": "fails"}),
]

BATCHING: list[Row] = [
    (11, "better-mean", "static.mean_ttft", 0.825, {}),
    (11, "better-mean", "held.mean_ttft", 0.55, {}),
    (11, "better-mean", "static.R01.ttft", 0.10, {}),
    (11, "better-mean", "held.R01.ttft", 0.40, {}),
    (11, "better-mean", "static.R04.ttft", 0.92, {}),
    (11, "better-mean", "held.R04.ttft", 1.22, {}),
    (11, "better-mean", "static.max_ttft", 1.20, {}),
    (11, "better-mean", "held.max_ttft", 1.22, {}),
    (11, "better-mean", "last", "rises", {"mean_is_everybody": "falls"}),
    (12, "max-wait", "static.mean_ttft", 0.825, {}),
    (12, "max-wait", "held1.mean_ttft", 0.625, {}),
    (12, "max-wait", "held2.mean_ttft", 0.725, {"straight_line": 0.425}),
    (12, "max-wait", "held3.mean_ttft", 0.55, {}),
    (12, "max-wait", "four.mean_ttft", 0.375, {}),
    (12, "max-wait", "static.ticks", 15, {}),
    (12, "max-wait", "held3.ticks", 17, {}),
    (15, "refuse", "static.mean_e2e", 1.20, {}),
    (15, "refuse", "refused.mean_e2e", 0.3333, {}),
    (15, "refuse", "static.tokens", 19, {}),
    (15, "refuse", "refused.tokens", 7, {}),
    (15, "refuse", "refused.throughput", 8.75, {"same_throughput": 12.6667}),
    (15, "refuse", "speed", "falls", {"refusing_is_speed": "rises"}),
    (16, "flat-throughput", "active2.throughput", 15.8333, {}),
    (16, "flat-throughput", "continuous.throughput", 15.8333, {}),
    (16, "flat-throughput", "active2.R04.ttft", 0.32, {}),
    (16, "flat-throughput", "continuous.R04.ttft", 0.12, {}),
    (16, "flat-throughput", "active2.peak_backlog", 1, {}),
    (16, "flat-throughput", "continuous.peak_backlog", 0, {}),
    (16, "flat-throughput", "wait", "falls", {"flat_is_full": "same"}),
    (19, "two-batchings", "static.R02.start", 1.2, {"one_kind_of_batching": 0.1}),
    (19, "two-batchings", "continuous.R02.start", 0.1, {"batch_must_end": 1.2}),
    (20, "kept-seat", "held.R02.last", 0.5, {}),
    (20, "kept-seat", "held.R03.last", 0.7, {}),
    (20, "kept-seat", "held.R01.last", 1.5, {}),
    (20, "kept-seat", "held.R04.first", 1.6, {"seat_is_given": 0.6}),
    (20, "kept-seat", "held.R04.ttft", 1.22, {"seat_is_freed": 0.22}),
    (21, "fourth-slot", "slow.R04.tpot", 2.0, {}),
    (21, "fourth-slot", "slow4.R04.tpot", 1.0, {"slot_changes_nothing": 2.0}),
    (21, "fourth-slot", "usual", "same", {"slots_are_speed": "falls"}),
    (22, "one-slot", "continuous.mean_ttft", 0.125, {}),
    (22, "one-slot", "one.mean_ttft", 0.125, {}),
    (22, "one-slot", "continuous.mean_tpot", 0.10, {}),
    (22, "one-slot", "one.mean_tpot", 0.7125, {"third_of_the_slots": 0.3}),
    (22, "one-slot", "wait", "same", {"they_move_together": "rises"}),
    (24, "long-last", "immediate.mean_ttft", 1.0, {}),
    (24, "long-last", "last.mean_ttft", 0.275, {"work_is_work": 1.0}),
    (24, "long-last", "immediate.ticks", 19, {}),
    (24, "long-last", "last.ticks", 19, {}),
    (26, "round-robin", "robin.R04.e2e", 3.62, {"turns_save_the_last": 2.62}),
    (26, "round-robin", "slow2.R04.e2e", 5.62, {}),
    (26, "round-robin", "robin2.R04.e2e", 3.62, {"turns_never_matter": 5.62}),
    (26, "round-robin", "slow2.R01.e2e", 12.0, {}),
    (26, "round-robin", "robin2.R01.e2e", 13.0, {"turns_cost_nothing": 12.0}),
    (27, "long-prompt", "long.R01.ttft", 0.30, {"one_tick_for_any": 0.1}),
    (27, "long-prompt", "long.R02.ttft", 0.20, {"ttft_is_prefill": 0.1}),
    (27, "long-prompt", "long.refused", 0, {"budget_refuses": 1}),
    (27, "long-prompt", "small.refused", 1, {"pool_never_refuses": 0}),
    (28, "chunked", "chunked.R03.ttft", 0.20, {}),
    (28, "chunked", "whole.R03.ttft", 0.30, {"never_matters": 0.2}),
    (28, "chunked", "middle", "same", {"always_helps": "falls"}),
    (29, "max-tokens", "immediate.throughput", 10.0, {}),
    (29, "max-tokens", "alone_stop.throughput", 10.0, {"fewer_tokens_slower": 5.7895}),
    (29, "max-tokens", "static.R02.ttft", 1.20, {}),
    (29, "max-tokens", "static_stop.R02.ttft", 0.40, {"limit_is_length": 1.2}),
    (29, "max-tokens", "static_stop.throughput", 15.7143, {"fewer_tokens_slower": 7.3333}),
]

KV: list[Row] = [
    (31, "kv-heads", "token", 131_072, {"query_heads": 524_288, "keys_only": 65_536}),
    (32, "head-dim", "token", 262_144, {"hidden_by_heads": 163_840}),
    (33, "peak-kv", "continuous.peak_reserved", 47, {"sum_of_lengths": 55}),
    (33, "peak-kv", "continuous.peak_held", 41, {"sum_of_lengths": 55, "reserved_is_held": 47}),
    (33, "peak-kv", "slow.peak_reserved", 55, {}),
    (33, "peak-kv", "slow.peak_held", 44, {"sum_of_lengths": 55, "reserved_is_held": 55}),
    (34, "three-figures", "alone.peak_reserved", 30, {}),
    (34, "three-figures", "alone.peak_held", 30, {"prompt_only": 18}),
    (34, "three-figures", "alone.peak_written", 29, {"all_the_same": 30, "prompt_only": 18}),
    (35, "full-gauge", "continuous.pool_pages", 16, {"pool_grows_with_use": 6}),
    (35, "full-gauge", "continuous.used_at_start", 0, {"allocated_is_used": 16}),
    (36, "page-size", "page1.peak_slots", 55, {}),
    (36, "page-size", "page4.peak_slots", 60, {"paging_wastes_nothing": 55}),
    (36, "page-size", "page16.peak_slots", 80, {"paging_wastes_nothing": 55, "rounded_once": 64}),
    (36, "page-size", "waste", 25, {}),
    (36, "page-size", "together", 3, {"slots_are_what_counts": 4}),
    (38, "one-token-less", "kv47.R04.ttft", 0.12, {}),
    (38, "one-token-less", "kv46.R04.ttft", 0.32, {"a_token_is_nothing": 0.12}),
    (38, "one-token-less", "kv38.R04.ttft", 0.92, {}),
    (39, "concurrency", "long", 2, {"prompt_alone": 3}),
    (39, "concurrency", "short", 8, {"one_cap_for_all": 2, "slots_are_the_cap": 3}),
    (42, "prefix-cache", "pace", "same", {"cache_speeds_decode": "falls"}),
    (43, "admissions", "eager.preemptions", 2, {"nobody_thrown_out": 0}),
    (43, "admissions", "rate", "rises", {"more_in_more_out": "falls"}),
    (44, "preempted", "tight.R04.recomputed", 7, {"resumes_for_free": 0, "pays_for_everything": 9}),
]

CLAIMS: list[Row] = [
    (4, "claims", "bet_wait", "holds", {"prefill_only": "fails"}),
    (19, "claims", "bet_door", "holds", {"same_door": "fails"}),
    (19, "claims", "static.R02.ttft", 1.20, {}),
    (19, "claims", "continuous.R02.ttft", 0.10, {}),
    (21, "claims", "bet_crowd", "fails", {"slots_are_seats": "holds"}),
    (33, "claims", "crowd_kv", 44, {"all_at_once": 55}),
]

# What only the engine can tell: recorded, and held to a fresh run by tests/engine/quantize/test_recorded.py.
ENGINE: list[Row] = [
    (41, "which-scale", "larger", "channel", {"finer_is_safer": "other"}),
    (41, "which-scale", "values", "same", {"errors_go_together": "rises"}),
    (45, "same-text", "tokens", "holds", {"any_bit_changes_the_text": "fails"}),
    (45, "same-text", "fast_bits", "fails", {"greedy_is_exact": "holds"}),
    (45, "same-text", "exact_bits", "holds", {"never_the_same": "fails"}),
    (45, "same-text", "margin", "holds", {}),
]

ROWS = [*CLAIMS, *PATH, *METRICS, *BATCHING, *KV, *ENGINE]

# Arithmetic without a place in the list: speculation, and whether a model fits.
MORE = [
    ("claims", "bet_rush", "fails"),
    ("rush-hour", "grows", "ttft"),
    ("rush-hour", "pace", "fails"),
    ("one-budget", "pace", "same"),
    ("one-budget", "shared.R01.ttft", 0.5),
    ("where-the-time-goes", "static.R03.queue", 0.98),
    ("where-the-time-goes", "static_longest", "queue"),
    ("where-the-time-goes", "sum", "holds"),
    ("pages-on-the-way", "alone.used_at_start", 8),
    ("pages-on-the-way", "on_demand.used_at_start", 5),
    ("first-and-next", "prompt60.R01.ttft", 0.3),
    ("first-and-next", "pace", "same"),
    ("intensity", "prefill", 18),
    ("intensity", "decode", 1),
    ("batch-shares-weights", "intensity", 8),
    ("batch-shares-weights", "bytes", 1),
    ("ridge", "ridge", 100),
    ("ridge", "short", "fails"),
    ("tokens-per-round", "tokens", 3.3616),
    ("draft-cost", "faster", 2.4011),
    ("draft-cost", "bad", "fails"),
    ("how-many-guesses", "best", "k4"),
    ("how-many-guesses", "last", 40.96),
    ("gigabyte", "request", 1.0737),
    ("gigabyte", "fit", 14),
    ("does-it-fit", "half", 28),
    ("does-it-fit", "four", 7.875),
    ("does-it-fit", "half_fits", "fails"),
    ("does-it-fit", "four_fits", "holds"),
]


def rounded(value: object) -> Value:
    return value if isinstance(value, str) else round(float(value), 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_the_right_value_and_the_wrong_ones(row: Row) -> None:
    item, name, key, value, expected = row
    one, correct = load(name), solve(load(name))
    assert item in one.items
    assert rounded(correct[key]) == value
    known = {belief.name: belief for belief in beliefs_of(one)}
    for belief, given in expected.items():
        found = wrong_values(one, field_of(one, key), known[belief], correct[key])
        assert [rounded(wrong) for wrong in found] == [given], belief


@pytest.mark.parametrize(("name", "key", "value"), MORE)
def test_what_needs_no_list(name: str, key: str, value: Value) -> None:
    assert rounded(solve(load(name))[key]) == value


def test_every_item_an_exercise_names_has_a_row() -> None:
    """Items of the main exercise are in test_beliefs.py; everybody else's are here."""
    named = {(item, name) for name in names() for item in load(name).items}
    assert named == {(item, name) for item, name, *_ in ROWS}


def test_the_rooms_cover_the_list() -> None:
    covered = {item for item, *_ in ROWS}
    assert covered == set(range(1, 46))


def test_the_share_that_bits_and_bytes_states_is_the_recorded_one() -> None:
    """With it the second answer follows from the first: what stays in fp32 stays whole."""
    one = load("bits-and-bytes")
    for exercise in (one, *(one.variant(seed) for seed in range(1, 6))):
        correct, share = solve(exercise), float(exercise.given["share"])
        linear, total = correct["linear"], correct["total"]
        assert isinstance(linear, float)
        assert isinstance(total, float)
        assert abs(linear * share / 100 + 100 - share - total) < 0.1
