"""An archive: what goes in comes back, once, whole, and under its own day."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import tradingdata as td
from archiving import (
    DAY,
    archive_with,
    clock,
    content,
    counts,
    order_response,
    response,
    trade,
    trade_response,
)
from private_files import is_private
from sample_records import PAN
from service import as_json, envelope, orders, trades
from systems import WINDOWS


def test_both_books_come_back_as_they_were_fetched(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books.sqlite")
    with td.sandbox.start(orders=40) as service, service.client() as client:
        done = archive.fetch(client)
        assert archive.trades() == client.trade_book()
        assert archive.orders() == client.order_book()
    assert counts(done.trades) == (len(archive.trades()), len(archive.trades()), 0)
    assert counts(done.orders) == (40, 40, 0)
    assert done.orders.account == "desk1"
    assert done.orders.days == (DAY,)
    assert archive.trades(DAY, account="desk1") == archive.trades()


def test_a_second_fetch_of_the_same_books_adds_nothing_but_its_log_entry(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books.sqlite")
    with td.sandbox.start(orders=40) as service, service.client() as client:
        archive.fetch(client)
        before = content(archive)[1:]
        again = archive.fetch(client)
    assert content(archive)[1:] == before
    assert (again.trades.new, again.trades.changed, again.orders.changed) == (0, 0, 0)
    assert [entry.book for entry in archive.fetches()] == ["orders", "trades"] * 2


def test_an_asynchronous_client_has_a_call_of_its_own(tmp_path: Path) -> None:
    import asyncio

    archive = td.Archive(tmp_path / "books.sqlite")
    with td.sandbox.start(orders=10) as service:

        async def run() -> int:
            async with service.async_client() as client:
                with pytest.raises(TypeError, match=r"await archive\.fetch_async"):
                    archive.fetch(client)  # type: ignore[arg-type]
                done = await archive.fetch_async(client)
                assert archive.trades() == await client.trade_book()
                return done.trades.new

        assert asyncio.run(run()) == len(archive.trades()) > 0
        with service.client() as client, pytest.raises(TypeError, match=r"archive\.fetch\(\)"):
            asyncio.run(archive.fetch_async(client))  # type: ignore[arg-type]


def test_a_replayed_response_changes_nothing(tmp_path: Path) -> None:
    book = trade_response(*trades(9, variety=True))
    archive = archive_with(tmp_path, book)
    before = content(archive)
    entry = archive.add(book)
    assert content(archive) == before
    assert counts(entry) == (9, 0, 0)
    assert entry == replace(archive.fetches()[0], new=0)


def test_values_that_were_lost_are_kept_as_they_were_sent(tmp_path: Path) -> None:
    with pytest.warns(td.DataWarning, match=r"traded_price"):
        book = td.TradeBook.from_json(as_json(envelope([trade(traded_price="MKT")])))
    archive = archive_with(tmp_path, book)
    with pytest.warns(td.DataWarning, match=r"traded_price") as warned:
        again = archive.trades()
    assert warned[0].filename == __file__
    assert again[0].traded_price is None
    assert again.issues == book.issues
    assert json.loads(archive.sql("SELECT json FROM trades")[0][0])["traded_price"] == "MKT"


def test_unknown_fields_come_back(tmp_path: Path) -> None:
    """F60"""
    book = trade_response(trade(fee={"stt": [1.50, None]}, न="₹"), trade("2"))
    archive = archive_with(tmp_path, book)
    assert archive.trades() == book
    assert archive.trades()[0]["fee"] == {"stt": [1.5, None]}
    assert archive.sql("SELECT json ->> '$.fee.stt[0]' FROM trades")[0] == (1.5,)


def test_a_record_is_kept_byte_for_byte(tmp_path: Path) -> None:
    sent = '{ "trade_no" : "7", "exch_trade_time":"2026-11-20 10:00:00",\n "x": 1e400 }'
    body = f'{{"data": [{sent}], "status": "success", "message": "Success"}}'
    with pytest.warns(td.DataWarning):
        archive = archive_with(tmp_path, td.TradeBook.from_json(body))
    for name in ("states", "trades"):
        assert archive.sql(f"SELECT json FROM {name}") == [(sent,)]


def test_parts_unions_and_books_made_by_hand_are_kept(tmp_path: Path) -> None:
    whole = trade_response(*trades(6))
    archive = archive_with(tmp_path, whole[::2], whole[1:2])
    assert set(archive.trades()) == {*whole[::2], whole[1]}
    by_hand = td.TradeBook([td.Trade(trade_no="h", quantity=5)])
    entry = archive.add(by_hand)
    assert (entry.new, entry.whole, entry.at) == (1, False, None)
    assert by_hand[0] in archive.trades()
    assert archive.add(td.concat([whole[:2], by_hand])).new == 0


def test_a_localized_book_keeps_its_clock_times(tmp_path: Path) -> None:
    book = trade_response(*trades(4))
    archive = archive_with(tmp_path, book.localize("Asia/Kolkata"))
    assert set(archive.trades()) == set(book)
    assert archive.add(book[1:].localize("Asia/Kolkata")).new == 0


def test_personal_data_is_masked_unless_it_is_wanted(tmp_path: Path) -> None:
    plain = response(td.TradeBook, [trade(pan_no=PAN)], clock("15:45"), keep=True)
    assert plain[0].pan_no == PAN
    archive = archive_with(tmp_path, plain, plain[:])
    assert archive.trades()[0].pan_no == "ABXXXXXX4F"
    assert PAN.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_personal_data_that_is_kept_is_shown_to_who_asks_for_it(tmp_path: Path) -> None:
    plain = response(td.TradeBook, [trade(pan_no=PAN)], clock("15:45"), keep=True)
    keeping = archive_with(tmp_path, plain, keep_personal_data=True)
    assert keeping.trades()[0].pan_no == PAN
    assert keeping.sql("SELECT pan_no, json ->> '$.pan_no' FROM trades") == [(PAN, PAN)]
    masked = td.Archive(keeping.path)
    assert masked.trades()[0].pan_no == "ABXXXXXX4F"
    hidden = masked.sql("SELECT pan_no, json ->> '$.pan_no' FROM trades")
    assert hidden == [("ABXXXXXX4F", "ABXXXXXX4F")]
    assert PAN not in str(masked.sql("SELECT * FROM states"))
    assert PAN in str(keeping.sql("SELECT * FROM states"))
    # The same trade with a masked number is the same trade.
    assert keeping.add(trade_response(trade(pan_no=PAN), at="16:00")).changed == 0


def test_only_books_of_trades_and_orders_are_kept(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    with pytest.raises(TypeError, match="a TradeBook or an OrderBook, not StockList"):
        archive.add(td.StockList())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a TradeBook or an OrderBook, not list"):
        archive.add([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an aware time"):
        archive.add(td.TradeBook(), at="15:45")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="aware"):
        archive.add(td.TradeBook(), at=clock("10:00").replace(tzinfo=None))


def test_only_the_user_may_read_the_files(tmp_path: Path) -> None:
    import sqlite3

    archive = archive_with(tmp_path)
    with sqlite3.connect(archive.path) as held:
        held.execute("SELECT count(*) FROM records")
        archive.add(trade_response(*trades(2)))
        private = {path.name: is_private(path) for path in tmp_path.iterdir()}
    held.close()
    names = ("books.sqlite", "books.sqlite-wal", "books.sqlite-shm")
    assert private == dict.fromkeys(names, True)


def test_an_archive_leaves_nothing_open_or_beside_it(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade()))
    assert [path.name for path in tmp_path.iterdir()] == ["books.sqlite"]
    again = pickle.loads(pickle.dumps(archive))
    with again:
        assert again.trades() == archive.trades()
    assert "books.sqlite, time zone Asia/Kolkata" in repr(again)


def test_a_path_that_is_not_there_is_made_or_refused(tmp_path: Path) -> None:
    with pytest.raises(td.ArchiveError, match="there is no archive at"):
        td.Archive(tmp_path / "mistyped.sqlite", create=False)
    assert list(tmp_path.iterdir()) == []
    name = "a #1 %20.sqlite" if WINDOWS else "a #1 ?%20.sqlite"
    odd = td.Archive(tmp_path / name)
    odd.add(trade_response(trade()))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert len(td.Archive(odd.path, create=False).trades()) == 1


def test_an_archive_keeps_to_its_zone(tmp_path: Path) -> None:
    archive_with(tmp_path, tz="UTC")
    with pytest.raises(
        td.ArchiveError, match="was created with time zone UTC: open it with tz='UTC'"
    ):
        td.Archive(tmp_path / "books.sqlite")
    assert td.Archive(tmp_path / "books.sqlite", tz="UTC").tz.tzname(None) == "UTC"


def test_an_archive_whose_zone_is_an_offset_says_how_to_open_it(tmp_path: Path) -> None:
    india = dt.timezone(dt.timedelta(hours=5, minutes=30))
    td.Archive(tmp_path / "books.sqlite", tz=india)
    with pytest.raises(td.ArchiveError) as caught:
        td.Archive(tmp_path / "books.sqlite")
    assert str(caught.value).endswith(f"open it with tz={india!r}")
    td.Archive(tmp_path / "books.sqlite", tz=india)


def test_many_rows_are_decoded_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tradingdata.archive import read as reading

    book = order_response(*orders(20))
    archive = archive_with(tmp_path, book)
    whole = archive.orders()
    monkeypatch.setattr(reading, "_MOST_BYTES", 4000)
    assert archive.orders() == whole
    assert set(whole) == set(book)
