"""Faults on the way to a connection, but for TLS: what the caller sees, and when."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, both, failure, good_book, in_time, run_child, served, within
from service import (
    Authority,
    Service,
    black_hole,
    closed_port,
    has_ipv6,
    resolver,
)
from systems import posix

# In a process whose names resolve as the environment says; prints what the call comes to.
CALL_BY_NAME = """
url, ca_file, timeout, attempts = sys.argv[1:]
client = td.Client(
    url, access_token=TOKEN, ca_file=ca_file, timeout=float(timeout), attempts=int(attempts)
)
started, before = time.monotonic(), starved()
try:
    print("rows", len(client.trade_book()))
except td.TradingDataError as error:
    print(type(error).__name__, error.attempts, error.passing, error)
print(time.monotonic() - started, starved() - before)
"""


def call_by_name(
    url: str, ca: Authority, environment: dict[str, str], *, timeout: float, attempts: int = 4
) -> tuple[str, float, float]:
    """The first line that CALL_BY_NAME prints, the call's seconds and those it starved."""
    arguments = (url, str(ca.pem_file), str(timeout), str(attempts))
    outcome, times = run_child(CALL_BY_NAME, *arguments, environment=environment).splitlines()
    elapsed, waited = map(float, times.split())
    return outcome, elapsed, waited


@both
def test_a_refused_connection_is_tried_again(call: Any) -> None:
    with closed_port() as port:
        error = failure(f"http://127.0.0.1:{port}", call=call, attempts=2)
    assert type(error) is td.ConnectError
    assert error.attempts == 2
    assert error.retryable
    assert "cannot connect to 127.0.0.1" in str(error)
    assert "check `base_url` or TRADINGDATA_BASE_URL, DNS, the network" in str(error)
    assert str(error).startswith("POST /api/v1/trade/book: ")


def test_a_name_that_is_not_found_is_tried_once_more(ca: Authority, tmp_path: Path) -> None:
    url = "https://api.example.test"
    outcome, *_ = call_by_name(url, ca, resolver(tmp_path), timeout=10)
    kind, attempts, retryable, message = outcome.split(" ", 3)
    assert (kind, attempts, retryable) == ("ConnectError", "2", "True")
    assert "cannot find the host api.example.test" in message
    assert "check `base_url` or TRADINGDATA_BASE_URL, DNS, the network" in message


def test_a_stalled_lookup_ends_at_the_deadline(ca: Authority, tmp_path: Path) -> None:
    url = "https://api.example.test"
    environment = resolver(tmp_path, seconds=4)
    outcome, elapsed, waited = call_by_name(url, ca, environment, timeout=0.5)
    assert outcome.startswith("DeadlineError 1 True")
    assert "the deadline passed while looking up api.example.test" in outcome
    in_time(elapsed, 0.5, at_least=0.45, waited=waited)


@both
def test_a_connect_that_hangs_ends_with_connect_timeout(call: Any) -> None:
    with black_hole() as port, within(2.5, at_least=0.4):
        url = f"http://127.0.0.1:{port}"
        error = failure(url, call=call, connect_timeout=0.2, attempts=2, timeout=20)
    assert type(error) is td.ConnectError
    assert error.attempts == 2
    assert "connect_timeout passed while connecting to 127.0.0.1" in str(error)


@both
def test_a_connect_that_hangs_ends_at_the_deadline(call: Any) -> None:
    with black_hole() as port, within(0.3, at_least=0.25):
        error = failure(f"http://127.0.0.1:{port}", call=call, timeout=0.3)
    assert type(error) is td.DeadlineError
    assert isinstance(error, TimeoutError)
    assert "the deadline passed while connecting to 127.0.0.1" in str(error)


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
@pytest.mark.parametrize("way", ["refused", "black hole"])
def test_broken_ipv6_does_not_hide_working_ipv4(way: str) -> None:
    with ExitStack() as stack:
        service = stack.enter_context(served(then=good_book(), ipv6=False))
        if way == "black hole":
            stack.enter_context(black_hole("::1", service.port))
        else:
            stack.enter_context(held_port("::1", service.port))
        with within(1), td.Client(service.url(host="localhost"), access_token=TOKEN) as client:
            assert len(client.trade_book()) == 3


def held_port(host: str, port: int) -> socket.socket:
    """A port that nobody else can take and nobody listens on."""
    sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((host, port))
    return sock


def test_without_file_descriptors_a_call_fails_and_the_next_works(service: Service) -> None:
    posix("resource")
    service.script(then=good_book())
    code = """
import resource
client = td.Client(sys.argv[1], access_token=TOKEN, attempts=1)
warm = td.Client(sys.argv[1], access_token=TOKEN, attempts=1)
warm.trade_book()
hold = []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    while True:
        hold.append(open("/dev/null"))
except OSError:
    pass
try:
    client.trade_book()
    print("no error")
except td.ConnectError as error:
    print(type(error).__name__, error)
print("kept connection", len(warm.trade_book()))
for file in hold:
    file.close()
print("again", len(client.trade_book()))
"""
    first, second, third = run_child(code, service.base_url).splitlines()
    assert first.startswith("ConnectError")
    assert second == "kept connection 3"
    assert third == "again 3"
