"""The learner's websocket, compressed: a step travels in a tenth of its bytes.

A tick looks much like the tick before it, and the compressor remembers what it has sent. Its memory is
kept small: it is there once per learner.
"""

from __future__ import annotations

from typing import Any

from panel.io.server import WSHandler

LEVEL = 1  # of zlib: the fastest is small enough
MEMORY = 5  # of zlib: 16 kB beside its window instead of 128 kB


class SqueezedSocket(WSHandler):
    """Panel's websocket with permessage-deflate, for browsers that offer it (all do).

    A message is several small frames; without ``nodelay`` the second would wait until the browser has
    acknowledged the first, which it puts off by 40 ms.
    """

    def open(self, *args: Any, **names: Any) -> None:
        self.set_nodelay(True)
        super().open(*args, **names)  # type: ignore[no-untyped-call]

    def get_compression_options(self) -> dict[str, Any] | None:
        return {"compression_level": LEVEL, "mem_level": MEMORY}
