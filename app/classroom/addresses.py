"""Under which names browsers reach this server."""

from __future__ import annotations

import ipaddress
import socket

EVERYWHERE = ("0.0.0.0", "::")
NOWHERE = ("192.0.2.1", 9)  # an address for documentation: no packet is sent to learn one's own


def hosts(address: str) -> list[str]:
    """The hosts that learners may type for a server that listens on ``address``, the best first."""
    if address not in EVERYWHERE:
        return [address, "localhost"] if is_private_to_this_machine(address) else [address]
    own = [*_network_addresses(), "127.0.0.1", "localhost"]
    return list(dict.fromkeys(own))


def is_private_to_this_machine(address: str) -> bool:
    """Whether nobody else can reach ``address``."""
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"


def _network_addresses() -> list[str]:
    found = [_outward(), *_of_own_name()]
    return [one for one in found if one and not ipaddress.ip_address(one).is_loopback]


def _outward() -> str:
    """The address with which this machine would speak to the network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _of_own_name() -> list[str]:
    try:
        return [str(a) for a in socket.gethostbyname_ex(socket.gethostname())[2]]
    except OSError:
        return []


def is_free(address: str, port: int) -> bool:
    """Whether a server could listen there. Raises OSError when the address is not this machine's."""
    family = socket.getaddrinfo(address.strip("[]"), port, type=socket.SOCK_STREAM)[0][0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.strip("[]"), port))
        except OSError as error:
            if error.errno in (98, 48, 10048):  # in use: Linux, macOS, Windows
                return False
            raise
    return True
