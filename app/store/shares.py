"""What short links stand for: a code made of the content itself, so that the same is shared once."""

from __future__ import annotations

import base64
import hashlib
import re

from sqlalchemy import func, select

from app.store import schema
from app.store.statements import add_once
from app.store.store import Store

SHORTEST = 10  # signs of a code: 50 bits of the digest
LONGEST = 52
MOST_BYTES = 100_000  # of one content
MOST_SHARES = 20_000
CODE = re.compile(rf"[a-z2-7]{{{SHORTEST},{LONGEST}}}")


class ShareRefused(ValueError):
    """It cannot be kept; ``code`` names the sentence: ``too_long`` or ``full``."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Shares:
    """Contents by code. What is there once stays, and keeps its code."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep(self, content: str) -> str:
        """The code of ``content``, kept from now on. Raises ShareRefused."""
        if len(content.encode()) > MOST_BYTES:
            raise ShareRefused("too_long")
        digest = code_of(content)
        for length in range(SHORTEST, LONGEST + 1, 2):
            code = digest[:length]
            if self._put_once(code, content) == content:
                return code
        raise AssertionError("two contents with one SHA-256")

    def find(self, code: str) -> str | None:
        """What ``code`` stands for, None for one that nobody was given. Changes nothing."""
        if not CODE.fullmatch(code):
            return None
        table = schema.shares
        with self._store.engine.connect() as connection:
            return connection.execute(select(table.c.content).where(table.c.code == code)).scalar()

    def _put_once(self, code: str, content: str) -> str:
        """Keep ``content`` unless the code is taken; what it stands for then."""
        found = self.find(code)
        if found is not None:
            return found
        table = schema.shares
        with self._store.engine.begin() as connection:
            if (connection.execute(select(func.count()).select_from(table)).scalar() or 0) >= MOST_SHARES:
                raise ShareRefused("full")
            row = {"code": code, "content": content, "made": self._store.clock()}
            add_once(connection, table, row)
            kept = connection.execute(select(table.c.content).where(table.c.code == code)).scalar_one()
        return str(kept)


def code_of(content: str) -> str:
    """The digest of ``content`` in small letters and digits."""
    digest = hashlib.sha256(content.encode()).digest()
    return base64.b32encode(digest).decode().rstrip("=").lower()
