"""The log as whoever runs the server reads it: one line for each event that matters, no secrets."""

from app.journal.events import cause_of, place_of, tell
from app.journal.lines import configure
from app.journal.trouble import Trouble

__all__ = ["Trouble", "cause_of", "configure", "place_of", "tell"]
