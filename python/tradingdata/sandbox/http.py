"""HTTP/1.1 on loopback: a thread for each keep-alive connection, which also simulates faults.

The standard library parses the requests; undocumented ones are refused by `service`.
"""

from __future__ import annotations

import re
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

from .._util.declarations import CALLS
from .._util.platform import end_connection, own_port
from .faults import Fault, Reply

_JOIN_SECONDS = 2.0
_IDLE_SECONDS = 60.0  # that a connection may wait for a request, or for the rest of one
_MOST_CONNECTIONS = 256
_MOST_BYTES = 64 * 1024  # of the body of a request
# A page in a browser may send requests to this computer under a name of its own.
_OWN_NAMES = ("", "127.0.0.1", "localhost", "[::1]")
_LONGEST_STOP = 0.02  # seconds that the end of the accepting thread may take
_PORT = re.compile(r":\d*$")
_BY_PATH = {call["path"]: name for name, call in CALLS.items()}


class RequestHandler(BaseHTTPRequestHandler):
    """A connection, served by its own thread, with its current request.

    Attributes:
        query: The query parameters; of a repeated one, the last value.
        body: The body of the request.
    """

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.1"  # else a malformed request gets a response without headers
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    server: Server
    query: Mapping[str, str]
    body: bytes

    @property
    def endpoint(self) -> str | None:
        """The name of the endpoint at the path of the request, or None."""
        return _BY_PATH.get(self.path)

    @property
    def token(self) -> str | None:
        """The bearer token, if one was sent."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if scheme == "Bearer" else None

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):  # any method, since it is the routes that refuse the wrong ones
            return self._respond
        raise AttributeError(name)

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Returns the market time, for the header ``Date``."""
        return super().date_time_string(self.server.clock())

    def log_message(self, *_: object) -> None:
        """Does nothing: `Service.requests` is the log."""

    def _respond(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers:
            return self.send_error(HTTPStatus.LENGTH_REQUIRED)
        if not (length.isascii() and length.isdigit()):
            return self.send_error(HTTPStatus.BAD_REQUEST)
        if len(length) > len(str(_MOST_BYTES)) or int(length) > _MOST_BYTES:
            return self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if _PORT.sub("", self.headers.get("Host", "")).lower() not in _OWN_NAMES:
            return self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        self.body = self.rfile.read(int(length))
        self.path, _, text = self.path.partition("?")
        self.query = dict(parse_qsl(text, keep_blank_values=True))
        reply, fault = self.server.outcome(self)
        sent = b"" if self.command == "HEAD" else reply.body
        if fault is not None and fault.name != "status":
            self.close_connection = True
        if fault is not None and fault.name == "stall":
            self.server.stopping.wait(float(fault.details["seconds"]))
            return
        if fault is not None and fault.name == "cut":
            sent = sent[: int(len(sent) * float(fault.details["at"]))]
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(sent)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server on 127.0.0.1 with a daemon thread for each connection.

    `outcome` returns the response to a request, and the fault to apply to it; it is called on the
    connection's thread. `clock` returns the market time as seconds since the epoch.
    """

    request_queue_size = 128

    def __init__(
        self,
        port: int,
        outcome: Callable[[RequestHandler], tuple[Reply, Fault | None]],
        clock: Callable[[], float],
    ) -> None:
        self.outcome = outcome
        self.clock = clock
        self.stopping = threading.Event()
        self._connections: dict[socket.socket, threading.Thread] = {}
        super().__init__(("127.0.0.1", port), RequestHandler)
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

    def stop(self) -> None:
        """Closes the port and every connection, and waits for their threads."""
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in self._connections:
            end_connection(connection)
        until = time.monotonic() + _JOIN_SECONDS
        for thread in self._connections.values():
            thread.join(max(0.0, until - time.monotonic()))

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts the connection's thread, which `stop` ends; ends the oldest one of too many."""
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="tradingdata-sandbox-connection",
            daemon=True,
        )
        known = {
            connection: its_thread
            for connection, its_thread in self._connections.items()
            if its_thread.is_alive()
        }
        if len(known) >= _MOST_CONNECTIONS:
            oldest = next(iter(known))
            end_connection(oldest)
            known.pop(oldest).join(_JOIN_SECONDS)
        self._connections = {**known, request: thread}
        thread.start()

    def handle_error(self, request: Any, client_address: object) -> None:
        """Reports errors on stderr, except that clients may disconnect at any time."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
