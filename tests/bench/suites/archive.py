"""An archive beside polars and DuckDB over plain Parquet files of the same rows."""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from ..contest import Contest, Entry, Prepare, Ready, Source, peer
from ..report import Goal, Row, Run, Table, slowness
from .records import trades

MONTH, LONGER, POLLS = 22, 40, 20  # days, days, polls of a day
INSTRUMENTS = 300
_FIRST = dt.date(2026, 1, 1)
_IDS = count()


def days(number: int) -> list[dt.date]:
    """Weekdays, from the first of a year on."""
    each = (_FIRST + dt.timedelta(day) for day in range(2 * number + 7))
    return [day for day in each if day.weekday() < 5][:number]


def book_of(body: bytes, day: dt.date, part: float = 1.0, account: str = "desk") -> Any:
    """A response of that day: the trades of the body, at other prices each day."""
    polars = peer("polars")
    frame = _frame(body)
    frame = frame[: round(part * len(frame))]
    times = [name for name in frame.columns if frame[name].dtype == polars.Datetime("us")]
    frame = frame.with_columns(
        *(polars.lit(day).dt.combine(polars.col(name).dt.time()).alias(name) for name in times),
        (polars.col("traded_price") + day.toordinal() % 97).alias("traded_price"),
    )
    made = peer("tradingdata").TradeBook.from_arrow(frame, keep_personal_data=True)
    at = dt.datetime.combine(day, dt.time(15, round(45 * part)), dt.UTC)
    return received(made, account, at)


def received(book: Any, account: str, at: dt.datetime) -> Any:
    """The book as one that was received, with a body, by which an archive knows a response."""
    body = b'{"data":%s,"message":"","status":"success"}' % book._rows.to_json()
    rows = type(book).from_json(body, keep_personal_data=True)._rows
    response = peer("tradingdata.books.response").Response
    told = response(rows, status_code=200, account=account, attempts=1, elapsed=0.1, received_at=at)
    return type(book)._of(rows, response=told)


@lru_cache(1)
def _frame(body: bytes) -> Any:
    """The trades of a body, of many instruments."""
    polars = peer("polars")
    frame = polars.DataFrame(peer("tradingdata").TradeBook.from_json(body))
    number = (polars.int_range(polars.len()) % INSTRUMENTS).cast(polars.String)
    names = ("symbol", "display_name", "security_id", "isin")
    return frame.with_columns(polars.concat_str(polars.lit("S"), number).alias(x) for x in names)


def _ready(run: Callable[[], Any], folder: Path, rows: Callable[[Any], int]) -> Ready:
    close = partial(shutil.rmtree, folder, ignore_errors=True)
    return Ready(run, lambda found: {"rows": rows(found)}, close=close)


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="tradingdata-bench-"))


def archive_of(folder: Path, books: list[Any]) -> Any:
    archive = peer("tradingdata").Archive(folder / f"archive{next(_IDS)}", keep_personal_data=True)
    for book in books:
        archive.add(book)
    return archive


def parquet_of(folder: Path, books: list[Any]) -> list[str]:
    paths = [str(folder / f"{at}.parquet") for at, _ in enumerate(books)]
    for path, book in zip(paths, books, strict=True):
        peer("polars").DataFrame(book).write_parquet(path)
    return paths


def _books(source: Source, number: int) -> list[Any]:
    return [book_of(source.body(), day) for day in days(number)]


def store_ours(source: Source) -> Ready:
    """A day of an account in an archive that is there; each run another account."""
    folder, (book,) = _folder(), _books(source, 1)
    archive = archive_of(folder, [book])
    return _ready(lambda: archive.add(book, account=f"a{next(_IDS)}"), folder, lambda e: e.rows)


def store_polars(source: Source) -> Ready:
    folder, books = _folder(), _books(source, 1)

    def run() -> int:
        parquet_of(folder, books)
        return len(books[0])

    return _ready(run, folder, int)


def _growing(source: Source) -> list[Any]:
    body, day = source.body(), days(1)[0]
    return [book_of(body, day, (poll + 1) / POLLS) for poll in range(POLLS)]


def polls_ours(source: Source) -> Ready:
    folder, books = _folder(), _growing(source)
    archive = archive_of(folder, books[:1])

    def run() -> int:
        account = f"a{next(_IDS)}"
        return int([archive.add(book, account=account).rows for book in books][-1])

    return _ready(run, folder, int)


def polls_polars(source: Source) -> Ready:
    folder, books = _folder(), _growing(source)

    def run() -> int:
        for book in books:
            parquet_of(folder, [book])
        return len(books[-1])

    return _ready(run, folder, int)


def month_ours(source: Source) -> Ready:
    folder, wanted = _folder(), days(MONTH)
    archive = archive_of(folder, _books(source, MONTH))
    return _ready(lambda: archive.trades(wanted[0], wanted[-1]), folder, len)


def month_polars(source: Source) -> Ready:
    folder = _folder()
    paths = parquet_of(folder, _books(source, MONTH))
    return _ready(lambda: peer("polars").read_parquet(paths), folder, len)


QUERY = "SELECT symbol, sum(trade_value) FROM {} GROUP BY symbol"


def sql_ours(source: Source) -> Ready:
    folder, wanted = _folder(), days(LONGER)
    archive = archive_of(folder, _books(source, LONGER))
    query = QUERY.format("trades")
    return _ready(lambda: archive.sql(query, wanted[0], wanted[-1]), folder, len)


def sql_duckdb(source: Source) -> Ready:
    folder = _folder()
    paths = parquet_of(folder, _books(source, LONGER))
    query = QUERY.format(f"read_parquet({paths})")
    return _ready(lambda: peer("duckdb").sql(query).fetchall(), folder, len)


def sizes(source: Source) -> tuple[int, int]:
    """The bytes of a month in an archive and in plain Parquet."""
    folder, books = _folder(), _books(source, MONTH)
    archive_of(folder, books)
    ours = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    paths = parquet_of(folder, books)
    plain = sum(Path(path).stat().st_size for path in paths)
    shutil.rmtree(folder)
    return ours, plain


ACCOUNTS, YEARS = 200, 5 * 250  # accounts and days of 20 trades each


class _Client:
    """A client of an account whose books are those of ``day``."""

    def __init__(self, account: str, day: dt.date, body: bytes) -> None:
        self.account, self.day, self._body = account, day, body

    def trade_book(self, *, timeout: float | None) -> Any:
        return book_of(self._body, self.day, 20 / TRADES, self.account)

    def order_book(self, *, timeout: float | None) -> Any:
        at = dt.datetime.combine(self.day, dt.time(15, 45), dt.UTC)
        return received(peer("tradingdata").OrderBook(), self.account, at)


def _accounts(day: dt.date, body: bytes) -> Any:
    """An ``Accounts`` of such clients."""

    class Accounts(peer("tradingdata").Accounts):  # type: ignore[misc]
        @contextmanager
        def _client(self, label: str) -> Iterator[_Client]:
            yield _Client(label, day, body)

    return Accounts([f"desk{number:03}" for number in range(ACCOUNTS)], concurrency=1)


def _seconds(work: Callable[[], object], times: int) -> float:
    """The least processor time of some calls."""
    clock = [time.process_time()]
    for _ in range(times):
        work()
        clock.append(time.process_time())
    return min(after - before for before, after in pairwise(clock))


def moments(body: bytes) -> Iterator[tuple[str, float, float]]:
    """Processor time of small things: what it is of, how long it takes, how long it may take."""
    folder, day = _folder(), days(1)[0]
    whole, small = book_of(body, day), book_of(body, day, 20 / TRADES)
    archive = archive_of(folder, [whole])
    noon = dt.datetime.combine(day, dt.time(12), dt.UTC)
    again = iter(
        [received(whole, "desk", noon + dt.timedelta(hours=4, seconds=x)) for x in range(12)]
    )
    yield (
        "store 20 trades",
        _seconds(lambda: archive.add(small, account=f"a{next(_IDS)}"), 20),
        0.008,
    )
    yield (
        f"store an unchanged response of {TRADES:,} trades",
        _seconds(lambda: archive.add(next(again)), 12),
        0.012,
    )
    alone = archive_of(folder, [whole])
    yield f"read a day of {TRADES:,} trades", _seconds(lambda: alone.trades(day), 12), 0.012
    many = archive_of(folder, [whole, *(book_of(body, x, 20 / TRADES) for x in days(600)[1:])])
    yield "read it among 600 days", _seconds(lambda: many.trades(day), 12), 0.015
    polls = [book_of(body, day, size / TRADES) for size in range(1, 51)]
    polled = archive_of(folder, [])
    for number in range(1200):
        book = polls[number * len(polls) // 1200]
        polled.add(received(book, "desk", noon + dt.timedelta(seconds=20 * number)))
    yield "read a day that was polled 1,200 times", _seconds(lambda: polled.trades(day), 12), 0.06
    shutil.rmtree(folder)


def years(body: bytes) -> Iterator[Sequence[str]]:
    """Processor time of reading five years of many accounts, before and after `compact`."""
    folder, dates = _folder(), days(YEARS)
    archive = archive_of(folder, [])
    for day in dates:
        archive.fetch(_accounts(day, body))
    day, query = dates[YEARS // 2], QUERY.format("trades")
    reads: dict[str, tuple[Callable[[], object], float]] = {  # and what it should take
        "open": (lambda: type(archive)(archive.path, keep_personal_data=True), 0.2),
        "a day of an account": (lambda: archive.trades(day, account="desk077"), 0.04),
        "a day of all": (lambda: archive.trades(day), 0.3),
        "group all by SQL": (lambda: archive.sql(query), 0.8),
    }

    before = {name: _seconds(read, 3) for name, (read, _) in reads.items()}
    archive.compact()
    for name, (read, goal) in reads.items():
        each = (before[name], _seconds(read, 3), goal)
        yield name, *(f"{figure * 1e3:,.0f} ms" for figure in each)
    shutil.rmtree(folder)


CASES: dict[str, Prepare] = {
    "store": store_ours,
    "store:polars": store_polars,
    "polls": polls_ours,
    "polls:polars": polls_polars,
    "month": month_ours,
    "month:polars": month_polars,
    "sql": sql_ours,
    "sql:duckdb": sql_duckdb,
}
TRADES = 10_000
CONTESTS = {  # name: title, peer, gate
    "store": (f"store a day of {TRADES:,} trades", "polars", 3.5),
    "polls": (f"store a day of {TRADES:,} trades as it grows, {POLLS} times", "polars", 3.5),
    "month": (f"read {MONTH} days of {TRADES:,} trades", "polars", 4),
    "sql": (f"group {LONGER} days of {TRADES:,} trades by SQL", "duckdb", 3),
}


def archive(run: Run) -> None:
    """The archive beside polars and DuckDB over plain Parquet files of the same rows."""

    def contest(name: str, title: str, label: str) -> Contest:
        cases = {"tradingdata": name, label: f"{name}:{label}"}
        each = (Entry(label, "archive", case, trades(TRADES)) for label, case in cases.items())
        return Contest(title, tuple(each), shared=False)

    for name, (title, label, gate) in CONTESTS.items():
        goal = Goal(f"{title}, times slower than plain Parquet", (label,), gate, 2, faster=False)
        run.play(name, partial(contest, name, title, label), goal)
    if run.wants("size"):
        ours, plain = sizes(trades(TRADES))
        title = f"{MONTH} days of {TRADES:,} trades"
        each = [("tradingdata", f"{ours / 1e6:.1f} MB"), ("polars", f"{plain / 1e6:.1f} MB")]
        run.show(Table([title, "files"], each))
        ratios = (ours / plain,) * 3
        figures = (each[0][1], " ".join(each[1]), ratios)
        run.rows.append(Row(f"{title}: times the size of plain Parquet", *figures, 1.1, 1.0))
    if run.wants("moments"):
        for title, seconds, limit in moments(trades(TRADES).body()):
            limit *= slowness()
            took, allowed = (f"{each * 1e3:.1f} ms" for each in (seconds, limit))
            run.show(Table([title, "CPU"], [("tradingdata", took), ("limit", allowed)]))
            ratios = (seconds / limit,) * 3
            run.rows.append(Row(f"{title}: times its limit", took, allowed, ratios, 1, 0.7))
    if run.only == "years":  # which takes about ten minutes to make
        title = f"{ACCOUNTS} accounts, {YEARS} days, {ACCOUNTS * YEARS * 20:,} trades"
        rows = list(years(trades(TRADES).body()))
        run.show(Table([title, "as stored", "compacted", "goal"], rows))
