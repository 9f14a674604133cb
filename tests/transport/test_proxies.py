"""Proxies: given or in the environment, never for loopback, and never shown the token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, good_book, run_child
from service import Authority, Proxy, Service, closed_port, hang_up, reply, resolver

VARIABLES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
Call = Callable[..., str]
CALL = """
options = eval(sys.argv[3])
with td.Client(sys.argv[1], access_token=TOKEN, ca_file=sys.argv[2], **options) as client:
    try:
        print("rows", len(client.trade_book()))
    except td.TradingDataError as error:
        print(type(error).__name__, error.attempts, error)
"""


@pytest.fixture
def call(tls_service: Service, ca: Authority, tmp_path: Path) -> Call:
    """What a call by name comes to in a process with an environment."""

    def run(
        *, to: Service = tls_service, environment: dict[str, str] | None = None, **options: Any
    ) -> str:
        variables = dict.fromkeys(VARIABLES, "") | resolver(tmp_path, address="127.0.0.1")
        arguments = (to.url(host="api.example.test"), str(ca.pem_file), repr(options))
        return run_child(CALL, *arguments, environment=variables | (environment or {})).strip()

    return run


@pytest.mark.parametrize("variable", ["https_proxy", "argument"])
def test_a_proxy_sees_a_connect_and_nothing_of_the_call(
    call: Call, proxy: Proxy, tls_service: Service, variable: str
) -> None:
    tls_service.script(good_book())
    given: dict[str, Any] = (
        {"proxy": proxy.base_url}
        if variable == "argument"
        else {"environment": {variable: proxy.base_url}}
    )
    assert call(**given) == "rows 3"
    [request] = proxy.requests
    assert request.method == "CONNECT"
    assert request.target == f"api.example.test:{tls_service.port}"
    assert request.header("authorization") is None
    assert TOKEN.encode() not in proxy.seen
    assert b"trade" not in proxy.seen
    assert tls_service.requests[0].header("authorization") == f"Bearer {TOKEN}"


def test_a_proxy_in_tls_is_verified_with_the_same_authorities(
    call: Call, tls_service: Service, ca: Authority
) -> None:
    tls_service.script(good_book())
    with Proxy(tls_service, tls=ca.good()) as proxy:
        assert call(proxy=proxy.base_url) == "rows 3"
        assert [request.method for request in proxy.requests] == ["CONNECT"]
    with Proxy(tls_service, tls=ca.unknown_ca()) as proxy:
        assert call(proxy=proxy.base_url).startswith("TLSError 1 ")
        assert proxy.requests == []


@pytest.mark.parametrize(
    ("no_proxy", "bypassed"),
    [
        ("*", True),
        (None, True),
        ("other.test, example.test", True),
        (".example.test", True),
        ("*.example.test", False),
        ("example.test:443", False),
        ("other.test;example.test", False),
        ("notexample.test,xample.test", False),
    ],
)
def test_no_proxy_is_read_as_curl_8_reads_it(
    call: Call, proxy: Proxy, tls_service: Service, no_proxy: str | None, bypassed: bool
) -> None:
    """None is `trust_env=False`."""
    tls_service.script(then=good_book())
    environment = {"https_proxy": proxy.base_url, "no_proxy": no_proxy or ""}
    assert call(environment=environment, trust_env=no_proxy is not None) == "rows 3"
    assert (len(proxy.connections) == 0) == bypassed


@pytest.mark.parametrize(
    ("status", "offers", "message"),
    [
        (407, [], "requires a user name and password (407); write them into `proxy`"),
        (407, ["Negotiate", "NTLM"], "requires a user name and password (407)"),
        (403, [], "refused to connect to api.example.test (403); check `proxy`"),
        (503, [], "refused to connect to api.example.test (503)"),
    ],
)
def test_a_proxy_that_refuses_is_distinguished_from_the_service(
    call: Call, proxy: Proxy, status: int, offers: list[str], message: str
) -> None:
    proxy.script(then=reply(status, headers=[("Proxy-Authenticate", offer) for offer in offers]))
    outcome = call(proxy=f"http://desk:canary@127.0.0.1:{proxy.port}", attempts=2)
    attempts = 2 if status >= 500 else 1
    assert outcome.startswith(f"ConnectError {attempts} POST /api/v1/trade/book: ")
    assert f"the proxy 127.0.0.1:{proxy.port} {message}" in outcome
    assert ("NTLM, Negotiate or Digest" in outcome) == (status == 407)
    assert "canary" not in outcome
    assert TOKEN.encode() not in proxy.seen


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(
    call: Call, scheme: str
) -> None:
    with closed_port() as port:
        address = f"{scheme}://desk:canary@127.0.0.1:{port}"
        outcome = call(proxy=address, attempts=1)
    assert outcome.startswith("ConnectError 1 POST /api/v1/trade/book: ")
    assert f"cannot connect to the proxy 127.0.0.1:{port}" in outcome
    assert "check `proxy`" in outcome
    assert "canary" not in outcome
    assert "api.example.test" not in outcome


def test_a_proxy_that_hangs_up_is_named(call: Call, proxy: Proxy) -> None:
    proxy.script(then=hang_up)
    outcome = call(proxy=proxy.base_url, attempts=1)
    assert f"the proxy 127.0.0.1:{proxy.port}" in outcome


def test_the_service_is_named_where_the_proxy_is_bypassed(
    call: Call, proxy: Proxy, ca: Authority
) -> None:
    environment = {"https_proxy": proxy.base_url, "no_proxy": "example.test"}
    with Service(tls=ca.good()) as service:
        port = service.port
    outcome = call(to=service, environment=environment, attempts=1)
    assert f"cannot connect to api.example.test port {port}" in outcome


def test_loopback_bypasses_every_proxy(
    proxy: Proxy, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.base_url)
    service.script(then=good_book())
    with td.Client(service.base_url, access_token=TOKEN, proxy=proxy.base_url) as client:
        assert len(client.trade_book()) == 3
    assert proxy.connections == []
