"""What the service has seen: connections and requests, and waiting for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .request import Request


@dataclass
class Opened:
    """One TCP connection; `closed_at` is time.monotonic(), the handshake sets `tls` and `alpn`.

    `unfinished` is what came of a request that the client did not send to its end.
    """

    number: int
    closed_at: float | None = None
    tls: str | None = None
    alpn: str | None = None
    unfinished: bytes = b""


class Log:
    """The record of one service; every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._connections: list[Opened] = []
        self._errors: list[Exception] = []

    @property
    def requests(self) -> list[Request]:
        """The requests in the order in which their last bytes came."""
        with self._changed:
            return list(self._requests)

    @property
    def connections(self) -> list[Opened]:
        """The connections in the order in which they were accepted."""
        with self._changed:
            return list(self._connections)

    @property
    def open_connections(self) -> int:
        """How many connections neither side has closed."""
        with self._changed:
            return self._open()

    @property
    def errors(self) -> list[Exception]:
        """What no script asked for: unscripted and malformed requests, broken behaviours."""
        with self._changed:
            return list(self._errors)

    def wait_for_requests(self, count: int, timeout: float = 30.0) -> list[Request]:
        """Wait for `count` requests and return all; AssertionError after `timeout` seconds."""
        self._wait(lambda: len(self._requests) >= count, timeout, f"{count} requests")
        return self.requests

    def wait_for_connections(self, count: int, timeout: float = 30.0) -> list[Opened]:
        """Wait for `count` connections and return all; AssertionError after `timeout` seconds."""
        self._wait(lambda: len(self._connections) >= count, timeout, f"{count} connections")
        return self.connections

    def wait_for_open(self, count: int, timeout: float = 30.0) -> None:
        """Wait until just `count` connections are open; AssertionError after `timeout` seconds."""
        self._wait(lambda: self._open() == count, timeout, f"{count} open connections")

    def _open(self) -> int:
        return sum(connection.closed_at is None for connection in self._connections)

    def _wait(self, done: Callable[[], bool], timeout: float, what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(done, timeout):
                raise AssertionError(
                    f"not {what} in {timeout} s: {len(self._requests)} requests, "
                    f"{len(self._connections)} connections, {self._open()} open"
                )

    def _add_connection(self) -> Opened:
        with self._changed:
            opened = Opened(number=len(self._connections))
            self._connections.append(opened)
            self._changed.notify_all()
            return opened

    def _close_connection(self, opened: Opened) -> None:
        with self._changed:
            opened.closed_at = time.monotonic()
            self._changed.notify_all()

    def _add_request(self, request: Request) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def _add_error(self, error: Exception) -> None:
        with self._changed:
            self._errors.append(error)
