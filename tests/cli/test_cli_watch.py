"""`tradingdata watch`: each change once, in text or JSON, misses, alerts and restarts."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from command_line import Run, run_here
from service import Service as Scripted
from service import book_reply, orders, reply
from tradingdata.cli import watch as watching
from tradingdata.cli.terminal import Code
from tradingdata.cli.watch import clock
from tradingdata.sandbox import Service


@pytest.fixture
def run(
    service: Scripted, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """A service with two orders, of which one then fills, with a miss between."""
    environment = {"TRADINGDATA_BASE_URL": service.base_url, "TRADINGDATA_ACCESS_TOKEN": "any"}
    first, second = (row | {"status": "Pending", "pan_no": "ABCDE1234F"} for row in orders(2))
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
    lines = ran.text.splitlines()
    assert [line.split()[1] for line in lines] == ["new", "new", "missed", "changed", "gone"]
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
    assert reported[3]["order"]["pan_no"] == "ABXXXXXX4F"


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


Program = Callable[..., str]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Returns a shell command that runs code of Python, which finds its arguments in `sys.argv`."""

    def command(code: str, *arguments: Path) -> str:
        script = tmp_path / "program.py"
        script.write_text(f"import sys, time\n{code}\n")
        return " ".join(f'"{part}"' for part in (sys.executable, script, *arguments))

    return command


KEEP = "open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"


def test_a_command_is_run_on_a_change_and_once_for_an_outage(
    run: Run, program: Program, tmp_path: Path
) -> None:
    changes = tmp_path / "changes"
    ran = run(*WATCH, "--on-change", program(KEEP, changes))
    assert ran.code == Code.OK, ran.err
    first, *reported = [json.loads(line) for line in changes.read_text().splitlines()]
    assert (first["kind"], first["error"]) == ("missed", "NotFoundError")
    assert [one["kind"] for one in reported] == ["changed", "gone"], "not the first poll's orders"
    assert reported[0]["order"]["status"] == "Success"


def test_a_restart_reports_what_changed_meanwhile_once(
    service: Scripted, run: Run, program: Program, tmp_path: Path
) -> None:
    changes, state = tmp_path / "changes", tmp_path / "state.json"
    alert = ("--on-change", program(KEEP, changes), "--state", state, "-w", "status=Error")
    first, second = (row | {"status": "Pending", "pan_no": "ABCDE1234F"} for row in orders(2))
    rejected, again = first | {"status": "Error"}, second | {"status": "Error"}
    service.script(then=book_reply([first, second]))
    assert run("watch", "-i", "0.01", "--polls", "1", *alert).text == ""
    assert not changes.exists(), "the orders of the first poll are where a watch begins"
    service.script(then=book_reply([rejected, second]))
    ran = run("watch", "-i", "0.01", "--polls", "1", *alert)
    assert "status Pending -> Error" in ran.text
    service.script(reply(404), then=book_reply([rejected, again]))
    assert run("watch", "-i", "0.01", "--polls", "2", "--timeout", "5", *alert).code == Code.OK
    told = [json.loads(line) for line in changes.read_text().splitlines()]
    assert [one["kind"] for one in told] == ["changed", "missed", "changed"]
    numbers = [one["order"]["order_no"] for one in told if one["kind"] == "changed"]
    assert numbers == [first["order_no"], second["order_no"]]


def test_what_a_crash_kept_from_being_reported_is_reported_after_it(
    service: Scripted, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, watched = tmp_path / "state.json", ("watch", "-i", "0.01", "--polls", "1")
    rows = orders(1, status="Pending")
    service.script(then=book_reply(rows))
    run(*watched, "--state", state)
    service.script(then=book_reply([rows[0] | {"status": "Error"}]))

    def crash(command: str, lines: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tradingdata.cli.watch._run_on_change", crash)
        assert run(*watched, "--state", state, "--on-change", "x").code == Code.INTERRUPTED
    assert "status Pending -> Error" in run(*watched, "--state", state).text
    assert run(*watched, "--state", state).text == ""


ROWS = orders(3, order_no=str, status="Error")
RESTARTS: list[tuple[list[Any], list[Any], str]] = [
    ([ROWS, []], [[], [], ROWS], "cleared cleared returned returned returned"),
    ([[]], [ROWS], "new new new"),
    ([ROWS], [[ROWS[0] | {"status": "Success"}, *ROWS[1:]]], "changed"),
]


@pytest.mark.parametrize(("before", "after", "kinds"), RESTARTS)
def test_a_restart_goes_on_from_the_state(
    service: Scripted, run: Run, tmp_path: Path, before: list[Any], after: list[Any], kinds: str
) -> None:
    """What was cleared before it is not new after it; what came to an empty book is."""
    watch = ("watch", "-i", "0.01", "--polls", "2", "--state", tmp_path / "state.json")
    told = []
    for books in (before, after):
        service.script(*map(book_reply, books[:-1]), then=book_reply(books[-1]))
        told += [line.split()[1] for line in run(*watch).text.splitlines()]
    assert told[len(before[0]) :] == kinds.split()


def test_a_command_that_fails_is_reported_and_the_watch_goes_on(run: Run, program: Program) -> None:
    failing = program("sys.exit(3)")
    ran = run(*WATCH, "--on-change", failing)
    assert ran.code == Code.OK
    assert ran.err == "--on-change failed with exit code 3\n" * 3
    assert len(ran.text.splitlines()) == 5


def test_a_command_that_hangs_is_stopped(
    run: Run, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert watching._LONGEST == 30
    monkeypatch.setattr(watching, "_LONGEST", 0.2)
    ran = run(*WATCH, "--on-change", program("time.sleep(5)"))
    assert ran.err == "--on-change: stopped after 0.2 s\n" * 3


def test_it_ends_at_a_time(sandbox: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADINGDATA_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", sandbox.token())
    soon = dt.datetime.now() + dt.timedelta(seconds=3)
    assert run("watch", "-i", "0.3", "--until", soon.isoformat(sep=" ")).code == Code.OK
    assert dt.datetime.now() >= soon


@pytest.mark.parametrize("tz", ["Asia/Tokyo", None])
def test_the_lines_show_the_zone_of_the_rows(sandbox: Service, tz: str | None) -> None:
    update = next(sandbox.client(tz=tz).watch_orders(interval=0.1))
    zone = None if tz is None else ZoneInfo(tz)
    assert clock(update) == f"{update.at.astimezone(zone):%H:%M:%S}"
    unknown = update._replace(orders=None)
    assert clock(unknown) == f"{update.at.astimezone():%H:%M:%S}"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_misses_in_a_row_and_a_cleared_book_are_reported(
    form: list[str], service: Scripted, run: Run
) -> None:
    first = book_reply(orders(1, display_name="日本電気", status=None))
    service.script(first, reply(404), reply(404), then=book_reply([]))
    new, missed, again, cleared = run(*WATCH, *form).text.splitlines()
    assert "日本電気" in new
    assert "none" in new or form
    assert ("in a row" in missed, "404" in missed) == (False, True)
    assert '"misses": 2' in again if form else "(2 in a row) " in again
    assert json.loads(cleared)["kind"] == "cleared" if form else "cleared  0 orders left" in cleared
