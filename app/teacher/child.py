"""The teacher's server: ``python -m app.teacher.child`` gets its settings as its input, and ends with it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from typing import Any

import msgspec
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from app.classroom.classroom import Classroom
from app.classroom.keys import Keys
from app.classroom.options import Options
from app.journal import tell
from app.teacher.routes import teacher_routes
from app.web.policy import SafeHeaders

log = logging.getLogger(__name__)

LARGEST = 100_000  # bytes of a request
DAY = 24 * 3600.0  # seconds


class Settings(msgspec.Struct, frozen=True):
    """What the parent sends, in one line."""

    options: Options
    keys: Keys


def application(classroom: Classroom) -> Application:
    """The teacher's server for this class."""
    made = Application(teacher_routes(classroom), log_function=note)
    made.add_transform(SafeHeaders)
    return made


def note(handler: RequestHandler) -> None:
    """For the log: what failed, without the query, where a key may stand."""
    if handler.get_status() >= 500:
        log.error("%d %s", handler.get_status(), handler._request_summary())


async def serve(classroom: Classroom, over: asyncio.Event) -> None:
    """Answer until ``over``."""
    from app.server import server

    server_ = HTTPServer(application(classroom), max_body_size=LARGEST, max_buffer_size=2 * LARGEST)
    server_.listen(classroom.teacher_port, classroom.options.teacher_address.strip("[]"))
    tidying = asyncio.create_task(tidy(server()))
    await over.wait()
    tidying.cancel()
    server_.stop()
    server().store.close()


async def tidy(shared: Any) -> None:
    """Once a day, forget the classes whose time is over."""
    while True:
        await asyncio.sleep(DAY)
        for class_id in await shared.stored(shared.store.classes.delete_expired):
            tell("class.expired", logging.WARNING, number=class_id)


def wait_for_the_end(loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    """In a thread: when the parent is gone, however, our input ends."""
    sys.stdin.buffer.read()
    loop.call_soon_threadsafe(over.set)


async def run(classroom: Classroom) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=wait_for_the_end, args=(loop, over), daemon=True).start()
    await serve(classroom, over)


def main() -> None:
    """Serve. A Ctrl-C in the terminal is for the parent; we end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=Settings)
    options = settings.options
    os.environ["TICKLAB_DATA"] = options.data
    if options.database_url:
        os.environ["TICKLAB_DATABASE_URL"] = options.database_url
    logging.basicConfig(format="%(asctime)s teacher's page: %(message)s", level=logging.WARNING)
    asyncio.run(run(Classroom(options, settings.keys)))


if __name__ == "__main__":
    main()
