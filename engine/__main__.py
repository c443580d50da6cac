"""``python -m engine``: see ``engine.cli``."""

from __future__ import annotations

import os
import sys

from engine.cli import main

BROKEN_PIPE = 141  # what a shell says of a program that a closed pipe has ended

if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = BROKEN_PIPE
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
