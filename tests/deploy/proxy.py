"""The nginx of this machine with the project's own configuration, on ports and in a folder of the test's."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import ordinary_user
from tests.prepare import nginx
from tests.serving import ROOT

CONFIGURATION = ROOT / "app" / "deploy" / "nginx.conf"
PATIENCE = 120.0  # seconds
FRAME = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 512; }}
http {{
    include /etc/nginx/mime.types;
    log_format ticklab '$upstream_addr $status $cookie_ticklab_learner $request_uri';
    access_log {folder}/access.log ticklab;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/ticklab.conf;
}}
"""


class Proxy:
    """A running nginx: its address and which server each request went to."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.url = f"http://127.0.0.1:{port}/lab"

    def requests(self) -> list[tuple[str, int, str, str]]:
        """(server, status, learner, address) of each request that is over; the server that answered last."""
        rows = [line.split(" ") for line in self._lines()]
        return [(row[-4].rpartition(" ")[2], int(row[-3]), row[-2], row[-1]) for row in rows]

    def _lines(self) -> list[str]:
        return (self.folder / "access.log").read_text().splitlines()


@contextmanager
def proxy(servers: Sequence[int], port: int) -> Iterator[Proxy]:
    """nginx, run by an ordinary user, in front of servers on these ports (two, as in the configuration)."""
    program = nginx()
    assert program, "these tests need nginx: python -m tests.prepare installs it"
    folder, other = Path(tempfile.mkdtemp(prefix="ticklab-nginx-")), ordinary_user()
    if "user" in other:
        os.chown(folder, other["user"], other["group"])
    (folder / "ticklab.conf").write_text(filled(servers, port))
    (folder / "nginx.conf").write_text(FRAME.format(folder=folder))
    command = [program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    process = subprocess.Popen(command, **other)
    try:
        _wait(process, port)
        yield Proxy(folder, port)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
        shutil.rmtree(folder)


def filled(servers: Sequence[int], port: int) -> str:
    """The project's configuration with these ports."""
    text = CONFIGURATION.read_text()
    places = {"127.0.0.1:5006": servers[0], "127.0.0.1:5007": servers[1]}
    for place, own in places.items():
        assert text.count(f"server {place} ") == 1
        text = text.replace(f"server {place} ", f"server 127.0.0.1:{own} ")
    assert text.count("listen 8080;") == 1
    return text.replace("listen 8080;", f"listen 127.0.0.1:{port};")


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        assert process.poll() is None, "nginx has ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("nginx does not listen")
