"""What tells one record of an archive from another: its key, its day, its account."""

from __future__ import annotations

import asyncio
from functools import partial
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
    trade,
    trade_response,
)


def test_a_trade_that_comes_twice_in_a_response_is_kept_twice(tmp_path: Path) -> None:
    """F98"""
    twice = trade_response(trade(quantity=1), trade(quantity=1), trade(quantity=2))
    archive = archive_with(tmp_path, twice)
    assert [row.quantity for row in archive.trades()] == [1, 1, 2]
    archive.add(trade_response(trade(quantity=1), trade(quantity=1), trade(quantity=2), at="16:00"))
    assert archive.trades() == twice


def test_both_sides_of_a_trade_with_oneself_outlast_a_response_that_lacks_one(
    tmp_path: Path,
) -> None:
    sides = [trade(order_no="A", txn_type="B"), trade(order_no="B", txn_type="S")]
    both = trade_response(*sides)
    archive = archive_with(tmp_path, both)
    assert archive.add(trade_response(sides[1], at="16:00")).changed == 0
    assert archive.trades() == both


@pytest.mark.parametrize("name", ["order_no", "leg_no", "exchange", "segment", "client_id"])
def test_every_part_of_an_orders_key_tells_it_from_others(tmp_path: Path, name: str) -> None:
    other: dict[str, Any] = {name: 9.0 if name == "leg_no" else "other"}
    none: dict[str, Any] = {name: None}
    archive = archive_with(tmp_path, order_response(order(), order(**other)))
    assert archive.fetches()[0].new == 2
    assert archive.add(order_response(order(**none), at="16:00")).new == 1
    assert {row[name] for row in archive.orders()} == {order()[name], other[name], None}


def test_the_same_number_on_another_day_is_another_record(tmp_path: Path) -> None:
    books = [trade_response(*(trade(day=day, quantity=day.day) for day in DAYS))]
    archive = archive_with(tmp_path, *books)
    assert [row.quantity for row in archive.trades()] == [16, 17, 18, 19, 20]
    assert [row.quantity for row in archive.trades(DAYS[1], DAYS[3])] == [17, 18, 19]
    assert [row.quantity for row in archive.trades(end="2026-11-17")] == [16, 17]
    assert [row.quantity for row in archive.trades(str(DAYS[2]))] == [18]
    assert archive.fetches()[0].days == tuple(DAYS)


def test_days_that_end_before_they_start_are_refused(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    with pytest.raises(ValueError, match="end"):
        archive.trades("2026-11-20", "2026-11-19")
    with pytest.raises(ValueError, match=r"'2026-11-20', not '20\.11\.2026'"):
        archive.trades("20.11.2026")
    with pytest.raises(TypeError, match="a date or text"):
        archive.trades(clock("10:00"))


def test_accounts_stay_apart(tmp_path: Path) -> None:
    books = [trade_response(trade(quantity=n), account=f"desk{n}") for n in (1, 2)]
    archive = archive_with(tmp_path, *books)
    assert archive.accounts == ("desk1", "desk2")
    assert [row.quantity for row in archive.trades()] == [1, 2]
    assert [row.quantity for row in archive.trades(account="desk2")] == [2]


def test_a_label_that_is_no_text_is_refused_and_not_looked_for(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade(), account="5"))
    label: Any = 5
    calls = (archive.trades, archive.orders, archive.fetches, partial(archive.history, "1"))
    for call in (*calls, partial(archive.missing, DAY, DAY)):
        with pytest.raises(TypeError, match="account must be text, not int"):
            call(account=label)


def test_a_book_of_an_unknown_account_is_not_filed_beside_labelled_ones(tmp_path: Path) -> None:
    labelled = trade_response(trade(), account="desk1")
    archive = archive_with(tmp_path, labelled)
    with pytest.raises(ValueError, match=r"labelled accounts \(desk1\): pass account="):
        archive.add(labelled[:])
    assert archive.add(labelled[:], account="desk1").new == 0
    assert archive.add(labelled[:], account="").new == 1
    assert archive.accounts == (None, "desk1")
    assert len(archive.trades(account="")) == 1


def test_a_client_without_a_label_does_not_fetch_beside_labelled_ones(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade(), account="desk1"))
    where: Any = {"base_url": "http://127.0.0.1:9", "access_token": "abcdefgh"}  # nobody is asked

    async def fetch_async() -> None:
        async with td.AsyncClient(**where) as client:
            await archive.fetch_async(client)

    with td.Client(**where) as client, pytest.raises(td.ConfigurationError, match="desk1"):
        archive.fetch(client)
    with pytest.raises(td.ConfigurationError, match="desk1"):
        asyncio.run(fetch_async())
    assert len(archive.fetches()) == 1
    # Where some were kept without a label, more of them may be.
    archive.add(trade_response(), account="")
    with td.Client(**where, attempts=1) as client, pytest.raises(td.ConnectError):
        archive.fetch(client)


def test_a_row_without_a_time_belongs_to_the_day_it_was_received(tmp_path: Path) -> None:
    """F96"""
    lost: dict[str, Any] = {"exch_trade_time": "", "order_date_time": None}
    book = trade_response(trade(**lost), at="00:15")
    archive = archive_with(tmp_path, book)
    assert len(archive.trades(DAY)) == 1
    utc = td.Archive(tmp_path / "utc.sqlite", tz="UTC")
    utc.add(book)
    assert len(utc.trades("2026-11-19")) == 1


def test_a_trade_without_a_trade_time_is_filed_by_its_orders(tmp_path: Path) -> None:
    row = trade(exch_trade_time=None, order_date_time="2026-11-18 10:00:00")
    assert len(archive_with(tmp_path, trade_response(row)).trades("2026-11-18")) == 1
