"""The databases the lab runs on: tests marked with one of these run on each of them."""

from __future__ import annotations

import pytest

SQLITE = "sqlite"
POSTGRESQL = "postgresql"  # with its tables, without rows
NEW_POSTGRESQL = "new postgresql"  # without anything

both = pytest.mark.parametrize("settings", [SQLITE, POSTGRESQL], indirect=True)
both_new = pytest.mark.parametrize("settings", [SQLITE, NEW_POSTGRESQL], indirect=True)
postgresql = pytest.mark.parametrize("settings", [NEW_POSTGRESQL], indirect=True)
