"""The lesson without JavaScript: pages written once, committed, and checked to be fresh."""

from puzzles.site.build import FOLDER, build, stale, write

__all__ = ["FOLDER", "build", "stale", "write"]
