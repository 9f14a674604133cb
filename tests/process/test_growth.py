"""Work and memory grow with the number of rows, days and pages, and no faster.

What Python does is counted by bytecode instruction, so that no clock decides. It takes at most 20
times as many for ten times the rows: twice what is linear, where a loop in a loop takes 100 times.
"""

from __future__ import annotations

import datetime as dt
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import tradingdata as td
from calls import run_child
from service import Service, as_json, book_reply, envelope, orders, pages, stocks, trades

PACKAGE = str(Path(td.__file__).parent)
Work = Callable[[], object]
DAY = dt.date(2026, 1, 5)


def instructions(work: Work) -> int:
    """How many bytecode instructions of this package it takes, on all threads."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        threading.settrace(None)
    return count


def numbered(count: int) -> list[dict[str, Any]]:
    """Trades of as many instruments as a tenth of them."""
    return [
        row | {"security_id": str(number % (count // 10)), "trade_no": str(number)}
        for number, row in enumerate(trades(count))
    ]


def trade_book(count: int) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope(numbered(count))))


def order_book(count: int) -> td.OrderBook:
    return td.OrderBook.from_json(as_json(envelope(list(orders(count)))))


def of_days(count: int) -> list[td.TradeBook]:
    """Books of two trades, one for each day."""
    body = as_json(envelope(list(trades(2))))
    usual = td.TradeBook.from_json(body)[0].exch_trade_time
    assert usual is not None
    each = (DAY + dt.timedelta(days=number) for number in range(count))
    return [
        td.TradeBook.from_json(body.replace(str(usual.date()).encode(), str(day).encode()))
        for day in each
    ]


def of_trades(work: Callable[[td.TradeBook], object]) -> Callable[[int, Path], Work]:
    def make(count: int, _: Path) -> Work:
        book = trade_book(count * 10)
        return lambda: work(book)

    return make


def of_both(work: Callable[..., object]) -> Callable[[int, Path], Work]:
    def make(count: int, _: Path) -> Work:
        both = order_book(count * 10), trade_book(count * 10)
        return lambda: work(*both)

    return make


def stored(count: int, folder: Path) -> tuple[td.Archive, Work]:
    archive, books = td.Archive(folder / str(count), tz="Asia/Kolkata"), of_days(count)

    def store() -> None:
        for number, book in enumerate(books):
            at = dt.datetime.combine(DAY + dt.timedelta(days=number), dt.time(11), dt.UTC)
            archive.add(book, account="desk", at=at)

    return archive, store


def read(count: int, folder: Path) -> Work:
    archive, store = stored(count, folder)
    store()
    last = DAY + dt.timedelta(days=count - 1)
    return lambda: archive.trades(DAY, last, missing_ok=True)


OPERATIONS: dict[str, Callable[[int, Path], Work]] = {
    "repr": of_trades(repr),
    "a loop": of_trades(lambda book: [row.quantity for row in book]),
    "filter by a function": of_trades(lambda book: book.filter(lambda row: row.txn_type == "B")),
    "sort": of_trades(lambda book: book.sort("symbol", "-traded_price")),
    "check": of_trades(lambda book: book.check()),
    "to_dicts": of_trades(lambda book: book.to_dicts()),
    "to_csv": of_trades(lambda book: book.to_csv()),
    "to_pandas": of_trades(lambda book: book.to_pandas()),
    "positions": of_trades(td.positions),
    "realised_pnl": of_trades(td.realised_pnl),
    "reconcile": of_both(td.reconcile),
    "execution_quality": of_both(td.execution_quality),
    "diff": of_both(lambda orders, trades: orders.diff(orders[1:])),
    "concat": lambda count, _: partial(td.concat, of_days(count)),
    "daily_pnl": lambda count, _: partial(td.daily_pnl, td.concat(of_days(count)), prices={}),
    "an archive's add": lambda count, folder: stored(count, folder)[1],
    "an archive's trades": read,
}


# Each store lists the folder and compares the notes of all days.
LIMITS = {"an archive's add": 25}


@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_takes_in_proportion_to_its_rows(name: str, tmp_path: Path) -> None:
    few, many = (OPERATIONS[name](count, tmp_path) for count in (5, 50))
    few()  # imports what it needs
    few, many = (OPERATIONS[name](count, tmp_path / "again") for count in (5, 50))
    assert instructions(many) <= LIMITS.get(name, 20) * instructions(few)


def test_a_search_takes_in_proportion_to_its_pages(service: Service) -> None:
    service.choose(pages(list(stocks(500))))
    with td.Client(service.base_url) as client:

        def search(count: int) -> object:
            return client.search("x", page_size=10, max_items=10 * count).all()

        search(5)
        assert instructions(lambda: search(50)) <= 20 * instructions(lambda: search(5))


PEAK = """
import ctypes, gc, pathlib

def status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":")) * 1024

def peak(work, size):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    kept = work()
    print((status("VmHWM") - before) / size)
"""


@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("frame", "most"), [("", 2.0), (".to_pandas()", 3.5), (".to_polars()", 2.5)]
)
def test_a_body_takes_its_memory_twice_at_the_peak(frame: str, most: float, tmp_path: Path) -> None:
    """A body of 9 MB; with a frame of pandas three and a half times."""
    records = as_json(list(trades(500)))[1:-1]
    body = tmp_path / "body"
    body.write_bytes(b'{"data":[' + b",".join([records] * 20) + b'],"status":"success"}')
    small = as_json(envelope(list(trades(5))))
    work = f"""
td.TradeBook.from_json({small!r}){frame}
body = pathlib.Path(sys.argv[1]).read_bytes()
peak(lambda: td.TradeBook.from_json(body){frame}, len(body))
"""
    options = {"PYTHONWARNINGS": "ignore"}
    assert float(run_child(PEAK + work, str(body), environment=options)) < most


@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_client_of_an_account_takes_less_than_120_kilobytes(service: Service) -> None:
    """Beside its books, with a connection and, in an ``AsyncClient``, a thread: about 76."""
    service.script(then=book_reply(trades(5)))
    work = """
import asyncio
clients = []

async def connect(count):
    for _ in range(count):
        clients.append(td.AsyncClient(sys.argv[1], access_token="x" * 20))
        await clients[-1].trade_book()

async def measure():
    await connect(5)
    before = status("VmRSS")
    await connect(50)
    print((status("VmRSS") - before) / 50)
    for client in clients:
        await client.aclose()

asyncio.run(measure())
"""
    assert float(run_child(PEAK + work, service.base_url)) < 120e3
