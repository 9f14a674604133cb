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
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def shown() -> str:
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_demo_shows_what_each_call_gives(shown: str) -> None:
    parts = shown.split("\n>>> ")
    kinds = [part.splitlines()[1].partition(":")[0] for part in parts[2:]]
    assert kinds == ["TradeBook", "Positions", "OrderBook", "StockList"]
    assert re.search(r"^  .*\d (PUT|CALL) +", shown, re.MULTILINE)
    assert len(re.findall(r" Pending\b", parts[4])) == 10


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_demo_is_as_wide_as_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    show(out)
    lines = [line for line in out.getvalue().splitlines()[1:] if not line.startswith(">>>")]
    assert width - 20 <= max(map(len, lines)) <= width


def test_another_command_is_refused_with_the_usage() -> None:
    done = run("dance")
    assert done.returncode == 2
    assert "usage" in done.stderr
