"""Guards of the scripted service: without them, other tests could pass for no reason."""

from __future__ import annotations

import socket
import time

import pytest

from service import (
    GET,
    BadRequest,
    Behaviour,
    Connection,
    Service,
    Unscripted,
    exchange,
    reply,
)

POST = (
    b"POST /a%20b?x=1&y=%E2%82%B9 HTTP/1.1\r\nHost:h\r\n"
    b'X-Odd:\t one \r\nContent-Length: 3\r\n\r\n{"}'
)


def connect(service: Service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=5)


def test_a_request_is_recorded_byte_for_byte(service: Service) -> None:
    service.script(then=reply())
    before = time.monotonic()
    with connect(service) as sock:
        for byte in POST:
            sock.sendall(bytes([byte]))
        request = service.wait_for_requests(1)[0]
    assert request.raw == POST
    assert request.head + request.body == POST
    assert (request.method, request.target, request.version) == (
        "POST",
        "/a%20b?x=1&y=%E2%82%B9",
        "HTTP/1.1",
    )
    assert request.headers == (("Host", "h"), ("X-Odd", "one"), ("Content-Length", "3"))
    assert request.body == b'{"}'
    assert request.path == "/a%20b"
    assert request.query == [("x", "1"), ("y", "₹")]
    assert request.header("x-odd") == "one"
    assert request.header("absent") is None
    assert before < request.at < time.monotonic()


@pytest.mark.parametrize(
    ("request_bytes", "behaviours", "kind"),
    [
        (GET, [], Unscripted),
        (b"nonsense\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\n folded\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [reply()], BadRequest),
    ],
)
def test_what_no_script_asked_for_is_refused_and_raised_at_the_end(
    request_bytes: bytes, behaviours: list[Behaviour], kind: type[Exception]
) -> None:
    def use() -> None:
        with Service() as service:
            service.script(*behaviours)
            assert exchange(service.port, request_bytes).startswith(b"HTTP/1.1 400 ")

    with pytest.raises(ExceptionGroup) as caught:
        use()
    assert [type(error) for error in caught.value.exceptions] == [kind]


def test_an_error_in_a_behaviour_is_raised_at_the_end() -> None:
    def broken(connection: Connection) -> None:
        raise KeyError(connection.request.method)

    def use() -> None:
        with Service() as service:
            service.script(broken)
            assert exchange(service.port) == b""

    with pytest.raises(ExceptionGroup) as caught:
        use()
    assert isinstance(caught.value.exceptions[0], KeyError)


def test_a_failing_test_shows_its_own_error_first() -> None:
    def use() -> None:
        with Service() as service:
            exchange(service.port)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
