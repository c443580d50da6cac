"""What can go wrong, as types: malformed input, and a run that cannot go on."""

from __future__ import annotations

from engine.records import Reason
from engine.scheduling.explain import sentence
from engine.words import Catalogues, Phrase, Text, engine_words, in_language

Where = Text | tuple[Text, ...]


class InputError(ValueError):
    """Malformed input, found where it enters; nothing has run.

    It is one sentence: what is wrong, where, and what would be right. ``str`` gives it in English,
    ``told`` in any language. ``places`` say where, from the outermost inwards (file, row, column), and
    ``what`` is the rest. A plain text (of whoever writes exercises, for one) is told as it is.
    """

    def __init__(self, what: Text, *places: Text) -> None:
        self.what = what
        self.places = places
        super().__init__(self.told("en"))

    @classmethod
    def of(
        cls, code: str, *, at: Where = (), words: Catalogues = engine_words, **values: object
    ) -> InputError:
        """The refusal ``refuse.<code>`` of a catalogue, with the values of its blanks."""
        return cls(Phrase(f"refuse.{code}", words, **values), *(at if isinstance(at, tuple) else (at,)))

    def at(self, *places: Text) -> InputError:
        """The same error, found inside ``places``."""
        return InputError(self.what, *places, *self.places)

    def told(self, language: str) -> str:
        """The sentence. Raises KeyError for an unknown language."""
        colon = engine_words(language)("list.place")
        return colon.join(in_language(part, language) for part in (*self.places, self.what))


class Stalled(RuntimeError):
    """Nothing is active, nothing more arrives, and the head of the queue cannot be admitted.

    ``queue`` holds the waiting ids in queue order, ``reason`` why the head was not admitted.
    """

    def __init__(self, tick: int, queue: list[str], reason: object) -> None:
        self.tick = tick
        self.queue = queue
        self.reason = reason
        super().__init__(self.told("en"))

    def told(self, language: str) -> str:
        """The sentence. Raises KeyError for an unknown language."""
        words = engine_words(language)
        why = sentence(self.reason, words) if isinstance(self.reason, Reason) else self.reason
        first = words("list.separator").join(self.queue[:5])
        return words("refuse.stalled", tick=self.tick, count=len(self.queue), queue=first, why=why)
