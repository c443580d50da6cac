"""The transfer task at the end of the course: design a summarization service, check it, run it, defend it."""

from puzzles.design.checking import Finding, check, sound
from puzzles.design.plan import FIELDS, Problem, plan_of, read
from puzzles.design.task import Task, load_task, task
from puzzles.design.trials import Trial, trials
from puzzles.design.verdict import Verdict, verdict
from puzzles.design.words import design_words

__all__ = [
    "FIELDS",
    "Finding",
    "Problem",
    "Task",
    "Trial",
    "Verdict",
    "check",
    "design_words",
    "load_task",
    "plan_of",
    "read",
    "sound",
    "task",
    "trials",
    "verdict",
]
