"""`tradingdata` on a terminal, under Ctrl-C, and in the shell's completion."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from command_line import Run, Screen, account, commands, leading_columns, on_terminal, start
from sandbox_calls import SETTING
from signalling import interrupt
from systems import WINDOWS
from tradingdata import _core, sandbox
from tradingdata.cli.errors import Code
from tradingdata.sandbox import Service

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def assert_fits(shown: str, width: int, columns: int) -> None:
    """The table of trades has the screen's width and the leading key columns."""
    lines = ESCAPE.sub("", shown).splitlines()
    assert max(map(cell_len, lines)) <= width
    names = next(at for at, line in enumerate(lines) if line.startswith("display_name"))
    assert lines[names].split() == leading_columns("Trade")[:columns]
    hidden = len(_core.names_of("Trade")) - 1 - columns  # no row has an account
    assert lines[-1] == f"+{hidden} more columns: --columns; all rows: in a pipe"
    assert len(lines) <= 30, "more than the screen"
    assert any(re.fullmatch(" *… [0-9]+ more *", line) for line in lines)
    end = lines[names].index("quantity") + len("quantity")
    rows = lines[names + 2 : names + 6]
    assert all(line[end - 1].isdigit() and line[end:][:1] in ("", " ") for line in rows)


@pytest.mark.parametrize(("width", "columns"), [(60, 4), (80, 5), (200, 8)])
def test_a_table_fits_the_terminal_with_its_key_columns_first(
    run: Run, screen: Screen, width: int, columns: int
) -> None:
    shown = screen(width)
    assert run("trades").code == Code.OK
    assert_fits(shown.getvalue(), width, columns)


def test_columns_that_were_asked_for_and_do_not_fit_are_reported(run: Run, screen: Screen) -> None:
    shown = screen(80)
    run("orders", "--columns", "all")
    assert re.search(r"\+\d+ more columns: in a pipe", shown.getvalue())


def test_colours_go_with_no_color(
    run: Run, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]")
    shown = screen(80)
    run("orders")
    assert colour.search(shown.getvalue())
    monkeypatch.setenv("NO_COLOR", "1")
    shown = screen(80)
    run("orders")
    assert shown.getvalue()
    assert not colour.search(shown.getvalue())


@pytest.mark.parametrize(
    ("status", "code"), [("Error", "31"), ("Pending", "33"), ("Success", "32")]
)
def test_statuses_have_their_colours(run: Run, screen: Screen, status: str, code: str) -> None:
    shown = screen(200)
    run("orders", "--where", f"status={status}")
    assert f"\x1b[{code}m{status}" in shown.getvalue()
    shown = screen(200)
    run("orders", "--where", f"status={status}", "--columns", "order_no,remarks,symbol")
    assert f"\x1b[{code}m" not in shown.getvalue()


def test_bytes_are_kept_from_a_terminal(run: Run, screen: Screen) -> None:
    screen(80)
    ran = run("trades", "--format", "parquet")
    assert ran.code == Code.USAGE
    assert "write a file with -o FILE.parquet" in ran.err


def test_an_error_is_red_and_says_what_to_do(sandbox: Service) -> None:
    env = account(sandbox) | {"TRADINGDATA_ACCESS_TOKEN": "outdated"}
    shown = on_terminal("trades", env=env, width=300)
    assert shown.startswith("\x1b[31merror: ")
    assert "set TRADINGDATA_ACCESS_TOKEN" in shown


def test_a_terminal_that_lacks_the_ellipsis_gets_dots(sandbox: Service) -> None:
    env = account(sandbox) | {"PYTHONIOENCODING": "ascii"}
    shown = on_terminal("trades", env=env, width=80)
    assert "... " in shown
    assert "--columns; all rows" in shown


def test_ctrl_c_ends_a_call_quietly_with_130(sandbox: Service) -> None:
    sandbox.fail_next("stall", seconds=20)
    child = start("orders", env=account(sandbox))
    asked = time.monotonic() + 20
    count = len(sandbox.requests)
    while len(sandbox.requests) == count and time.monotonic() < asked:
        time.sleep(0.02)
    sandbox.clear_faults()
    time.sleep(0.1)
    interrupt(child)
    out, err = child.communicate(timeout=100)
    assert child.returncode == Code.INTERRUPTED
    assert out == b""
    assert b"Traceback" not in err
    assert err.strip() == b""


def test_ctrl_c_while_libraries_are_imported_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    child = start("trades", env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    out, err = child.communicate(timeout=100)
    assert (child.returncode, out, err) == (Code.INTERRUPTED, b"", b"")


@pytest.mark.parametrize("command", ["", *commands()])
@pytest.mark.parametrize("width", [60, 120])
def test_the_help_fits(command: str, width: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = run(*command.split(), "--help").text
    examples = text.index("Examples:")
    assert max(map(len, text[:examples].splitlines())) <= width
    assert "-h, --help" in text
    assert "..." not in text.partition("Commands:")[2][:examples], "a summary is cut"
    paragraph = text.split("\n\n")[1]
    assert paragraph.rstrip().endswith(".")


@pytest.mark.parametrize(
    "end",
    [
        interrupt,
        pytest.param(
            subprocess.Popen.terminate,
            marks=pytest.mark.skipif(WINDOWS, reason="Windows ends a process without a signal"),
        ),
    ],
)
def test_the_sandbox_serves_until_it_is_signalled_and_prints_what_to_paste(
    end: Callable[[subprocess.Popen[bytes]], None],
) -> None:
    options = "--port 0 --seed 5 --day 2026-03-02 --speed 60 --accounts cash,margin --orders 20"
    child = start("sandbox", *options.split(), env={"PYTHONUNBUFFERED": "1"})
    assert child.stdout is not None
    guard = threading.Timer(30, child.kill)
    guard.start()
    shown = ""
    while "# margin" not in shown and (line := child.stdout.readline().decode()):
        shown += line.replace("\r", "")
    settings = dict(SETTING.findall(shown))
    assert settings.keys() == {"TRADINGDATA_BASE_URL", "TRADINGDATA_ACCESS_TOKEN"}, shown
    url, token = settings.values()
    assert url.startswith("http://127.0.0.1:")
    assert "2026-03-02 09:15" in shown
    with sandbox.start(seed=5, accounts=["cash", "margin"], orders=0) as same:
        assert token == same.token()
        assert f"# margin: {same.token('margin')}\n" in shown
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=5):
        end(child)
        out, err = child.communicate(timeout=100)
    guard.cancel()
    assert (child.returncode, out.split(), err) == (Code.OK, [b"stopped"], b"")


def test_the_shell_completes_commands_and_options(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TRADINGDATA_COMPLETE", "bash_complete")
    for line, offered in {"or": ["plain,orders"], "orders --col": ["plain,--columns"]}.items():
        monkeypatch.setenv("COMP_WORDS", f"tradingdata {line}")
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ") + 1))
        ran = run()
        assert (ran.code, ran.text.split()) == (Code.OK, offered)
