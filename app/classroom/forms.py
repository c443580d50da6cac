"""Forms are taken from our own pages only."""

from __future__ import annotations

from tornado.web import HTTPError, RequestHandler


def same_origin(origin: str | None, scheme: str, host: str) -> bool:
    """Whether a form was sent from one of our own pages."""
    return origin == f"{scheme}://{host}"


def demand_own_form(handler: RequestHandler) -> None:
    """403 for a form that another site sends in the teacher's name."""
    request = handler.request
    if not same_origin(request.headers.get("Origin"), request.protocol, request.host):
        raise HTTPError(403)
