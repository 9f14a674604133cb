"""Whether operations cost the same per row, day, account or page however many there are.

`python -m bench.suites.growth NAME...` measures operations of OPERATIONS, each at all of its sizes,
and prints a line of JSON for each: the least CPU seconds by size.
"""

from __future__ import annotations

import datetime as dt
import functools
import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..bodies import book, pages
from ..contest import ENVIRONMENT, peer
from ..report import Row, Run, Table
from ..report import time as shown
from ..servers import serving
from .archive import archive_of, received
from .compute import rates
from .http import TOKEN

ROWS, THINGS = (1_000, 10_000, 100_000, 1_000_000), (10, 100, 1_000)
BODY, BODY_ORDERS = 10_000, 2_000  # trades, and the orders that they fill
GATE, AIM = 2.0, 1.5  # times the cost per row at a tenth of the rows
# A time that is shorter is not judged: it is mostly what an operation costs once.
LEAST = 1e-3
# For each size. The first of large runs gets pages that the host of a virtual machine takes back a
# second after they were freed, and provides again at five times the cost.
RUN_SECONDS, LEAST_RUNS, MOST_RUNS = 0.1, 2, 20
PATIENCE = 900  # seconds for all operations
DAY = dt.date(2025, 1, 6)

Work = Callable[[], object]
Make: TypeAlias = Callable[[int], Work]


@dataclass(frozen=True)
class Operation:
    """What is measured: `make` prepares a number of rows or things, and returns the work."""

    make: Make
    sizes: tuple[int, ...] = ROWS
    of: str = "row"
    needs_service: bool = False


# Books of any size, of one account.


def _tiled(kind: str, count: int) -> Any:
    """A frame of so many records, with numbers of their own in each repetition of the body."""
    pl, td = peer("polars"), peer("tradingdata")
    decode = {"Trade": td.TradeBook, "Order": td.OrderBook}[kind].from_json
    body = book(kind, BODY if kind == "Trade" else BODY_ORDERS)
    frame = pl.DataFrame(decode(body.read_bytes(), keep_personal_data=True))
    tiles = pl.concat([frame] * -(-count // len(frame)))[:count]
    tile = pl.int_range(pl.len()) // len(frame) * 1_000_000_000
    numbers = [name for name in ("order_no", "exch_order_no", "trade_no") if name in frame.columns]
    return tiles.with_columns((pl.col(numbers).cast(pl.Int64) + tile).cast(pl.String))


@functools.lru_cache(maxsize=len(ROWS))
def trades(count: int) -> Any:
    return peer("tradingdata").TradeBook.from_arrow(_tiled("Trade", count))


@functools.lru_cache(maxsize=len(ROWS))
def orders(count: int) -> Any:
    return peer("tradingdata").OrderBook.from_arrow(_tiled("Order", count))


def _body(count: int) -> bytes:
    whole = book("Trade", min(count, BODY)).read_bytes()
    begin, end = whole.index(b"[") + 1, whole.rindex(b"]")
    records = b",".join([whole[begin:end]] * max(1, count // BODY))
    return whole[:begin] + records + whole[end:]


def of_trades(work: Callable[[Any], object]) -> Operation:
    """An operation on a trade book."""

    def make(count: int) -> Work:
        found = trades(count)
        return lambda: work(found)

    return Operation(make)


def of_both(work: Callable[[Any, Any], object]) -> Operation:
    """An operation on an order book and the trades that fill the orders."""

    def make(count: int) -> Work:
        both = orders(count * BODY_ORDERS // BODY), trades(count)
        return lambda: work(*both)

    return Operation(make)


def _decode(count: int) -> Work:
    from_json, body = peer("tradingdata").TradeBook.from_json, _body(count)
    return lambda: from_json(body)


def _diff(count: int) -> Work:
    """Each tenth order has another quantity."""
    pl, frame = peer("polars"), _tiled("Order", count)
    more = pl.when(pl.int_range(pl.len()) % 10 == 0).then(1).otherwise(0)
    changed = frame.with_columns(pl.col("quantity") + more)
    now, was = map(peer("tradingdata").OrderBook.from_arrow, (changed, frame))
    return lambda: now.diff(was)


def _first_display(show: Callable[[Any], object]) -> Operation:
    """A book that was not shown before."""

    def make(count: int) -> Work:
        found = trades(count)
        return lambda: show(type(found)._of(found._rows))

    return Operation(make)


def _unused(folder: Path, suffix: str) -> Path:
    return folder / f"{time.perf_counter_ns()}{suffix}"


def in_folder(work: Callable[[Any, Path], object]) -> Operation:
    """An operation on a trade book that writes to a folder."""

    def make(count: int) -> Work:
        found, folder = trades(count), _folder()
        return lambda: work(found, folder)

    return Operation(make)


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="tradingdata-bench-"))


def _loaded(count: int) -> Work:
    td, path = peer("tradingdata"), _unused(_folder(), ".json")
    trades(count).save(path)
    return lambda: td.TradeBook.load(path)


def _concat(count: int) -> Work:
    td, part = peer("tradingdata"), trades(count)[: count // 10]
    return lambda: td.concat([part] * 10)


def _sorted_frame(count: int) -> Work:
    frame = peer("polars").DataFrame(trades(count))
    down = [False, True]
    return lambda: frame.sort("symbol", "traded_price", descending=down, maintain_order=True)


def _at(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(16), dt.UTC)


def _stored(count: int) -> Work:
    response = received(trades(count), "desk", _at(DAY))
    return lambda: archive_of(_folder(), [response])


def _read(count: int) -> Work:
    archive = archive_of(_folder(), [received(trades(count), "desk", _at(DAY))])
    return lambda: archive.trades(DAY)


# Many days, accounts, books and pages.


def _day(number: int) -> dt.date:
    return DAY + dt.timedelta(days=number)


@functools.lru_cache(maxsize=1)
def _days(count: int) -> list[Any]:
    """Books of a hundred trades, one for each day."""
    pl, frame = peer("polars"), _tiled("Trade", 100)
    times = [name for name in frame.columns if frame[name].dtype == pl.Datetime("us")]
    found = []
    for number in range(count):
        later = frame.with_columns(
            pl.col(times) + pl.duration(days=number),
            (pl.col("trade_no", "order_no").cast(pl.Int64) + number * 1000).cast(pl.String),
        )
        made = peer("tradingdata").TradeBook.from_arrow(later)
        found.append(received(made, "desk", _at(_day(number))))
    return found


def _days_stored(count: int) -> Work:
    books = _days(count)
    return lambda: archive_of(_folder(), books)


def _days_read(count: int) -> Work:
    archive = archive_of(_folder(), _days(count))
    return lambda: archive.trades(_day(0), _day(count - 1))


def _daily(count: int) -> Work:
    td = peer("tradingdata")
    whole = td.concat(_days(count))
    return lambda: td.daily_pnl(whole, prices={})


def _of_accounts(count: int) -> list[Any]:
    """Books of a hundred trades, one for each account."""
    body, decode = book("Trade", 100).read_bytes(), peer("tradingdata").TradeBook.from_json
    return [decode(body, account=f"desk{number}") for number in range(count)]


def _books(count: int) -> Work:
    td, parts = peer("tradingdata"), _of_accounts(count)
    return lambda: td.concat(parts).issues


def _frames(count: int) -> Work:
    pl = peer("polars")
    parts = [pl.DataFrame(part).rechunk() for part in _of_accounts(count)]
    return lambda: pl.concat(parts, rechunk=True)


def _positions_of_accounts(count: int) -> Work:
    td = peer("tradingdata")
    whole = td.concat(_of_accounts(count))
    return lambda: td.positions(whole)


_SERVICE = "TRADINGDATA_BENCH_SERVICE"  # where accounts and searches are served


def _accounts(count: int) -> Work:
    td, url = peer("tradingdata"), os.environ[_SERVICE]
    given = {
        f"desk{number}": {"base_url": f"{url}/book", "access_token": f"{TOKEN}-{number}"}
        for number in range(count)
    }

    def run() -> object:
        with td.Accounts(given) as accounts:
            return accounts.trade_book()

    return run


def _pages(count: int) -> Work:
    td, url = peer("tradingdata"), os.environ[_SERVICE]
    client = td.Client(f"{url}/search{count}", access_token=TOKEN)
    return lambda: client.search("bank", page_size=100).all()


def _polls(count: int) -> Work:
    td, url = peer("tradingdata"), os.environ[_SERVICE]
    client = td.Client(f"{url}/book", access_token=TOKEN)

    def run() -> object:
        watch = client.watch_trades(interval=0.001)
        return [next(watch) for _ in range(count)][-1]

    return run


def _td(name: str) -> Callable[..., Any]:
    return lambda *given, **options: getattr(peer("tradingdata"), name)(*given, **options)


OPERATIONS: dict[str, Operation] = {
    "decode": Operation(_decode),
    "to_pandas": of_trades(lambda book: book.to_pandas()),
    "to_polars": of_trades(lambda book: book.to_polars()),
    "to_arrow": of_trades(lambda book: book.to_arrow()),
    "to_dicts": of_trades(lambda book: book.to_dicts()),
    "loop": of_trades(lambda book: [row.quantity for row in book]),
    "filter": of_trades(lambda book: book.filter(txn_type="B", quantity__ge=5)),
    "filter by a function": of_trades(lambda book: book.filter(lambda row: row.quantity > 5)),
    "sort": of_trades(lambda book: book.sort("symbol", "-traded_price")),
    "sort of polars": Operation(_sorted_frame),
    "equal": of_trades(lambda book: book == type(book)._of(book._rows)),
    "check": of_trades(lambda book: book.check()),
    "concat of 10 books": Operation(_concat),
    "repr": _first_display(repr),
    "HTML": _first_display(lambda book: book._repr_html_()),
    "CSV": of_trades(lambda book: book.to_csv()),
    "JSON": of_trades(lambda book: book.to_json()),
    "Parquet": in_folder(lambda book, folder: book.to_parquet(_unused(folder, ".parquet"))),
    "pickle": of_trades(lambda book: pickle.loads(pickle.dumps(book))),
    "save": in_folder(lambda book, folder: book.save(_unused(folder, ".json"))),
    "load": Operation(_loaded),
    "positions": of_trades(_td("positions")),
    "realised_pnl": of_trades(_td("realised_pnl")),
    "day_pnl": of_trades(lambda book: _td("day_pnl")(book, prices={}, charges=rates())),
    "charges": of_trades(lambda book: _td("charges")(book, rates())),
    "reconcile": of_both(_td("reconcile")),
    "execution_quality": of_both(_td("execution_quality")),
    "diff of orders": Operation(_diff, ROWS[:-1]),
    "archive: store a day": Operation(_stored),
    "archive: read a day": Operation(_read),
    "archive: store days": Operation(_days_stored, THINGS, "day"),
    "archive: read days": Operation(_days_read, THINGS, "day"),
    "daily_pnl": Operation(_daily, THINGS, "day"),
    "concat": Operation(_books, THINGS, "book"),
    "concat of polars": Operation(_frames, THINGS, "book"),
    "positions of accounts": Operation(
        _positions_of_accounts, THINGS, "account", needs_service=True
    ),
    "trade_book of accounts": Operation(_accounts, THINGS, "account", needs_service=True),
    "search": Operation(_pages, THINGS, "page", needs_service=True),
    "watch_trades": Operation(_polls, THINGS, "poll", needs_service=True),
}
# What moves the same rows, and so grows with the processor's misses of memory.
FLOORS = {"sort": "sort of polars", "concat": "concat of polars"}
FLOOR_SPREAD = 1.25  # two such figures of one run differ by as much


def measured(operation: Operation) -> Iterator[tuple[int, tuple[float, float]]]:
    """The least CPU seconds of some runs, and how many of them the kernel did not take, by size."""
    for size in operation.sizes:
        run = operation.make(size)
        if size == operation.sizes[0]:
            run()  # imports what it needs
        times: list[float] = []
        gc.collect()
        began = os.times()
        while len(times) < LEAST_RUNS or (sum(times) < RUN_SECONDS and len(times) < MOST_RUNS):
            before = time.process_time()
            result = run()
            times.append(time.process_time() - before)
            del result
        ended = os.times()
        user, system = ended.user - began.user, ended.system - began.system
        share = user / (user + system) if user else 1.0
        yield size, (min(times), min(times) * share)


Times: TypeAlias = dict[int, float]  # by size


def worst(times: Times) -> float:
    """How many times more a row costs, at the most, than at a tenth of the rows."""
    steps = [
        times[size] / times[smaller] / (size / smaller)
        for smaller, size in zip(times, list(times)[1:], strict=False)
        if times[size] >= LEAST
    ]
    return max(steps, default=0.0)


def growth(run: Run) -> None:
    """CPU for each row, day, account or page, and how much more it is than at a tenth of them."""
    chosen = {name for name in OPERATIONS if run.wants(name)}
    chosen |= {floor for name, floor in FLOORS.items() if name in chosen}
    wanted = [name for name in OPERATIONS if name in chosen]
    if not wanted:
        return
    counts = THINGS if "search" in wanted else ()
    searches = {f"search{count}": pages(count * 100, 100) for count in counts}
    with serving({"book": book("Trade", 100)}, pages=searches) as served:
        found = _in_processes(run, wanted, {**ENVIRONMENT, _SERVICE: served.http})
    for sizes in (ROWS, THINGS):
        lines = [
            [f"{name}, each {OPERATIONS[name].of}"]
            + [shown(times[size] / size) if size in times else "-" for size in sizes]
            + [f"{worst(times):.2f}", f"{worst(user):.2f}"]
            for name, (times, user) in found.items()
            if OPERATIONS[name].sizes[0] == sizes[0]
        ]
        if lines:
            headings = [*(f"{size:,}" for size in sizes), "at most", "without the kernel"]
            run.show(Table(["Growth", *headings], lines))
    for name, (times, user) in found.items():
        if name in FLOORS.values():
            continue
        ratio = worst(times)
        figure = f"{shown(max(times.values()))} at {max(times):,}"
        what = f"growth of {name}: cost for each {OPERATIONS[name].of}, times that at a tenth"
        floor = worst(found[FLOORS[name]][1]) if FLOORS.get(name) in found else 0.0
        rests = ""
        if worst(user) <= GATE:
            rests = "the kernel's time for new pages of memory"
        elif worst(user) <= floor * FLOOR_SPREAD:
            rests = f"the processor's memory: {FLOORS[name]} grows {floor:.2f} times"
        run.rows.append(Row(what, figure, "", (ratio,) * 3, GATE, AIM, rests=rests))


def _in_processes(run: Run, names: list[str], env: dict[str, str]) -> dict[str, list[Times]]:
    """The times by name, all and without the kernel's; what ends its process is left out."""
    found: dict[str, list[Times]] = {}
    left = list(names)
    while left:
        command = [sys.executable, "-m", "bench.suites.growth", *left]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=False, env=env, timeout=PATIENCE
            )
            output, status = done.stdout, f"its process ended with {done.returncode}"
        except subprocess.TimeoutExpired as problem:
            output, status = (problem.stdout or b"").decode(), f"it took {PATIENCE} s"
        for line in output.splitlines():
            name, times = json.loads(line)
            left.remove(name)
            if isinstance(times, str):
                run.failures.append(f"growth of {name}: {times}")
            else:
                pairs = {int(size): pair for size, pair in times.items()}
                found[name] = [{size: pair[at] for size, pair in pairs.items()} for at in (0, 1)]
        if left:
            run.failures.append(f"growth of {left.pop(0)}: {status}")
    return {name: found[name] for name in names if name in found}


def main() -> None:
    warnings.simplefilter("ignore")  # calculations report what they leave out
    try:
        for name in sys.argv[1:]:
            try:
                times: object = dict(measured(OPERATIONS[name]))
            except Exception as problem:
                times = f"{type(problem).__name__}: {problem}"
            print(json.dumps([name, times]), flush=True)
    finally:
        shutil.rmtree(_folder(), ignore_errors=True)


if __name__ == "__main__":
    main()
