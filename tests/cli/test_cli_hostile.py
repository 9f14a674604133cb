"""`tradingdata`: what the service sends, names of fields among it, never steers the terminal."""

from __future__ import annotations

import re
from typing import Any

import pytest

from command_line import Run, Screen, run_here
from service import Service, book_reply, envelope, json_reply, orders, stocks, trades
from tradingdata.cli.terminal import Code

CLEAR, CONTROL, TURN = "\x1b[2J\x1b]0;mine\x07", "\x9b31m", "\u202e"
HOSTILE = f"{CLEAR}{CONTROL}{TURN}[red]x[/red]\nsecond line"
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HARMLESS = set("\n\r")


@pytest.fixture
def run(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    env = {"TRADINGDATA_BASE_URL": service.base_url, "TRADINGDATA_ACCESS_TOKEN": "any"}
    texts = ("symbol", "display_name", "status", "reason_description", "companyname", "isin")

    def hostile(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, **{n: HOSTILE for n in texts if n in row}, HOSTILE: "v"} for row in rows]

    service.script(then=book_reply(hostile(orders(2))), path="/api/v1/order/book")
    service.script(then=book_reply(hostile(trades(2))), path="/api/v1/trade/book")
    service.script(then=json_reply(hostile(stocks(2))), path="/api/v1/stocks")
    return run_here(capsysbinary, monkeypatch, env)


def controls(text: str) -> set[str]:
    return {c for c in STYLE.sub("", text) if not c.isprintable()} - HARMLESS


COMMANDS = [
    "trades --extra",
    "trades --extra --columns symbol",
    "orders --columns symbol,status,reason_description --extra",
    "search tata --extra --limit 1",
    "stock RELIANCE",
    "positions",
    "pnl",
    "watch --polls 2 --interval 0.01",
    "check",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_gets_no_control_character(service: Service, run: Run, command: str) -> None:
    if command.startswith("stock "):
        service.script(json_reply([{**stocks(1)[0], HOSTILE: HOSTILE}]), path="/api/v1/stocks")
        command = f"stock {stocks(1)[0]['nsesymbol']}"
    ran = run(*command.split())
    assert ran.code == Code.OK, ran.err
    assert controls(ran.text + ran.err) == set()
    assert "\x1b" not in ran.text + ran.err
    assert "--extra" not in command or "second line" in ran.text.partition("\n")[0]


@pytest.mark.parametrize("command", ["orders -c symbol,status --extra", "trades --extra"])
def test_a_terminal_gets_no_control_character_but_its_own(
    run: Run, screen: Screen, command: str
) -> None:
    shown = screen(300)
    assert run(*command.split()).code == Code.OK
    assert "[red]x[/red]" in shown.getvalue()
    assert controls(shown.getvalue()) == set()
    assert "\x1b[2J" not in shown.getvalue()


def test_a_message_is_reported_without_control_characters(service: Service, run: Run) -> None:
    bad = envelope([], status="error", message=HOSTILE)
    service.script(then=json_reply(bad), path="/api/v1/order/book")
    for command in ("orders", "check"):
        ran = run(command)
        assert ran.code == Code.SERVICE
        assert "[red]x[/red]" in ran.text + ran.err
        assert controls(ran.text + ran.err) == set()


def test_check_tells_lost_values_in_no_warning_of_python(service: Service, run: Run) -> None:
    rows = [{**orders(1)[0], "price": "MKT"}]
    service.script(then=book_reply(rows), path="/api/v1/order/book")
    ran = run("check")
    assert (ran.code, ran.err) == (Code.OK, "")
