"""A client with no sense of its own: bytes go out as given, and come back as they arrive."""

from __future__ import annotations

import socket
import ssl

GET = b"GET /api/v1/stocks?query=a HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"


def exchange(
    port: int,
    request: bytes = GET,
    *,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    timeout: float = 5.0,
) -> bytes:
    """Send the bytes, return all that comes until the service closes."""
    with socket.create_connection((host, port), timeout=timeout) as plain:
        if tls is None:
            return _exchange(plain, request)
        with tls.wrap_socket(plain, server_hostname=host, suppress_ragged_eofs=False) as secure:
            return _exchange(secure, request)


def _exchange(sock: socket.socket, request: bytes) -> bytes:
    sock.sendall(request)
    return b"".join(iter(lambda: sock.recv(65536), b""))
