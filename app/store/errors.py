"""What can go wrong with the database, told apart by who has to do what about it."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

# ``code`` by the beginning of what SQLite calls its error, and of PostgreSQL's state. First fit counts.
SQLITE = {
    "SQLITE_BUSY": "locked",
    "SQLITE_LOCKED": "locked",
    "SQLITE_FULL": "full",
    "SQLITE_IOERR": "disk",
    "SQLITE_READONLY_DBMOVED": "gone",
    "SQLITE_READONLY": "readonly",
    "SQLITE_CANTOPEN": "gone",
    "SQLITE_CORRUPT": "broken",
    "SQLITE_NOTADB": "broken",
    "SQLITE_PERM": "readonly",
    "SQLITE_AUTH": "readonly",
}
POSTGRESQL = {
    "55P03": "locked",
    "57014": "locked",
    "40P01": "locked",
    "53100": "full",
    "58030": "disk",
    "25006": "readonly",
    "42501": "readonly",
    "28": "unreachable",
    "3D": "unreachable",
    "08": "unreachable",
    "53": "unreachable",
    "57P": "unreachable",
    "XX00": "broken",
}


class StoreError(ConnectionError):
    """The database did not do what it was asked, and nothing has changed in it.

    ``code`` names the sentence (``database.<code>`` of the journal); ``detail`` is the database's own
    short name of the error. Neither holds a row, a password or an address.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"the database cannot be read or written: {code} {detail}".rstrip())
        self.code = code
        self.detail = detail


def store_error(error: Exception) -> StoreError:
    """``error``, whatever library raised it, as a StoreError. The texts of drivers are left out: they
    may hold rows, and the parts of an address."""
    if isinstance(error, StoreError):
        return error
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(error, (ModuleNotFoundError, NoSuchModuleError)):
        return StoreError("driver", getattr(error, "name", None) or "")
    name = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    if name:
        return StoreError(_code(name, SQLITE if name.startswith("SQLITE") else POSTGRESQL), name)
    if isinstance(cause, FileNotFoundError):
        return StoreError("gone")
    if _is_of_connection(error, cause):
        return StoreError("unreachable", type(cause).__name__)
    return StoreError("failed", type(cause).__name__)


def _code(name: str, codes: dict[str, str]) -> str:
    return next((code for start, code in codes.items() if name.startswith(start)), "failed")


def _is_of_connection(error: Exception, cause: BaseException) -> bool:
    """Whether a driver said this of a connection; psycopg gives such errors no state."""
    if isinstance(cause, sqlite3.Error) or not isinstance(error, SQLAlchemyError):
        return False
    return type(cause).__name__ in ("OperationalError", "ConnectionTimeout", "TimeoutError", "InterfaceError")
