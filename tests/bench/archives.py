"""An archive beside plain Parquet files of the same rows, written and read by polars and DuckDB."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from .bodies import DAY, book, part
from .case import Ready, Ways, fact_of, peer, served

POLLS = 20
QUERY = "SELECT symbol, sum(trade_value) AS value FROM {} GROUP BY symbol"
FIRST = dt.date(2024, 1, 1)  # so that no contract expires on the days that follow


def _folder() -> Path:
    return Path(tempfile.mkdtemp(dir=served().folder))  # which goes with the service


def _days(number: int) -> list[dt.date]:
    """Weekdays, from the first of a year on."""
    each = (FIRST + dt.timedelta(day) for day in range(2 * number + 7))
    return [day for day in each if day.weekday() < 5][:number]


def _moved(body: bytes, day: dt.date) -> Any:
    """The response of another day."""
    text = body.replace(DAY.encode(), day.isoformat().encode())
    return peer("tradingdata").TradeBook.from_json(text, keep_personal_data=True)


def books_of_days(days: int, trades: int) -> list[Any]:
    body = book("Trade", trades).read_bytes()
    return [_moved(body, day) for day in _days(days)]


a_day = partial(books_of_days, 1)


def a_growing_day(trades: int) -> list[Any]:
    """The responses of a day that is polled while its trades happen."""
    body = book("Trade", trades).read_bytes()
    return [_moved(part(body, (poll + 1) / POLLS), FIRST) for poll in range(POLLS)]


def _archive() -> tuple[Any, Callable[..., Any]]:
    """An archive, and what stores books in it, a second apart, as those of an account."""
    archive = peer("tradingdata").Archive(_folder() / "books", keep_personal_data=True)

    def store(books: Sequence[Any], account: str = "desk", again: int = 0) -> Any:
        for number, each in enumerate(books):
            time = dt.time(12, second=number % 60, microsecond=again)
            day = each[0].exch_trade_time.date()
            archive.add(each, account=account, at=dt.datetime.combine(day, time, dt.UTC))
        return books[-1]

    return archive, store


def _parquet(folder: Path, books: Sequence[Any]) -> list[str]:
    paths = [str(folder / f"{number}.parquet") for number, _ in enumerate(books)]
    for path, each in zip(paths, books, strict=True):
        peer("polars").DataFrame(each).write_parquet(path)
    return paths


def storing(books_of: Callable[[int], list[Any]], *, unchanged: bool = False) -> Ways:
    """Books of a day stored in a new archive; or, `unchanged`, once more in one that has them."""

    def ours(size: int) -> Ready:
        books, numbers, (_, store) = books_of(size), count(1), _archive()
        store(books)
        if unchanged:
            return Ready(lambda: store(books, again=next(numbers)), fact_of())
        return Ready(lambda: _archive()[1](books), fact_of())

    def polars(size: int) -> Ready:
        books, folder = books_of(size), _folder()
        return Ready(lambda: [_parquet(folder, [each]) for each in books] and books[-1], fact_of())

    return {"tradingdata": ours, "polars to Parquet": polars}


def _of_days(trades: int, ours: Callable[..., Any], **theirs: Callable[[list[str]], Any]) -> Ways:
    """Work on `size` days of so many trades: on an archive, and on the paths of plain files."""

    def on_archive(size: int) -> Ready:
        days, (archive, store) = _days(size), _archive()
        store(books_of_days(size, trades))
        return Ready(lambda: ours(archive, days[0], days[-1]), fact_of())

    def on_files(work: Callable[[list[str]], Any], size: int) -> Ready:
        paths = _parquet(_folder(), books_of_days(size, trades))
        return Ready(partial(work, paths), fact_of())

    ways: Ways = {f"{name} on Parquet": partial(on_files, work) for name, work in theirs.items()}
    return {"tradingdata": on_archive, **ways}


def reading(trades: int) -> Ways:
    return _of_days(
        trades,
        lambda archive, first, last: archive.trades(first, last),
        polars=lambda paths: peer("polars").read_parquet(paths),
    )


def querying(trades: int) -> Ways:
    return _of_days(
        trades,
        lambda archive, first, last: archive.sql(QUERY.format("trades"), first, last),
        DuckDB=lambda paths: peer("duckdb").sql(QUERY.format(f"read_parquet({paths})")).fetchall(),
    )
