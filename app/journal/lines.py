"""What reaches the log and how a line looks: no chatter of the libraries, and nothing that opens anything."""

from __future__ import annotations

import logging
import re

LIBRARIES = ("bokeh", "panel", "tornado", "asyncio")
WANTED = "Bokeh app running at"  # where ``panel serve app`` is to be found
QUERY = re.compile(r"\?[^\s'\")]*=[^\s'\")]*")
# Session ids, tokens, learners' names, keys: long, with a digit, no part of a path.
SECRET = re.compile(r"(?<![\w/.-])(?=[A-Za-z_=.-]*\d)[A-Za-z0-9_-]{22,}(?:[.=][A-Za-z0-9_=-]*)*")


class Line(logging.Formatter):
    """Time and sentence; queries of addresses and long names are cut out, of tracebacks too."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s  %(message)s", "%Y-%m-%d %H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        return SECRET.sub("…", QUERY.sub("?…", super().format(record)))


def is_of_interest(record: logging.LogRecord) -> bool:
    """Whether a teacher has to know. What a browser asked for in vain is no fault of the server."""
    if record.name.partition(".")[0] not in LIBRARIES:
        return True
    if record.name == "tornado.access":
        return record.levelno >= logging.ERROR
    return record.levelno >= logging.WARNING or record.getMessage().startswith(WANTED)


def configure() -> None:
    """Let the handlers that Bokeh has made write such lines. May be called again."""
    for handler in logging.getLogger().handlers:
        if type(handler) in (logging.StreamHandler, logging.FileHandler):
            handler.setFormatter(Line())
            if is_of_interest not in handler.filters:
                handler.addFilter(is_of_interest)
