"""What the sections of the benchmark work with: models, repeats, words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from engine.model.transformer import Transformer
from engine.model.weights import BrokenWeights, load_preset
from engine.words import Catalogue, engine_words

REPEATS, QUICK_REPEATS = 7, 3


@dataclass(frozen=True)
class Setting:
    """The models to measure, how often, and the language of texts that are part of a result.

    ``repeats`` is how often each load is served; single ticks are timed ``ticks`` times. ``quick``
    leaves out sizes that take long. ``draft`` is None where there are no trained weights for it;
    ``make_large`` is called by the one section that needs so large a model.
    """

    model: Transformer
    draft: Transformer | None
    make_large: Callable[[], Transformer]
    words: Catalogue
    repeats: int = REPEATS
    quick: bool = False

    @cached_property
    def ticks(self) -> int:
        """How often a single tick is timed."""
        return 20 * self.repeats


def trained_setting(language: str = "en", repeats: int | None = None, *, quick: bool = False) -> Setting:
    """The lab's own models. Raises BrokenWeights when those of the model are unusable."""
    often = repeats or (QUICK_REPEATS if quick else REPEATS)
    words = engine_words(language)
    return Setting(load_preset("tiny"), _draft(), lambda: load_preset("large"), words, often, quick)


def _draft() -> Transformer | None:
    try:
        return load_preset("draft")
    except BrokenWeights:
        return None
