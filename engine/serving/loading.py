"""The trained models by name: the one that answers, and what guesses for it."""

from __future__ import annotations

from engine.errors import InputError
from engine.kv.pages import Pool
from engine.model.transformer import Transformer
from engine.model.weights import load_preset
from engine.service import WEIGHTS
from engine.serving.executor import FIRST_PAGES
from engine.serving.speculation import Draft, DraftModel, PromptLookup

DRAFTS = ("model", "lookup")


def load_model(weights: str = "fp32") -> Transformer:
    """The trained model with its linear layers in ``weights`` format. Raises InputError for another."""
    if weights not in WEIGHTS:
        raise InputError.of("not_one_of", at="weights", value=repr(weights), allowed=WEIGHTS)
    model = load_preset("tiny")
    if weights == "fp32":
        return model
    from engine.quantize import quantize

    return quantize(model, weights)


def check_draft(draft: str | Draft) -> None:
    """Raise InputError for a name that is none of ``DRAFTS``."""
    if isinstance(draft, str) and draft not in DRAFTS:
        raise InputError.of("not_one_of", at="draft", value=repr(draft), allowed=DRAFTS)


def load_draft(draft: str | Draft, pool: Pool) -> Draft:
    """What guesses tokens for a pool's requests: the distilled model, prompt lookup, or ``draft`` itself."""
    check_draft(draft)
    if not isinstance(draft, str):
        return draft
    if draft == "lookup":
        return PromptLookup()
    return DraftModel(load_preset("draft"), pool.total or FIRST_PAGES, pool.page_size)
