"""A connection of the service, and the requests that come on it."""

from __future__ import annotations

import contextlib
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

    Behaviours respond to `request` with `send`, `receive`, `pause`, `close` and `reset`.
    """

    clock = staticmethod(time.monotonic)

    def __init__(self, sock: socket.socket, *, number: int, wake: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = number
        self.socket = sock
        self.closed = False
        self.request: Request | None = None
        self._wake = wake
        self._inbox = bytearray()

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

    def take_through(self, marker: bytes) -> bytes:
        """Return the bytes through `marker`; ConnectionOver if the client closes before it."""
        while marker not in self._inbox:
            if not self._more():
                raise ConnectionOver("the request was cut")
        return self._cut(self._inbox.index(marker) + len(marker))

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

    def close(self, *, notify: bool = True) -> None:
        """End the connection in order; over TLS with a close_notify, unless `notify` is False."""
        if self.closed:
            return
        self.closed = True
        if isinstance(self.socket, ssl.SSLSocket) and notify:
            with contextlib.suppress(OSError, ValueError):
                self.socket.unwrap()
        if self.request is None:
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
    def path(self) -> str:
        """The target without its query, still percent-encoded."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        """The query's names and values, decoded; what is not UTF-8 raises UnicodeDecodeError."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True, errors="strict")

    def header(self, name: str) -> str | None:
        """Return the value of a header, None if it is not there; a repeated one is a ValueError."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        if len(values) > 1:
            raise ValueError(f"{name} was sent {len(values)} times: {values}")
        return values[0] if values else None


def read_request(connection: Connection) -> Request | None:
    """Read the next request, which must be as the package sends them: with a length or no body.

    None if the client closes before its first byte, a ValueError for another request.
    """
    if not connection.peek():
        return None
    head = connection.take_through(b"\r\n\r\n")
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    headers = tuple(_header(line) for line in lines)
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    if len(lengths) > 1 or any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise ValueError(f"not one Content-Length: {headers}")
    size = int(lengths[0]) if lengths else 0
    body = connection.take(size)
    if len(body) != size:
        raise ConnectionOver("the request was cut")
    return Request(
        raw=head + body,
        method=method,
        target=target,
        version=version,
        headers=headers,
        body=body,
        connection=connection.number,
        at=connection.clock(),
    )


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise ValueError(f"not a header line: {line!r}")
    return name, value.strip(" \t")
