"""One keep-alive HTTP/1.1 connection: serves requests and simulates faults.

The standard library parses the requests; undocumented ones are refused by `routes`.
"""

from __future__ import annotations

import gzip
import socketserver
import threading
from collections.abc import Callable
from email.message import Message
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

from .._util.platform import reset_on_close
from .faults import Fault
from .routes import HttpRequest, Reply, error

_LARGEST_BODY = 1 << 20
_WORTH_PACKING = 1024

# Equal bodies give equal bytes. Cached, because a poll mostly repeats the response before it.
_packed = lru_cache(maxsize=16)(partial(gzip.compress, compresslevel=1, mtime=0))


Handle = Callable[[HttpRequest], tuple[Reply, Fault | None]]
"""Returns the response to a request, and the fault to apply to it."""


class Listener(socketserver.TCPServer):
    """The part of the server that a connection uses."""

    stopping: threading.Event
    outcome: Handle


class Connection(BaseHTTPRequestHandler):
    """A connection, served by its own thread."""

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.1"  # else a malformed request gets a response without headers
    disable_nagle_algorithm = True
    server: Listener

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any method, since it is the routes that refuse the wrong ones
            return self._respond
        raise AttributeError(name)

    def send(self, data: bytes) -> None:
        """Sends bytes unchanged."""
        self.request.sendall(data)

    def wait(self, seconds: float) -> bool:
        """Waits; returns whether the service is stopping."""
        return self.server.stopping.wait(seconds)

    def reset(self) -> None:
        """Closes the connection at once with a TCP reset."""
        reset_on_close(self.request)
        self.request.close()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuses a malformed request in the form of the service; the connection then closes."""
        self.close_connection = True
        reply = error(code, message or HTTPStatus(code).phrase)
        self.send(self._head(reply, len(reply.body)) + reply.body)

    def log_message(self, *_: object) -> None:
        """Does nothing: `Service.requests` is the log."""

    def _respond(self) -> None:
        refusal = _refusal(self.headers)
        if refusal:
            return self.send_error(*refusal)
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = HttpRequest(self.command, self.path, self.headers, content)
        reply, fault = self.server.outcome(request)
        body = reply.body
        packed = len(body) > _WORTH_PACKING and "gzip" in _codings(self.headers)
        if packed:
            body = _packed(body)
        head = self._head(reply, len(body), *(["Content-Encoding: gzip"] if packed else []))
        if fault and fault.kind.act:
            fault.kind.act(self, head, body, fault.details)
            self.close_connection |= fault.kind.closes
        else:
            self.send(head + (b"" if self.command == "HEAD" else body))

    def _head(self, reply: Reply, length: int, *more: str) -> bytes:
        """Returns the status line and the headers of a response."""
        phrase = self.responses.get(reply.status, ("Status",))[0]
        lines = [
            f"HTTP/1.1 {reply.status} {phrase}",
            f"Date: {self.date_time_string()}",
            f"Content-Type: {reply.content_type}",
            f"Content-Length: {length}",
            *(f"{name}: {value}" for name, value in reply.headers),
            *more,
            *(["Connection: close"] if self.close_connection else []),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _refusal(headers: Message) -> tuple[int, str] | None:
    """Returns the status and the message for headers that cannot be served."""
    length = headers.get("Content-Length", "0")
    if headers.defects:
        return 400, "A header line is malformed"
    if "Transfer-Encoding" in headers:
        return 411, "The body must come with a Content-Length"
    if not (length.isascii() and length.isdigit()):
        return 400, "Content-Length is not a number"
    if len(length) > 9 or int(length) > _LARGEST_BODY:
        return 413, "The body is too large"
    return None


def _codings(headers: Message) -> set[str]:
    """Returns the content codings that the Accept-Encoding header allows."""
    parts = (part.partition(";") for part in headers.get("Accept-Encoding", "").lower().split(","))
    return {
        coding.strip()
        for coding, _, weight in parts
        if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    }
