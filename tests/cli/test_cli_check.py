"""`tradingdata check`: a line a step, what to do where one fails, and the code of the first."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from command_line import Ran, account, on_terminal, run_here
from service import Authority, Proxy, Service, closed_port, envelope, json_reply, orders, stocks
from tradingdata.cli.errors import Code
from tradingdata.sandbox import Service as Sandbox

STEPS = ["settings", "DNS", "TCP", "TLS", "clock", "search", "token", "latency"]
TOKEN = "a-token-of-this-test"


Check = Callable[..., tuple[Ran, dict[str, tuple[str, str]]]]


@pytest.fixture
def check(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], ca: Authority
) -> Check:
    """Checks an address: the run, and the state and the text of each step, which all report."""
    env = {"TRADINGDATA_ACCESS_TOKEN": TOKEN, "SSL_CERT_FILE": str(ca.pem_file)}
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    run = run_here(capsysbinary, monkeypatch, env)

    def checked(url: str = "", token: str = "") -> tuple[Ran, dict[str, tuple[str, str]]]:
        given = {"TRADINGDATA_BASE_URL": url, "TRADINGDATA_ACCESS_TOKEN": token}
        for name, value in given.items():
            if value:
                monkeypatch.setenv(name, value)
        ran = run("check")
        lines = [line.split(maxsplit=2) for line in ran.text.splitlines()[:-1]]
        assert [name for _, name, _ in lines] == STEPS
        assert TOKEN not in ran.text + ran.err
        return ran, {name: (state, text) for state, name, text in lines}

    return checked


def in_order(service: Service, *, ahead: float = 0.0) -> None:
    """Responds to all calls, with a clock ahead by that many seconds."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)
    service.script(then=json_reply(envelope(orders(3)), headers={"Date": date}))
    service.script(then=json_reply(stocks(1), headers={"Date": date}), path="/api/v1/stocks")


def test_all_is_well_with_the_sandbox(sandbox: Sandbox, check: Check) -> None:
    ran, found = check(sandbox.base_url, sandbox.token())
    assert ran.code == Code.OK
    assert found.pop("TLS") == ("skip", "plain http, which stays on this machine")
    assert {state for state, _ in found.values()} == {"ok"}
    assert "agree" in found["clock"][1]
    assert "orders today" in found["token"][1]
    assert re.search(r"order book in [\d.]+ ms", found["latency"][1])
    assert ran.text.splitlines()[-1] == "ready"


def test_tls_is_reported_with_its_version_and_the_certificates_end(
    tls_service: Service, check: Check
) -> None:
    in_order(tls_service)
    ran, found = check(tls_service.base_url)
    assert ran.code == Code.OK, ran.text
    assert re.match(r"TLSv1\.\d, certificate until \d{4}-\d\d-\d\d", found["TLS"][1])
    assert found["clock"][0] == "ok"


@pytest.mark.parametrize(("ahead", "side"), [(3600, "behind"), (-3600, "ahead of")])
def test_a_wrong_clock_is_reported_with_its_error_and_fails_nothing(
    tls_service: Service, check: Check, ahead: float, side: str
) -> None:
    in_order(tls_service, ahead=ahead)
    ran, found = check(tls_service.base_url)
    state, text = found["clock"]
    assert (ran.code, state) == (Code.OK, "warn")
    assert re.search(rf"(3,599|3,600|3,601) s {side} the service: set the clock", text)
    assert ran.text.splitlines()[-1] == "ready, 1 to look at"


def test_a_service_that_tells_no_time_is_no_failure(tls_service: Service, check: Check) -> None:
    tls_service.script(then=json_reply(envelope(orders(3))))
    tls_service.script(then=json_reply(stocks(1)), path="/api/v1/stocks")
    ran, found = check(tls_service.base_url)
    assert found["clock"] == (
        "warn",
        "the service sends no time: check this machine's clock yourself",
    )
    assert ran.code == Code.OK


@pytest.mark.parametrize(
    ("fault", "says"),
    [("expired", "has expired"), ("wrong_host", "another host"), ("unknown_ca", "SSL_CERT_FILE")],
)
def test_a_certificate_that_does_not_hold_says_why(
    ca: Authority, check: Check, fault: str, says: str
) -> None:
    """F9, F11, F12."""
    with Service(tls=getattr(ca, fault)()) as service:
        in_order(service)
        ran, found = check(service.base_url)
    assert ran.code == Code.TRANSPORT
    assert found["TLS"][0] == "FAIL"
    assert says in found["TLS"][1]
    assert {found[name] for name in STEPS[4:]} == {("skip", "not tried")}


def test_a_port_where_nobody_listens_is_reported(check: Check) -> None:
    """F1."""
    with closed_port() as port:
        ran, found = check(f"https://127.0.0.1:{port}")
    assert ran.code == Code.TRANSPORT
    assert found["TCP"][0] == "FAIL"
    assert "refused" in found["TCP"][1]
    assert "firewall" in found["TCP"][1]


def test_a_name_that_nobody_knows_is_reported(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F2."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    ran, found = check("https://api.example.test")
    assert ran.code == Code.TRANSPORT
    assert found["DNS"] == (
        "FAIL",
        "Name or service not known: check the host's name, and this machine's network and DNS",
    )
    assert ran.text.splitlines()[-1] == "1 failed"


def test_a_refused_token_is_reported_after_a_search_that_works(
    sandbox: Sandbox, check: Check
) -> None:
    """F45."""
    ran, found = check(sandbox.base_url)
    assert ran.code == Code.AUTHENTICATION
    assert (found["search"][0], found["token"][0], found["latency"][0]) == ("ok", "FAIL", "skip")
    assert "set TRADINGDATA_ACCESS_TOKEN" in found["token"][1]


def test_a_missing_token_and_a_missing_address_are_reported(
    sandbox: Sandbox, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, found = check()
    assert (ran.code, found["settings"][0]) == (Code.CONFIGURATION, "FAIL")
    monkeypatch.delenv("TRADINGDATA_ACCESS_TOKEN")
    ran, found = check(sandbox.base_url)
    assert (ran.code, found["token"][0]) == (Code.CONFIGURATION, "FAIL")


def test_a_search_that_fails_does_not_hide_the_token(sandbox: Sandbox, check: Check) -> None:
    sandbox.fail_next("html", endpoint="search", times=None)
    ran, found = check(sandbox.base_url, sandbox.token())
    sandbox.clear_faults()
    assert (found["search"][0], found["token"][0]) == ("FAIL", "ok")
    assert ran.code == Code.DATA


def test_behind_a_proxy_it_is_the_proxy_that_is_connected_to(
    proxy: Proxy, tls_service: Service, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F66."""
    in_order(tls_service)
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
    ran, found = check("https://api.example.test")
    assert ran.code == Code.OK, ran.text
    assert found["TCP"][1].startswith(f"connected to the proxy 127.0.0.1, port {proxy.port}")
    assert found["TLS"][0] == found["clock"][0] == "skip"
    assert found["token"][0] == "ok"


def test_a_narrow_terminal_keeps_the_columns_of_the_report(sandbox: Sandbox) -> None:
    env = account(sandbox) | {"TRADINGDATA_ACCESS_TOKEN": "outdated"}
    lines = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("check", env=env, width=50)).splitlines()
    assert max(map(len, lines)) <= 50
    begun = [line.split()[1] for line in lines[:-1] if line[0] != " "]
    assert begun == STEPS
    assert all(line[:16].isspace() and line[16] != " " for line in lines if line[0] == " ")
    assert len(lines) > len(STEPS) + 1
