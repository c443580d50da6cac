"""How much a cold browser loads, without a browser: the page, what it names, and what that names.

Kinds are ``page``, ``script``, ``sheet``, ``other`` and ``document`` (what the websocket brings).
"""

from __future__ import annotations

import gzip
import json
import re
from urllib.parse import urljoin, urlsplit

from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from app.bench.figures import Weight
from app.bench.socket_client import SocketClient, models_in

LINKS = re.compile(r'<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"]+)"')
IMPORTS = re.compile(r"""\bimport\s*\(\s*[`"']([^`"'$]+)""")
BESIDE = re.compile(r"""\bimport\s*\(\s*`\$\{home\}/([^`"'$]+)""")
HOME = re.compile(r'\bhome = "([^"]+)"')
SHEETS = re.compile(r"""\bstyle\(((?:\s*"[^"]+"\s*,?)+)\)""")
ALWAYS = "lab.css"  # every component's sheet, see components/shared.js
KINDS = {".js": "script", ".mjs": "script", ".css": "sheet"}
MOST = 200  # files; a page that names more has gone wrong


class Visit:
    """The files that one visit loads, and their answers, by address."""

    def __init__(self, page: str, cookie: str = "") -> None:
        self.page = page
        self.client = SocketClient(page, cookie)
        self.answers: dict[str, HTTPResponse] = {}
        self.outside: list[str] = []
        self.document_bytes = 0

    async def load(self) -> None:
        """Load the page, its document, and every file they lead to."""
        await self.client.open()
        self.document_bytes = self.client.bytes_received
        http = SimpleAsyncHTTPClient(force_instance=True, max_clients=6)
        try:
            waiting = self._named()
            while waiting and len(self.answers) < MOST:
                address = waiting.pop(0)
                if address not in self.answers and self._is_ours(address):
                    self.answers[address] = await self._fetch(http, address)
                    waiting += self._leads_to(address)
        finally:
            http.close()
            await self.client.close()

    def _named(self) -> list[str]:
        """What the page and its document name."""
        found = LINKS.findall(self.client.html)
        for _, name, value in models_in(self.client.document):
            if name in ("esm", "url", "css_bundle") and isinstance(value, str) and "\n" not in value:
                found.append(value)
        return [urljoin(self.page, address.replace("&amp;", "&")) for address in found]

    def _is_ours(self, address: str) -> bool:
        ours = urlsplit(address).netloc == urlsplit(self.page).netloc
        if not ours and address not in self.outside:
            self.outside.append(address)
        return ours

    async def _fetch(self, http: SimpleAsyncHTTPClient, address: str) -> HTTPResponse:
        request = HTTPRequest(address, headers={"Accept-Encoding": "gzip"}, decompress_response=False)
        return await http.fetch(request, raise_error=False)

    def _leads_to(self, address: str) -> list[str]:
        """What a script of ours imports, and the sheets that it asks for."""
        if "/components/" not in address or not urlsplit(address).path.endswith(".js"):
            return []
        text, query = body_of(self.answers[address]).decode(), urlsplit(address).query
        found = [urljoin(address, one) for one in IMPORTS.findall(text)]
        for home in HOME.findall(text):
            found += [urljoin(address, f"{home}/{name}") for name in BESIDE.findall(text)]
        shared = [one for one in [*found, *self.answers] if one.partition("?")[0].endswith("/shared.js")]
        sheets = [sheet for group in SHEETS.findall(text) for sheet in re.findall(r'"([^"]+)"', group)]
        if shared:
            found += [urljoin(shared[0], f"../_css/{sheet}") for sheet in (ALWAYS, *sheets)]
        return [f"{one.partition('?')[0]}?{query}" for one in found]


def body_of(answer: HTTPResponse) -> bytes:
    """What was sent, unpacked."""
    return gzip.decompress(answer.body) if answer.headers.get("Content-Encoding") == "gzip" else answer.body


def kind_of(address: str) -> str:
    path = urlsplit(address).path
    return KINDS.get(path[path.rfind(".") :], "other")


async def page_weight(page: str, cookie: str = "") -> Weight:
    """The weight of a cold visit; the second visit asks for what has to be asked for again."""
    visit = Visit(page, cookie)
    await visit.load()
    html = len(gzip.compress(visit.client.html.encode(), 6))
    kinds = {"page": html, "document": visit.document_bytes}
    again = html + visit.document_bytes
    for address, answer in visit.answers.items():
        kinds[kind_of(address)] = kinds.get(kind_of(address), 0) + len(answer.body)
        if not is_kept(answer):
            again += len(json.dumps(dict(answer.headers)))  # a 304: headers, no body
    return Weight(sum(kinds.values()), len(visit.answers) + 2, kinds, visit.outside, again)


def is_kept(answer: HTTPResponse) -> bool:
    """Whether a browser may use it again without asking."""
    age = re.search(r"max-age=(\d+)", answer.headers.get("Cache-Control", ""))
    return age is not None and int(age[1]) > 0
