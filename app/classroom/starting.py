"""``python -m app``: read the settings, say who can come in and how, start Panel's server."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import segno
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from app.classroom.addresses import is_free
from app.classroom.classroom import Classroom
from app.classroom.keys import KeysError, keys_in, shared_keys
from app.classroom.options import OptionError, Options, read_options
from app.classroom.words import terminal_words
from app.journal import cause_of, configure
from app.settings import Settings
from app.store import StoreError, open_store
from app.web.metrics import what_is_wrong
from engine.words import Catalogue

LAST_PORT = 65535
APP = Path(__file__).parents[1]
KEPT_COOKIES = ("ticklab_learner", "ticklab_language")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped. 2: something that was set is wrong, and one sentence has said what."""
    words = terminal_words(os.environ)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        classroom = prepare(given, os.environ, words)
    except OptionError as error:
        print(words("wrong", reason=error), file=sys.stderr)
        return 2
    print(greeting(classroom, words), flush=True)
    if classroom.is_public:
        segno.make(classroom.invitation, micro=False).terminal(compact=True)
        sys.stdout.flush()
    serve(classroom)
    return 0


def prepare(arguments: Sequence[str], environment: Mapping[str, str], words: Catalogue) -> Classroom:
    """The class that was asked for. Raises OptionError with one sentence when it cannot be."""
    options = read_options(arguments, environment, words)
    try:
        keys = shared_keys(Path(options.keys)) if options.keys else keys_in(Path(options.data))
    except KeysError as error:
        raise OptionError(words(f"wrong.keys.{error.code}", file=error.file)) from error
    except OSError as error:
        where = options.keys or options.data
        raise OptionError(words("wrong.data", folder=where, reason=error.strerror)) from error
    check_address(options.database_url, words)
    _check_metrics(options.metrics, words)
    classroom = Classroom(options, keys)
    _check_teacher_port(classroom, words)
    _check_free(options.address, options.port, "--port", words)
    _check_free(options.teacher_address, classroom.teacher_port, "--teacher-port", words)
    check_store(settings_of(options))
    return classroom


def _check_teacher_port(classroom: Classroom, words: Catalogue) -> None:
    port = classroom.teacher_port
    if port == classroom.options.port or port > LAST_PORT:
        raise OptionError(words("wrong.teacher_port", port=port))


def _check_free(address: str, port: int, flag: str, words: Catalogue) -> None:
    try:
        free = is_free(address, port)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OptionError(words("wrong.address", address=address, reason=reason)) from error
    if not free:
        raise OptionError(words("wrong.port", port=port, flag=flag))


def settings_of(options: Options) -> Settings:
    """What of the options concerns the database."""
    return Settings(data=Path(options.data), database_url=options.database_url or None)


def check_store(settings: Settings) -> None:
    """Open the database once, which brings it up to date. Raises OptionError when it cannot be had."""
    try:
        open_store(settings).close()
    except StoreError as error:
        raise OptionError(cause_of(error)) from error


def check_address(url: str, words: Catalogue) -> None:
    """Raises OptionError when ``url`` names no database the lab can use; its text may hold a password."""
    try:
        known = not url or make_url(url).get_backend_name() in ("sqlite", "postgresql")
    except (ArgumentError, ValueError):  # ValueError: of a port that is no number
        known = False
    if not known:
        raise OptionError(words("wrong.database")) from None


def _check_metrics(address: str, words: Catalogue) -> None:
    problem = what_is_wrong(address, words.language) if address else None
    if problem:
        raise OptionError(problem)


def greeting(classroom: Classroom, words: Catalogue) -> str:
    """What whoever started it has to know."""
    lines = [words("greeting.learners"), *(f"  {address}" for address in classroom.addresses)]
    lines += [words("greeting.code", code=classroom.keys.join)]
    lines += [words("greeting.teacher"), f"  {classroom.teacher_link}"]
    if not classroom.is_public:
        lines += [words("greeting.private")]
    return "\n".join(lines)


def serve(classroom: Classroom) -> None:
    """Run Panel's server in this process until it is stopped."""
    os.environ.update(environment_of(classroom))
    sys.argv = ["panel", *command_of(classroom)]
    logging.basicConfig()  # before Bokeh does: the first line of the journal comes before its server
    configure()
    # Only now: Bokeh reads its secrets from the environment when it is imported.
    from panel.command import main as panel_main

    from app.classroom.routes import install_class
    from app.teacher.process import TeacherProcess

    open_class(classroom)
    install_class(classroom)
    with TeacherProcess(classroom):
        panel_main()


def open_class(classroom: Classroom) -> None:
    """Go on with the class that was going on, else begin one; forget those whose time is over."""
    from app.server import server

    classes = server().store.classes
    classes.delete_expired()
    if classes.current() is None:
        classes.start(keep_days=classroom.options.keep_days)


def environment_of(classroom: Classroom) -> dict[str, str]:
    """What the server reads from its environment. Secrets go this way: a command line is seen by all."""
    options = classroom.options
    found = {
        "TICKLAB_DATA": options.data,
        "TICKLAB_COMMAND_SECONDS": str(options.command_seconds),
        "TICKLAB_DATABASE_URL": options.database_url,
        "TICKLAB_MOST_SESSIONS": str(options.most_sessions),
        "TICKLAB_FRAME_ANCESTORS": options.frame_ancestors,
        "TICKLAB_METRICS": options.metrics,
        "TICKLAB_FREE_PLAY": str(options.free_play).lower(),
        "BOKEH_SECRET_KEY": classroom.keys.session,
        "BOKEH_SIGN_SESSIONS": "yes",
        "PANEL_COOKIE_SECRET": classroom.keys.cookie,
    }
    return {name: value for name, value in found.items() if value}


def command_of(classroom: Classroom) -> list[str]:
    """The arguments of ``panel``."""
    options = classroom.options
    command = ["serve", str(APP), "--address", options.address, "--port", str(options.port)]
    for origin in classroom.origins:
        command += ["--allow-websocket-origin", origin]
    command += ["--session-ids", "signed"]
    command += ["--session-token-expiration", str(int(options.token_hours * 3600))]
    command += ["--unused-session-lifetime", str(int(options.session_minutes * 60_000))]
    command += ["--check-unused-sessions", "30000"]
    command += ["--keep-alive", str(int(options.keep_alive_seconds * 1000))]
    command += ["--websocket-max-message-size", str(int(options.message_megabytes * 1_000_000))]
    command += ["--include-headers", "Accept-Language", "--include-cookies", *KEPT_COOKIES]
    command += ["--log-level", "warning"]  # what matters is told by our own journal
    command += ["--prefix", options.prefix] if options.prefix else []
    command += ["--use-xheaders"] if options.xheaders else []
    return [*command, "--warm"] if options.warm else command
