"""What is asked: exercises, beliefs, checking, and the views of a run as plain values and tables."""

from puzzles.asking import Field, field_of, fields
from puzzles.comparison import PolicyTable, policy_table
from puzzles.evidence import EvidenceRow
from puzzles.exercise import Exercise, RunSpec, runs
from puzzles.judging import BeliefHit, Item, Verdict, shown, verdict
from puzzles.library import load, names
from puzzles.parsing import Problem, parse
from puzzles.solving import histories, solve
from puzzles.words import puzzle_words

__all__ = [
    "BeliefHit",
    "EvidenceRow",
    "Exercise",
    "Field",
    "Item",
    "PolicyTable",
    "Problem",
    "RunSpec",
    "Verdict",
    "field_of",
    "fields",
    "histories",
    "load",
    "names",
    "parse",
    "policy_table",
    "puzzle_words",
    "runs",
    "shown",
    "solve",
    "verdict",
]
