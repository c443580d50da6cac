"""The process that plays: ledger runs, pictures and files, away from the server's event loop. No torch.

It works on each job for a moment at a time, so that many can wait side by side, and one that nobody
asks to go on with rests. It ends when its input ends, so it never outlives the server.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from typing import BinaryIO

from app.play.jobs import work
from app.play.spec import Answer, Command, Drop, Go, Going, News, Reply, Unknown, commands
from app.worker.spec import HEADER, Failed, Ready, Refused, packed
from engine import InputError, Stalled
from engine.words import in_every_language

MOST_JOBS = 32
MOST_BYTES = 4 * 2**30  # of address space


class Table:
    """The jobs at hand, by key; the one that was asked for longest ago goes first."""

    def __init__(self) -> None:
        self.jobs: OrderedDict[str, Iterator[News]] = OrderedDict()

    def answer(self, command: Command) -> Reply:
        """Carry out ``command``. A job that fails is dropped, and the others go on."""
        if isinstance(command, Drop):
            self.jobs.pop(command.key, None)
            return Answer(command.number, None, 0.0)
        try:
            return self.go(command)
        except (InputError, Stalled) as error:
            self.jobs.pop(command.key, None)
            return Refused(command.number, in_every_language(error))
        except Exception as error:
            traceback.print_exc()
            self.jobs.pop(command.key, None)
            return Failed(command.number, repr(error))

    def go(self, command: Go) -> Reply:
        """On with the job until there is news of it, or its moment is over."""
        if command.job is not None:
            self.jobs[command.key] = work(command.job)
        if command.key not in self.jobs:
            return Unknown(command.number)
        self.jobs.move_to_end(command.key)
        if len(self.jobs) > MOST_JOBS:
            self.jobs.popitem(last=False)
        began = time.perf_counter()
        news = self.next_news(command.key, began + command.seconds)
        return Answer(command.number, news, time.perf_counter() - began)

    def next_news(self, key: str, deadline: float) -> News | None:
        """None when the job is done."""
        for news in self.jobs[key]:
            if not isinstance(news, Going) or time.perf_counter() > deadline:
                return news
        del self.jobs[key]
        return None


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every command, in order, until ``source`` ends."""
    table = Table()
    sink.write(packed(Ready()))
    while len(head := source.read(HEADER)) == HEADER:
        command = commands.decode(source.read(int.from_bytes(head, "big")))
        sink.write(packed(table.answer(command)))


def limit_memory() -> None:
    """A run that grows without end must not take the machine with it. Where there is no such limit: none."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_BYTES if hard == resource.RLIM_INFINITY else min(MOST_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main() -> None:
    """Keep the pipe to ourselves: whatever else prints goes to the server's log."""
    sink = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    limit_memory()
    serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
