"""A recording HTTP proxy: CONNECT tunnels and absolute-form requests (F66)."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field

from .connection import Connection
from .request import Request
from .server import Service

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass
class Tunnel:
    """What went through one connection of the proxy, after the request that opened it."""

    target: str
    up: bytearray = field(default_factory=bytearray)
    down: bytearray = field(default_factory=bytearray)


class Proxy(Service):
    """A proxy that leads every target to one service; a script gives it faults of its own.

    `requests` are those made to the proxy, `tunnels` what it passed on; `seen` is all its clients
    sent, to look for a canary in. `relay` is the behaviour that a script of its own ends with.
    """

    def __init__(self, upstream: Service) -> None:
        super().__init__()
        self.tunnels: list[Tunnel] = []
        self._upstream = upstream
        self.script(then=self.relay)

    @property
    def seen(self) -> bytes:
        """Every byte that clients sent to the proxy or through it."""
        through = b"".join(bytes(tunnel.up) for tunnel in list(self.tunnels))
        return b"".join(request.raw for request in self.requests) + through

    def relay(self, client: Connection) -> None:
        """Open a tunnel for CONNECT, pass any other request on in origin form."""
        request = client.request
        tunnel = Tunnel(request.target)
        self.tunnels.append(tunnel)
        with socket.create_connection(("127.0.0.1", self._upstream.port)) as sock:
            upstream = client.beside(sock)
            if request.method == "CONNECT":
                client.send(ESTABLISHED)
            else:
                upstream.send(_origin_form(request))
            _pass_on(client, upstream, tunnel)
        client.close()


def _origin_form(request: Request) -> bytes:
    """Return the request without scheme and host, and with the upstream's close as its end."""
    path = "/" + request.target.split("/", 3)[3]
    hop = ("connection", "proxy-connection", "proxy-authorization")
    kept = [(name, value) for name, value in request.headers if name.lower() not in hop]
    lines = [f"{name}: {value}" for name, value in [*kept, ("Connection", "close")]]
    start = "\r\n".join([f"{request.method} {path} {request.version}", *lines, "", ""])
    return start.encode("latin-1") + request.raw[len(request.head) :]


def _pass_on(client: Connection, upstream: Connection, tunnel: Tunnel) -> None:
    while True:
        for side in client.either(upstream):
            data = side.receive()
            if not data:
                return
            (tunnel.up if side is client else tunnel.down).extend(data)
            (upstream if side is client else client).send(data)
