"""Every refusal is told in Chinese as in English, and none can be added that is not."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.play.words import play_page_words
from engine import Engine, InputError, Reason, Request, Service, Stalled, simulate
from engine.cli import main
from engine.complaints import PATTERNS, complaint
from engine.files.trace_files import load_trace, parse_trace
from engine.quantize.compare import comparison
from engine.serving.front_door import FrontDoor
from engine.streams import Kind, bursty, on_off, poisson, stream
from engine.words import LANGUAGES, Catalogue, Phrase, engine_words, in_every_language
from puzzles.design.words import design_words
from puzzles.words import puzzle_words
from tests.chinese import CHINESE, check, foreign
from tests.engine.cli.test_cli import WRONG
from tests.engine.files.test_trace_files import BROKEN

ROOT = Path(__file__).parents[2]
CATALOGUES: dict[str, Callable[[str], Catalogue]] = {
    "engine_words": engine_words,
    "play_page_words": play_page_words,
    "puzzle_words": puzzle_words,
    "design_words": design_words,
}
OWN = "id,arrival,prompt_tokens,output_tokens\n"


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


# ---- the catalogues, and who uses them -------------------------------------------------------------


@pytest.mark.parametrize("name", CATALOGUES)
def test_a_refusal_has_the_same_blanks_in_both_languages_and_is_a_chinese_sentence(name: str) -> None:
    english, chinese = (CATALOGUES[name](language).texts for language in LANGUAGES)
    keys = [key for key in english if key.startswith(("refuse.", "place.", "complaint."))]
    assert keys
    assert [key for key in keys if blanks(english[key]) != blanks(chinese.get(key, ""))] == []
    assert [key for key in keys if not CHINESE.search(chinese[key])] == []
    assert [key for key in keys if foreign(chinese[key], " ".join(blanks(english[key])))] == []
    sentences = [key for key in keys if key.startswith("refuse.") and key not in ("refuse.stalled",)]
    assert [key for key in sentences if not chinese[key].endswith(("。", "？"))] == []


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def modules(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def test_no_refusal_of_the_engine_or_of_a_page_is_written_in_the_code() -> None:
    untold = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in modules("engine", "app")
        for call in calls(ast.parse(path.read_text()))
        if isinstance(call.func, ast.Name) and call.func.id == "InputError" and path.name != "errors.py"
        if not isinstance(call.args[0], ast.Attribute)  # the inside of another one, told anew
    ]
    assert untold == []


def refusals(path: Path) -> Iterator[tuple[str, str, set[str]]]:
    """Of every ``InputError.of``: its code, its catalogue, and its blanks."""
    for call in calls(ast.parse(path.read_text())):
        code = call.args[0] if call.args else None
        if not isinstance(call.func, ast.Attribute) or ast.unparse(call.func) != "InputError.of":
            continue
        named = {word.arg: word.value for word in call.keywords if word.arg}
        words = ast.unparse(named["words"]) if "words" in named else "engine_words"
        if isinstance(code, ast.Constant):
            yield str(code.value), words, set(named) - {"at", "words"}


def test_every_refusal_that_is_raised_is_in_its_catalogue_with_its_blanks() -> None:
    found = [one for path in modules("engine", "app", "puzzles") for one in refusals(path)]
    assert len(found) > 60
    for code, words, filled in found:
        text = CATALOGUES[words]("en").texts[f"refuse.{code}"]
        assert filled == blanks(text), code


def test_no_refusal_is_in_the_catalogue_that_nobody_raises() -> None:
    written = {
        node.value
        for path in modules("engine")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
    }
    keys = {key for key in engine_words("en").texts if key.startswith("refuse.")}
    assert {key for key in keys if key not in written and key.removeprefix("refuse.") not in written} == set()


# ---- bad input of every kind -----------------------------------------------------------------------


def refused(call: Callable[[], object], given: str = "") -> InputError:
    """The error of ``call``, proved to be told well in both languages."""
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    check(error.told("zh"), given)
    assert error.told("en") == str(error)
    assert not CHINESE.search(str(error)) or CHINESE.search(given)
    return error


MORE = {
    "no value after a colon": '{"arrival": }',
    "no name": "{arrival: 1}",
    "no colon": '{"arrival" 1}',
    "no comma": '{"arrival": 1 "prompt_tokens": 2}',
    "open string": '{"arrival": "1',
    "control character": '{"arrival": "a\tb"}',
    "wrong escape": '{"arrival": "\\x"}',
    "wrong unicode escape": '{"arrival": "\\u12"}',
    "names of one column": '{"arrival": 1, "Arrival": 2}',
    "half a character": '{"id": "\\ud800", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1}',
    "half a character in a prompt": (
        '{"id": "A", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1, "prompt": "\\ud800"}'
    ),
    "prompt of a number": '{"id": "A", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1, "prompt": 7}',
    "id of a list": '{"id": [1], "arrival": 0, "prompt_tokens": 1, "output_tokens": 1}',
    "priority of a word": OWN.replace("id", "priority") + "x,0,1,1\n",
    "text after a quote": OWN + '"A"x,0,1,1\n',
    "a cell without end": OWN + "A" * 140_000 + ",0,1,1\n",
    "times of two kinds": "TIMESTAMP,ContextTokens,GeneratedTokens\n1,1,1\n2023-11-16 18:15:46,1,1\n",
    "far away": OWN + "A,1e40,1,1\n",
    "too long": OWN + "A,0,99999999999,1\n",
    "negative in JSON": '{"arrival": -1, "prompt_tokens": 1, "output_tokens": 1}',
}


@pytest.mark.parametrize("kind", [*BROKEN, *MORE])
def test_a_wrong_file_is_told_in_chinese(tmp_path: Path, kind: str) -> None:
    content = BROKEN[kind][0] if kind in BROKEN else MORE[kind]
    data = content if isinstance(content, bytes) else content.encode()
    path = tmp_path / "trace.csv"
    path.write_bytes(data)
    error = refused(lambda: load_trace(str(path)), f"{path} {data.decode('latin-1')}")
    assert error.told("zh").startswith(f"{path}：")


@given(
    st.lists(st.sampled_from(["id", "arrival", "0", "-1", "1e400", '"', "{", "}", "[", ",", ":", "\n", "\\"]))
)
@settings(max_examples=150)
def test_whatever_is_wrong_with_a_text_is_told_in_chinese(parts: list[str]) -> None:
    for text in (OWN + "".join(parts), "{" + "".join(parts)):
        try:
            parse_trace(text, "t.csv")
        except InputError as error:
            check(error.told("zh"), f"{text} t.csv")


def test_no_file_is_told_in_chinese(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere.csv"):
        refused(lambda place=place: load_trace(str(place)), str(place))


SETTINGS: list[dict[str, Any]] = [
    *({"tick": value} for value in (0, -1, "soon", None, True, float("nan"), float("inf"), "1e99")),
    *({"max_wait": value} for value in (-1, "x", [])),
    *({"pages": value} for value in (0, -3, 1.5, "x", 10**99)),
    *({"policy": "fair"}, {"decode_order": None}, {"prefix_cache": "yes"}, {"max_len": 10**9}),
    {"kv_layout": "contiguous", "kv_reserve": "on_demand"},
    {"kv_layout": "contiguous", "prefix_cache": True},
]


@pytest.mark.parametrize("given", SETTINGS, ids=str)
def test_a_wrong_setting_is_told_in_chinese_and_its_name_comes_first(given: dict[str, Any]) -> None:
    error = refused(lambda: Service(**given), str(given))
    assert error.told("zh").partition("：")[0] in given


def anything(function: Any) -> Any:
    """``function``, to be called with what its types forbid."""
    return function


R01 = Request("R01", 0, 3, 2)
CALLS: dict[str, Callable[[], object]] = {
    "no id": lambda: Request("", 0, 1, 1),
    "an id of a number": lambda: anything(Request)(1, 0, 1, 1),
    "half a character": lambda: Request("a\ud800", 0, 1, 1),
    "arrives before the start": lambda: anything(Request)("R01", "-1", 1, 1),
    "no tokens": lambda: Request("R01", 0, 0, 1),
    "more tokens than any": lambda: Request("R01", 0, 1, 10**8),
    "priority": lambda: anything(Request)("R01", 0, 1, 1, priority=1.5),
    "prompt of another length": lambda: Request("R01", 0, 1, 1, "你好"),
    "no prompt": lambda: Request("R01", 0, 1, 1, (256,)),
    "empty trace": lambda: simulate([]),
    "no requests": lambda: anything(simulate)([7]),
    "an id twice": lambda: simulate([R01, R01]),
    "no horizon": lambda: simulate([R01], horizon=0),
    "a horizon of a word": lambda: simulate([R01], horizon="x"),
    "a limit below zero": lambda: simulate([R01]).metrics(slo_ttft=-1),
    "an endless run of slots": lambda: simulate([R01], Service(kv_layout="contiguous", pages=None)),
    "a weight": lambda: Kind("short", 0, (1, 2), (1, 2)),
    "a range": lambda: Kind("short", 1, (2, 1), (1, 2)),
    "a rate": lambda: poisson(0),
    "a burst": lambda: bursty(1, 0),
    "silence": lambda: on_off(1, 1, -1),
    "neither": lambda: stream(poisson(1)),
    "no kinds": lambda: stream(poisson(1), [], count=1),
    "weights": lambda: Engine(weights="int2"),
    "a draft": lambda: Engine(Service(speculate=2), draft="magic"),
    "a draft without cache": lambda: Engine(Service(speculate=2), kv_cache=False),
    "a pool beyond the memory": lambda: Engine(Service(pages=10**12)),
    "an empty prompt": lambda: Engine().submit("", 1),
    "no callback": lambda: anything(Engine().submit)("a", 1, on_token=1),
    "stop": lambda: Engine().submit("a", 1, stop=""),
    "lengths only": lambda: Engine().run([R01]),
    "closed": lambda: closed().submit("a", 1),
    "a live id": lambda: [engine.submit("a", 1, request_id="R01") for engine in [Engine()] * 2],
    "two doors": lambda: two_doors(),
    "a closed door": lambda: closed_door().submit("a", 1),
    "compared by lengths": lambda: comparison([R01]),
}


def closed() -> Engine:
    engine = Engine()
    engine.close()
    return engine


def closed_door() -> FrontDoor:
    with FrontDoor(Engine()) as door:
        return door


def two_doors() -> None:
    engine = Engine()
    with FrontDoor(engine):
        FrontDoor(engine)


GIVEN = (  # names of arguments and their values
    "arrival priority short weight stop draft magic model lookup weights int2 on_token off ud800 "
    "stream mix rate burst slo_ttft x a"
)


@pytest.mark.parametrize("kind", CALLS)
def test_whatever_else_is_wrong_is_told_in_chinese(kind: str) -> None:
    refused(CALLS[kind], GIVEN)


def test_where_stands_before_what() -> None:
    error = refused(lambda: parse_trace(OWN + "R01,0,3,2\nR02,-1,3,2\n", "t.csv"), "t.csv")
    assert error.told("zh") == "t.csv：第 3 行：列 arrival：-1 是负数，到达时间应不小于 0。"
    error = refused(lambda: anything(Request)("R02", "-1", 3, 2), "R02")
    assert error.told("zh") == "请求 R02：arrival：-1 是负数，到达时间应不小于 0。"
    assert error.at("t.csv").told("en") == "t.csv: request R02: arrival: -1 is negative; 0 or later is needed"


# ---- the error itself --------------------------------------------------------------------------------


def test_a_plain_text_is_told_as_it_is() -> None:
    error = InputError("a text of its own")
    assert in_every_language(error.at("file")) == {
        "en": "file: a text of its own",
        "zh": "file：a text of its own",
    }


def test_braces_in_a_value_stay() -> None:
    error = InputError.of("not_one_of", at="{x}", value="{0}", allowed=("{a}", "b"))
    assert error.told("zh") == "{x}：{0} 无效，可选值：{a}、b。"


def test_an_error_travels_between_processes() -> None:
    error: InputError = pickle.loads(pickle.dumps(InputError.of("no_value", at="t.csv", column="id")))
    assert error.told("zh") == "t.csv：列 id 没有值，每行都需要一个。"


def test_a_stalled_run_says_why_in_both_languages() -> None:
    stalled = Stalled(7, ["R02", "R03"], Reason("no_pages", by=("R01",), have=1, need=4))
    check(stalled.told("zh"), "R02 R03")
    assert str(stalled) == (
        "tick 7: stalled, 2 waiting (R02, R03): Waits for KV pages: it needs 4, 1 is free. Holders: R01."
    )


def test_what_python_says_stays_as_it_is_in_english() -> None:
    filled = {
        "kind": "object",
        "delimiter": ",",
        "most": "9",
        "value": "'v'",
        "allowed": "a, b",
        "names": "n",
    }
    for code in PATTERNS.values():
        text = engine_words("en").texts[f"complaint.{code}"]
        said = engine_words("en")(f"complaint.{code}", **{name: filled[name] for name in blanks(text)})
        assert complaint(said).key == f"complaint.{code}"
        assert str(complaint(said)) == said
    assert str(complaint("something new")) == "something new"
    assert isinstance(complaint("something new"), Phrase)


# ---- the command line ---------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [*WRONG, "simulate R01-R04 --json=yes", "simulate R01-R04 --chrome-trace /"])
def test_the_command_line_refuses_in_the_language_asked_for(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*line.split(), "--lang", "zh"]) if "--lang" not in line else main(line.split())
    said = capsys.readouterr().err
    assert status == 2
    if "--lang" in line:
        assert said == "python -m engine: --lang: 'fr' is not one of en, zh\n"
    else:
        check(
            said.removeprefix("python -m engine: ").rstrip("\n"),
            f"{line} --policy --horizon s Is a directory",
        )
