"""What browsers are told about our pages: what may run in them, who may frame them, what leaks to others."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
import secrets

from markupsafe import Markup
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import OutputTransform

from app.settings import settings

# The one script that stands in every page: without it a dark page would flash in white.
THEME_SCRIPT = Markup(
    'try{document.documentElement.dataset.theme=localStorage.getItem("ticklab:theme")||"auto"}catch{}'
)
THEME_HASH = base64.b64encode(hashlib.sha256(THEME_SCRIPT.encode()).digest()).decode()

POLICY = "Content-Security-Policy"
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def new_nonce() -> str:
    """For one answer: marks the scripts in it that are ours."""
    return secrets.token_urlsafe(18)


def page_policy(nonce: str | None = None) -> str:
    """The policy of a page of the lab; with ``nonce``, of one that starts Bokeh.

    Scripts come from this server, by address or with the nonce; ``blob:`` is how Panel loads a
    component's module: it fetches it and imports what it has fetched. Nothing is ever evaluated.
    Styles may be inline: Bokeh writes style elements into its shadow roots.
    """
    scripts = f"'self' 'sha256-{THEME_HASH}'" + (f" 'nonce-{nonce}' blob:" if nonce else "")
    return (
        f"default-src 'self'; script-src {scripts}; script-src-attr 'none'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; "
        f"frame-ancestors {framers()}"
    )


def reading_policy() -> str:
    """The policy of the pages without JavaScript."""
    return (
        "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {framers()}"
    )


def framers() -> str:
    """Who may show our pages in a frame: this server, and the sites that were set."""
    return " ".join(["'self'", *settings().frame_ancestors.split()])


def with_nonce(scripts: str, nonce: str) -> str:
    """``scripts``, which Bokeh made, with the nonce on each; Panel's loader of modules looks for it there.

    Their data is escaped in them, so that nothing a learner wrote can look like one of these tags.
    """
    return re.sub(r'<script(?=>| type="text/javascript")', f'<script nonce="{nonce}"', scripts)


class SafeHeaders(OutputTransform):
    """Puts what every answer must say into its head, unless its handler has said something else."""

    def __init__(self, request: HTTPServerRequest) -> None:
        self._opener = request.protocol == "https" or _is_local(request.host_name)

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        for name, value in COMMON.items():
            headers.setdefault(name, value)
        headers.setdefault(POLICY, NOTHING)
        if self._opener:  # elsewhere browsers ignore it, and complain
            headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        headers.pop("Server", None)
        return status_code, headers, chunk


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
