"""When the database began to fail and when it was well again: two lines, however many requests failed."""

from __future__ import annotations

import logging

from app.journal.events import cause_of, tell
from app.store.errors import StoreError

OF_WRITING = ("locked", "full", "disk", "readonly")  # while it lasts, what is read is still had


class Trouble:
    """Of one server: told of every call of the store, it writes when things change."""

    def __init__(self) -> None:
        self.code = ""
        self._call = ""
        self._count = 0

    def failed(self, call: str, error: StoreError) -> None:
        """``call`` of the store ended with ``error``."""
        self._call = call
        self._count += 1
        if error.code != self.code:
            self.code = error.code
            key = "trouble.writing" if error.code in OF_WRITING else "trouble"
            tell(key, logging.ERROR, cause=cause_of(error))

    def went_well(self, call: str) -> None:
        """``call`` did what it should. Where only writing failed, reading proves nothing."""
        if not self.code or (self.code in OF_WRITING and call != self._call):
            return
        tell("database.well", count=self._count)
        self.code, self._call, self._count = "", "", 0
