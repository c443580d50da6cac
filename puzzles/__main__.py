"""``python -m puzzles``: see ``puzzles.command``."""

from __future__ import annotations

import sys

from engine.cli.program import run
from puzzles.command import main

if __name__ == "__main__":
    sys.exit(run("python -m puzzles", main))
