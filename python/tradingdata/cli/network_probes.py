"""Network checks for `tradingdata check`: name lookup, connection, certificate and clock."""

from __future__ import annotations

import os
import socket
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from tradingdata.client.ca_roots import find_ca_file

_PROXY_VARIABLES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


@dataclass(frozen=True)
class Route:
    """Target of the first connection: the service's host, or a proxy."""

    host: str
    port: int
    secure: bool
    proxy: str | None
    path: str
    ca_file: str

    @property
    def target(self) -> tuple[str, int]:
        """The host and port to connect to."""
        if self.proxy is None:
            return self.host, self.port
        parts = urlsplit(self.proxy if "://" in self.proxy else f"http://{self.proxy}")
        return parts.hostname or "", parts.port or 1080


def route_of(base_url: str, options: dict[str, Any]) -> Route:
    """Returns the route of a client with these options."""
    parts = urlsplit(base_url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    trust_env = options.get("trust_env", True)
    return Route(
        host=host,
        port=parts.port or (443 if secure else 80),
        secure=secure,
        proxy=_proxy(host, options.get("proxy"), trust_env) if secure else None,
        path=parts.path.rstrip("/"),
        ca_file=find_ca_file(options.get("ca_file"), trust_env=trust_env) if secure else "",
    )


def _proxy(host: str, given: str | None, trust_env: bool) -> str | None:
    """Returns the proxy that the core would use: none for loopback, else given or environment's."""
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    if given is not None or not trust_env:
        return given or None
    found = next((os.environ[name] for name in _PROXY_VARIABLES if os.environ.get(name)), None)
    return None if proxy_bypass(host) else found


def addresses(route: Route) -> list[str]:
    """Returns the addresses of the host. Raises socket.gaierror."""
    host, port = route.target
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def connected(route: Route, timeout: float) -> socket.socket:
    """Returns a TCP connection. Raises OSError."""
    return socket.create_connection(route.target, timeout=timeout)


def trusted(route: Route, connection: socket.socket) -> ssl.SSLSocket:
    """Starts TLS on the connection and verifies the certificate. Raises ssl.SSLError."""
    context = ssl.create_default_context(cafile=route.ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context.wrap_socket(connection, server_hostname=route.host)


def certificate_end(connection: ssl.SSLSocket) -> datetime:
    """Returns when the service's certificate expires."""
    certificate = connection.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)


def clock_skew(route: Route, connection: socket.socket) -> float | None:
    """Returns by how many seconds the service's clock is ahead of this machine's, or None.

    Searches for one stock, without a token, and reads the Date header, which has a resolution of
    one second. Raises OSError and HTTPException.
    """
    http = HTTPConnection(route.host, route.port)
    http.sock = connection
    started = time.time()
    http.request("GET", f"{route.path}/api/v1/stocks?query=INFY&limit=1")
    response = http.getresponse()
    between = (started + time.time()) / 2
    response.read()
    date = response.getheader("Date")
    if date is None:
        return None
    try:
        sent = parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None
    # The header is rounded down to a second, so half a second is its expected error.
    return sent + 0.5 - between
