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


def test_the_demo_shows_the_trade_book_as_a_table(shown: str) -> None:
    assert re.search(r"^  09:\d\d:\d\d  .+  (NSE|BSE)$", shown, re.MULTILINE)
    assert re.search(r"^  \d+ trades$", shown, re.MULTILINE)


def test_the_demo_tells_derivatives_from_shares(shown: str) -> None:
    """An option is named with its strike, and premium, notional and cash are not one sum."""
    assert re.search(
        r"^  [\d:]{8}  [A-Z]+ \d\d [A-Z]{3} [\d.]+ (?:PUT|CALL) +[BS] ", shown, re.MULTILINE
    )
    kinds = re.findall(r"^  (EQUITY|FUTSTK|OPTIDX|OPTSTK) +[\d,]+\.\d\d$", shown, re.MULTILINE)
    assert kinds == ["EQUITY", "FUTSTK", "OPTIDX", "OPTSTK"]


def test_the_demo_sums_the_orders_up_by_status(shown: str) -> None:
    summary = shown.partition("client.order_book()")[2].partition(">>>")[0]
    counts = [
        int(row[1].replace(",", ""))
        for line in summary.splitlines()
        if len(row := line.split()) == 4 and row[1][0].isdigit()
    ]
    assert len(counts) >= 3
    assert sum(counts[:-1]) == counts[-1]


def test_the_demo_searches_over_several_pages(shown: str) -> None:
    found = re.search(r"of ([\d,]+) stocks on (\d+) pages", shown)
    assert found is not None
    assert int(found[2]) > 1


def test_the_demo_fits_eighty_columns_and_is_plain_text_in_a_pipe(shown: str) -> None:
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_statuses_are_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    show(out)
    for code, status in ((31, "Error"), (33, "Pending"), (32, "Success")):
        assert f"\x1b[{code}m  {status} " in out.getvalue()


def test_another_command_is_refused_with_the_usage() -> None:
    done = run("dance")
    assert done.returncode == 2
    assert "usage" in done.stderr
