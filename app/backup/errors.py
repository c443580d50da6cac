"""What keeps a backup from being made or read."""

from __future__ import annotations


class BackupError(ValueError):
    """``code`` names the sentence (``wrong.<code>``), ``values`` fill its blanks."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code, values)
        self.code = code
        self.values = values
