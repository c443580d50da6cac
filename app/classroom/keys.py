"""What must stay secret: made once, kept in a file that only this user may read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

import msgspec

FILE = "keys.json"
READABLE = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # nothing that looks like something else
CODE_LENGTH = 6


class Keys(msgspec.Struct, frozen=True):
    """``session`` signs session ids, ``cookie`` signs cookies, ``teacher`` opens the teacher's page,
    ``join`` is the code of the class (read aloud, so no secret among those in the room)."""

    session: str
    cookie: str
    teacher: str
    join: str


class KeysError(ValueError):
    """The file of the keys cannot be used; ``code`` says why."""

    def __init__(self, code: str, file: Path) -> None:
        super().__init__(f"{code}: {file}")
        self.code = code
        self.file = file


def new_keys() -> Keys:
    code = "".join(secrets.choice(READABLE) for _ in range(CODE_LENGTH))
    return Keys(secrets.token_hex(32), secrets.token_hex(32), secrets.token_urlsafe(24), code)


def keys_in(folder: Path) -> Keys:
    """The keys kept in ``folder``, made when there are none. Raises KeysError, OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / FILE
    if not file.exists():
        _put(file, new_keys())
    return shared_keys(file)


def shared_keys(file: Path) -> Keys:
    """The keys in ``file``, which several servers may read. Raises KeysError, OSError."""
    if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise KeysError("open", file)
    try:
        keys = msgspec.json.decode(file.read_bytes(), type=Keys)
    except msgspec.DecodeError as error:
        raise KeysError("broken", file) from error
    if min(len(keys.session), len(keys.cookie), len(keys.teacher)) < CODE_LENGTH or not keys.join:
        raise KeysError("broken", file)
    return keys


def _put(file: Path, keys: Keys) -> None:
    """Make ``file`` whole or not at all; of two servers that start at once, the first one's keys count."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(msgspec.json.encode(keys))
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
