"""Scripts and style sheets gzip-compressed: 2.9 MB of JavaScript travel as 0.8. Each file is packed once."""

from __future__ import annotations

import asyncio
import gzip
from functools import lru_cache
from typing import Any

from bokeh.server.views.multi_root_static_handler import MultiRootStaticHandler
from bokeh.server.views.static_handler import StaticHandler
from panel.io.server import ComponentResourceHandler
from tornado.web import HTTPError, StaticFileHandler

WORTHWHILE = (".js", ".mjs", ".css", ".svg", ".json", ".map")
OURS = ("app.components.", "app.pages.", "app.play.desk/")


@lru_cache(maxsize=256)
def packed(path: str, modified: float) -> bytes:
    """The file at ``path`` compressed; ``modified`` keeps an edited file from being served old."""
    with open(path, "rb") as file:
        return gzip.compress(file.read(), compresslevel=6)


class Compressed(StaticFileHandler):
    """Serves what its parent serves, compressed where the browser takes it and it is worth it."""

    async def get(self, path: str, include_body: bool = True) -> None:
        if not path.endswith(WORTHWHILE) or not self._takes_gzip():
            self.set_header("Vary", "Accept-Encoding")
            await super().get(path, include_body)
            return
        found = self.validate_absolute_path(self.root, self.get_absolute_path(self.root, self._located(path)))
        if found is None:
            return
        self.absolute_path = found
        await self._send_packed(include_body)

    def set_extra_headers(self, path: str) -> None:
        """An address without a version may change what it holds: to be asked for again, which costs a 304."""
        super().set_extra_headers(path)
        if "v" not in self.request.arguments:
            self.set_header("Cache-Control", "no-cache")

    def _located(self, path: str) -> str:
        self.path = self.parse_url_path(path)
        return self.path

    def _takes_gzip(self) -> bool:
        headers = self.request.headers
        return "gzip" in headers.get("Accept-Encoding", "") and "Range" not in headers

    async def _send_packed(self, include_body: bool) -> None:
        self.modified = self.get_modified_time()
        self.set_headers()
        self.set_header("Vary", "Accept-Encoding")
        self.set_header("Content-Encoding", "gzip")
        if self.should_return_304():
            self.set_status(304)
            return
        loop = asyncio.get_running_loop()
        changed = self.modified.timestamp() if self.modified else 0.0
        body = await loop.run_in_executor(None, packed, str(self.absolute_path), changed)
        self.set_header("Content-Length", len(body))
        if include_body:
            self.write(body)


class Scripts(Compressed, StaticHandler):
    """BokehJS."""


class Extensions(Compressed, MultiRootStaticHandler):
    """What Panel adds to BokehJS."""


class ComponentFiles(Compressed, ComponentResourceHandler):
    """The scripts and sheets of our components.

    Panel imports whatever module such an address names; here only our components may be named, so
    that no visitor can make the server import torch, or anything else.
    """

    def parse_url_path(self, path: str) -> str:
        if not path.startswith(OURS):
            raise HTTPError(404)
        return super().parse_url_path(path)

    def compute_etag(self) -> Any:
        return StaticFileHandler.compute_etag(self)
