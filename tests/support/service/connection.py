"""A connection of the service, and the requests that come on it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import ssl
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast
from urllib.parse import parse_qsl

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE
RECEIVED = 65536
# Closing on a client that is still sending makes a reset, which may overtake the reply.
LINGER = 0.25
STOPPED = "the service stops"
# poll() needs no descriptor of its own, so the service goes on when a test has used them all up.
Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class ConnectionOver(Exception):
    """The client has gone, or the service stops."""


def ready(sockets: dict[socket.socket, int], timeout: float | None) -> list[socket.socket]:
    """Wait until a socket is ready for its events; an empty list after `timeout` seconds."""
    with Selector() as selector:
        for sock, events in sockets.items():
            selector.register(sock, events)
        return [cast("socket.socket", key.fileobj) for key, _ in selector.select(timeout)]


class Connection:
    """A socket that never blocks for good: each wait ends when the service stops.

    Behaviours use `send`, `receive`, `pause`, `close`, `reset`, `request` and `respond_next_with`.
    """

    clock = staticmethod(time.monotonic)

    def __init__(self, sock: socket.socket, *, number: int, wake: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = number
        self.socket = sock
        self.closed = False
        self.override: Behaviour | None = None
        self._wake = wake
        self._inbox = bytearray()
        self._request: Request | None = None

    @property
    def request(self) -> Request:
        """The request to respond to; a LookupError before the first one."""
        if self._request is None:
            raise LookupError("this connection has not sent a request yet")
        return self._request

    @request.setter
    def request(self, request: Request) -> None:
        self._request = request

    def start_tls(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        """Do the server's side of a TLS handshake; what goes wrong in it is an OSError."""
        secure = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.socket = secure
        while True:
            try:
                secure.do_handshake()
                return secure
            except ssl.SSLWantReadError:
                self._wait(READ, None)
            except ssl.SSLWantWriteError:
                self._wait(WRITE, None)

    def send(self, data: bytes) -> None:
        """Send every byte; ConnectionOver when the client has gone."""
        view = memoryview(data)
        while view:
            # Waiting first lets a stop end a flood whose client never lets it block.
            self._wait(WRITE, None)
            try:
                view = view[self.socket.send(view) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                continue
            except ssl.SSLWantReadError:
                self._wait(READ, None)
            except OSError as error:
                raise ConnectionOver(str(error)) from error

    def receive(self, timeout: float | None = None) -> bytes:
        """Return what arrives: b"" at the client's end, ConnectionOver after `timeout` seconds."""
        if self._inbox:
            data = bytes(self._inbox)
            self._inbox.clear()
            return data
        while (arrived := self._arrived()) is None:
            if not self._wait(READ, timeout):
                raise ConnectionOver(f"nothing came in {timeout} s")
        return arrived

    def peek(self) -> bytes:
        """Return the next byte and leave it there; b"" at the client's end."""
        if not self._inbox:
            self._more()
        return bytes(self._inbox[:1])

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer if the client closes first."""
        while len(self._inbox) < size and self._more():
            pass
        return self._cut(size)

    def take_through(self, marker: bytes, *, limit: int) -> bytes:
        """Return the bytes through `marker`; what there is at the client's end or past `limit`."""
        searched = 0
        while (found := self._inbox.find(marker, searched)) < 0 and len(self._inbox) < limit:
            searched = max(0, len(self._inbox) - len(marker) + 1)
            if not self._more():
                break
        return self._cut(found + len(marker) if found >= 0 else len(self._inbox))

    def pause(self, seconds: float | None) -> None:
        """Wait (None: for ever); ConnectionOver once the client closes or the service stops."""
        end = None if seconds is None else self.clock() + seconds
        while True:
            arrived = self._arrived()
            if arrived == b"":
                raise ConnectionOver("the client closed")
            if arrived:
                self._inbox += arrived
                continue
            left = None if end is None else max(0.0, end - self.clock())
            if not self._wait(READ, left):
                return

    def beside(self, sock: socket.socket) -> Connection:
        """Wrap another socket so that its waits end when the service of this connection stops."""
        return Connection(sock, number=self.number, wake=self._wake)

    def either(self, other: Connection) -> list[Connection]:
        """Wait until this connection, the other one or both have bytes or an end to receive."""
        if self._inbox:
            return [self]
        sockets = ready({self.socket: READ, other.socket: READ, self._wake: READ}, None)
        if self._wake in sockets:
            raise ConnectionOver(STOPPED)
        return [side for side in (self, other) if side.socket in sockets]

    def respond_next_with(self, behaviour: Behaviour) -> None:
        """Respond to the next request on this connection so, whatever the script says."""
        self.override = behaviour

    def close(self, *, notify: bool = True) -> None:
        """End the connection in order; over TLS with a close_notify, unless `notify` is False."""
        if self.closed:
            return
        self.closed = True
        if isinstance(self.socket, ssl.SSLSocket) and notify:
            with contextlib.suppress(OSError, ValueError):
                self.socket.unwrap()
        if self._request is None:
            self._linger()
        self.socket.close()

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        self.closed = True
        with contextlib.suppress(OSError):
            linger = struct.pack("ii" if os.name == "posix" else "HH", 1, 0)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.socket.close()

    def _linger(self) -> None:
        with contextlib.suppress(OSError, ConnectionOver):
            self.socket.shutdown(socket.SHUT_WR)
            end = self.clock() + LINGER
            while (left := end - self.clock()) > 0 and self.receive(left):
                pass

    def _wait(self, events: int, timeout: float | None) -> bool:
        sockets = ready({self.socket: events, self._wake: READ}, timeout)
        if self._wake in sockets:
            raise ConnectionOver(STOPPED)
        return bool(sockets)

    def _arrived(self) -> bytes | None:
        """Return what can be read now: None if nothing, b"" at the client's end."""
        try:
            return self.socket.recv(RECEIVED)
        except (BlockingIOError, ssl.SSLWantReadError):
            return None
        except OSError:
            return b""

    def _more(self) -> bool:
        while (arrived := self._arrived()) is None:
            self._wait(READ, None)
        self._inbox += arrived
        return bool(arrived)

    def _cut(self, size: int) -> bytes:
        data = bytes(self._inbox[:size])
        del self._inbox[:size]
        return data


Behaviour: TypeAlias = Callable[[Connection], None]


HEAD_LIMIT = 2**20
TLS_HANDSHAKE = b"\x16"


class BadRequest(Exception):
    """What the client sent is no HTTP/1.1 request."""


class TlsHello(Exception):
    """The client speaks TLS to a plain port."""


class CutRequest(ConnectionOver):
    """The client closed in the middle of a request; `raw` is what came of it."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(f"a request was cut after {len(raw)} bytes")
        self.raw = raw


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request; `raw` is head and body as received, `at` is time.monotonic() at its end."""

    raw: bytes
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connection: int
    at: float

    @property
    def head(self) -> bytes:
        """The request line and the headers, with the empty line behind them."""
        return self.raw[: self.raw.index(b"\r\n\r\n") + 4]

    @property
    def path(self) -> str:
        """The target without its query, still percent-encoded."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        """The query's names and values, decoded; what is not UTF-8 raises UnicodeDecodeError."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True, errors="strict")

    def header_values(self, name: str) -> list[str]:
        """Return every value of a header, the name in any case."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """Return the value of a header, None if it is not there; a repeated one is a ValueError."""
        values = self.header_values(name)
        if len(values) > 1:
            raise ValueError(f"{name} was sent {len(values)} times: {values}")
        return values[0] if values else None

    def json(self) -> object:
        """Return the body, parsed."""
        parsed: object = json.loads(self.body)
        return parsed


def read_request(connection: Connection) -> Request | None:
    """Read the next request; None if the client closes before its first byte.

    Raises BadRequest, TlsHello or CutRequest for what is no whole request.
    """
    first = connection.peek()
    if not first:
        return None
    if first == TLS_HANDSHAKE:
        raise TlsHello
    head = connection.take_through(b"\r\n\r\n", limit=HEAD_LIMIT)
    if not head.endswith(b"\r\n\r\n"):
        if len(head) >= HEAD_LIMIT:
            raise BadRequest(f"the head does not end: {head[:200]!r}")
        raise CutRequest(head)
    lines = head[:-4].decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3:
        raise BadRequest(f"the request line has not three words: {lines[0]!r}")
    headers = tuple(_header(line) for line in lines[1:])
    try:
        body = _body(connection, headers)
    except CutRequest as error:
        raise CutRequest(head + error.raw) from None
    return Request(
        raw=head + body,
        method=words[0],
        target=words[1],
        version=words[2],
        headers=headers,
        body=body,
        connection=connection.number,
        at=connection.clock(),
    )


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequest(f"not a header line: {line!r}")
    return name, value.strip(" \t")


def _body(connection: Connection, headers: tuple[tuple[str, str], ...]) -> bytes:
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    if any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise BadRequest("the body is in chunks, which the package never sends")
    if not lengths:
        return b""
    if len(lengths) > 1 or not lengths[0].isdecimal():
        raise BadRequest(f"not one Content-Length: {lengths}")
    body = connection.take(int(lengths[0]))
    if len(body) != int(lengths[0]):
        raise CutRequest(body)
    return body
