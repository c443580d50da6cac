"""What is typed, as the page has it (texts by field) and as the store keeps it."""

from __future__ import annotations

from typing import Any

from app.store import Draft, Prediction

WHY_LENGTH = 500  # characters


def answers_of(texts: dict[str, str]) -> dict[str, str]:
    """The answers among the texts of a form."""
    return {key: text for key, text in texts.items() if key not in ("confidence", "why")}


def draft_of(texts: dict[str, str], vote: int = 1) -> Draft:
    """The texts of a form as the store keeps them."""
    confidence = texts.get("confidence", "")
    level = int(confidence) if confidence in ("1", "2", "3", "4") else None
    return Draft(answers_of(texts), level, texts.get("why", "")[:WHY_LENGTH], vote)


def texts_of(draft: Draft) -> dict[str, str]:
    """What was typed, as the form shows it."""
    return _with_person(dict(draft.answers), draft.confidence, draft.why)


def locked_texts(prediction: Prediction) -> dict[str, str]:
    """What was locked, as the form shows it and as a learner would type it."""
    answers = {key: _typed(value) for key, value in prediction.answers.items()}
    return _with_person(answers, prediction.confidence, prediction.why)


def _typed(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _with_person(texts: dict[str, str], confidence: int | None, why: str) -> dict[str, str]:
    if confidence is not None:
        texts["confidence"] = str(confidence)
    if why:
        texts["why"] = why
    return texts
