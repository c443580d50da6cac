"""A step that may not be taken now."""

from __future__ import annotations


class NotAllowed(RuntimeError):
    """The lesson is not that far, whoever asked. ``code`` names the sentence (``refused.<code>``)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
