"""``python -m engine``: see ``engine.cli``."""

from __future__ import annotations

import sys

from engine.cli import main
from engine.cli.program import run

if __name__ == "__main__":
    sys.exit(run("python -m engine", main))
