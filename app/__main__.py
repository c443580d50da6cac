"""A class with one command: ``python -m app``; beside it ``backup``, ``restore`` and ``bench``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

COMMANDS = {  # where each is; what is not asked for is not loaded
    "backup": ("app.backup.commands", "save"),
    "restore": ("app.backup.commands", "bring_back"),
    "bench": ("app.bench", "main"),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out the command that the first word names, else serve a class. The exit status."""
    if arguments and arguments[0] in COMMANDS:
        return _command(*COMMANDS[arguments[0]])(arguments[1:])
    return _command("app.classroom.starting", "main")(arguments)


def _command(module: str, name: str) -> Callable[[Sequence[str]], int]:
    found: Callable[[Sequence[str]], int] = getattr(import_module(module), name)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
