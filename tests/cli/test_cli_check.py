"""`tradingdata check`: a line a step, what to do where one fails, and the code of the first."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from command_line import Ran, run_here
from service import Authority, Proxy, Service, closed_port, envelope, json_reply, orders, stocks
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service as Sandbox

STEPS = ["settings", "search", "token"]
TOKEN = "a-token-of-this-test"


Check = Callable[..., tuple[Ran, dict[str, tuple[str, str]]]]


@pytest.fixture
def check(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], ca: Authority
) -> Check:
    """Checks an address: the run, and the state and the text of each line, in their order."""
    env = {"TRADINGDATA_ACCESS_TOKEN": TOKEN, "SSL_CERT_FILE": str(ca.pem_file)}
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    run = run_here(capsysbinary, monkeypatch, env)

    def checked(url: str, token: str = "") -> tuple[Ran, dict[str, tuple[str, str]]]:
        monkeypatch.setenv("TRADINGDATA_BASE_URL", url)
        if token:
            monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", token)
        ran = run("check", "--timeout", "5")
        lines = [line.split(maxsplit=2) for line in ran.text.splitlines()]
        assert [name for _, name, _ in lines] == STEPS[: len(lines)]
        assert TOKEN not in ran.text + ran.err
        return ran, {name: (state, text) for state, name, text in lines}

    return checked


def in_order(service: Service) -> None:
    """Responds to all calls."""
    service.script(then=json_reply(envelope(orders(3))))
    service.script(then=json_reply(stocks(1)), path="/api/v1/stocks")


def test_all_is_well_with_the_sandbox(sandbox: Sandbox, check: Check) -> None:
    ran, found = check(sandbox.base_url, sandbox.token())
    assert ran.code == Code.OK
    assert [state for state, _ in found.values()] == ["ok"] * len(STEPS)
    assert found["settings"][1] == sandbox.base_url
    assert re.search(r"orders today, in [\d.]+ ms", found["token"][1])


def test_a_port_where_nobody_listens_is_reported(check: Check) -> None:
    with closed_port() as port:
        ran, found = check(f"https://127.0.0.1:{port}")
    assert ran.code == Code.TRANSPORT
    assert f"cannot connect to 127.0.0.1 port {port}" in found["search"][1]
    assert "firewall" in found["search"][1]


def test_a_refused_token_is_reported_after_a_search_that_works(
    sandbox: Sandbox, check: Check
) -> None:
    ran, found = check(sandbox.base_url)
    assert ran.code == Code.AUTHENTICATION
    assert [state for state, _ in found.values()] == ["ok", "ok", "FAIL"]
    assert "set TRADINGDATA_ACCESS_TOKEN" in found["token"][1]


def test_a_missing_token_and_a_missing_address_are_reported(
    sandbox: Sandbox, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, found = check("")
    assert (ran.code, found) == (Code.CONFIGURATION, {})
    assert "TRADINGDATA_BASE_URL" in ran.err
    monkeypatch.delenv("TRADINGDATA_ACCESS_TOKEN")
    ran, found = check(sandbox.base_url)
    assert (ran.code, found["token"][0]) == (Code.CONFIGURATION, "FAIL")


def test_a_search_that_fails_does_not_hide_the_token(sandbox: Sandbox, check: Check) -> None:
    sandbox.fail_next(200, body="<html>Sign in</html>", endpoint="search", times=None)
    ran, found = check(sandbox.base_url, sandbox.token())
    sandbox.clear_faults()
    assert (found["search"][0], found["token"][0]) == ("FAIL", "ok")
    assert ran.code == Code.DATA


def test_a_proxy_is_used_and_named_where_it_fails(
    proxy: Proxy, tls_service: Service, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order(tls_service)
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
    ran, found = check("https://api.example.test")
    assert ran.code == Code.OK, ran.text
    with closed_port() as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        ran, found = check("https://api.example.test")
    assert ran.code == Code.TRANSPORT
    assert f"cannot connect to the proxy 127.0.0.1:{port}" in found["search"][1]
