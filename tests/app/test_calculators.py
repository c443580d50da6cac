"""The calculators: what they compute, what they say to bad input, and their page over plain HTTP."""

from __future__ import annotations

from fractions import Fraction
from html import escape, unescape
from string import Formatter
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.calculators.fields import CALCULATORS, Choice, default
from app.calculators.page import calculator_words, calculators_page, card
from engine import InputError
from engine.words import LANGUAGES
from puzzles.calculator import little, model, speedup, weight_bytes
from puzzles.weights_calculator import parameters
from puzzles.weights_calculator import weight_bytes as of_a_model
from tests.serving import Answer, Serving

PATH = "/lab/calculators"


def said(name: str, language: str = "en", **typed: str) -> dict[str, str]:
    """What a calculator says, value by label."""
    found = card(name, {"calculator": name} | typed, language)
    assert not found.problem
    assert not [field.problem for field in found.fields if field.problem]
    return {line.label: line.value for line in found.lines}


def problems(name: str, **typed: str) -> dict[str, str]:
    found = card(name, {"calculator": name} | typed, "en")
    assert not found.lines
    return {field.name: field.problem for field in found.fields if field.problem} | (
        {"": found.problem} if found.problem else {}
    )


# ---- what they compute ----------------------------------------------------------------------------


def test_the_gigabyte_of_the_plain_model() -> None:
    """32 layers, width 4096, fp16, 2048 tokens."""
    found = said("kv")
    assert found["one token"] == "524,288 B"
    assert found["one sequence"] == "1 GiB"
    assert said("kv", sequences="16")["all sequences"] == "16 GiB = 17.1799 GB"


def test_named_models_have_their_published_shape() -> None:
    assert said("kv", model="llama_3_8b")["one token"] == "131,072 B"
    assert said("kv", model="llama_3_8b", number="1")["one token"] == "65,536 B"
    assert said("kv", model="deepseek_v3")["one token"] == f"{61 * 576 * 2:,} B"


def test_a_shape_of_ones_own() -> None:
    own = {"model": "own", "layers": "4", "kv_heads": "2", "head_dim": "32", "number": "4"}
    assert said("kv", **own)["one token"] == f"{4 * 2 * 2 * 32 * 4:,} B"
    assert said("kv", **own, latent="10")["one token"] == f"{4 * 10 * 4} B"


def test_a_named_model_shows_its_shape_and_keeps_it() -> None:
    found = card("kv", {"calculator": "kv", "model": "deepseek_v3", "layers": "0"}, "en")
    assert {field.name: field.text for field in found.fields if field.name in ("layers", "latent")} == {
        "layers": "61",
        "latent": "576",
    }
    assert found.lines
    assert problems("kv", model="own", layers="0") == {"layers": "0 is out of range: between 1 and 1000."}


def test_14b_on_16_gb() -> None:
    assert said("fit")["verdict"] == "It does not fit: 14 GB are missing."
    narrow = said("fit", format="int4")
    assert (narrow["weights"], narrow["left for KV"], narrow["verdict"]) == (
        "7.875 GB",
        "6.125 GB",
        "It fits.",
    )
    room = int(Fraction("6.125") * 10**9 / model("plain_7b").per_token)
    assert narrow["room for KV"] == f"{room:,} tokens, over all sequences"


def test_speculation_gains_and_loses() -> None:
    assert said("rounds")["tokens per round"] == "3.3616"
    assert said("rounds")["verdict"] == "It gains."
    assert (
        said("rounds", acceptance="0.1", cost="0.5")["verdict"]
        == "It loses: a round costs more than it brings."
    )
    assert said("rounds", acceptance="0", cost="0")["verdict"] == "Neither gains nor loses."


@given(st.fractions(0, 1), st.integers(1, 12), st.fractions(0, 2))
def test_a_guess_that_costs_a_step_never_gains(acceptance: Fraction, guesses: int, cost: Fraction) -> None:
    assert speedup(acceptance, guesses, Fraction(0)) >= 1
    assert speedup(acceptance, guesses, 1 + cost) <= 1


def test_littles_law_is_solved_for_what_is_left_empty() -> None:
    assert said("little") == {"L: requests in the system": "10"}
    assert said("little", present="10", rate="") == {"λ: arrivals": "4 req/s"}
    assert said("little", present="10", stay="") == {"W: mean time in the system": "2.5 s"}


@given(st.fractions(1, 100), st.fractions(1, 100))
def test_the_three_of_littles_law_agree(rate: Fraction, stay: Fraction) -> None:
    present = little(None, rate, stay)
    assert little(present, None, stay) == rate
    assert little(present, rate, None) == stay
    with pytest.raises(ValueError, match="exactly one"):
        little(present, rate, stay)


def test_weights_have_scales() -> None:
    assert weight_bytes(Fraction(64), "int8") == 64
    for form in ("fp16", "int8", "int4"):  # the table of the room says the same
        assert weight_bytes(parameters("qwen3_14b"), form) == of_a_model("qwen3_14b", form)
    with pytest.raises(InputError, match="'int5' is not one of fp16, int8, int4"):
        weight_bytes(Fraction(1), "int5")


# ---- what they say to bad input -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "field", "text", "sentence"),
    [
        ("kv", "tokens", "many", "“many” is no number; write one such as 2048."),
        ("kv", "tokens", "", "A number is missing, such as 2048."),
        ("kv", "tokens", "1.5", "1.5 is no whole number."),
        ("kv", "tokens", "0", "0 is out of range: between 1 and 100000000."),
        ("kv", "tokens", "9" * 60, f"“{'9' * 20}” is no number; write one such as 2048."),
        ("kv", "model", "gpt-9", "“gpt-9” is none of the choices."),
        ("fit", "memory", "-3", "-3 is out of range: between 0.1 and 100000."),
        ("rounds", "acceptance", "1.01", "1.01 is out of range: between 0 and 1."),
        ("rounds", "acceptance", "1e-999999", "1e-999999 is out of range: between 0 and 1."),
        ("rounds", "acceptance", "NaN", "“NaN” is no number; write one such as 0.8."),
        ("little", "rate", "inf", "“inf” is no number; write one such as 4."),
        ("little", "present", "1", None),
    ],
)
def test_bad_input_is_said_where_it_is(name: str, field: str, text: str, sentence: str | None) -> None:
    expected = {field: sentence} if sentence else {"": "Leave exactly one of the three fields empty."}
    assert problems(name, **{field: text}) == expected


def test_nothing_is_divided_by_zero() -> None:
    expected = {"": "Nothing can be divided by 0: give a number above 0."}
    assert problems("little", present="3", rate="", stay="0") == expected
    assert problems("little", present="3", stay="", rate="0") == expected


def test_full_width_digits_are_digits() -> None:
    assert said("kv", "zh", tokens="２０４８")["一条序列"] == "1 GiB"


TYPED = st.text(max_size=30) | st.decimals().map(str) | st.integers().map(str)


@given(st.sampled_from(list(CALCULATORS)), st.data())
def test_whatever_is_typed_has_an_answer_or_a_sentence(name: str, data: st.DataObject) -> None:
    typed = {field.name: data.draw(TYPED) for field in CALCULATORS[name] if not isinstance(field, Choice)}
    for language in LANGUAGES:
        found = card(name, {"calculator": name} | typed, language)
        assert bool(found.lines) != bool(found.problem or any(field.problem for field in found.fields))


# ---- words ----------------------------------------------------------------------------------------


def test_both_languages_say_the_same_things() -> None:
    english, chinese = (calculator_words(language).texts for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        blanks = [{name for _, name, _, _ in Formatter().parse(one) if name} for one in (text, chinese[key])]
        assert blanks[0] == blanks[1], key
        assert text
        assert chinese[key]


# ---- the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "title"), [("en", "Calculators"), ("zh", "计算器")])
def test_the_page_is_plain_html(lab: Serving, language: str, title: str) -> None:
    page = Answer(f"{lab.url}{PATH}?lang={language}")
    assert page.status == 200
    assert f"<h1>{title}</h1>" in page.text
    assert 'href="../app"' in page.text
    for name, fields in CALCULATORS.items():
        assert f'<section id="{name}"' in page.text
        assert all(f'name="{field.name}"' in page.text for field in fields)
        assert all(f'value="{default(field)}"' in page.text for field in fields if default(field))


def test_what_is_typed_comes_back_escaped(lab: Serving) -> None:
    text = '"><script>alert(1)</script>'
    page = Answer(f"{lab.url}{PATH}?{urlencode({'calculator': 'kv', 'tokens': text, 'lang': 'en'})}")
    assert page.status == 200
    assert "<script>alert" not in page.text
    assert f'value="{escape(text).replace("&quot;", "&#34;")}"' in page.text
    assert "is no number" in unescape(page.text)
    assert 'aria-describedby="kv-tokens-problem"' in page.text


@pytest.mark.parametrize(
    "query", ["?calculator=%ff&tokens=%00%ff", "?" + "&".join(f"x{n}=1" for n in range(500))]
)
def test_a_strange_address_is_answered(lab: Serving, query: str) -> None:
    assert Answer(f"{lab.url}{PATH}{query}").status == 200


def test_other_calculators_stay_as_they_stand() -> None:
    page = calculators_page("en", {"calculator": "rounds", "tokens": "7", "guesses": "9"})
    assert 'value="2048"' in page
    assert 'value="9"' in page
