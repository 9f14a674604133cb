"""`python -m tradingdata demo`: the main job, end to end, in a process of its own."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import pytest

from tradingdata.sandbox.demo import show


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tradingdata", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)


def test_the_demo_shows_what_each_call_gives() -> None:
    done = run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    parts = done.stdout.split("\n>>> ")
    kinds = [part.splitlines()[1].partition(":")[0] for part in parts[2:]]
    assert kinds == ["TradeBook", "Positions", "OrderBook", "StockList"]
    assert re.search(r"^  .*\d (PUT|CALL) +", done.stdout, re.MULTILINE)
    assert len(re.findall(r" Pending\b", parts[4])) == 10


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_demo_is_as_wide_as_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    show(out)
    lines = [line for line in out.getvalue().splitlines()[1:] if not line.startswith(">>>")]
    assert width - 20 <= max(map(len, lines)) <= width


def test_the_module_is_the_command_line() -> None:
    done = run("dance")
    assert done.returncode == 2
    assert done.stderr == "error: No such command 'dance'. (see `tradingdata --help`)\n"


def test_only_the_demo_needs_no_extra() -> None:
    hide = "import sys, runpy; sys.modules['click'] = None; "
    script = hide + "runpy.run_module('tradingdata', run_name='__main__')"
    codes = {}
    for command in ("demo", "trades"):
        words = [sys.executable, "-c", script, command]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        codes[command] = done.returncode
    assert codes == {"demo": 0, "trades": 3}
    missing = "the command line needs click, which is not installed"
    assert done.stderr == f"tradingdata: {missing}: pip install 'tradingdata[cli]'\n"
