"""Answers as expressions over runs: ``static.R04.ttft - static.R04.queue``. Computed exactly.

Names are those that ``find`` knows (see figures.py): run.request.measure, run.measure, kv.model.figure,
recorded.name.figure. Beside + - * / and numbers there are:

``a > b`` (and < >= <= == !=)     holds or fails
``change(before, after)``         rises, same or falls
``lowest(A=…, B=…)``, ``highest`` the name whose value it is; nobody's when two share it
``min max floor ceil``            of one or several values
``tokens_per_round(a, k)``        what a speculative round gives, guesses right with probability a
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from engine import InputError
from puzzles.calculator import tokens_per_round

Value = Fraction | str | None
Path = tuple[str, ...]
Find = Callable[[Path], Value]

CLOSE = Fraction(1, 10**9)  # figures that are quotients come as floats
HOLDS, FAILS = "holds", "fails"
RISES, SAME, FALLS = "rises", "same", "falls"
PICKS: dict[str, Callable[..., Fraction]] = {"lowest": min, "highest": max}

OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS: dict[str, Callable[..., Fraction]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
    "tokens_per_round": lambda a, k: tokens_per_round(a, int(k)),
}


@lru_cache(maxsize=1024)
def parsed(text: str) -> ast.expr:
    """The expression. Raises InputError for what is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise InputError(f"{text!r} is not an expression") from None


@lru_cache(maxsize=1024)
def names_in(text: str) -> tuple[Path, ...]:
    """Every name of the expression, in order. Raises InputError for a part that no expression has."""
    return tuple(dict.fromkeys(_names(parsed(text), text)))


def _names(node: ast.expr, text: str) -> Iterable[Path]:
    if isinstance(node, ast.Name | ast.Attribute):
        yield path_of(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in {*FUNCTIONS, *PICKS, "change"}:
            raise InputError(f"{text!r}: {node.func.id!r} is not a function of expressions")
        for part in (*node.args, *(word.value for word in node.keywords)):
            yield from _names(part, text)
    elif isinstance(node, ast.BinOp | ast.Compare | ast.UnaryOp):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _names(child, text)
    elif not isinstance(node, ast.Constant):
        raise InputError(f"{text!r} has a part that no expression has")


def path_of(node: ast.expr) -> Path:
    """run.request.measure as its parts."""
    return tuple(ast.unparse(node).split("."))


def choices_of(text: str) -> tuple[str, ...] | None:
    """What an answer is chosen from; None when it is a number."""
    node = parsed(text)
    if isinstance(node, ast.Compare):
        return HOLDS, FAILS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "change":
            return RISES, SAME, FALLS
        if node.func.id in PICKS:
            return tuple(str(word.arg) for word in node.keywords)
    return None


class Side(NamedTuple):
    """A part of a question of choice that has a value of its own; ``name`` is the choice it stands for."""

    name: str
    text: str


def sides_of(text: str) -> tuple[Side, ...]:
    """Both sides of a comparison, before and after of a change, or all that one is picked from."""
    node = parsed(text)
    if isinstance(node, ast.Compare):
        return tuple(Side("", ast.unparse(side)) for side in (node.left, *node.comparators))
    if isinstance(node, ast.Call):
        named = [Side(str(word.arg), ast.unparse(word.value)) for word in node.keywords]
        return (*(Side("", ast.unparse(argument)) for argument in node.args), *named)
    return ()


def sign_of(text: str) -> str | None:
    """The comparison of the expression by its name in ``ast``: Gt, LtE …; None when it compares nothing."""
    node = parsed(text)
    return type(node.ops[0]).__name__ if isinstance(node, ast.Compare) else None


def evaluate(text: str, find: Find) -> Value:
    """The value of the expression; None when a value in it does not exist, or nobody is the lowest."""
    node = parsed(text)
    try:
        if isinstance(node, ast.Compare):
            return _compared(node, find)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in PICKS:
                return _picked(node, find)
            if node.func.id == "change":
                return _changed(*(_value(argument, find) for argument in node.args))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name | ast.Attribute):
            return find(path_of(node))
        return _value(node, find)
    except _Missing:
        return None


class _Missing(Exception):
    """A value in the expression does not exist."""


def _value(node: ast.expr, find: Find) -> Fraction:
    """A part that is a number."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.Name | ast.Attribute):
        found = find(path_of(node))
        if not isinstance(found, Fraction):
            raise _Missing
        return found
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, find)
    if isinstance(node, ast.BinOp):
        right = _value(node.right, find)
        if isinstance(node.op, ast.Div) and not right:
            raise _Missing
        return OPERATORS[type(node.op)](_value(node.left, find), right)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return FUNCTIONS[node.func.id](*(_value(argument, find) for argument in node.args))


def _order(first: Fraction, second: Fraction) -> int:
    """−1, 0 or 1: how first stands to second."""
    return 0 if abs(first - second) < CLOSE else 1 if first > second else -1


def _compared(node: ast.Compare, find: Find) -> str:
    order = _order(_value(node.left, find), _value(node.comparators[0], find))
    return HOLDS if COMPARISONS[type(node.ops[0])](order, 0) else FAILS


def _changed(before: Fraction, after: Fraction) -> str:
    return {-1: RISES, 0: SAME, 1: FALLS}[_order(before, after)]


def _picked(node: ast.Call, find: Find) -> Value:
    assert isinstance(node.func, ast.Name)
    values = {str(word.arg): _value(word.value, find) for word in node.keywords}
    best = PICKS[node.func.id](values.values())
    found = [name for name, value in values.items() if not _order(value, best)]
    return found[0] if len(found) == 1 else None
