"""``python -m engine``: see ``engine.cli``."""

from __future__ import annotations

import io
import os
import sys

from engine.cli import main

BROKEN_PIPE = 141  # what a shell says of a program that a closed pipe has ended

if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):  # signs that its encoding lacks are written out
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = BROKEN_PIPE
    except KeyboardInterrupt:
        status = 130
    except OSError as error:
        sys.stderr.write(f"python -m engine: the output cannot be written ({error.strerror})\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
