"""What ``app/main.py`` serves: the page that the address asks for, by its first known argument."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import panel as pn
from bokeh.document import Document

from app.journal import tell
from app.pages.learn import learn_page
from app.play.page import play_page
from app.server import Server, server
from app.store import StoreError

log = logging.getLogger(__name__)


class Page(Protocol):
    """A page of one session."""

    def put_on(self, document: Document) -> None:
        """Make this page the document's."""

    async def restore(self) -> None:
        """After the page has been painted: bring back what there was."""


PAGES: dict[str, Callable[[Server], Page]] = {"play": play_page}  # by argument; without one: the lesson


def page_for(arguments: Mapping[str, Any]) -> Callable[[Server], Page]:
    """What makes the page for these arguments of the address."""
    return next((make for name, make in PAGES.items() if name in arguments), learn_page)


def serve() -> None:
    """Build the page of whoever asks. When that fails the handler says so; the log has the reason."""
    document = pn.state.curdoc
    assert document is not None
    # Kept by session, so to be said in each: reconnect, no models that nobody asks for, and (because
    # it is said at all) no scripts of extensions that this page does not use. Signatures are for editors.
    pn.extension(reconnect=True, browser_info=False, notifications=False, apply_signatures=False)
    try:
        page = page_for(pn.state.session_args)(server())
        page.put_on(document)
        pn.state.onload(page.restore)
    except StoreError:  # the log has it already
        return
    except Exception:
        tell("page.failed", logging.ERROR)
        log.exception("")
