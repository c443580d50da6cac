"""What all handlers of a class share."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from app.classroom.addresses import EVERYWHERE, hosts, is_private_to_this_machine
from app.classroom.gate import Gate, Patience
from app.classroom.judging import Judge
from app.classroom.keys import Keys
from app.classroom.options import Options


class Classroom:
    """One class of one server: its settings, its keys, who may come in, under which addresses."""

    def __init__(self, options: Options, keys: Keys) -> None:
        self.options = options
        self.keys = msgspec.structs.replace(keys, join=(options.join_code or keys.join).upper())
        self.gate = Gate(self.keys, behind=options.prefix)
        self.patience = Patience()
        self.judge = Judge()
        self.hosts = hosts(options.address)

    @property
    def data(self) -> Path:
        return Path(self.options.data)

    @property
    def is_public(self) -> bool:
        """Whether other machines can reach it."""
        address = self.options.address
        private = address not in EVERYWHERE and is_private_to_this_machine(address)
        return bool(self.options.public_url) or not private

    @property
    def origins(self) -> list[str]:
        """The names under which a browser may open a websocket: those that are printed, and those given."""
        own = [f"{host}:{self.options.port}" for host in self.hosts]
        names = [*self.options.origins.split(","), urlsplit(self.options.public_url).netloc]
        given = [name.strip() for name in names if name.strip()]
        return list(dict.fromkeys(own + given))

    @property
    def addresses(self) -> list[str]:
        """What learners may type, the best first: the address of the proxy where there is one."""
        options = self.options
        if options.public_url:
            return [f"{options.public_url.rstrip('/')}/"]
        return [f"http://{host}:{options.port}{options.prefix}/" for host in self.hosts]

    @property
    def invitation(self) -> str:
        """The address with the code in it, for the QR code."""
        return f"{self.addresses[0]}?code={self.keys.join}"

    @property
    def teacher_port(self) -> int:
        """The port of the teacher's page: the one that was set, else the next after the learners'."""
        return self.options.teacher_port or self.options.port + 1

    @property
    def teacher_link(self) -> str:
        host = hosts(self.options.teacher_address)[0]
        return f"http://{host}:{self.teacher_port}/teach?key={self.keys.teacher}"
