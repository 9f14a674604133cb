"""One keep-alive HTTP/1.1 connection: reads requests, writes responses and acts out faults.

The standard library's request handler parses headers as an e-mail, which takes longer than
everything else here. This module therefore parses the subset of HTTP/1.1 that clients use itself.
"""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

from .faults import Fault
from .routes import HttpRequest, Reply, error

_LONGEST_LINE = 1 << 16
_MOST_HEADERS = 100
_LARGEST_BODY = 1 << 20
_WORTH_PACKING = 1024
_ONE_WRITE = 1 << 16
_LINGER_ZERO = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The response to a request, and the fault to apply to it."""

    reply: Reply
    fault: Fault | None = None


Handle = Callable[[HttpRequest], Outcome]


class Refused(Exception):
    """A malformed request; the connection closes after the response."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class Listener(socketserver.TCPServer):
    """The part of the server that a connection uses."""

    stopping: threading.Event
    outcome: Handle


class Connection(socketserver.StreamRequestHandler):
    """A connection, served by its own thread."""

    disable_nagle_algorithm = True
    server: Listener

    def handle(self) -> None:
        """Serves requests until the client disconnects or a request or fault closes it."""
        try:
            while self._serve_one():
                pass
        except Refused as refused:
            head, body = _encoded(refused.reply, packed=False, close=True)
            self.send(head + body)

    def send(self, data: bytes) -> None:
        """Sends bytes unchanged."""
        self.request.sendall(data)

    def wait(self, seconds: float) -> bool:
        """Waits; returns whether the service is stopping."""
        return self.server.stopping.wait(seconds)

    def reset(self) -> None:
        """Closes the connection at once with a TCP reset."""
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self.request.close()

    def _serve_one(self) -> bool:
        """Serves one request; returns whether another may follow."""
        request, keep = self._read()
        if request is None:
            return False
        outcome = self.server.outcome(request)
        fault = outcome.fault
        packed = "gzip" in _codings(request.headers.get("accept-encoding", ""))
        head, body = _encoded(outcome.reply, packed=packed, close=not keep)
        if fault and fault.kind.act:
            fault.kind.act(self, head, body, fault.details)
            return keep and not fault.kind.closes
        if request.method == "HEAD":
            body = b""
        if len(body) < _ONE_WRITE:
            self.send(head + body)
        else:
            self.send(head)
            self.send(body)
        return keep

    def _read(self) -> tuple[HttpRequest | None, bool]:
        """Returns the next request, or None at the end, and whether to keep the connection."""
        line = self._line()
        while line in (b"\r\n", b"\n"):
            line = self._line()
        if not line:
            return None, False
        words = line.decode("latin-1").split()
        if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
            raise Refused(error(400, "Not a request line of HTTP/1.1"))
        method, target, version = words
        headers = self._headers()
        persistent = "close" if version == "HTTP/1.0" else "keep-alive"
        keep = headers.get("connection", persistent).strip().lower() != "close"
        if "100-continue" in headers.get("expect", "").lower():
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return HttpRequest(method, target, headers, self._body(headers)), keep

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(_MOST_HEADERS):
            line = self._line()
            if line in (b"\r\n", b"\n", b""):
                return headers
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon or name != name.strip():
                raise Refused(error(400, "A header line is malformed"))
            headers[name.lower()] = value.strip()
        raise Refused(error(431, "Too many headers"))

    def _body(self, headers: dict[str, str]) -> bytes:
        if "transfer-encoding" in headers:
            raise Refused(error(411, "The body must come with a Content-Length"))
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise Refused(error(400, "Content-Length is not a number"))
        if len(length) > 9 or int(length) > _LARGEST_BODY:
            raise Refused(error(413, "The body is too large"))
        return self.rfile.read(int(length))

    def _line(self) -> bytes:
        line = self.rfile.readline(_LONGEST_LINE + 1)
        if len(line) > _LONGEST_LINE:
            raise Refused(error(431, "A header line is too long"))
        return line


def _encoded(reply: Reply, *, packed: bool, close: bool) -> tuple[bytes, bytes]:
    """Returns head and body as bytes, compressed if the client accepts it and it is worthwhile."""
    packed = packed and len(reply.body.raw) > _WORTH_PACKING
    body = reply.body.packed() if packed else reply.body.raw
    lines = [
        f"HTTP/1.1 {reply.status} {_phrase(reply.status)}",
        f"Date: {_http_date(int(time.time()))}",
        f"Content-Type: {reply.content_type}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in reply.headers),
    ]
    if packed:
        lines.append("Content-Encoding: gzip")
    if close:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace"), body


@lru_cache(maxsize=256)
def _codings(accepted: str) -> frozenset[str]:
    """Returns the content codings that an Accept-Encoding header allows."""
    found = set()
    for part in accepted.lower().split(","):
        coding, _, weight = part.partition(";")
        if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000"):
            found.add(coding.strip())
    return frozenset(found)


@lru_cache(maxsize=2)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Status"
