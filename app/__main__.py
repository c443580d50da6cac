"""A class with one command: ``python -m app``."""

from __future__ import annotations

import sys

from app.classroom.starting import main

if __name__ == "__main__":
    sys.exit(main())
