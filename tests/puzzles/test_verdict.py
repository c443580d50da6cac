"""The verdict: numbers, differences, beliefs with the ticks that refute them, the table of policies."""

from __future__ import annotations

import pytest

from engine import History
from engine.words import LANGUAGES
from puzzles import Item, Verdict, fields, histories, load, names, solve, verdict
from puzzles.evidence import MOST
from puzzles.judging import case_of, reads_runs
from puzzles.site.belief_section import examples

MAIN = load("main")
RUNS = histories(MAIN)


def item(found: Verdict, key: str) -> Item:
    return next(one for one in found.items if one.key == key)


def test_every_field_has_its_item_in_order() -> None:
    found = verdict(MAIN, {}, RUNS, "en")
    assert [one.key for one in found.items] == [field.key for field in fields(MAIN)]
    assert (found.score, found.asked) == (0, 0)
    assert all(one.given is None and not one.right and one.belief is None for one in found.items)


def test_right_answers_score() -> None:
    answers = {key: value for key, value in solve(MAIN).items() if value is not None}
    found = verdict(MAIN, answers, RUNS, "zh")
    assert found.score == found.asked == len(answers)
    assert all(one.difference in (0.0, None) for one in found.items)


def test_a_wrong_answer_shows_the_number_the_difference_and_the_rows() -> None:
    one = item(verdict(MAIN, {"static.R02.ttft": 0.1}, RUNS, "en"), "static.R02.ttft")
    assert (one.given, one.correct, one.difference, one.right) == (0.1, 1.2, -1.1, False)
    assert one.derivation == "First token at 1.30 s, arrival at 0.10 s: 1.30 − 0.10 = 1.20 s."
    assert one.belief is not None
    assert [(row.run, row.tick, row.request) for row in one.belief.evidence] == [
        ("static", 1, "R02"),
        ("static", 11, "R02"),
        ("static", 12, "R02"),
    ]


@pytest.mark.parametrize("name", ["main", "two-batchings", "rush-hour", "intensity"])
def test_who_shares_a_case_is_judged_by_their_own_answers(name: str) -> None:
    one = load(name)
    runs, right = histories(one), {key: value for key, value in solve(one).items() if value is not None}
    wrong = {key: "none" if isinstance(value, str) else value + 77 for key, value in right.items()}
    case = case_of(one, runs, "zh")
    for answers in (right, wrong, {}, right):
        assert case.verdict(answers) == verdict(one, answers, runs, "zh")
    assert case.verdict(right).score > case.verdict(wrong).score == 0


def test_a_case_looks_where_each_answer_points() -> None:
    asked = "p95.best"
    case = case_of(MAIN, RUNS, "en")
    for chosen in ("static", "immediate", "static"):
        found = item(case.verdict({asked: chosen}), asked)
        assert {row.run for row in found.rows} == {chosen}


def test_arithmetic_is_settled_by_its_line_of_arithmetic_alone() -> None:
    """No ticks of this lab's small pool beside a question about another model."""
    one = load("gigabyte")
    found = item(verdict(one, {"request": 3.0}, histories(one), "en"), "request")
    assert found.rows == ()
    assert found.derivation.endswith("524,288 × 2048 ÷ 1,000,000,000 = 1.074 GB.")


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("main", True),
        ("claims", True),
        ("little", True),
        ("gigabyte", False),
        ("tokens-per-round", False),
        ("same-text", False),
    ],
)
def test_which_exercises_are_read_off_a_run(name: str, reads: bool) -> None:
    assert reads_runs(load(name)) == reads


def test_an_arrival_inside_a_tick_is_explained() -> None:
    one = item(verdict(MAIN, {"continuous.R03.ttft": 0.1}, RUNS, "en"), "continuous.R03.ttft")
    assert one.belief is not None
    assert [row.tick for row in one.belief.evidence] == [2, 3]
    assert "0.22 s" in one.belief.evidence[0].sentence


def test_a_censored_percentile_shows_who_is_not_done() -> None:
    one = load("censored-p95")
    found = item(verdict(one, {"cut.p95_e2e": 0.38}, histories(one), "en"), "cut.p95_e2e")
    assert found.belief is not None
    assert found.belief.name == "finished_only"
    assert [(row.tick, row.request) for row in found.belief.evidence] == [(0, "R01"), (9, "R01")]


def test_the_slow_part_shows_the_contested_slot() -> None:
    one = item(verdict(MAIN, {"slow.R04.tpot": 1.0}, RUNS, "en"), "slow.R04.tpot")
    assert one.belief is not None
    assert [row.tick for row in one.belief.evidence] == [1, 2, 3]
    assert "R01, R02, R03" in one.belief.evidence[1].sentence


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", [0, 3, 7])
def test_every_belief_has_words_and_rows(seed: int, language: str) -> None:
    exercise = MAIN.variant(seed)
    runs = histories(exercise)
    for name, (field, given) in examples(exercise, solve(exercise)).items():
        one = item(verdict(exercise, {field.key: given}, runs, language), field.key)
        assert one.belief is not None, name
        assert one.belief.name == name
        assert one.belief.title
        assert one.belief.sentence
        assert 1 <= len(one.belief.evidence) <= MOST
        assert all(0 <= row.tick < len(runs[row.run].records) for row in one.belief.evidence)
        assert all(row.sentence for row in one.belief.evidence)


@pytest.mark.parametrize("given", ["immediate", "static"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", [0, 3, 7])
def test_a_wrong_choice_shows_the_run_that_was_chosen(seed: int, language: str, given: str) -> None:
    exercise = MAIN.variant(seed)
    one = item(verdict(exercise, {"p95.best": given}, histories(exercise), language), "p95.best")
    assert one.belief is not None
    assert {row.run for row in one.belief.evidence} == {given}


def test_the_table_is_the_page_s_subject() -> None:
    table = verdict(MAIN, {}, RUNS, "en").table
    assert [row.run for row in table.rows] == ["immediate", "static", "continuous"]
    texts = {row.run: dict(zip((c.key for c in table.columns), row.texts, strict=True)) for row in table.rows}
    assert [texts[run]["mean_ttft"] for run in texts] == ["1.00", "0.825", "0.125"]
    assert [texts[run]["p95_ttft"] for run in texts] == ["1.42", "1.20", "0.18"]
    assert [texts[run]["throughput"] for run in texts] == ["10.00", "12.67", "15.83"]
    assert [texts[run]["goodput"] for run in texts] == ["0.526", "0.667", "3.333"]
    assert [texts[run]["met"] for run in texts] == ["1/4", "1/4", "4/4"]
    assert [texts[run]["peak_backlog"] for run in texts] == ["3", "3", "0"]
    assert [texts[run]["peak_held_mb"] for run in texts] == ["7.5", "7.5", "10.25"]
    assert "0.5" in table.caption
    assert "0.15" in table.caption


def test_the_best_is_marked_and_nobody_where_all_are_equal() -> None:
    table = verdict(MAIN, {}, RUNS, "en").table
    keys = [column.key for column in table.columns]
    best = {row.run: [key for key, mark in zip(keys, row.best, strict=True) if mark] for row in table.rows}
    assert "mean_tpot" not in best["continuous"]
    assert "p95_ttft" in best["continuous"]
    assert best["immediate"] == best["static"] == []


def test_a_run_that_is_missing_is_named() -> None:
    runs: dict[str, History] = {name: run for name, run in RUNS.items() if name != "slow"}
    with pytest.raises(KeyError, match="slow"):
        verdict(MAIN, {}, runs, "en")


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "14 × 2 + 2 = 30. 30 ≤ 16 is false."), ("zh", "14 × 2 + 2 = 30。30 ≤ 16：不成立。")],
)
def test_a_comparison_says_how_both_sides_compare_and_shows_no_tick(language: str, said: str) -> None:
    """Whether a model fits into a card is no matter of what some request did in some tick."""
    one = load("does-it-fit")
    found = item(verdict(one, {"half_fits": "holds"}, histories(one), language), "half_fits")
    assert found.derivation == said
    assert found.belief is not None
    assert (found.belief.evidence, found.rows) == ((), ())


@pytest.mark.parametrize(("language", "said"), [("en", "decode: 0.20 s."), ("zh", "decode：0.20 s。")])
def test_what_a_choice_is_made_from_has_its_unit(language: str, said: str) -> None:
    one = load("where-the-time-goes")
    found = item(verdict(one, {}, histories(one), language), "static_longest")
    assert found.derivation.endswith(said)
    assert found.rows


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["main", "claims", "tpot", "ten-times-slower"])
def test_a_case_has_the_point_of_every_part(name: str, language: str) -> None:
    one = load(name)
    points = case_of(one, histories(one), language).points
    assert list(points) == [part.name for part in one.parts]
    assert all(said and "{" not in said for said in points.values())


def test_the_rows_are_of_the_run_in_which_it_happens() -> None:
    """R01 has its slot first come, first served; that it pays shows only where the shortest go first."""
    one = load("shortest-first")
    found = verdict(one, {"long": "falls", "mean": "falls"}, histories(one), "en")
    for key in ("long", "mean"):
        belief = item(found, key).belief
        assert belief is not None
        assert {row.run for row in belief.evidence} == {"shortest"}
        assert "decode slot" in belief.evidence[1].sentence


def test_a_first_token_is_explained_by_its_wait() -> None:
    one = load("ten-times-slower")
    belief = item(verdict(one, {"slow.R02.ttft": 1.0}, histories(one), "en"), "slow.R02.ttft").belief
    assert belief is not None
    assert belief.name == "scale_only"
    assert "waits for the next to begin" in belief.sentence
    assert [row.tick for row in belief.evidence] == [0, 1]
    assert "inside this tick" in belief.evidence[0].sentence


def test_a_table_of_one_run_would_compare_nothing() -> None:
    for one in map(load, names()):
        table = case_of(one, histories(one), "en").table
        several = len({run for field in fields(one) for run in field.runs}) > 1
        assert len(table.rows) > 1 or not several, one.name
