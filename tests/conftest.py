"""For all tests: one thread per process, so that side by side they do not fight for the cores."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
