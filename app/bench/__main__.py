"""``python -m app.bench``."""

from __future__ import annotations

import sys

from app.bench import main

if __name__ == "__main__":
    sys.exit(main())
