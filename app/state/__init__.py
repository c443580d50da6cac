"""What one learner is doing, without any idea of a page: the steps, and who may go where."""

from app.state.errors import NotAllowed
from app.state.lesson import Lesson
from app.store import STEPS

__all__ = ["STEPS", "Lesson", "NotAllowed"]
