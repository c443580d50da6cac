"""Waiting for a condition in a page whose policy forbids ``eval``, which Playwright's own waiting uses."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Error, Page

POLL = 30  # ms
GOING = ("Execution context was destroyed", "navigat", "Cannot find context")


def wait_without_eval(page: Page, patience: float) -> None:
    """Let ``page.wait_for_function`` ask from outside, by the debugger, to which no policy applies."""

    def wait(expression: str, *, arg: Any = None, timeout: float = patience) -> None:
        give_up = time.monotonic() + timeout / 1000
        while not _holds(page, expression, arg):
            if time.monotonic() > give_up:
                raise TimeoutError(f"after {timeout:g} ms it was still not so: {expression}")
            page.wait_for_timeout(POLL)

    page.wait_for_function = wait  # type: ignore[method-assign, assignment]


def _holds(page: Page, expression: str, arg: Any) -> bool:
    try:
        return bool(page.evaluate(expression, arg))
    except Error as error:
        if any(part in str(error) for part in GOING):  # the page is being loaded again
            return False
        raise
