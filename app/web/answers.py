"""How answers go out, whichever server they come from."""

from __future__ import annotations

from tornado.web import Application, GZipContentEncoding


def compress_answers(application: Application) -> None:
    """Let text be compressed on its way; what is compressed already stays as it is."""
    if GZipContentEncoding not in application.transforms:
        application.add_transform(GZipContentEncoding)
