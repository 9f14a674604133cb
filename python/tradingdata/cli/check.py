"""`tradingdata check`, with advice for each problem, and the commands that need no account."""

from __future__ import annotations

import errno
import socket
import ssl
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import typer

from tradingdata._util.optional_imports import show_versions
from tradingdata.client.options import BASE_URL_VARIABLE, find_ca_file
from tradingdata.client.tokens import ACCESS_TOKEN_VARIABLE, hide
from tradingdata.display.plain_table import group
from tradingdata.sandbox.__main__ import OPTIONS, serve
from tradingdata.sandbox.demo import show as show_demo

from .errors import Result, UsageError, fitting
from .options import Connection, command, option, received
from .terminal import Report, Stop

if TYPE_CHECKING:
    from tradingdata.client.client import Client

_MOST_SKEW = 2.0  # seconds; the Date header alone leaves one open
_ENDS_SOON = 14  # days
_CALLS = 3


@command(
    "check",
    """
tradingdata check
tradingdata check --profile desk1
tradingdata check && python strategy.py
""",
)
def check(connection: Connection) -> None:
    """Check settings, network and token.

    Prints a line each for settings, DNS, TCP, TLS, clock, search, token and latency. A line that
    fails says what to do, and the exit code is that of the first one. Makes two searches and
    fetches the order book four times.
    """
    report = Report(("settings", "DNS", "TCP", "TLS", "clock", "search", "token", "latency"))
    try:
        _walk(connection, report)
    except Stop:
        report.skip_rest()
    raise typer.Exit(report.end())


def _walk(connection: Connection, report: Report) -> None:
    with report.step("settings"):
        client = connection.client(token=False)
        options = connection.client_options
        report.ok(f"{client.base_url}, from {connection.source('base_url', BASE_URL_VARIABLE)}")
    route = route_of(client.base_url, options)
    with client:
        _network(route, options.get("connect_timeout", 5.0), client, report)
        with report.step("search", go_on=True):
            _, took = _timed(lambda: client.search("INFY").first(1))
            report.ok(f"response in {_ms(took)}, without a token")
        _account(connection, client, report)


def _network(route: Route, timeout: float, client: Client, report: Report) -> None:
    host, port = route.target
    whose = "" if route.proxy is None else "the proxy "
    with report.step("DNS", "check the host's name, and this machine's network and DNS"):
        entries, took = _timed(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        found = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        report.ok(
            f"{whose}{host} is {', '.join(found[:3])} ({_ms(took)})"
            if found != [host]
            else "already an IP address"
        )
    with report.step("TCP", "check the port, the network, and that a firewall lets you out"):
        connection, took = _timed(lambda: socket.create_connection(route.target, timeout=timeout))
        report.ok(f"connected to {whose}{host}, port {port} ({_ms(took)})")
    with connection:
        if route.proxy is not None:
            report.skip("TLS", "behind the proxy: the search below needs it")
            report.skip("clock", "behind the proxy")
        elif not route.secure:
            report.skip("TLS", "plain http, which stays on this machine")
            _clock(route, connection, report)
        else:
            _tls(route, connection, client, report)


def _tls(route: Route, connection: socket.socket, client: Client, report: Report) -> None:
    with report.step("TLS"):
        try:
            context = ssl.create_default_context(cafile=route.ca_file or None)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            secured, took = _timed(
                lambda: context.wrap_socket(connection, server_hostname=route.host)
            )
        except (ssl.SSLError, OSError):
            client.search("INFY").first(1)  # raises an error with advice
            raise
        expires = str((secured.getpeercert() or {})["notAfter"])
        end = datetime.fromtimestamp(ssl.cert_time_to_seconds(expires), UTC)
        left = (end - datetime.now(UTC)).days
        text = f"{secured.version()}, certificate until {end:%Y-%m-%d} ({_ms(took)})"
        if left < _ENDS_SOON:
            report.warn(f"{text}: it expires in {left} days; notify the service")
        else:
            report.ok(text)
    with secured:
        _clock(route, secured, report)


def _clock(route: Route, connection: socket.socket, report: Report) -> None:
    with report.step("clock"):
        try:
            skew = clock_skew(route, connection)
        except (OSError, HTTPException) as error:
            report.warn(f"unknown ({type(error).__name__}); the search below says why")
            return
        if skew is None:
            report.warn("the service sends no time: check this machine's clock yourself")
        elif abs(skew) > _MOST_SKEW:
            side = "behind" if skew > 0 else "ahead of"
            report.warn(
                f"this machine is {group(abs(skew), 0)} s {side} the service: set the clock "
                "(timedatectl set-ntp true)"
            )
        else:
            report.ok("this machine and the service agree to the second")


def _account(connection: Connection, client: Client, report: Report) -> None:
    with report.step("token"):
        source = connection.source("access_token", ACCESS_TOKEN_VARIABLE)
        orders = received(client.order_book)
        report.ok(f"from {source}, accepted: {group(len(orders))} orders today")
    with report.step("latency"):
        times = [_timed(lambda: received(client.order_book))[1] for _ in range(_CALLS)]
        report.ok(f"order book in {_ms(median(times))}, the median of {_CALLS} calls")


def _timed(call: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    return call(), time.perf_counter() - started


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.01 else f"{seconds * 1000:.0f} ms"


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
        proxy=_proxy(host, hide(options.get("proxy")).value, trust_env) if secure else None,
        path=parts.path.rstrip("/"),
        ca_file=find_ca_file(options.get("ca_file"), trust_env=trust_env) if secure else "",
    )


def _proxy(host: str, given: str | None, trust_env: bool) -> str | None:
    """Returns the proxy that the core would use: none for loopback, else given or environment's."""
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    if given is not None or not trust_env:
        return given or None
    found = getproxies_environment()
    return None if proxy_bypass(host) else found.get("https") or found.get("all")


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
    try:
        sent = parsedate_to_datetime(response.getheader("Date", "")).timestamp()
    except ValueError:
        return None
    # The header is rounded down to a second, so half a second is its expected error.
    return sent + 0.5 - between


@command("demo", "tradingdata demo")
def demo() -> None:
    """Show the calls on a simulated trading day.

    Needs no account and no network.
    """
    show_demo(sys.stdout)


if TYPE_CHECKING:
    SandboxOptions = Any
else:
    SandboxOptions = make_dataclass(
        "SandboxOptions",
        [
            (name, Annotated[kind | None, option(meaning, placeholder)], field(default=default))
            for name, (kind, default, placeholder, meaning) in OPTIONS.items()
        ],
        kw_only=True,
    )


@command(
    "sandbox",
    """
tradingdata sandbox
tradingdata sandbox --speed 60
tradingdata sandbox --accounts desk1,desk2 --port 0
""",
)
def sandbox(options: SandboxOptions) -> None:
    """Run a simulated service on this computer.

    Serves until Ctrl-C. Paste the two commands that it prints for it into another terminal to
    use the others there.
    """
    try:
        fitting(lambda: serve(**vars(options)))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise UsageError(f"--port: {error.strerror}; --port 0 chooses a free one") from None


@command("versions", "tradingdata versions")
def versions() -> None:
    """Show the installed versions."""
    show_versions(sys.stdout)
