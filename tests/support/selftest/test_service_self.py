"""The scripted service does what it promises: recording, scripts, connections, and stopping."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable

import pytest

from calls import within
from service import (
    EMPTY_BOOK,
    GET,
    BadRequest,
    Behaviour,
    Connection,
    Request,
    Service,
    Unscripted,
    black_hole,
    close_after_reply,
    close_when_next_request_is_read,
    closed_port,
    deaf_port,
    delay,
    drip,
    empty_reply,
    endless_body,
    exchange,
    gzip_bomb,
    has_ipv6,
    hold,
    message,
    raw,
    reply,
    stall,
    stall_before_headers,
    stall_mid_body,
    stall_mid_headers,
)

POST = (
    b"POST /a%20b?x=1&y=%E2%82%B9 HTTP/1.1\r\nHost:h\r\n"
    b'X-Odd:\t one \r\nContent-Length: 3\r\n\r\n{"}'
)
KEPT = b"GET /kept HTTP/1.1\r\nHost: test\r\n\r\n"


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


def test_a_chunked_request_is_recorded_with_its_frames(service: Service) -> None:
    service.script(reply(), path="/")
    head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    exchange(service.port, head + b"2;x=1\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
    assert service.requests[0].body == b"abc"
    assert service.requests[0].raw == head + b"2;x=1\r\nab\r\n1\r\nc\r\n0\r\n\r\n"


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
    assert all(each.closed_at and each.closed_at >= each.opened_at for each in opened)


def test_a_pipelined_request_is_not_lost(service: Service) -> None:
    service.script(reply(200, b"1"), delay(0.05, reply(200, b"2")))
    answer = exchange(service.port, KEPT + GET)
    assert answer == message(body=b"1") + message(body=b"2")


def test_a_path_has_a_script_of_its_own(service: Service) -> None:
    service.script(then=reply(404))
    service.script(reply(200), path="/api/v1/stocks")
    service.choose(lambda request: reply(int(request.body)), path="/chosen")
    chosen = b"POST /chosen HTTP/1.1\r\nContent-Length: 3\r\nConnection: close\r\n\r\n418"
    other = GET.replace(b"stocks", b"others")
    answers = [exchange(service.port, asked)[9:12] for asked in (other, GET, chosen)]
    assert answers == [b"404", b"200", b"418"]


def test_a_script_may_be_endless(service: Service) -> None:
    service.script_from(reply(200, b"%d" % number) for number in iter(int, 1))
    assert [exchange(service.port)[-1:] for _ in range(3)] == [b"0"] * 3


@pytest.mark.parametrize(
    ("request_bytes", "behaviours", "kind"),
    [
        (GET, [], Unscripted),
        (b"nonsense\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\n folded\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", [reply()], BadRequest),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", [reply()], BadRequest),
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


@pytest.mark.parametrize("sent", [GET[:20], POST[:-1], b"POST / HTTP/1.1\r\nTransfer-Encoding: c"])
def test_a_request_that_the_client_cuts_is_kept_as_unfinished(
    service: Service, sent: bytes
) -> None:
    with connect(service) as sock:
        sock.sendall(sent)
    service.wait_for_connections(1)
    service.wait_for_open(0)
    assert service.requests == []
    assert service.connections[0].unfinished == sent


def test_waiting_for_requests_ends_with_them_or_says_what_came(service: Service) -> None:
    service.script(then=reply())
    later = threading.Timer(0.05, exchange, [service.port])
    later.start()
    assert len(service.wait_for_requests(1)) == 1
    with pytest.raises(AssertionError, match=r"not 2 requests in 0\.01 s: 1 requests"):
        service.wait_for_requests(2, timeout=0.01)
    later.join()


STALLS: list[Callable[[], Behaviour]] = [
    stall,
    stall_before_headers,
    stall_mid_headers,
    stall_mid_body,
    lambda: stall(3600),
    lambda: drip(EMPTY_BOOK * 100),
    endless_body,
    lambda: endless_body(in_chunks=False),
    lambda: gzip_bomb(2**40),
    lambda: hold(threading.Event(), reply()),
    lambda: close_after_reply(reply(), after=3600),
    lambda: reply(200, b"x" * 2**25),
]


@pytest.mark.parametrize("make", STALLS)
def test_stop_returns_at_once_while_a_stall_is_on(make: Callable[[], Behaviour]) -> None:
    service = Service()
    with service:
        service.script(make())
        with connect(service) as sock:
            sock.sendall(KEPT)
            service.wait_for_requests(1)
            time.sleep(0.02)
            with within(1):
                service.stop()
    assert threads_of_services() == []


@pytest.mark.parametrize("make", STALLS)
def test_a_stall_ends_when_the_client_closes(
    service: Service, make: Callable[[], Behaviour]
) -> None:
    service.script(make())
    with connect(service) as sock:
        sock.sendall(KEPT)
        service.wait_for_requests(1)
    service.wait_for_open(0)


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


def test_a_service_comes_back_on_the_port_it_had() -> None:
    with Service() as first:
        first.script(then=reply())
        assert exchange(first.port)
    with pytest.raises(ConnectionRefusedError):
        exchange(first.port)
    with Service(port=first.port) as second:
        second.script(then=reply())
        assert second.base_url == first.base_url
        assert exchange(second.port)


def test_a_hundred_connections_at_once(service: Service) -> None:
    gate = threading.Event()
    service.script(then=hold(gate, reply()))
    clients = [threading.Thread(target=exchange, args=[service.port]) for _ in range(100)]
    for client in clients:
        client.start()
    service.wait_for_requests(100, timeout=20)
    assert service.open_connections == 100
    gate.set()
    for client in clients:
        client.join()
    assert len(service.connections) == 100


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 on loopback")
def test_both_families_share_the_port_unless_one_is_left_out() -> None:
    with Service() as both:
        both.script(then=reply())
        assert exchange(both.port, host="::1") == exchange(both.port)
        assert both.url(host="[::1]") == f"http://[::1]:{both.port}"
    with Service(ipv6=False) as old, pytest.raises(ConnectionRefusedError):
        exchange(old.port, host="::1")
    with Service(ipv4=False) as new, pytest.raises(ConnectionRefusedError):
        exchange(new.port)


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 on loopback")
def test_f5_ipv6_can_be_a_black_hole_beside_a_good_ipv4() -> None:
    with Service(ipv6=False) as service, black_hole("::1", service.port):
        service.script(then=reply())
        assert exchange(service.port)
        with pytest.raises(TimeoutError):
            exchange(service.port, host="::1", timeout=0.2)


def test_f1_a_closed_port_refuses() -> None:
    with closed_port() as port, pytest.raises(ConnectionRefusedError):
        exchange(port)


def test_f4_a_black_hole_swallows_every_connect() -> None:
    with black_hole() as port:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                socket.create_connection(("127.0.0.1", port), timeout=0.1)


def test_a_deaf_port_connects_and_says_nothing() -> None:
    with deaf_port() as port, socket.create_connection(("127.0.0.1", port), timeout=0.1) as sock:
        sock.sendall(GET)
        with pytest.raises(TimeoutError):
            sock.recv(1)


def test_on_connect_comes_before_the_first_request() -> None:
    with Service(on_connect=raw(b"HTTP/1.1 200 Early\r\n\r\n")) as service:
        service.script(then=empty_reply)
        assert exchange(service.port) == b"HTTP/1.1 200 Early\r\n\r\n"
    with Service(on_connect=Connection.reset) as service, pytest.raises(ConnectionResetError):
        exchange(service.port)


def test_f70_the_next_request_on_the_same_connection_is_read_and_not_answered(
    service: Service,
) -> None:
    service.script(close_when_next_request_is_read(reply(200, b"1")), then=reply(200, b"2"))
    with connect(service) as sock:
        sock.sendall(KEPT)
        service.wait_for_requests(1)
        sock.sendall(KEPT)
        assert b"".join(iter(lambda: sock.recv(65536), b"")) == message(body=b"1")
    assert exchange(service.port) == message(body=b"2")
    assert len(service.requests) == 3


def test_f69_a_kept_connection_is_closed_after_its_reply(service: Service) -> None:
    service.script(close_after_reply(reply(200, b"1"), after=0.05))
    start = time.monotonic()
    assert exchange(service.port, KEPT) == message(body=b"1")
    assert time.monotonic() - start >= 0.05


def test_a_choice_sees_the_whole_request_and_is_never_called_twice_at_once(
    service: Service,
) -> None:
    inside: list[int] = []

    def choose(request: Request) -> Behaviour:
        inside.append(1)
        assert len(inside) == 1
        time.sleep(0.001)
        inside.pop()
        return reply(200, request.raw)

    service.choose(choose)
    clients = [threading.Thread(target=exchange, args=[service.port]) for _ in range(20)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert exchange(service.port) == message(body=GET)
