"""Guards of the scripted service: without them, other tests could pass for no reason."""

from __future__ import annotations

import http.client
import socket
import threading
import time

import pytest

from calls import within
from service import (
    GET,
    BadRequest,
    Behaviour,
    Connection,
    Service,
    Unscripted,
    exchange,
    reply,
    stall,
)

POST = (
    b"POST /a%20b?x=1&y=%E2%82%B9 HTTP/1.1\r\nHost:h\r\n"
    b'X-Odd:\t one \r\nContent-Length: 3\r\n\r\n{"}'
)


def connect(service: Service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=5)


def threads_of_services() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("test-service")]


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


def test_a_repeated_header_is_no_single_value(service: Service) -> None:
    service.script(reply())
    exchange(service.port, GET.replace(b"Host: test", b"Host: a\r\nhost: b"))
    assert service.requests[0].header_values("HOST") == ["a", "b"]
    with pytest.raises(ValueError, match="2 times"):
        service.requests[0].header("host")


def test_requests_say_which_connection_they_came_on(service: Service) -> None:
    service.script(then=reply(200, b"x"))
    for count in (2, 1):
        client = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5)
        for _ in range(count):
            client.request("GET", "/kept")
            assert client.getresponse().read() == b"x"
        client.close()
    assert [request.connection for request in service.requests] == [0, 0, 1]
    service.wait_for_open(0)
    opened = service.connections
    assert [each.number for each in opened] == [0, 1]
    assert all(each.closed_at for each in opened)


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


@pytest.mark.parametrize("sent", [GET[:20], POST[:-1], b"P"])
def test_a_request_that_the_client_cuts_is_kept_as_unfinished(
    service: Service, sent: bytes
) -> None:
    with connect(service) as sock:
        sock.sendall(sent)
    service.wait_for_connections(1)
    service.wait_for_open(0)
    assert service.requests == []
    assert service.connections[0].unfinished == sent


def test_stop_ends_idle_half_sent_and_unshaken_connections() -> None:
    with (
        Service(on_connect=stall()) as stalled,
        Service() as idle,
        connect(stalled),
        connect(idle),
        connect(idle) as half,
    ):
        half.sendall(GET[:10])
        stalled.wait_for_connections(1)
        idle.wait_for_connections(2)
        with within(1):
            stalled.stop()
            idle.stop()
    assert threads_of_services() == []
