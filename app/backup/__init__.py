"""A whole class in one file, and back: from SQLite to PostgreSQL too."""

from app.backup.errors import BackupError
from app.backup.restoring import restore
from app.backup.saving import backup

__all__ = ["BackupError", "backup", "restore"]
