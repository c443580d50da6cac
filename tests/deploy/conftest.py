from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.classroom.keys import Keys, keys_in
from tests.classroom.running import ClassServing
from tests.deploy.proxy import Proxy, proxy
from tests.postgres import Cluster
from tests.serving import free_port
from tests.ui.conftest import learners

__all__ = ["learners"]


class Pair:
    """Two servers with one database and the same keys, and nginx in front of them."""

    def __init__(self, servers: list[ClassServing], front: Proxy, database: str, keys: Keys) -> None:
        self.servers, self.front, self.database, self.keys = servers, front, database, keys
        self.url = front.url
        self.page = f"{front.url}/app"

    def of(self, address: str) -> ClassServing:
        """The server that nginx calls so."""
        return next(server for server in self.servers if address == f"127.0.0.1:{server.port}")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster) -> Iterator[Pair]:
    folder, front = tmp_path_factory.mktemp("pair"), free_port()
    keys = keys_in(folder / "shared")
    servers = []
    with cluster.lent(tables=False) as database:
        try:
            for name in ("one", "two"):
                (folder / name).mkdir()
                server = ClassServing(folder / name)
                server.options = ["--database-url", database, "--keys", str(folder / "shared" / "keys.json")]
                server.options += ["--prefix", "/lab", "--xheaders", "true"]
                server.options += ["--public-url", f"http://127.0.0.1:{front}/lab/"]
                servers.append(server)
                server.start()
            with proxy([server.port for server in servers], front) as running:
                yield Pair(servers, running, database, keys)
        finally:
            for server in servers:
                server.stop()
