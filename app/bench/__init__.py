"""The lab under load, measured: what ``python -m app bench`` prints.

Learners without a browser (``learner``) join a server of this machine, and do together what a class
does; a real Chromium may join them. Counts and times are bounded, and only loopback is let in.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. 0: measured without an error; 1: something went wrong; 2: a wrong argument."""
    from app.bench.command import main as command

    return command(arguments)


__all__ = ["main"]
