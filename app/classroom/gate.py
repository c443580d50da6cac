"""Who may come in: learners with the code of the class, the teacher with the secret link."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from tornado.web import RequestHandler, create_signed_value, decode_signed_value

from app.classroom.keys import Keys

JOINED = "ticklab_joined"
TEACHER = "ticklab_teacher"
DAYS = {JOINED: 30, TEACHER: 7}
PATHS = {JOINED: "/", TEACHER: "/teach"}  # the learners' one behind the prefix of the lab
MOST_ADDRESSES = 10_000


class Gate:
    """Gives and checks signed cookies. New keys make every old cookie worthless."""

    def __init__(self, keys: Keys, *, behind: str = "") -> None:
        self._cookie_key = keys.cookie
        self._secrets = {JOINED: keys.join.upper(), TEACHER: keys.teacher}
        self._prefix = behind

    def fits(self, name: str, typed: str) -> bool:
        """Whether ``typed`` is the code of the class or the teacher's key."""
        asked = typed.strip().upper() if name == JOINED else typed
        return hmac.compare_digest(asked.encode(), self._secrets[name].encode())

    def admit(self, handler: RequestHandler, name: str) -> None:
        """Let this browser in from now on."""
        # The second half is this browser's own: so are the forms that it may send.
        own = f"{self._mark(name)}:{secrets.token_hex(8)}"
        value = create_signed_value(self._cookie_key, name, own).decode()
        secure = handler.request.protocol == "https"
        handler.set_cookie(
            name,
            value,
            path=PATHS[name] if name == TEACHER else f"{self._prefix}{PATHS[name]}",
            expires_days=DAYS[name],
            httponly=True,
            samesite="Lax",
            secure=secure,
        )

    def admitted(self, handler: RequestHandler, name: str) -> bool:
        """Whether this browser was let in."""
        cookie = handler.get_cookie(name)
        value = decode_signed_value(self._cookie_key, name, cookie, max_age_days=DAYS[name])
        mark = value.partition(b":")[0] if value else b""
        return hmac.compare_digest(mark, self._mark(name).encode())

    def form_token(self, handler: RequestHandler) -> str:
        """What a form of the teacher's page carries: made from the cookie, which no other site can read."""
        cookie = handler.get_cookie(TEACHER) or ""
        return hmac.new(self._cookie_key.encode(), f"form:{cookie}".encode(), hashlib.sha256).hexdigest()

    def form_fits(self, handler: RequestHandler, token: str) -> bool:
        """Whether a form came from a page that this browser was shown."""
        return hmac.compare_digest(token.encode(), self.form_token(handler).encode())

    def _mark(self, name: str) -> str:
        """Stands for the secret in the cookie: whoever reads the cookie does not learn the secret."""
        return hmac.new(self._cookie_key.encode(), self._secrets[name].encode(), hashlib.sha256).hexdigest()


class Patience:
    """How many wrong codes an address may try: ``most`` within ``seconds``.

    Forty learners behind one address may each mistype several times; a code of six signs still takes
    years to guess.
    """

    def __init__(
        self, most: int = 120, seconds: float = 60.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = most
        self.seconds = seconds
        self._clock = clock
        self._wrong: dict[str, tuple[float, int]] = {}

    def is_over(self, address: str) -> bool:
        return self._count(address) >= self.most

    def wrong(self, address: str) -> None:
        """Count a wrong code from ``address``."""
        count = self._count(address)
        since = self._wrong[address][0] if count else self._clock()
        if len(self._wrong) >= MOST_ADDRESSES and address not in self._wrong:
            self._wrong.pop(next(iter(self._wrong)))
        self._wrong[address] = (since, count + 1)

    def _count(self, address: str) -> int:
        since, count = self._wrong.get(address, (0.0, 0))
        return count if count and self._clock() - since < self.seconds else 0
