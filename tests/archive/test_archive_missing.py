"""F126: a day that was never fetched is an error or a warning, and never an empty day."""

from __future__ import annotations

import datetime as dt
import pickle
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAYS, archive_with, clock, order_response, response, trade, trade_response
from tradingdata.archive import MissingDay, coverage

MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY = DAYS
SATURDAY = "2026-11-21"


def trades_of(day: Any, *, account: str | None = None) -> td.TradeBook:
    book: td.TradeBook = response(
        td.TradeBook, [trade(day=day)], clock("15:45", day), account=account
    )
    return book


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    """Trades of Monday, Tuesday and Thursday, and Friday's, of which there were none."""
    books = [trades_of(day) for day in (MONDAY, TUESDAY, THURSDAY)]
    return archive_with(tmp_path, *books, trade_response())


def test_a_day_that_was_never_fetched_is_an_error_that_names_it(archive: td.Archive) -> None:
    with pytest.raises(td.ArchiveError, match=f"lacks the trades of {WEDNESDAY}, ") as caught:
        archive.trades(WEDNESDAY)
    assert caught.value.missing == (MissingDay(WEDNESDAY, None, ("trades",)),)
    assert caught.value.file == archive.path
    assert "missing_ok=True" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).missing == caught.value.missing


def test_a_day_without_trades_is_an_empty_book(archive: td.Archive) -> None:
    assert len(archive.trades(FRIDAY)) == 0
    assert len(archive.trades(THURSDAY, FRIDAY)) == 1


def test_missing_ok_gives_what_there_is_and_a_warning(archive: td.Archive) -> None:
    with pytest.warns(td.DataWarning, match=f"lacks the trades of {WEDNESDAY}, ") as warned:
        book = archive.trades(MONDAY, FRIDAY, missing_ok=True)
    assert len(book) == 3
    assert warned[0].filename == __file__
    with pytest.warns(td.DataWarning, match=str(WEDNESDAY)):
        assert len(archive.trades(WEDNESDAY, missing_ok=True)) == 0


def test_an_error_names_spans_of_days(archive: td.Archive) -> None:
    with pytest.raises(td.ArchiveError) as caught:
        archive.trades("2026-11-03", "2026-11-30")
    assert (
        "lacks the trades of 2026-11-03 to 2026-11-13, 2026-11-18, 2026-11-23 to 2026-11-30, which"
        in str(caught.value)
    )
    assert len(caught.value.missing) == 16


def test_a_message_lists_so_much_that_it_can_be_read(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, *(trade_response(account=f"desk{n}") for n in range(50)))
    with pytest.raises(td.ArchiveError, match=r"desk15 and 42 more\), which") as caught:
        archive.trades("2020-01-01", "2020-12-31")
    assert len(str(caught.value)) < 1000
    assert len(caught.value.missing) == 50 * 262


def test_missing_days_have_bounds(archive: Any) -> None:
    """F125: without them the result had a row for each weekday from the year 1 to 9999."""
    for days in ((None, None), (MONDAY, None), (None, MONDAY)):
        with pytest.raises(TypeError, match="start and end must be days"):
            archive.missing(*days)


@pytest.mark.parametrize(("weeks", "listed"), [(8, 8), (9, 8)])
def test_a_message_lists_eight_gaps_and_says_if_there_are_more(weeks: int, listed: int) -> None:
    days = [dt.date(2026, 11, 16) - dt.timedelta(weeks=n) for n in range(weeks)]
    gaps = [MissingDay(day, f"desk{n}", ("trades",)) for n, day in enumerate(days)]
    text = coverage.describe(gaps)
    assert text.count("the trades of") == listed
    assert text.endswith("; and more") == (weeks > listed)


def test_weekends_are_not_missing(archive: td.Archive) -> None:
    assert len(archive.trades(SATURDAY)) == 0
    assert len(archive.trades(THURSDAY, "2026-11-22")) == 1


def test_the_order_book_and_the_trade_book_are_fetched_apart(archive: td.Archive) -> None:
    with pytest.raises(td.ArchiveError, match=f"lacks the orders of {FRIDAY}, "):
        archive.orders(FRIDAY)
    archive.add(order_response())
    assert len(archive.orders(FRIDAY)) == 0


def test_all_days_are_those_that_there_are(archive: td.Archive, tmp_path: Path) -> None:
    assert len(archive.trades()) == 3
    assert len(archive.orders()) == 0
    with pytest.raises(td.ArchiveError, match=f"lacks the trades of {WEDNESDAY}, "):
        archive.trades(end=THURSDAY)
    assert len(archive.trades(end=TUESDAY)) == 2
    assert len(td.Archive(tmp_path / "new.sqlite").trades()) == 0


def test_an_archive_without_any_fetch_lacks_every_day(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books.sqlite")
    for start, end in ((FRIDAY, None), (None, FRIDAY)):
        with pytest.raises(td.ArchiveError, match=f"lacks the trades of {FRIDAY}, "):
            archive.trades(start, end)
    with pytest.raises(td.ArchiveError, match=f"lacks the trades of {FRIDAY}, "):
        archive.sql(f"SELECT * FROM trades WHERE day = '{FRIDAY}'")


def test_every_account_must_have_been_fetched(tmp_path: Path) -> None:
    archive = archive_with(
        tmp_path, trades_of(THURSDAY, account="a"), trade_response(account="a"),
        trade_response(account="b"),
    )  # fmt: skip
    assert len(archive.trades(FRIDAY)) == 0
    with pytest.raises(td.ArchiveError, match=rf"lacks the trades of {THURSDAY} \(b\), "):
        archive.trades(THURSDAY, FRIDAY)
    assert len(archive.trades(THURSDAY, FRIDAY, account="a")) == 1
    with pytest.raises(td.ArchiveError, match=rf"lacks the trades of {FRIDAY} \(c\), "):
        archive.trades(FRIDAY, account="c")


def test_a_failed_fetch_is_no_fetch(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(account="a"))
    archive._writer.log_failure("trades", "b", td.ConnectError("refused"))
    with pytest.raises(td.ArchiveError, match=rf"{FRIDAY} \(b\), "):
        archive.trades(FRIDAY)


def test_a_fetch_in_the_night_is_of_the_day_before(tmp_path: Path) -> None:
    """What a job at 00:30 receives is Thursday's book, and says nothing about Friday."""
    archive = archive_with(tmp_path, trade_response(trade(day=THURSDAY), at="00:30"))
    assert len(archive.trades(THURSDAY)) == 1
    with pytest.raises(td.ArchiveError, match=str(FRIDAY)):
        archive.trades(FRIDAY)
    archive.add(trade_response(trade(day=THURSDAY), at="09:30"))
    assert len(archive.trades(FRIDAY)) == 0


def test_missing_and_reading_agree(archive: td.Archive) -> None:
    for day in DAYS:
        gaps = archive.missing(day, day)
        if any("trades" in gap.books for gap in gaps):
            with pytest.raises(td.ArchiveError):
                archive.trades(day)
        else:
            archive.trades(day)


# -- SQL --

LACKING = [
    "SELECT * FROM trades WHERE day = '2026-11-18'",
    "SELECT count(*) FROM trades WHERE '2026-11-18' = day AND symbol = 'INFY'",
    "SELECT count(*) AS n FROM trades t WHERE symbol = 'INFY' AND t.day IN ('2026-11-18')",
    "SELECT day, sum(trade_value) FROM trades WHERE day BETWEEN '2026-11-17' AND '2026-11-19' "
    "GROUP BY day ORDER BY 2 DESC",
    "SELECT * FROM trades WHERE day >= '2026-11-17'",
    "SELECT * FROM trades WHERE day < '2026-11-19'",
    "SELECT * FROM (SELECT day, symbol FROM trades) WHERE day = '2026-11-18'",
    "WITH one AS (SELECT * FROM trades WHERE day = '2026-11-18') SELECT count(*) FROM one",
    "SELECT (SELECT count(*) FROM trades WHERE day = '2026-11-18')",
    "SELECT * FROM trades WHERE account = '' AND day > '2026-11-17' AND day < '2026-11-20'",
    "SELECT 1 FROM trades WHERE day = '2026-11-18' UNION SELECT 2",
    "SELECT a.symbol FROM trades a JOIN trades b ON a.day = b.day AND a.trade_no = b.trade_no "
    "WHERE a.day = '2026-11-18'",
]


@pytest.mark.parametrize("query", LACKING)
def test_a_query_for_a_day_that_was_never_fetched_is_an_error(
    archive: td.Archive, query: str
) -> None:
    with pytest.raises(td.ArchiveError, match=f"lacks the trades of {WEDNESDAY}, ") as caught:
        archive.sql(query)
    assert caught.value.missing == (MissingDay(WEDNESDAY, None, ("trades",)),)
    with pytest.warns(td.DataWarning, match=f"lacks the trades of {WEDNESDAY}, ") as warned:
        archive.sql(query, missing_ok=True)
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM trades",
        "SELECT day, count(*) FROM trades GROUP BY day",
        "SELECT * FROM trades WHERE day = '2026-11-20'",
        "SELECT * FROM trades WHERE day IN ('2026-11-16', '2026-11-19', '2026-11-21')",
        "SELECT * FROM trades WHERE day = (SELECT max(day) FROM trades)",
        "SELECT * FROM trades WHERE expiry_date = '2026-11-18'",
        "SELECT * FROM trades WHERE day LIKE '2026-11-%'",
        "SELECT day FROM records",
        "SELECT '2026-11-18' AS day",
        "EXPLAIN SELECT * FROM trades WHERE day = '2026-11-18'",
    ],
)
def test_other_queries_have_a_result(archive: td.Archive, query: str) -> None:
    archive.sql(query)


class Adapted:
    """A parameter that SQLite takes as text, as it does a date."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __conform__(self, protocol: object) -> str:
        return self._text


def test_parameters_name_days_too(archive: td.Archive) -> None:
    for parameters in ([str(WEDNESDAY)], {"day": str(WEDNESDAY)}):
        name = ":day" if isinstance(parameters, dict) else "?"
        with pytest.raises(td.ArchiveError, match=str(WEDNESDAY)):
            archive.sql(f"SELECT * FROM trades WHERE day = {name}", parameters)
    for value in ("2019-03-06", Adapted("2019-03-06")):
        with pytest.raises(td.ArchiveError, match="2019-03-06"):
            archive.sql("SELECT * FROM trades WHERE day = ?", [value])


def test_a_query_for_one_account_is_about_its_days(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(account="a"), order_response(account="b"))
    query = f"SELECT count(*) FROM trades WHERE account = ? AND day = '{FRIDAY}'"
    assert archive.sql(query, ["a"]) == [(0,)]
    with pytest.raises(td.ArchiveError, match=rf"the trades of {FRIDAY} \(b\), "):
        archive.sql(query, ["b"])
    span = f"SELECT * FROM trades WHERE account = ? AND day BETWEEN '{FRIDAY}' AND '{FRIDAY}'"
    assert archive.sql(span, ["a"]) == []


def test_a_query_that_never_ends_is_not_tried_out_for_long(archive: td.Archive) -> None:
    import sqlite3

    from tradingdata.archive.query_days import days_read

    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT max(i) FROM n, trades WHERE day = '2026-11-18'"
    )
    assert days_read(endless, (), [""], [str(WEDNESDAY)]) == {}
    with pytest.raises(sqlite3.OperationalError, match="colour"):
        archive.sql("SELECT colour FROM trades WHERE day = '2026-11-18'")
