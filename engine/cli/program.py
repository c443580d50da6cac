"""How a command line program ends: quietly when nobody reads on, and never with a traceback of the output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

BROKEN_PIPE = 141  # what a shell says of a program that a closed pipe has ended
INTERRUPTED = 130


def run(name: str, main: Callable[[], int]) -> int:
    """The exit status of ``main``; ``name`` is what the program is called in a complaint about its output."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # signs that its encoding lacks are written out
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        status = BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"{name}: the output cannot be written ({error.strerror})\n")
        status = 1
    else:
        return status
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python's last flush is quiet
    return status
