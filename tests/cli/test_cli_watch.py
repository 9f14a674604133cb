"""`tradingdata watch`: each change once, in text or JSON, and a miss is reported."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from zoneinfo import ZoneInfo

import pytest

from command_line import Run, account, run_here, start
from service import Service as Scripted
from service import book_reply, orders, reply
from signalling import interrupt
from tradingdata.cli.terminal import Code
from tradingdata.cli.watch import clock
from tradingdata.sandbox import Service


@pytest.fixture
def run(
    service: Scripted, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """A service with two orders, of which one then fills, with a miss between."""
    environment = {"TRADINGDATA_BASE_URL": service.base_url, "TRADINGDATA_ACCESS_TOKEN": "any"}
    first, second = (row | {"status": "Pending"} for row in orders(2))
    filled = first | {"status": "Success", "traded_qty": 7}
    service.script(
        book_reply([first, second]),
        reply(404),
        book_reply([filled, second]),
        then=book_reply([filled]),
    )
    return run_here(capsysbinary, monkeypatch, environment)


WATCH = ("watch", "--interval", "0.01", "--polls", "4", "--timeout", "5")


def test_a_pipe_gets_a_line_a_change_and_a_miss_is_reported(run: Run) -> None:
    ran = run(*WATCH)
    assert ran.code == Code.OK, ran.err
    kinds = [line.split()[1] for line in ran.text.splitlines()]
    assert kinds == ["new", "new", "missed", "changed", "gone"]
    lines = ran.text.splitlines()
    assert "404" in lines[2]
    assert "status Pending -> Success" in lines[3]
    assert all(re.match(r"\d\d:\d\d:\d\d  ", line) for line in lines)


def test_json_carries_the_whole_order(run: Run) -> None:
    reported = [json.loads(line) for line in run(*WATCH, "--json").text.splitlines()]
    assert [one["kind"] for one in reported] == ["new", "new", "missed", "changed", "gone"]
    assert reported[2]["error"] == "NotFoundError"
    assert "status" in reported[3]["fields"]
    assert reported[3]["order"]["status"] == "Success"
    assert reported[3]["order"]["order_no"] == reported[0]["order"]["order_no"]


def test_a_filter_leaves_other_orders_out(run: Run) -> None:
    ran = run(*WATCH, "--where", "status=Success")
    assert [line.split()[1] for line in ran.text.splitlines()] == ["missed", "changed"]


def test_an_error_that_does_not_pass_ends_it(
    sandbox: Service, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADINGDATA_BASE_URL", sandbox.base_url)
    ran = run(*WATCH)
    assert ran.code == Code.AUTHENTICATION
    assert ran.err.startswith("error: ")


def test_it_ends_at_a_time(sandbox: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADINGDATA_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", sandbox.token())
    soon = dt.datetime.now() + dt.timedelta(seconds=3)
    assert run("watch", "-i", "0.3", "--until", soon.isoformat(sep=" ")).code == Code.OK
    assert dt.datetime.now() >= soon


def test_ctrl_c_ends_it_with_130(sandbox: Service) -> None:
    child = start("watch", "-i", "0.2", env=account(sandbox))
    until = time.monotonic() + 20
    count = len(sandbox.requests)
    while len(sandbox.requests) < count + 2 and time.monotonic() < until:
        time.sleep(0.02)
    interrupt(child)
    out, err = child.communicate(timeout=100)
    assert child.returncode == Code.INTERRUPTED
    assert out.count(b"\n") == 60
    assert b"Traceback" not in err


@pytest.mark.parametrize("tz", ["Asia/Tokyo", None])
def test_the_lines_show_the_zone_of_the_rows(sandbox: Service, tz: str | None) -> None:
    update = next(sandbox.client(tz=tz).watch_orders(interval=0.1))
    zone = None if tz is None else ZoneInfo(tz)
    assert clock(update) == f"{update.at.astimezone(zone):%H:%M:%S}"
    unknown = update._replace(orders=None)
    assert clock(unknown) == f"{update.at.astimezone():%H:%M:%S}"
