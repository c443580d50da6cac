"""Whether the pages without JavaScript show their answers to the class."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.server import server
from app.store import StoreError

READING = "reading"  # the decision that opens the answers
A_LESSON = timedelta(hours=12)  # what was opened for today's lesson is closed for tomorrow's


async def is_open() -> bool:
    """Whether the teacher has opened the answers. When nobody can say, they stay closed."""
    shared, since = server(), datetime.now(UTC) - A_LESSON
    try:
        goes_on = await shared.looked_up(shared.store.classes.current)
        if goes_on is None:
            return False
        decided = await shared.looked_up(shared.store.classes.decided, goes_on.id, since=since)
    except StoreError:
        return False
    return decided.of("").get(READING) is True
