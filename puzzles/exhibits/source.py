"""Files of the engine that exhibits point to, printed on pages of their own."""

from __future__ import annotations

from pathlib import Path

import engine

ROOT = Path(engine.__file__).parents[1]
FILES = ("engine/kernels/attention.py", "engine/kernels/fusion.py", "engine/kernels/traffic.py")


def page_of(path: str) -> str:
    """The page on which a file is printed. Raises KeyError for a file that has none."""
    if path not in FILES:
        raise KeyError(path)
    return f"code-{Path(path).stem}.html"


def source_of(path: str) -> str:
    """The text of the file."""
    return (ROOT / path).read_text("utf-8")
