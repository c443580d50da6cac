"""What can go wrong, as types: malformed input, and a run that cannot go on."""

from __future__ import annotations


class InputError(ValueError):
    """Malformed input, found where it enters; nothing has run.

    The message is one sentence: what is wrong, where, and what would be right.
    """


class Stalled(RuntimeError):
    """Nothing is active, nothing more arrives, and the head of the queue cannot be admitted.

    ``queue`` holds the waiting ids in queue order, ``reason`` why the head was not admitted.
    """

    def __init__(self, tick: int, queue: list[str], reason: object) -> None:
        super().__init__(f"tick {tick}: stalled, {len(queue)} waiting ({', '.join(queue[:5])}): {reason}")
        self.tick = tick
        self.queue = queue
        self.reason = reason
