"""The log of an archive, and the days it lacks: "no trades" and "not fetched" are two things."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import (
    DAY,
    DAYS,
    archive_with,
    clock,
    order,
    order_response,
    response,
    trade,
    trade_response,
)
from tradingdata.archive import MissingDay

BOTH = ("orders", "trades")
MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY = DAYS


@pytest.fixture
def service() -> Iterator[td.sandbox.Service]:
    with td.sandbox.start(orders=5) as running:
        yield running


def gaps(archive: td.Archive, **options: Any) -> list[dt.date]:
    return [gap.day for gap in archive.missing(MONDAY, FRIDAY, **options)]


# -- failures --


def test_a_failed_fetch_is_logged_and_raised(tmp_path: Path, service: td.sandbox.Service) -> None:
    archive = td.Archive(tmp_path / "books.sqlite")
    service.fail_next("error_envelope", endpoint="order_book")
    with service.client() as client, pytest.raises(td.ServiceError) as caught:
        archive.fetch(client)
    failed, kept = archive.fetches()
    assert (failed.book, failed.ok, failed.error, failed.account) == (
        "orders",
        False,
        "ServiceError",
        "desk1",
    )
    assert failed.message == str(caught.value)
    assert (failed.rows, failed.days, failed.sha256, failed.whole) == (0, (), None, False)
    # The other book was kept all the same.
    assert (kept.book, kept.ok, kept.rows) == ("trades", True, len(archive.trades()))


def test_both_failures_are_logged_and_the_first_is_raised(
    tmp_path: Path, service: td.sandbox.Service
) -> None:
    archive = td.Archive(tmp_path / "books.sqlite")
    service.fail_next("forbidden", times=None)
    with service.client() as client, pytest.raises(td.AuthenticationError) as caught:
        archive.fetch(client)
    assert "order/book" in str(caught.value)
    assert "the other book failed too: POST /api/v1/trade/book" in caught.value.__notes__[0]
    assert [entry.error for entry in archive.fetches()] == ["AuthenticationError"] * 2
    assert service.token() not in str(archive.sql("SELECT * FROM fetches"))


def test_an_asynchronous_failure_is_logged_and_raised(
    tmp_path: Path, service: td.sandbox.Service
) -> None:
    archive = td.Archive(tmp_path / "books.sqlite")
    service.fail_next("forbidden", endpoint="trade_book")

    async def run() -> None:
        async with service.async_client() as client:
            await archive.fetch_async(client)

    with pytest.raises(td.AuthenticationError):
        asyncio.run(run())
    assert [entry.ok for entry in archive.fetches()] == [True, False]


def test_a_client_without_a_token_is_a_failure_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRADINGDATA_ACCESS_TOKEN", raising=False)
    archive = td.Archive(tmp_path / "books.sqlite")
    with td.Client("http://127.0.0.1:9") as client, pytest.raises(td.ConfigurationError):
        archive.fetch(client)
    assert [entry.error for entry in archive.fetches()] == ["ConfigurationError"] * 2
    assert gaps(archive) == DAYS


# -- the log --


def test_the_log_says_when_in_the_archives_zone(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade(), at="15:45", account="desk1"))
    (entry,) = archive.fetches()
    assert entry.at == clock("15:45")
    assert str(entry.at) == "2026-11-20 15:45:00+05:30"
    assert entry.filed_at.utcoffset() == dt.timedelta(hours=5, minutes=30)
    assert abs(entry.filed_at - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=5)
    assert archive.fetches(account="desk1") == [entry]
    assert archive.fetches(account="desk2") == []


def test_the_log_holds_the_digest_of_the_response(tmp_path: Path) -> None:
    book = trade_response(trade())
    assert book.response is not None
    assert archive_with(tmp_path, book).fetches()[0].sha256 == book.response.sha256


# -- the days that are missing --


def test_an_empty_response_is_no_missing_day(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    assert [gap.day for gap in archive.missing(FRIDAY, FRIDAY)] == [FRIDAY]
    archive.add(trade_response())
    assert archive.missing(FRIDAY, FRIDAY) == [MissingDay(FRIDAY, None, ("orders",))]
    archive.add(order_response())
    assert archive.missing(FRIDAY, FRIDAY) == []
    assert len(archive.trades(FRIDAY)) == 0


@pytest.mark.parametrize(
    ("at", "tz", "day"),
    [
        ("2026-11-20T23:59:59+05:30", "Asia/Kolkata", FRIDAY),
        ("2026-11-20T18:29:59+00:00", "Asia/Kolkata", FRIDAY),
        ("2026-11-19T18:30:00+00:00", "Asia/Kolkata", FRIDAY),
        ("2026-11-19T18:29:59+00:00", "Asia/Kolkata", THURSDAY),
        ("2026-11-20T03:00:00+05:30", "UTC", THURSDAY),
    ],
)
def test_the_day_of_an_empty_response_is_that_of_the_archives_clock(
    tmp_path: Path, at: str, tz: str, day: dt.date
) -> None:
    archive = td.Archive(tmp_path / "books.sqlite", tz=tz)
    archive.add(response(td.TradeBook, [], dt.datetime.fromisoformat(at)))
    assert archive.fetches()[0].days == (day,)


def test_rows_say_their_own_day_also_after_midnight(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade(day=THURSDAY), at="00:30"))
    assert archive.fetches()[0].days == (THURSDAY,)
    assert gaps(archive) == [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY]
    archive.add(order_response(order(day=THURSDAY), at="00:30"))
    assert gaps(archive) == [MONDAY, TUESDAY, WEDNESDAY, FRIDAY]


def test_weekends_and_holidays_are_not_missing(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    days = archive.missing("2026-11-13", "2026-11-23", holidays=["2026-11-16", WEDNESDAY])
    assert [gap.day.day for gap in days] == [13, 17, 19, 20, 23]
    assert all(gap.books == BOTH for gap in days)


def test_each_account_has_days_of_its_own(tmp_path: Path) -> None:
    archive = archive_with(
        tmp_path,
        trade_response(account="a"),
        order_response(account="a"),
        order_response(account="b"),
    )
    assert archive.missing(FRIDAY, FRIDAY) == [MissingDay(FRIDAY, "b", ("trades",))]
    assert archive.missing(FRIDAY, FRIDAY, account="a") == []
    assert archive.missing(FRIDAY, FRIDAY, account="c") == [MissingDay(FRIDAY, "c", BOTH)]


def test_part_of_a_response_does_not_prove_a_day(tmp_path: Path) -> None:
    part = trade_response(trade("1"), trade("2"))[:1]
    archive = archive_with(tmp_path, part, order_response())
    assert archive.missing(FRIDAY, FRIDAY) == [MissingDay(FRIDAY, None, ("trades",))]
    with pytest.raises(td.ArchiveError, match=f"lacks the trades of {FRIDAY}"):
        archive.trades(FRIDAY)
    assert len(archive.trades()) == 1


def test_an_empty_response_of_unknown_time_proves_no_day(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(at=None))
    assert archive.fetches()[0].days == ()
    archive.add(td.TradeBook.from_json(b'{"status":"success","data":null}'), at=clock("15:45"))
    assert archive.fetches()[1].days == (FRIDAY,)


def test_a_time_of_day_requires_a_response_that_late(tmp_path: Path) -> None:
    archive = archive_with(
        tmp_path, *(make(at="10:00") for make in (trade_response, order_response))
    )
    assert FRIDAY not in gaps(archive)
    assert FRIDAY in gaps(archive, after="15:30")
    for make in (trade_response, order_response):
        archive.add(make(at="15:30"))
    assert FRIDAY not in gaps(archive, after="15:30")
    assert FRIDAY in gaps(archive, after=dt.time(15, 30, 1))


def test_rows_of_other_days_do_not_hide_a_fetch(tmp_path: Path) -> None:
    """A response by day that only has rows of days before says that this day had none."""
    archive = archive_with(
        tmp_path,
        trade_response(trade(day=THURSDAY), at="16:00"),
        order_response(order(day=THURSDAY), at="16:00"),
    )
    assert gaps(archive) == [MONDAY, TUESDAY, WEDNESDAY]
    assert gaps(archive, after="15:30") == [MONDAY, TUESDAY, WEDNESDAY]


def test_orders_that_outlast_their_day_do_not_prove_that_it_was_fetched(tmp_path: Path) -> None:
    """As one that was entered on Thursday evening for Friday; a date to come is no day either."""
    left, future = order("1", day=THURSDAY), order("3", day=dt.date(2999, 1, 1))
    books = (
        order_response(left, order("2"), future, at="16:00"),
        trade_response(trade(day=THURSDAY)),
    )
    archive = archive_with(tmp_path, *books)
    for options in ({}, {"after": "15:30"}):
        found = {gap.day: gap.books for gap in archive.missing(THURSDAY, FRIDAY, **options)}
        assert found[THURSDAY] == ("orders",)
        assert "orders" not in found.get(FRIDAY, ())
    with pytest.raises(td.ArchiveError, match=f"lacks the orders of {THURSDAY}"):
        archive.orders(THURSDAY)


def test_what_is_no_day_and_no_time_is_refused(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    with pytest.raises(ValueError, match="a day such as"):
        archive.missing("yesterday", DAY)
    with pytest.raises(ValueError, match="a day such as"):
        archive.missing(DAY, DAY, holidays=["Diwali"])
    with pytest.raises(ValueError, match="a time such as '15:30'"):
        archive.missing(DAY, DAY, after="half past three")
    with pytest.raises(ValueError, match="the archive's time zone, without a zone"):
        archive.missing(DAY, DAY, after="15:30+05:30")
    with pytest.raises(TypeError, match="a time or text"):
        archive.missing(DAY, DAY, after=15)  # type: ignore[arg-type]
