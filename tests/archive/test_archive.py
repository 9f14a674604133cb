"""An archive gives back what it was given: responses, states, failures and labels."""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archive.engines import is_named
from archiving import (
    DAY,
    archive_with,
    clock,
    numbers,
    response,
    trade,
    trade_response,
)
from service import as_json
from tradingdata import sandbox


def test_unknown_fields_and_bad_values_come_back(tmp_path: Path) -> None:
    """What did not fit is kept as it was sent, with its spelling, and is an issue again."""
    fields = trade("1", quantity=27.5, traded_price="ten", colour={"deep": [1, None]})
    row = as_json({name: fields[name] for name in fields if name != "settlor"})
    row = row.replace(b"27.5", b"2.75e1")
    row = row.replace(b"{", b'{"ratio": 1.50, "big": 123456789012345678901, ', 1)
    body = b'{"status": "success", "data": [%b, %b]}' % (row, as_json(trade("2")))
    with pytest.warns(td.DataWarning):
        given = td.TradeBook.from_json(body)
    archive = td.Archive(tmp_path / "books")
    archive.add(given, at=clock("15:45"))
    assert archive.verify() == 2
    with pytest.warns(td.DataWarning, match="Trade.quantity"):
        found = archive.trades(DAY)
    lost = tuple(issue for issue in given.issues if issue.problem != "missing")
    assert found.issues == lost != given.issues
    again = td.concat([found.sort("trade_no"), found[:1]]).issues
    assert again == (*lost, *(issue._replace(row=2) for issue in lost))
    assert (found[0].quantity, found[0].traded_price) == (None, None)
    assert found.extra_fields == given.extra_fields == ("ratio", "big", "colour")
    assert found[0]["colour"] == given[0]["colour"]
    first, second = archive.sql("SELECT extra, sent FROM trades ORDER BY trade_no")
    assert first.extra == '{"ratio":1.50,"big":123456789012345678901,"colour":{"deep":[1,null]}}'
    assert "2.75e1" in first.sent
    assert second.sent is None


def test_a_response_without_a_time_replaces_nothing(tmp_path: Path) -> None:
    books = (trade_response(trade("1", quantity=n), at=at) for n, at in ((5, "15:45"), (9, None)))
    assert [row.quantity for row in archive_with(tmp_path, *books).trades(DAY)] == [5]


def test_fetch_stores_both_books_and_logs_failures(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")
    with sandbox.start(accounts=2, orders=8) as service:
        client = service.client("desk1")
        fetched = archive.fetch(client)
        assert fetched.trades.account == "desk1"
        assert list(archive.trades()) == list(client.trade_book())
        assert numbers(archive.orders()) == numbers(client.order_book())
        bad = td.Client(service.base_url, access_token="expired-token", account="desk2")
        with pytest.raises(td.AuthenticationError) as caught:
            archive.fetch(bad)
        assert "another book failed too" in caught.value.__notes__[0]
    failed = [entry for entry in archive.fetches() if not entry.ok]
    assert [entry.error for entry in failed] == ["AuthenticationError"] * 2
    assert archive.accounts == ("desk1", "desk2")


def test_several_clients_are_one_commit(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")
    with sandbox.start(accounts=3, orders=8) as service:
        clients = [service.client(label) for label in ("desk1", "desk2")]
        bad = td.Client(service.base_url, access_token="expired-token", account="desk3")
        with pytest.raises(td.AccountsError) as caught:
            archive.fetch(td.Accounts({str(each.account): each for each in (*clients, bad)}))
        assert list(caught.value.received) == ["desk1", "desk2"]
        assert list(caught.value.errors) == ["desk3"]
        assert isinstance(caught.value.errors["desk3"], td.AuthenticationError)
        for client in clients:  # received today, while the market's day is an earlier one
            traded = archive.trades(sandbox.DEFAULT_DAY, account=client.account)
            assert list(traded) == list(client.trade_book())
            ordered = archive.orders(account=client.account, missing_ok=True)
            assert numbers(ordered) == numbers(client.order_book())
    assert len(list(Path(archive.path).glob("responses/*/*"))) == 1
    assert len(archive.fetches()) == 6


def test_an_asynchronous_client_is_refused(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")
    client: Any = td.AsyncClient("http://127.0.0.1:9", access_token="x" * 12)
    with pytest.raises(TypeError, match="a Client or an Accounts, not <"):
        archive.fetch(client)


def test_labels_are_not_mixed_with_none(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1"), account="desk1"))
    with pytest.raises(ValueError, match="has no account label"):
        archive.add(trade_response(trade("1"), at="16:00"))
    with pytest.warns(td.DataWarning, match="the client of no label has trades under 'desk1'"):
        entry = archive.add(
            trade_response(trade("1", client_id="C-desk1"), at="16:00"), account=None
        )
    assert entry.account is None
    assert archive.accounts == (None, "desk1")
    assert len(archive.trades(DAY, account="desk1")) == 1


def test_settings_are_fixed_when_it_is_created(tmp_path: Path) -> None:
    made = td.Archive(tmp_path / "books", tz="UTC", day_start="05:00")
    assert str(td.Archive(tmp_path / "books").tz) == "UTC"
    for wrong in ({"tz": "Asia/Kolkata"}, {"day_start": "06:00"}, {"keep_personal_data": True}):
        with pytest.raises(td.ArchiveError, match="which cannot change"):
            td.Archive(tmp_path / "books", **wrong)
    assert pickle.loads(pickle.dumps(made)).path == made.path


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(td.ArchiveError, match="there is no archive"):
        td.Archive(tmp_path / "none", create=False)
    (tmp_path / "file").write_text("x")
    with pytest.raises(td.ArchiveError, match="is a file"):
        td.Archive(tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    with pytest.raises(td.ArchiveError, match="other files"):
        td.Archive(tmp_path / "other")
    with pytest.raises(TypeError, match="keeps a TradeBook"):
        td.Archive(tmp_path / "books").add(td.StockList())  # type: ignore[arg-type]


def test_account_numbers_are_masked_unless_kept(tmp_path: Path) -> None:
    """In columns and at any depth of unknown fields."""
    sent = trade("1", pan_no="ABCDE1234F", more={"PAN_No": "ABCDE1234F"})
    kept = response(td.TradeBook, [sent], clock("15:45"), keep=True)
    archive = archive_with(tmp_path, kept)
    assert not is_named(archive, "ABCDE1234F")
    assert "ABCDE1234F" not in str(archive.sql("SELECT * FROM trades"))
    assert "ABCDE1234F" not in archive.trades(DAY).to_json(extra=True)
    open_archive = archive_with(tmp_path / "open", kept, keep_personal_data=True)
    assert open_archive.trades(DAY)[0].pan_no == "ABCDE1234F"
    assert is_named(open_archive, "ABCDE1234F")
    (row,) = open_archive.sql("SELECT pan_no, extra FROM trades").to_dicts()
    assert row == {"pan_no": "ABCDE1234F", "extra": '{"more":{"PAN_No":"ABCDE1234F"}}'}
    with pytest.raises(td.ArchiveError, match="keep_personal_data=True"):
        td.Archive(tmp_path / "open" / "books")


def test_equal_trades_of_several_accounts_have_one_order(tmp_path: Path) -> None:
    """That of the labels."""
    archive = td.Archive(tmp_path / "books")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the client of")
        for at in range(12):
            archive.add(trade_response(trade("1", quantity=at)), account=f"desk{at:02}")
    assert [row.quantity for row in archive.trades(DAY)] == [*range(12)]


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("tradingdata.archive")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(td, "archive", None)  # which the import replaces
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ImportError, match=r"an archive needs duckdb, .*pip install"):
        importlib.import_module("tradingdata.archive").Archive("books")


def test_what_a_fetch_returns_is_shown_in_one_line(tmp_path: Path) -> None:
    labels = [f"desk{number}" for number in range(12)]
    archive = td.Archive(tmp_path / "books")
    with td.sandbox.start(accounts=labels, orders=5) as service:
        one = archive.fetch(service.client(labels[0]))
        accounts = td.Accounts({label: service.client(label) for label in labels})
        several = archive.fetch(accounts)
    assert len(several) == 12
    for shown in (repr(one), repr(one.orders), repr(several)):
        assert "\n" not in shown
        assert len(shown) < 120
    assert "orders of desk0, 5 rows, " in repr(one)
    assert "12 accounts" in repr(several)
