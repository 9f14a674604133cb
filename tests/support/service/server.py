"""The service itself: its threads, what it is scripted to do, and what it recorded."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from .connection import (
    READ,
    Behaviour,
    Connection,
    ConnectionOver,
    Request,
    read_request,
    ready,
)
from .ports import listen

PATIENCE = 30.0
Choice: TypeAlias = Callable[[Request], Behaviour]


class Unscripted(Exception):
    """A request came for which the script has no behaviour."""


class Script:
    """Behaviours by path; a path without its own is handled by the ones for all paths."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._choices: dict[str | None, Choice] = {}

    def script(
        self, *behaviours: Behaviour, then: Behaviour | None = None, path: str | None = None
    ) -> None:
        """Use the behaviours one by one, and `then` for each request after them.

        Without `then`, a request more than scripted is an error that leaving the service raises.
        A new script for a `path` (None: all paths) takes the place of the old one.
        """
        left = iter(behaviours)

        def next_of(request: Request) -> Behaviour:
            behaviour = next(left, then)
            if behaviour is None:
                raise Unscripted(f"{request.method} {request.target[:200]}")
            return behaviour

        self.choose(next_of, path=path)

    def choose(self, choice: Choice, *, path: str | None = None) -> None:
        """Ask a function for the behaviour of each request; calls never overlap."""
        with self._lock:
            self._choices[path] = choice

    def _behaviour_for(self, request: Request) -> Behaviour:
        with self._lock:
            choice = self._choices.get(request.path) or self._choices.get(None)
            if choice is None:
                raise Unscripted(f"{request.method} {request.target[:200]}")
            return choice(request)


@dataclass
class Opened:
    """One TCP connection; the handshake sets `tls` and `alpn`."""

    number: int
    closed: bool = False
    tls: str | None = None
    alpn: str | None = None


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

    def wait_for_requests(self, count: int) -> list[Request]:
        """Wait for `count` requests and return all; AssertionError after half a minute."""
        self._wait(lambda: len(self._requests) >= count, f"{count} requests")
        return self.requests

    def wait_for_open(self, *counts: int) -> None:
        """Wait until a number of these is open; AssertionError after half a minute."""
        self._wait(lambda: self._open() in counts, f"{counts} open connections")

    def _open(self) -> int:
        return sum(not connection.closed for connection in self._connections)

    def _wait(self, done: Callable[[], bool], what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(done, PATIENCE):
                raise AssertionError(
                    f"not {what} in {PATIENCE} s: {len(self._requests)} requests, "
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
            opened.closed = True
            self._changed.notify_all()

    def _add_request(self, request: Request) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def _add_error(self, error: Exception) -> None:
        with self._changed:
            self._errors.append(error)


TLS_HANDSHAKE = b"\x16"
REFUSAL = b"HTTP/1.1 400 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Service(Script, Log):
    """A loopback HTTP service that does, byte for byte, what its script says.

    `tls` is the context to serve with, None for plain HTTP. `on_connect` is a behaviour for each
    accepted connection, before its TLS handshake and its first request. As a context manager it
    starts on entry and stops on exit; an exit without an exception raises what it met that no
    script asked for.
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        on_connect: Behaviour | None = None,
        port: int = 0,
        ipv6: bool = True,
    ) -> None:
        Script.__init__(self)
        Log.__init__(self)
        self.port = port
        self.on_connect = on_connect
        self._tls = tls
        self._ipv6 = ipv6
        self._threads: list[threading.Thread] = []
        self._running = False

    @property
    def base_url(self) -> str:
        """The address of the service without a slash at its end; its host is 127.0.0.1."""
        return self.url()

    def url(self, *, scheme: str | None = None, host: str = "127.0.0.1") -> str:
        """Return the address under another host name ("localhost", "[::1]") or scheme."""
        return f"{scheme or ('https' if self._tls else 'http')}://{host}:{self.port}"

    def start(self) -> None:
        """Listen and accept; afterwards `port` is known."""
        self._listener = listen(port=self.port, ipv6=self._ipv6)
        self.port = self._listener.getsockname()[1]
        self._wake, self._wake_end = socket.socketpair()
        self._running = True
        self._spawn(self._accept, "accept")

    def stop(self) -> None:
        """Close every connection, end every stall, join every thread. Safe to call again."""
        if not self._running:
            return
        self._running = False
        # Nobody reads the pair: its closed end stays readable for all threads at once.
        self._wake_end.close()
        for _ in range(2):  # during the first round one more connection may have been accepted
            for thread in self._threads_alive():
                thread.join(PATIENCE)
        left = [thread.name for thread in self._threads_alive()]
        self._wake.close()
        if left:
            raise RuntimeError(f"these behaviours wait with something else than pause(): {left}")

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop, and raise what the service met and no script asked for."""
        self.stop()
        if kind is None and self._errors:
            raise ExceptionGroup("the test service met what no script asked for", self._errors)

    def _spawn(self, target: Callable[..., object], name: str, *arguments: object) -> None:
        name = f"test-service-{self.port}-{name}"
        thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
        self._threads = [*self._threads_alive(), thread]
        thread.start()

    def _threads_alive(self) -> list[threading.Thread]:
        return [thread for thread in self._threads if thread.is_alive()]

    def _accept(self) -> None:
        self._listener.setblocking(False)
        with self._listener:
            while self._wake not in ready({self._listener: READ, self._wake: READ}, None):
                self._accept_one()

    def _accept_one(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            # No descriptor is free: the connection waits in the backlog.
            ready({self._wake: READ}, 0.01)
            return
        opened = self._add_connection()
        self._spawn(self._serve, str(opened.number), sock, opened)

    def _serve(self, sock: socket.socket, opened: Opened) -> None:
        connection = Connection(sock, number=opened.number, wake=self._wake)
        try:
            self._greet(connection, opened)
            if self._tls is None and not connection.closed and connection.peek() == TLS_HANDSHAKE:
                self._refuse(connection, b"This Is Plain HTTP")
                return
            while not connection.closed and (request := read_request(connection)):
                self._add_request(request)
                connection.request = request
                self._respond(connection, request)
        except ConnectionOver:
            pass
        except Unscripted as error:
            self._add_error(error)
            self._refuse(connection, b"Not Scripted")
        except Exception as error:
            self._add_error(error)
        finally:
            connection.close()
            self._close_connection(opened)

    def _greet(self, connection: Connection, opened: Opened) -> None:
        if self.on_connect:
            self.on_connect(connection)
        if self._tls and not connection.closed:
            try:
                secure = connection.start_tls(self._tls)
            except OSError as error:
                raise ConnectionOver(str(error)) from error
            opened.tls, opened.alpn = secure.version(), secure.selected_alpn_protocol()

    def _respond(self, connection: Connection, request: Request) -> None:
        self._behaviour_for(request)(connection)
        if (request.header("connection") or "").lower() == "close":
            connection.close()

    @staticmethod
    def _refuse(connection: Connection, reason: bytes) -> None:
        with contextlib.suppress(ConnectionOver):
            connection.send(REFUSAL % reason)
