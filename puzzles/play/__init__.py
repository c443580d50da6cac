"""What free play says about runs of somebody's own: what differs between two, and which settings matter."""

from pathlib import Path

from engine.words import Catalogue, catalogue
from puzzles.play.dead_switches import Switch, probe, verdict_text
from puzzles.play.differences import Differences, Side, differences

__all__ = ["Differences", "Side", "Switch", "differences", "play_words", "probe", "verdict_text"]


def play_words(language: str) -> Catalogue:
    """The texts of this folder in ``language``. Raises KeyError for an unknown language."""
    return catalogue(Path(__file__).parent, language)
