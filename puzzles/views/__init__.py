"""A run as pictures: plain values that the page draws and the static pages print.

Every view is a pure function of a History, or of one that holds the first records of a run:
the view of a part of a run is the first part of the view of the whole.
"""

from puzzles.views.logs import log
from puzzles.views.page_maps import page_map
from puzzles.views.run_views import run_view, run_views
from puzzles.views.stories import story
from puzzles.views.strips import strip
from puzzles.views.timelines import timeline

__all__ = ["log", "page_map", "run_view", "run_views", "story", "strip", "timeline"]
