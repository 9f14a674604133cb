"""The sandbox's HTTP: the service's requests and nothing else, kept alive, quick."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from calls import within
from sandbox_calls import PATHS, SOURCE, book_headers, call, connect
from service import exchange
from tradingdata import sandbox
from tradingdata._util.declarations import BOOK_CALLS

BOOKS = list(BOOK_CALLS)


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=2) as running:
        yield running


@pytest.mark.parametrize("endpoint", BOOKS)
@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer wrong", "Basic {}", "{}", "Bearer  {}"]
)
def test_a_book_is_for_the_bearer_of_a_token_only(
    day: sandbox.Service, endpoint: str, authorization: str | None
) -> None:
    headers = {"Content-Type": "application/json"}
    if authorization is not None:
        headers["Authorization"] = authorization.format(day.token())
    response = call(day, "POST", PATHS[endpoint], SOURCE, headers)
    assert response.status == 401
    assert response.headers["content-type"] == "application/json"
    assert response.json["status"] == "error"
    assert response.json["data"] is None
    assert day.token() not in response.body.decode()


@pytest.mark.parametrize("endpoint", BOOKS)
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b'{"source":"X"}', b'{"source":1}', b"source=N", b"\xff"]
)
def test_another_body_is_refused(day: sandbox.Service, endpoint: str, body: bytes) -> None:
    response = call(day, "POST", PATHS[endpoint], body, book_headers(day))
    assert response.status == 400
    assert response.json["status"] == "error"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *(("GET", path, 404) for path in ("/", "/api/v1/trade", "/api/v1/trade/book/", "//[", "*")),
        *(("GET", PATHS["trade_book"], 405), ("PUT", PATHS["order_book"], 405)),
        *(("POST", PATHS["search"], 405), ("BREW", PATHS["search"], 405)),
    ],
)
def test_another_path_or_method_is_refused(
    day: sandbox.Service, method: str, path: str, status: int
) -> None:
    response = call(day, method, path)
    assert response.status == status
    if status == 404:
        assert "/api/v1/order/book" in response.json["message"]
    else:
        assert response.headers["allow"] == ("GET" if path == PATHS["search"] else "POST")


@pytest.mark.parametrize("endpoint", ["search", "trade_book"])
def test_many_calls_go_over_one_connection_without_a_stall(
    day: sandbox.Service, endpoint: str
) -> None:
    connection = connect(day)
    connection.connect()
    opened = connection.sock
    # A stall of Nagle's algorithm against delayed acknowledgements is 40 ms: 4 s in all.
    with within(2):
        for _ in range(100):
            if endpoint == "search":
                connection.request("GET", f"{PATHS['search']}?query=tata")
            else:
                connection.request("POST", PATHS[endpoint], SOURCE, book_headers(day))
            assert len(connection.getresponse().read()) > 4000
    assert connection.sock is opened
    connection.close()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/3\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1" + b"0" * 18 + b"\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nContent-Length: 1e18\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431),
    ],
)
def test_what_is_not_http_is_refused_and_ends_the_connection(
    day: sandbox.Service, request_: bytes, status: int
) -> None:
    response = exchange(int(day.base_url.rpartition(":")[2]), request_)
    assert response.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Connection: close\r\n" in response


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 421),
        ("evil.example:{port}", 421),
        ("127.0.0.1.evil.example:{port}", 421),
        ("10.0.0.7:{port}", 421),
        ("127.0.0.1", 200),
        ("LOCALHOST:{port}", 200),
        ("[::1]:{port}", 200),
    ],
)
def test_a_request_for_another_host_is_refused(
    day: sandbox.Service, host: str, status: int
) -> None:
    """A page in a browser reaches this computer under a name that its owner chooses."""
    port = day.base_url.rpartition(":")[2]
    headers = {"Host": host.format(port=port)}
    assert call(day, "GET", f"{PATHS['search']}?query=tata", b"", headers).status == status


def test_half_requests_start_few_threads_and_do_not_shut_others_out(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = threading.active_count()
    with sandbox.start(orders=10) as service, ExitStack() as stack:
        address = ("127.0.0.1", int(service.base_url.rpartition(":")[2]))
        for _ in range(600):  # of the 1,024 descriptors that a process may have
            connection = stack.enter_context(socket.create_connection(address, timeout=10))
            connection.sendall(b"POST /api/v1/trade/book HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
        with service.client(timeout=20) as client:
            assert len(client.order_book()) == 10
        assert threading.active_count() - before < 300
    assert capfd.readouterr().err == ""
