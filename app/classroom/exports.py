"""What was locked, as CSV and JSON. Learners are numbers: their names open their pages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from app.classroom.judging import Judge
from app.store import Prediction

HEAD = (
    "learner",
    "exercise",
    "attempt",
    "vote",
    "locked",
    "confidence",
    "why",
    "field",
    "answer",
    "right",
    "belief",
)
# What a spreadsheet takes for a formula, wide signs included, and the blanks it overlooks before one.
DANGEROUS = re.compile(r"[\s\x00-\x1f\u200b-\u200f\ufeff]*[=+\-@|%＝＋－＠]|[\t\r\n]")


Nicknames = Mapping[str, str]  # by learner


def as_json(predictions: Sequence[Prediction], judge: Judge, names: Nicknames | None = None) -> bytes:
    """One object for each lock, the newest last; with ``nickname`` when ``names`` are given."""
    return msgspec.json.format(msgspec.json.encode(list(_locks(predictions, judge, names))), indent=1)


def as_csv(predictions: Sequence[Prediction], judge: Judge, names: Nicknames | None = None) -> bytes:
    """One row for each answer; a lock without any has one row too. A spreadsheet runs none of it.

    The last column is ``nickname`` when ``names`` are given.
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)  # a semicolon splits no cell either
    more = () if names is None else ("nickname",)
    writer.writerow(HEAD + more)
    for lock in _locks(predictions, judge, names):
        for answer in lock["answers"] or [{}]:
            row = [lock[name] for name in HEAD[:7]] + [answer.get(name) for name in HEAD[7:]]
            writer.writerow([harmless(value) for value in (*row, *(lock[name] for name in more))])
    return out.getvalue().encode("utf-8-sig")


def harmless(value: Any) -> Any:
    """``value`` so that a spreadsheet takes it for text: no formula begins in a cell of ours."""
    if isinstance(value, str) and DANGEROUS.match(value):
        return f"'{value}"
    return value


def _locks(
    predictions: Iterable[Prediction], judge: Judge, names: Nicknames | None
) -> Iterable[dict[str, Any]]:
    numbers: dict[str, int] = {}
    for one in predictions:
        place = one.place
        yield {
            "learner": numbers.setdefault(place.learner, len(numbers) + 1),
            "exercise": place.exercise,
            "attempt": place.attempt,
            "vote": one.vote,
            "locked": one.locked.isoformat(timespec="seconds"),
            "confidence": one.confidence,
            "why": one.why,
            "answers": _answers(one, judge),
            **({} if names is None else {"nickname": names.get(place.learner, "")}),
        }


def _answers(prediction: Prediction, judge: Judge) -> list[dict[str, Any]]:
    judged = {item.field.key: item for item in judge.judged(prediction)}
    return [
        {
            "field": key,
            "answer": given,
            "right": judged[key].right if key in judged else None,
            "belief": judged[key].belief if key in judged else None,
        }
        for key, given in prediction.answers.items()
    ]
