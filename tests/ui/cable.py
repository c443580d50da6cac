"""A cable between browser and server that can be pulled and put in again: a TCP proxy."""

from __future__ import annotations

import contextlib
import socket
import threading

CHUNK = 65536


class Cable:
    """Forwards connections to ``port``. ``pull`` breaks them all and refuses new ones, ``plug`` mends it.

    ``swallow`` breaks nothing: it only lets nothing through, as a wireless network out of reach does.
    """

    def __init__(self, port: int) -> None:
        self.target = port
        self.open: set[socket.socket] = set()
        self.plugged = True
        self.through = threading.Event()
        self.through.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def origin(self) -> str:
        return f"127.0.0.1:{self.port}"

    def pull(self) -> None:
        """The network is gone."""
        self.plugged = False
        for end in list(self.open):
            self._drop(end)

    def swallow(self) -> None:
        """Nothing comes through from now on; what is sent waits."""
        self.through.clear()

    def plug(self) -> None:
        """The network is back."""
        self.plugged = True
        self.through.set()

    def close(self) -> None:
        self.pull()
        self.through.set()  # whoever waits finds the ends closed
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.plugged:
                self._join(near)
            else:
                near.close()

    def _join(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            near.close()
            return
        self.open |= {near, far}
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                self.through.wait()
                sink.sendall(data)
        self._drop(source)
        self._drop(sink)

    def _drop(self, end: socket.socket) -> None:
        self.open.discard(end)
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
