"""The scripted service in TLS: certificates wrong in one way each, handshakes, proxies, names."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from calls import within
from service import (
    GET,
    Authority,
    NoCompiler,
    Proxy,
    Service,
    close_delimited,
    closed_port,
    exchange,
    message,
    reply,
    resolver_environment,
    stall,
)

EXPIRED, NOT_YET, SELF_SIGNED, NO_ISSUER, WRONG_HOST, WRONG_ADDRESS = 10, 9, 18, 20, 62, 64


def test_a_good_certificate_serves_every_loopback_name(tls_service: Service, ca: Authority) -> None:
    tls_service.script(then=reply(200, b"x"))
    assert tls_service.base_url == f"https://127.0.0.1:{tls_service.port}"
    for host in ("127.0.0.1", "localhost"):
        answer = exchange(tls_service.port, tls=ca.client_context(), host=host)
        assert answer == message(body=b"x")
    assert tls_service.requests[0].raw == GET
    assert tls_service.connections[0].tls == "TLSv1.3"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda ca, folder: ca.expired(), EXPIRED),
        (lambda ca, folder: ca.not_yet_valid(), NOT_YET),
        (lambda ca, folder: ca.wrong_host(), WRONG_ADDRESS),
        (lambda ca, folder: ca.unknown_ca(), NO_ISSUER),
        (lambda ca, folder: ca.self_signed(folder), SELF_SIGNED),
    ],
    ids=["F9 expired", "F10 not yet valid", "F11 wrong host", "F12 unknown", "F12 self-signed"],
)
def test_a_bad_certificate_is_bad_for_its_own_reason(
    ca: Authority, tmp_path: Path, make: Callable[[Authority, Path], ssl.SSLContext], code: int
) -> None:
    with Service(tls=make(ca, tmp_path)) as service:
        with pytest.raises(ssl.SSLCertVerificationError) as caught:
            exchange(service.port, tls=ca.client_context())
        assert caught.value.verify_code == code
        service.wait_for_open(0)
        assert service.requests == []


def test_f11_wrong_host_by_name(ca: Authority) -> None:
    with Service(tls=ca.wrong_host()) as service:
        with pytest.raises(ssl.SSLCertVerificationError) as caught:
            exchange(service.port, tls=ca.client_context(), host="localhost")
        assert caught.value.verify_code == WRONG_HOST


def test_f13_old_tls_is_old_for_those_who_refuse_it_and_works_for_others(ca: Authority) -> None:
    with Service(tls=ca.old_tls()) as service:
        service.script(then=reply(200, b"x"))
        with pytest.raises(ssl.SSLError, match=r"(?i)version|protocol"):
            exchange(service.port, tls=ca.client_context())
        service.wait_for_open(0)
        assert service.handshake_failures
        willing = ca.client_context()
        with pytest.warns(DeprecationWarning, match="TLSv1"):
            willing.minimum_version = ssl.TLSVersion.TLSv1
        willing.set_ciphers("DEFAULT@SECLEVEL=0")
        assert exchange(service.port, tls=willing) == message(body=b"x")
        assert service.connections[-1].tls == "TLSv1.1"


def test_f6_plain_http_on_the_https_port(service: Service, ca: Authority) -> None:
    assert service.url(scheme="https").startswith("https://127.0.0.1:")
    with pytest.raises(ssl.SSLError, match=r"(?i)wrong.version"):
        exchange(service.port, tls=ca.client_context())
    service.wait_for_open(0)
    assert service.handshake_failures == ["TLS was spoken to the plain port"]


def test_f15_a_stalled_handshake(ca: Authority) -> None:
    with Service(tls=ca.good(), on_connect=stall()) as service:
        with pytest.raises(TimeoutError):
            exchange(service.port, tls=ca.client_context(), timeout=0.2)
        service.wait_for_open(0, timeout=2)


def test_f16_a_close_with_and_without_close_notify(tls_service: Service, ca: Authority) -> None:
    tls_service.script(close_delimited(b"x"), close_delimited(b"x", notify=False))
    assert exchange(tls_service.port, tls=ca.client_context()).endswith(b"\r\n\r\nx")
    with pytest.raises(ssl.SSLEOFError):
        exchange(tls_service.port, tls=ca.client_context())


def test_stop_in_mid_handshake_and_in_a_tls_stall(ca: Authority) -> None:
    with Service(tls=ca.good()) as service:
        service.script(stall())
        address = ("127.0.0.1", service.port)
        with (
            socket.create_connection(address, timeout=5),
            socket.create_connection(address, timeout=5) as plain,
            ca.client_context().wrap_socket(plain, server_hostname="127.0.0.1") as secure,
        ):
            secure.sendall(GET)
            service.wait_for_requests(1)
            with within(1):
                service.stop()


def test_a_tls_stall_ends_when_the_client_closes(tls_service: Service, ca: Authority) -> None:
    tls_service.script(stall())
    with pytest.raises(TimeoutError):
        exchange(tls_service.port, tls=ca.client_context(), timeout=0.1)
    tls_service.wait_for_open(0, timeout=2)


def test_alpn_is_offered_and_recorded(ca: Authority) -> None:
    with Service(tls=ca.good(alpn=["h2", "http/1.1"])) as service:
        service.script(then=reply())
        client = ca.client_context()
        client.set_alpn_protocols(["http/1.1"])
        exchange(service.port, tls=client)
        assert service.connections[0].alpn == "http/1.1"


def test_f66_a_connect_tunnel_shows_the_proxy_no_plain_text(
    proxy: Proxy, tls_service: Service, ca: Authority
) -> None:
    tls_service.script(then=reply(200, b"x" * 100_000))
    client = http.client.HTTPSConnection(
        "127.0.0.1", proxy.port, context=ca.client_context(), timeout=5
    )
    client.set_tunnel("api.example.test", 443, {"Proxy-Authorization": "Basic canary"})
    for _ in range(2):
        client.request("GET", "/", headers={"Authorization": "Bearer secret-token"})
        assert client.getresponse().read() == b"x" * 100_000
    client.close()
    proxy.wait_for_open(0)
    assert [request.method for request in proxy.requests] == ["CONNECT"]
    assert proxy.requests[0].target == "api.example.test:443"
    assert b"Basic canary" in proxy.seen
    assert b"secret-token" not in proxy.seen
    assert tls_service.requests[1].header("authorization") == "Bearer secret-token"
    assert len(proxy.tunnels) == 1
    assert len(proxy.tunnels[0].down) > 200_000


def test_f66_an_absolute_request_shows_the_proxy_everything(service: Service) -> None:
    service.script(reply(200, b"x"))
    with Proxy(service) as proxy:
        request = (
            b"POST http://api.example.test/a/b?c HTTP/1.1\r\nHost: api.example.test\r\n"
            b"Authorization: Bearer secret-token\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert exchange(proxy.port, request) == message(body=b"x")
        assert proxy.seen == request
    assert service.requests[0].target == "/a/b?c"
    assert service.requests[0].body == b"{}"
    assert service.requests[0].header("authorization") == "Bearer secret-token"


def test_a_proxy_can_be_scripted_before_it_relays(service: Service) -> None:
    service.script(then=reply(200, b"x"))
    with Proxy(service) as proxy:
        proxy.script(reply(407), then=proxy.relay)
        request = GET.replace(b"GET /", b"GET http://h/")
        assert exchange(proxy.port, request).startswith(b"HTTP/1.1 407 ")
        assert exchange(proxy.port, request) == message(body=b"x")


def test_stop_ends_an_open_tunnel(service: Service) -> None:
    with (
        Proxy(service) as proxy,
        socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as sock,
    ):
        sock.sendall(b"CONNECT h:443 HTTP/1.1\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 200 ")
        with within(1):
            proxy.stop()


LOOK_UP = """
import socket, sys
try:
    socket.create_connection(("api.example.test", int(sys.argv[1])), timeout=5)
except socket.gaierror:
    print("unknown")
except ConnectionRefusedError:
    print("refused")
"""


def look_up(port: int, environment: dict[str, str]) -> str:
    return subprocess.run(
        [sys.executable, "-c", LOOK_UP, str(port)],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def test_f2_f3_names_resolve_late_to_loopback_or_not_at_all(tmp_path: Path) -> None:
    try:
        nowhere = resolver_environment(tmp_path, seconds=0.3)
        loopback = resolver_environment(tmp_path, address="127.0.0.1")
    except NoCompiler as error:
        pytest.skip(str(error))
    with closed_port() as port:
        start = time.monotonic()
        assert look_up(port, nowhere) == "unknown"
        assert time.monotonic() - start >= 0.3
        assert look_up(port, loopback) == "refused"
