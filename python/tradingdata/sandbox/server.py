"""The sandbox's TCP server on loopback, with one thread for each connection."""

from __future__ import annotations

import socket
import socketserver
import sys
import threading
import time
from typing import Any

from .._util.platform import end_connection, own_port
from .connection import Connection, Handle, Listener

_JOIN_SECONDS = 2.0
_LONGEST_STOP = 0.02  # seconds that the end of the accepting thread may take


class Server(socketserver.ThreadingMixIn, Listener):
    """A server on 127.0.0.1 with a daemon thread for each connection.

    `outcome` returns the response to a request; it is called on the connection's thread.
    """

    request_queue_size = 128

    def __init__(self, port: int, outcome: Handle) -> None:
        self.outcome = outcome
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._answering: set[threading.Thread] = set()
        super().__init__(("127.0.0.1", port), Connection)
        self._thread = threading.Thread(
            target=self.serve_forever,
            args=(_LONGEST_STOP,),
            name="tradingdata-sandbox",
            daemon=True,
        )
        self._thread.start()

    def server_bind(self) -> None:
        """Binds the port so that no other program can listen on it too."""
        own_port(self.socket)
        super().server_bind()

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return int(self.socket.getsockname()[1])

    def stop(self) -> None:
        """Closes the port and every connection, and waits for their threads."""
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._lock:
            still_open, threads = list(self._open), list(self._answering)
        for connection in still_open:
            end_connection(connection)
        until = time.monotonic() + _JOIN_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts the connection's thread, and remembers the connection until it ends."""
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="tradingdata-sandbox-connection",
            daemon=True,
        )
        with self._lock:
            # A thread briefly outlives its connection, so it is dropped only once it has ended.
            self._answering = {known for known in self._answering if known.is_alive()}
            self._open.add(request)
            thread.start()
            self._answering.add(thread)

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection and stops tracking it."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Reports errors on stderr, except that clients may disconnect at any time."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
