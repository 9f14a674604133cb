"""Queries of an archive: they end at Ctrl-C, share databases, and keep types."""

from __future__ import annotations

import datetime as dt
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAY, archive_with, numbers, order, order_response, trade, trade_response
from calls import at_once, run_child
from tradingdata.archive import databases
from tradingdata.archive.days import TIMES

_ENDLESS = """
import os, signal, threading, time
sys.path[:0] = [{here!r}]
from archiving import trade, trade_response
archive = td.Archive({path!r})
times = []
for _ in range(3):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    try:
        archive.sql("SELECT count(*) FROM range(10000000) a, range(10000000) b "
                    "WHERE a.range * 7 = b.range + 1 OR a.range = -1")
    except KeyboardInterrupt:
        times.append(time.monotonic() - began - 1.0)
print(min(times))
assert archive.sql("SELECT count(*) AS n FROM trades")[0].n == 1
"""


def test_an_interrupt_ends_a_query(tmp_path: Path) -> None:
    """Within a second, and the archive can be queried afterwards."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    here = str(Path(td.__file__).parents[2] / "tests/support")
    after = float(run_child(_ENDLESS.format(here=here, path=archive.path)))
    assert after < 1


def test_archives_of_one_process_do_not_mix(tmp_path: Path) -> None:
    """More of them than databases are kept, in several threads."""
    archives = [
        archive_with(tmp_path / str(number), trade_response(trade(str(number))))
        for number in range(databases._OPEN_DATABASES + 2)
    ]

    def read(worker: int) -> None:
        for turn in range(6):
            number = (worker + turn) % len(archives)
            (row,) = archives[number].sql("SELECT trade_no FROM trades")
            assert row.trade_no == str(number)
            assert numbers(archives[number].trades()) == [str(number)]

    at_once(4, read)
    assert databases._shared.cache_info().currsize <= databases._OPEN_DATABASES


@pytest.mark.memory
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_threads_that_read_share_the_memory(tmp_path: Path) -> None:
    """24 threads grow the process by less than 60 MB beyond what one has needed."""
    psutil = pytest.importorskip("psutil")
    records = [trade(str(number), symbol=f"S{number % 300}") for number in range(2000)]
    archive = archive_with(tmp_path, trade_response(*records), order_response(order("1")))
    query = "SELECT symbol, sum(trade_value) FROM trades GROUP BY symbol"

    def read(_: int) -> None:
        for _ in range(5):
            assert len(archive.sql(query, DAY)) == 300
            assert len(archive.trades(DAY)) == 2000

    read(0)
    before = psutil.Process().memory_info().rss
    at_once(24, read)
    assert psutil.Process().memory_info().rss - before < 60e6


PATHS = "books%41|a*|books [2026]|a b|tab\there|?|new\nline|it's|{a,b}|é|#x"


@pytest.mark.skipif(os.name != "posix", reason="names of files")
@pytest.mark.parametrize("name", PATHS.split("|"))
def test_a_path_is_that_folder_and_no_other(name: str, tmp_path: Path) -> None:
    """Whatever it would mean as an address or a pattern."""
    archive_with(tmp_path / "booksA", trade_response(trade("wrong")))
    folder = tmp_path / name
    folder.mkdir(mode=0o755)
    archive = archive_with(folder, trade_response(trade("1")), order_response(order("2")))
    archive.add(trade_response(trade("1"), trade("3"), at="16:00"))
    again = td.Archive(folder / "books", create=False)
    assert numbers(again.trades(DAY)) == ["1", "3"]
    assert [row.order_no for row in again.sql("SELECT order_no FROM orders")] == ["2"]
    assert again.verify() == 3
    assert len(again.scan("trades").fetchall()) == 2


def test_a_time_that_cannot_be_right_is_named(tmp_path: Path) -> None:
    """A trade of the year 9999 is not two million missing days; it is stored before the warning."""
    first, *others = TIMES["trades"]
    times = (f"{DAY} 10:00:00", "9999-12-31 10:00:00", "0002-01-01 10:00:00")
    absent: dict[str, Any] = dict.fromkeys(others)
    wrong = [trade(str(at), DAY, **absent, **{first: time}) for at, time in enumerate(times, 1)]
    archive = td.Archive(tmp_path / "books")
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.DataWarning)
        with pytest.raises(td.DataWarning, match="2 of these trades have a time that cannot be"):
            archive.add(trade_response(*wrong))
    assert numbers(archive.trades()) == ["1", "2", "3"]
    assert archive.fetches()[0].days == (DAY,)
    assert len(archive.missing(DAY, DAY + dt.timedelta(3))) == 2
