"""`tradingdata` on a terminal, under Ctrl-C, and in the shell's completion."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from calls import wait_until
from command_line import Run, Screen, account, on_terminal, start
from sandbox_calls import SETTING
from signalling import interrupt
from systems import WINDOWS
from tradingdata import sandbox
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service


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


@pytest.mark.parametrize(
    ("command", "is_stalled", "requests", "lines"),
    [("orders", True, 1, 0), ("watch -i 0.2", False, 2, 60)],
)
def test_ctrl_c_ends_a_command_quietly_with_130(
    sandbox: Service, command: str, is_stalled: bool, requests: int, lines: int
) -> None:
    if is_stalled:
        sandbox.fail_next("stall", seconds=20)
    count = len(sandbox.requests)
    child = start(*command.split(), env=account(sandbox))
    wait_until(lambda: len(sandbox.requests) >= count + requests)
    sandbox.clear_faults()
    time.sleep(0.1)
    interrupt(child)
    out, err = child.communicate(timeout=100)
    assert child.returncode == Code.INTERRUPTED
    assert (out.count(b"\n"), err.strip()) == (lines, b"")


def test_ctrl_c_while_libraries_are_imported_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    child = start("trades", env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    out, err = child.communicate(timeout=100)
    assert (child.returncode, out, err) == (Code.INTERRUPTED, b"", b"")


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


def test_a_port_that_is_taken_is_reported(sandbox: Service, run: Run) -> None:
    ran = run("sandbox", "--port", sandbox.base_url.rpartition(":")[2])
    assert (ran.code, "; --port 0 chooses a free one" in ran.err) == (Code.USAGE, True), ran.err
