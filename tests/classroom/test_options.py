"""Settings: which wins, what is wrong with one, and that it is said in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.classroom.classroom import Classroom
from app.classroom.keys import keys_in
from app.classroom.options import TYPES, OptionError, Options, read_options, variable
from app.classroom.starting import command_of, environment_of, greeting, prepare
from app.classroom.words import class_words
from tests.serving import ROOT, free_port

WORDS = class_words("en")


def read(*arguments: str, **environment: str) -> Options:
    return read_options(arguments, environment, WORDS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "class.toml"
    found.write_text('port = 7001\naddress = "0.0.0.0"\nwarm = false\n')
    return found


def test_without_settings_only_this_machine_gets_in() -> None:
    found = read()
    assert (found.address, found.port, found.warm) == ("127.0.0.1", 5006, True)
    assert found.data


def test_the_flag_wins_over_the_environment_and_that_over_the_file(file: Path) -> None:
    config = f"--config={file}"
    assert read(config).port == 7001
    assert read(config, TICKLAB_PORT="7002").port == 7002
    assert read(config, "--port", "7003", TICKLAB_PORT="7002").port == 7003
    assert read(TICKLAB_CONFIG=str(file)).address == "0.0.0.0"
    assert read(config).warm is False
    assert read(config, "--warm", "true").warm is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "x"], "--port must be a whole number from 1 to 65535, not 'x'."),
        (["--port", "0"], "--port must be"),
        (["--port", "65536"], "--port must be"),
        (["--token-hours", "-1"], "--token-hours must be"),
        (["--token-hours", "nan"], "--token-hours must be"),
        (["--warm", "perhaps"], "--warm must be true or false"),
        (["--join-code", "no"], "--join-code must be"),
        (["--join-code", "<script>"], "--join-code must be"),
        (["--address", "not an address"], "--address must be"),
        (["--message-megabytes", "1000"], "--message-megabytes must be"),
        (["--nothing"], "--nothing"),
        (["--config", "/nowhere.toml"], "cannot be read"),
    ],
)
def test_a_wrong_setting_is_named(arguments: list[str], said: str) -> None:
    with pytest.raises(OptionError, match=r"^[^\n]+$") as error:
        read(*arguments)
    assert said in str(error.value)


def test_the_environment_and_the_file_are_named_too(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^TICKLAB_PORT must be"):
        read(TICKLAB_PORT="many")
    file = tmp_path / "class.toml"
    for text, said in (
        ('port = "many"', "port must be"),
        ("ports = 5", "sets ports, which is none of"),
        ("port =", "is no TOML"),
    ):
        file.write_text(text)
        with pytest.raises(OptionError, match=said):
            read("--config", str(file))


def test_a_wrong_setting_stops_it_with_2_and_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "--data", str(tmp_path), "--port", "one"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 2
    assert found.stdout == ""
    assert len(found.stderr.splitlines()) == 1
    assert "--port must be" in found.stderr


def test_help_lists_every_setting_and_its_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read("--help")
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for name in TYPES:
        assert f"--{name.replace('_', '-')}" in text
        assert variable(name) in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--database-url", "mysql://u@h/d"], "SQLite or PostgreSQL"),
        (["--database-url", "nonsense"], "SQLite or PostgreSQL"),
        (["--address", "203.0.113.7"], "cannot be listened on"),
    ],
)
def test_what_cannot_be_used_is_said_before_the_start(folder: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        prepare(["--data", str(folder), "--port", str(free_port()), *arguments], {}, WORDS)


@pytest.mark.parametrize(
    ("arguments", "port"),
    [(["--port", "65535"], 65536), (["--port", "7001", "--teacher-port", "7001"], 7001)],
)
def test_the_teachers_page_needs_a_port_of_its_own(folder: Path, arguments: list[str], port: int) -> None:
    with pytest.raises(OptionError, match=f"from 1 to 65535, not {port}; choose one with --teacher-port"):
        prepare(["--data", str(folder), *arguments], {}, WORDS)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot be used"):
        prepare(["--data", str(tmp_path / "file" / "x"), "--port", str(free_port())], {}, WORDS)


def classroom(folder: Path, **changes: object) -> Classroom:
    return Classroom(Options(data=str(folder), **changes), keys_in(folder))


def test_only_printed_addresses_may_open_a_websocket(folder: Path) -> None:
    own = classroom(folder, port=7001)
    assert own.origins == ["127.0.0.1:7001", "localhost:7001"]
    everywhere = classroom(folder, port=7001, address="0.0.0.0", origins="lab.school:80, other:81")
    assert {"127.0.0.1:7001", "localhost:7001", "lab.school:80", "other:81"} <= set(everywhere.origins)
    assert "*" not in "".join(everywhere.origins)
    for address in everywhere.addresses:
        assert address.removeprefix("http://").removesuffix("/") in everywhere.origins


@pytest.mark.parametrize(
    ("url", "name"), [("https://lab.example/lab", "lab.example"), ("http://x:81/", "x:81")]
)
def test_learners_are_shown_the_address_of_the_proxy(folder: Path, url: str, name: str) -> None:
    own = classroom(folder, port=7001, public_url=url)
    assert own.addresses == [f"{url.rstrip('/')}/"]
    assert own.invitation == f"{own.addresses[0]}?code={own.keys.join}"
    assert name in own.origins
    text = greeting(own, class_words("en"))
    assert own.addresses[0] in text
    assert "--address 0.0.0.0" not in text


@pytest.mark.parametrize("url", ["lab.example", "ftp://lab.example", "https://lab.example/?x", "https:// x"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(OptionError, match="--public-url must be an address such as https://"):
        read("--public-url", url)


def test_secrets_are_on_no_command_line(folder: Path) -> None:
    own = classroom(folder)
    line = " ".join(command_of(own))
    for secret in (own.keys.session, own.keys.cookie, own.keys.teacher):
        assert secret not in line
    assert environment_of(own)["BOKEH_SIGN_SESSIONS"] == "yes"
    assert environment_of(own)["BOKEH_SECRET_KEY"] == own.keys.session


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_greeting_has_addresses_code_and_link(folder: Path, language: str) -> None:
    own = classroom(folder, port=7001, join_code="Abcd2")
    text = greeting(own, class_words(language))
    for part in ("http://127.0.0.1:7001/", "ABCD2", own.teacher_link, "--address 0.0.0.0"):
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "is_open"),
    [
        ([], True),
        (["--free-play"], True),
        (["--free-play", "true"], True),
        (["--free-play", "false"], False),
        (["--no-free-play"], False),
    ],
)
def test_free_play_is_opened_and_closed(folder: Path, arguments: list[str], is_open: bool) -> None:
    assert read(*arguments).free_play is is_open
    own = classroom(folder, free_play=is_open)
    assert environment_of(own)["TICKLAB_FREE_PLAY"] == ("true" if is_open else "false")
    assert read("--no-warm").warm is False


def test_a_switch_takes_nothing_else() -> None:
    with pytest.raises(OptionError, match="--free-play must be true or false"):
        read("--free-play", "perhaps")
