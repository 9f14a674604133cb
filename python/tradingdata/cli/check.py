"""`tradingdata check`, with advice for each problem, and the commands that need no account."""

from __future__ import annotations

import errno
import socket
import ssl
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import field, make_dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import typer

from tradingdata._util.optional_imports import show_versions
from tradingdata.client.options import BASE_URL_VARIABLE, find_ca_file
from tradingdata.client.tokens import ACCESS_TOKEN_VARIABLE, hide
from tradingdata.display.text import group
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
    with client:
        _network(client, options, report)
        with report.step("search", go_on=True):
            _, took = _timed(lambda: client.search("INFY").first(1))
            report.ok(f"response in {_ms(took)}, without a token")
        with report.step("token"):
            source = connection.source("access_token", ACCESS_TOKEN_VARIABLE)
            orders = received(client.order_book)
            report.ok(f"from {source}, accepted: {group(len(orders))} orders today")
        with report.step("latency"):
            times = [_timed(lambda: received(client.order_book))[1] for _ in range(_CALLS)]
            report.ok(f"order book in {_ms(median(times))}, the median of {_CALLS} calls")


def _network(client: Client, options: dict[str, Any], report: Report) -> None:
    url = urlsplit(client.base_url)
    target, secure, whose = _address(url, 80), url.scheme == "https", ""
    proxy = _proxy(target[0], options) if secure else None
    if proxy is not None:
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        target, whose = _address(urlsplit(proxy), 1080), "the proxy "
    host, port = target
    with report.step("DNS", "check the host's name, and this machine's network and DNS"):
        entries, took = _timed(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        found = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        shown = f"{whose}{host} is {', '.join(found[:3])} ({_ms(took)})"
        report.ok("already an IP address" if found == [host] else shown)
    with report.step("TCP", "check the port, the network, and that a firewall lets you out"):
        timeout = options.get("connect_timeout", 5.0)
        connection, took = _timed(lambda: socket.create_connection(target, timeout=timeout))
        report.ok(f"connected to {whose}{host}, port {port} ({_ms(took)})")
    with closing(HTTPConnection(host, port)) as http:
        http.sock = connection
        if proxy is not None:
            report.skip("TLS", "behind the proxy: the search below needs it")
            report.skip("clock", "behind the proxy")
            return
        if secure:
            with report.step("TLS"):
                _secure(http, client, options, report)
        else:
            report.skip("TLS", "plain http, which stays on this machine")
        with report.step("clock"):
            _check_clock(http, url.path.rstrip("/"), report)


def _address(url: SplitResult, default: int) -> tuple[str, int]:
    return url.hostname or "", url.port or (443 if url.scheme == "https" else default)


def _proxy(host: str, options: dict[str, Any]) -> str | None:
    """Returns the proxy that the core would use: none for loopback, else given or environment's."""
    given = hide(options.get("proxy")).value
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    if given is not None or not options.get("trust_env", True):
        return given or None
    found = getproxies_environment()
    return None if proxy_bypass(host) else found.get("https") or found.get("all")


def _secure(http: HTTPConnection, client: Client, options: dict[str, Any], report: Report) -> None:
    ca_file = find_ca_file(options.get("ca_file"), trust_env=options.get("trust_env", True))
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        secured, took = _timed(lambda: context.wrap_socket(http.sock, server_hostname=http.host))
    except (ssl.SSLError, OSError):
        client.search("INFY").first(1)  # raises an error with advice
        raise
    http.sock = secured
    expires = str((secured.getpeercert() or {})["notAfter"])
    end = datetime.fromtimestamp(ssl.cert_time_to_seconds(expires), UTC)
    left = (end - datetime.now(UTC)).days
    text = f"{secured.version()}, certificate until {end:%Y-%m-%d} ({_ms(took)})"
    if left < _ENDS_SOON:
        report.warn(f"{text}: it expires in {left} days; notify the service")
    else:
        report.ok(text)


def _check_clock(http: HTTPConnection, path: str, report: Report) -> None:
    """Compares the clocks by the Date header of a search, which has a resolution of a second."""
    try:
        started = time.time()
        http.request("GET", f"{path}/api/v1/stocks?query=INFY&limit=1")
        sent = http.getresponse().getheader("Date", "")
        # The header is rounded down to a second, so half a second is its expected error.
        skew = parsedate_to_datetime(sent).timestamp() + 0.5 - (started + time.time()) / 2
    except ValueError:
        report.warn("the service sends no time: check this machine's clock yourself")
    except (OSError, HTTPException) as error:
        report.warn(f"unknown ({type(error).__name__}); the search below says why")
    else:
        if abs(skew) <= _MOST_SKEW:
            report.ok("this machine and the service agree to the second")
            return
        side = "behind" if skew > 0 else "ahead of"
        report.warn(
            f"this machine is {group(abs(skew), 0)} s {side} the service: set the clock "
            "(timedatectl set-ntp true)"
        )


def _timed(call: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    return call(), time.perf_counter() - started


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.01 else f"{seconds * 1000:.0f} ms"


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
