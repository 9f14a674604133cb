"""To which days records belong, which days were fetched, and that no query covers others."""

from __future__ import annotations

import datetime as dt
import warnings
from contextlib import nullcontext
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAY, DAYS, clock, numbers, order, response, trade
from service import Service, as_json, envelope, reply
from tradingdata.archive import MissingDay

MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY = DAYS


def orders_at(day: dt.date, at: str, *records: object, account: str | None = None) -> Any:
    return response(td.OrderBook, records, clock(at, day), account=account)


def trades_at(day: dt.date, at: str, *records: object, account: str | None = None) -> Any:
    return response(td.TradeBook, records, clock(at, day), account=account)


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    return td.Archive(tmp_path / "books")


def statuses(book: td.OrderBook) -> dict[str, Any]:
    return {str(row.order_no): row.status for row in book}


TWO_DESKS = [trades_at(THURSDAY, "15:45", account=f"desk{number}") for number in (1, 2)]


@pytest.mark.parametrize(
    ("stored", "days", "words"),
    [
        ([], [], "has no fetches"),
        ([], [FRIDAY], "never fetched"),
        (
            [trades_at(FRIDAY, "12:00")],
            ["2026-01-01", FRIDAY],
            "trades of 231 days from 2026-01-01",
        ),
        ([trades_at(FRIDAY, "12:00")], [None, "2026-11-10"], "2026-11-10, which were never"),
        (
            [trades_at(day, "12:00") for day in (MONDAY, FRIDAY)],
            [None, WEDNESDAY],
            "2026-11-17, 2026-11-18, which",
        ),
        ([trades_at(FRIDAY, "00:30", trade("1", WEDNESDAY))], [WEDNESDAY, THURSDAY], "2026-11-19"),
        (
            [*TWO_DESKS, trades_at(FRIDAY, "15:45", account="desk1")],
            [FRIDAY],
            r"trades of 2026-11-20 \(desk2\)",
        ),
    ],
)
def test_a_day_that_was_never_fetched_is_an_error(
    stored: list[Any], days: list[Any], words: str, archive: td.Archive
) -> None:
    """A4: in each way to read."""
    for book in stored:
        archive.add(book)
    for read in (archive.trades, lambda *days: archive.sql("FROM trades", *days)):
        with pytest.raises(td.ArchiveError, match=words):
            read(*days)


def test_what_was_fetched_is_read_beside_what_was_not(archive: td.Archive) -> None:
    """Each book up to its own last fetch: received after midnight, it is of the day before."""
    archive.add(trades_at(FRIDAY, "00:30", trade("1", WEDNESDAY), account="desk1"))
    archive.add(orders_at(FRIDAY, "00:30", order("1"), account="desk1"))
    assert next(iter(archive.sql("SELECT day FROM trades"))).day == WEDNESDAY
    assert next(iter(archive.sql("SELECT day FROM orders"))).day == THURSDAY
    archive.add(trades_at(THURSDAY, "15:45", account="desk2"))
    archive.add(trades_at(FRIDAY, "15:45", trade("2"), account="desk1"))
    with pytest.raises(td.ArchiveError) as caught:
        archive.trades(FRIDAY)
    assert caught.value.missing == (MissingDay(FRIDAY, "desk2", ("trades",)),)
    assert numbers(archive.trades(FRIDAY, account="desk1")) == ["2"]
    with pytest.warns(td.DataWarning, match="desk2"):
        assert numbers(archive.trades(FRIDAY, missing_ok=True)) == ["2"]


def test_a_first_trade_book_expects_no_earlier_orders(archive: td.Archive) -> None:
    archive.add(trades_at(FRIDAY, "15:45", trade("1", THURSDAY), trade("2", FRIDAY), account="a"))
    archive.add(orders_at(FRIDAY, "15:45", order("1"), account="a"))
    assert numbers(archive.trades()) == ["1", "2"]
    assert numbers(archive.trades(THURSDAY)) == ["1"]
    with pytest.raises(td.ArchiveError, match="orders of 2026-11-19"):
        archive.orders(THURSDAY)


def test_a_failed_fetch_of_a_weekend_is_missing(archive: td.Archive) -> None:
    """Its error may have any text, such as half of a surrogate pair."""
    from tradingdata.archive.ingest import Received

    saturday = FRIDAY + dt.timedelta(1)
    archive.add(trades_at(FRIDAY, "15:45", trade("1")))
    failure = td.AuthenticationError("bad \ud800 text")
    archive._ingest.store(
        [Received("trades", "", "fetch", clock("15:45", saturday), error=failure)], []
    )
    with pytest.raises(td.ArchiveError, match="2026-11-21"):
        archive.trades()
    failed = [(entry.error, entry.message) for entry in archive.fetches(saturday)]
    assert failed == [("AuthenticationError", "bad ? text")]


def test_a_part_of_a_book_covers_no_day(archive: td.Archive) -> None:
    archive.add(trades_at(DAY, "15:45", trade("1"), trade("2"))[:1], at=clock("15:45"))
    with pytest.raises(td.ArchiveError, match="never fetched"):
        archive.trades(DAY)
    with pytest.warns(td.DataWarning):
        assert numbers(archive.trades(DAY, missing_ok=True)) == ["1"]


def test_the_time_of_a_response_in_an_hour_that_comes_twice(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books", tz="America/New_York")
    times = [dt.datetime(2026, 11, 1, hour, 30, tzinfo=dt.UTC) for hour in (5, 6)]
    entries = [archive.add(response(td.TradeBook, [], at)) for at in times]
    assert [entry.at.timestamp() for entry in entries if entry.at] == [
        at.timestamp() for at in times
    ]
    assert archive.fetches() == entries


def test_a_book_in_another_zone_has_the_same_trades(archive: td.Archive) -> None:
    sent = trade("1", exch_trade_time=f"{FRIDAY} 02:30:00")
    book = trades_at(FRIDAY, "15:45", sent)
    archive.add(book)
    frame = book.localize("Asia/Kolkata").to_pandas()
    for name, dtype in frame.dtypes.items():
        if str(dtype).startswith("datetime64") and "Asia" in str(dtype):
            frame[name] = frame[name].dt.tz_convert("UTC")
    there = td.TradeBook.from_arrow(frame)
    assert [td.required(row.exch_trade_time).hour for row in there] == [21]
    archive.add(there, at=clock("16:00"))
    assert [row.exch_trade_time for row in archive.trades(FRIDAY)] == [book[0].exch_trade_time]
    assert len(archive.trades()) == 1


def test_a_withdrawn_response_that_is_added_again_is_named(archive: td.Archive) -> None:
    book = trades_at(FRIDAY, "15:45", trade("1"))
    entry = archive.add(book)
    archive.withdraw(entry.id)
    with pytest.warns(td.DataWarning, match="was withdrawn and stays so"):
        again = archive.add(book)
    assert (again.stored, again.withdrawn) == (False, True)
    archive.add(trades_at(FRIDAY, "15:46", trade("1")))
    assert len(archive.trades()) == 1


@pytest.mark.parametrize("hours", [-24, 24, 1, 0])
def test_the_day_is_that_of_the_service(hours: int, archive: td.Archive) -> None:
    """Where the local clock is wrong, and a warning names both; so is what is newest."""
    now = dt.datetime.now(dt.UTC) + dt.timedelta(hours=hours)
    headers = {"Date": format_datetime(now, usegmt=True)}
    for state in ("first", "second"):
        bodies = [as_json(envelope(each)) for each in ([order(status=state)], [])]
        warned = (
            pytest.warns(td.DataWarning, match="the local clock says") if hours else nullcontext()
        )
        with Service() as service, warned:
            service.script(*(reply(200, body, headers=headers) for body in bodies))
            with td.Client(service.base_url, access_token="t" * 12, trust_env=False) as client:
                entry = archive.fetch(client).orders
    assert entry.at is not None
    assert abs(entry.at - now) < dt.timedelta(minutes=2)
    assert entry.days == ((now.astimezone(archive.tz) - dt.timedelta(hours=6)).date(),)
    archive.add(response(td.OrderBook, [order(status="late")], now - dt.timedelta(minutes=5)))
    assert statuses(archive.orders(missing_ok=True)) == {"1": "second"}


@pytest.mark.parametrize(
    ("days", "is_believed"), [(0, True), (-1, True), (-300, False), (27_000, False)]
)
def test_the_day_of_a_failure_is_that_of_the_service(
    days: int, is_believed: bool, archive: td.Archive
) -> None:
    """If it responded, and not of another year, which may be what responds in its place."""
    now = dt.datetime.now(dt.UTC)
    then = now + dt.timedelta(days)
    refused = reply(401, b"", headers={"Date": format_datetime(then, usegmt=True)})
    warned = (
        pytest.warns(td.DataWarning, match="the local clock says") if days == -1 else nullcontext()
    )
    with Service() as service, td.Client(service.base_url, access_token="t" * 12) as client:
        service.script(refused, refused)
        with warned, pytest.raises(td.AuthenticationError):
            archive.fetch(client)
    with pytest.raises(td.ConnectError):
        archive.fetch(td.Client("http://127.0.0.1:9", access_token="t" * 12, attempts=1))
    known = [td.required(entry.at) for entry in archive.fetches()]
    wanted = [then if is_believed else now] * 2 + [now] * 2
    assert all(abs(at - it) < dt.timedelta(minutes=2) for at, it in zip(known, wanted, strict=True))


def test_a_failure_of_the_sandbox_is_of_the_day_of_its_books(archive: td.Archive) -> None:
    with td.sandbox.start(orders=3, day="2026-01-05") as service:
        service.fail_next(403, endpoint="trade_book")
        with service.client() as client, pytest.raises(td.TradingDataError):
            archive.fetch(client)
    assert {str(day) for entry in archive.fetches() for day in entry.days} == {"2026-01-05"}


@pytest.mark.parametrize(
    ("elapsed", "served"),
    [(125.0, "15:43"), (0.1, "15:46"), (0.1, "1970-01-01"), (0.1, "9999-12-31")],
)
def test_a_slow_response_or_an_absurd_clock_of_the_service_decides_nothing(
    elapsed: float, served: str, archive: td.Archive
) -> None:
    at = clock("15:45")
    day = f"{served} 23:59:59" if "-" in served else f"{at:%Y-%m-%d} {served}:00"
    served_at = dt.datetime.fromisoformat(day).replace(
        tzinfo=at.tzinfo if "-" not in served else dt.UTC
    )
    book = response(td.TradeBook, [trade("1")], at, elapsed=elapsed, served_at=served_at)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entry = archive.add(book)
    assert (entry.at, entry.days) == (at, (DAY,))
