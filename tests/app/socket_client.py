"""The load client's browser without a browser, under the name the tests know it by."""

from app.bench.socket_client import TOKEN, SocketClient, plain, roots, written

__all__ = ["TOKEN", "SocketClient", "plain", "roots", "written"]
