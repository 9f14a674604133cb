"""`tradingdata check`: checks settings, network and token, with advice for each problem."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http.client import HTTPException
from statistics import median
from typing import TYPE_CHECKING

import typer

from tradingdata.cli import network_probes as probes
from tradingdata.cli.make_client import client_options, connect, received, token_source
from tradingdata.cli.options import Connection
from tradingdata.cli.report import Report, Stop
from tradingdata.display.plain_table import group

if TYPE_CHECKING:
    from socket import socket

    from tradingdata.client.client import Client

EXAMPLES = """
tradingdata check
tradingdata check --profile desk1
tradingdata check && python strategy.py
"""

_MOST_SKEW = 2.0  # seconds; the Date header alone leaves one open
_ENDS_SOON = 14  # days
_CALLS = 3


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
        client = connect(connection, token=False)
        options = client_options(connection)
        report.ok(f"{client.base_url}, from {_source(connection)}")
    route = probes.route_of(client.base_url, options)
    with client:
        _network(route, options.get("connect_timeout", 5.0), client, report)
        with report.step("search", go_on=True):
            took = _timed(lambda: client.search("INFY").first(1))
            report.ok(f"response in {_ms(took)}, without a token")
        _account(connection, client, report)


def _network(route: probes.Route, timeout: float, client: Client, report: Report) -> None:
    host, port = route.target
    whose = "" if route.proxy is None else "the proxy "
    with report.step("DNS", "check the host's name, and this machine's network and DNS"):
        started = time.perf_counter()
        found = probes.addresses(route)
        took = _ms(time.perf_counter() - started)
        report.ok(
            f"{whose}{host} is {', '.join(found[:3])} ({took})"
            if found != [host]
            else "already an IP address"
        )
    with report.step("TCP", "check the port, the network, and that a firewall lets you out"):
        started = time.perf_counter()
        connection = probes.connected(route, timeout)
        report.ok(f"connected to {whose}{host}, port {port} ({_ms(time.perf_counter() - started)})")
    with connection:
        if route.proxy is not None:
            report.skip("TLS", "behind the proxy: the search below needs it")
            report.skip("clock", "behind the proxy")
        elif not route.secure:
            report.skip("TLS", "plain http, which stays on this machine")
            _clock(route, connection, report)
        else:
            _tls(route, connection, client, report)


def _tls(route: probes.Route, connection: socket, client: Client, report: Report) -> None:
    with report.step("TLS"):
        started = time.perf_counter()
        try:
            secured = probes.trusted(route, connection)
        except (ssl.SSLError, OSError):
            client.search("INFY").first(1)  # raises an error with advice
            raise
        took = time.perf_counter() - started
        end = probes.certificate_end(secured)
        left = (end - datetime.now(UTC)).days
        text = f"{secured.version()}, certificate until {end:%Y-%m-%d} ({_ms(took)})"
        if left < _ENDS_SOON:
            report.warn(f"{text}: it expires in {left} days; notify the service")
        else:
            report.ok(text)
    with secured:
        _clock(route, secured, report)


def _clock(route: probes.Route, connection: socket, report: Report) -> None:
    with report.step("clock"):
        try:
            skew = probes.clock_skew(route, connection)
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
        source = token_source(connection, client)
        orders = received(client.order_book)
        report.ok(f"from {source}, accepted: {group(len(orders))} orders today")
    with report.step("latency"):
        times = [_timed(lambda: received(client.order_book)) for _ in range(_CALLS)]
        report.ok(f"order book in {_ms(median(times))}, the median of {_CALLS} calls")


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.01 else f"{seconds * 1000:.0f} ms"


def _source(connection: Connection) -> str:
    name, options = connection.chosen
    return f"the profile {name}" if "base_url" in options else "TRADINGDATA_BASE_URL"
