from __future__ import annotations

from tests.app.conftest import lab
from tests.classroom.conftest import keys, school
from tests.ui.conftest import learner, learners

__all__ = ["keys", "lab", "learner", "learners", "school"]
