"""``python -m puzzles``."""

import sys

from puzzles.command import main

sys.exit(main())
