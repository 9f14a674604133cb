"""Books as files and pickles: nothing is lost, and nothing damaged or half written is taken."""

from __future__ import annotations

import datetime as dt
import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from sample_books import Nameless
from service import as_json, envelope, samples, trades
from systems import is_private
from tradingdata._util.declarations import RECORDS
from tradingdata._util.platform import whole_file
from worlds.records import BOOKS, body_of

pytestmark = pytest.mark.sanitize

PAN = "ABCDE1234F"
MASKED = "ABXXXXXX4F"


def book_of(record: str, *, keep: bool = False) -> Any:
    kind = record.lower()
    personal: dict[str, Any] = {} if kind == "stock" else {"pan_no": PAN}
    body = body_of(kind, samples(kind, 12, variety=True, **personal))
    return BOOKS[kind].from_json(body, keep_personal_data=keep)


@pytest.fixture(params=sorted(RECORDS))
def book(request: pytest.FixtureRequest) -> Any:
    return book_of(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.json"


def assert_same(again: Any, book: Any) -> None:
    assert again == book
    assert again.to_dicts(extra=True) == book.to_dicts(extra=True)
    assert again.issues == book.issues
    assert again.response == book.response
    assert hash(again) == hash(book)


class TestRoundTrip:
    def test_a_saved_book_is_loaded_as_it_was(self, book: Any, path: Path) -> None:
        book.save(path)
        again = type(book).load(path)
        assert_same(again, book)
        assert again.response.content == book.response.content
        assert again.response.sha256 == book.response.sha256

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_a_pickled_book_too(self, book: Any, protocol: int) -> None:
        assert_same(pickle.loads(pickle.dumps(book, protocol)), book)

    def test_parts_store_their_rows(self, book: Any, path: Path) -> None:
        name = book.columns[0]
        for part in (book[2:7], book[::-3], book.filter(**{name: book[0][name]}), book[:0]):
            part.save(path, overwrite=True)
            assert_same(type(book).load(path), part)
            assert_same(pickle.loads(pickle.dumps(part)), part)

    def test_the_file_is_the_response_with_one_more_member(self, book: Any, path: Path) -> None:
        book.save(path)
        saved = json.loads(path.read_bytes())
        facts = saved.pop("_tradingdata")
        sent = json.loads(book.response.content)
        assert saved == (sent if isinstance(sent, dict) else {"data": sent})
        assert facts["sha256"] == book.response.sha256

    @pytest.mark.parametrize("layout", ["\ufeff{}", "{}\r\n ", " {} "])
    def test_space_around_the_body_is_kept(self, layout: str, path: Path) -> None:
        text = json.dumps(envelope([trades(1)[0] | {"x": ',"_tradingdata":{}'}]), indent=1)
        book = td.TradeBook.from_json(layout.format(text).encode())
        book.save(path)
        assert_same(td.TradeBook.load(path), book)

    def test_rows_are_saved_as_parquet(self, book: Any, path: Path) -> None:
        pytest.importorskip("pyarrow")
        parquet = path.with_suffix(".parquet")
        # Stocks have no times, so that a table of theirs has no zone.
        local = book if isinstance(book, td.StockList) else book.localize("Asia/Kolkata")
        for one in (local, local[2:7], local[:0]):
            one.save(parquet, overwrite=True)
            again = type(book).load(parquet)
            assert again == one
            assert again.to_dicts(extra=True) == one.to_dicts(extra=True)
        assert is_private(parquet)

    def test_rows_of_another_record_in_parquet_are_refused(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        path = tmp_path / "orders.parquet"
        book_of("Order").save(path)
        with pytest.raises(ValueError, match=r"no saved TradeBook.*TradeBook\.from_arrow"):
            td.TradeBook.load(path)

    @pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
    def test_issues_and_unknown_fields_come_along(self, path: Path) -> None:
        row = trades(1)[0] | {"quantity": "5", "traded_price": "MKT", "brand_new": {"a": 1}}
        response = td.TradeBook.from_json(as_json(envelope([row])))
        for one in (response, response[:1]):
            one.save(path, overwrite=True)
            again = td.TradeBook.load(path)
            assert_same(again, one)
            assert again[0]["brand_new"] == {"a": 1}
            assert {issue.field for issue in again.issues} == {"quantity", "traded_price"}
        response.save(path.with_suffix(".parquet"))
        assert td.TradeBook.load(path.with_suffix(".parquet"))[0]["brand_new"] == {"a": 1}

    @pytest.mark.parametrize(
        "zone",
        [
            "Asia/Kolkata",
            dt.UTC,
            dt.timezone(dt.timedelta(hours=5, minutes=30)),
            dt.timezone(-dt.timedelta(hours=3, seconds=7), "odd"),
            None,
        ],
        ids=str,
    )
    def test_the_zone_comes_along(self, path: Path, zone: Any) -> None:
        local = book_of("Trade").localize(zone)
        for one in (local, local[::2]):
            one.save(path, overwrite=True)
            assert_same(td.TradeBook.load(path), one)
            assert_same(pickle.loads(pickle.dumps(one)), one)

    def test_a_zone_that_a_file_cannot_hold_is_refused(self, path: Path) -> None:
        with pytest.raises(ValueError, match="localize with a name"):
            book_of("Trade").localize(Nameless()).save(path)
        assert list(path.parent.iterdir()) == []


class TestPersonalData:
    def test_what_was_kept_is_saved_but_loaded_only_where_asked_for(self, path: Path) -> None:
        kept = book_of("Trade", keep=True)
        for one in (kept, kept[::2]):
            one.save(path, overwrite=True)
            assert td.TradeBook.load(path, keep_personal_data=True) == one
            masked = td.TradeBook.load(path)
            assert {row.pan_no for row in masked} == {MASKED}
            assert PAN.encode() not in pickle.dumps(masked)
            assert {row.pan_no for row in pickle.loads(pickle.dumps(one))} == {PAN}


class TestRefusals:
    def test_every_changed_byte_is_noticed(self, path: Path) -> None:
        td.TradeBook.from_json(as_json(envelope(trades(1)))).save(path)
        whole = path.read_bytes()
        for at in range(0, len(whole), 7):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(ValueError, match=r"damaged|not written|another version"):
                td.TradeBook.load(path)

    def test_every_cut_is_noticed(self, path: Path) -> None:
        td.TradeBook.from_json(as_json(envelope(trades(1)))).save(path)
        whole = path.read_bytes()
        for length in range(0, len(whole), 11):
            path.write_bytes(whole[:length])
            with pytest.raises(ValueError, match=r"damaged|not written"):
                td.TradeBook.load(path)

    def test_what_comes_behind_is_noticed(self, path: Path) -> None:
        book_of("Trade").save(path)
        path.write_bytes(path.read_bytes() + b" ")
        with pytest.raises(ValueError, match="damaged"):
            td.TradeBook.load(path)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{}\n",
            b"[]",
            b'{"data":[],"_tradingdata":[]}',
            b'{"status": "success"}',
            b"\xff\n",
        ],
    )
    def test_a_file_of_another_kind_is_reported_as_one(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"not written by save.*TradeBook\.from_json"):
            td.TradeBook.load(path)

    def test_a_later_version_is_reported_as_one(self, path: Path) -> None:
        book_of("Trade").save(path)
        whole = path.read_bytes()
        path.write_bytes(re.sub(rb'("_tradingdata":\{"version": ?)\d', rb"\g<1>3", whole))
        assert path.read_bytes() != whole
        with pytest.raises(ValueError, match="another version"):
            td.TradeBook.load(path)

    def test_records_of_another_kind_are_reported(self, path: Path) -> None:
        book_of("Order").save(path)
        with pytest.raises(ValueError, match="holds Order records, not Trade"):
            td.TradeBook.load(path)


class TestWholeFiles:
    def test_only_the_user_may_read_it(self, book: Any, path: Path) -> None:
        old = os.umask(0)
        try:
            book.save(path)
        finally:
            os.umask(old)
        assert is_private(path)

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_an_error_of_the_disk_leaves_nothing_behind(
        self, book: Any, path: Path, overwrite: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if overwrite:
            path.write_text("mine")
        before = {file: file.read_bytes() for file in path.parent.iterdir()}

        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            book.save(path, overwrite=overwrite)
        assert {file: file.read_bytes() for file in path.parent.iterdir()} == before

    def test_a_file_that_appears_meanwhile_stays(self, path: Path) -> None:
        def write() -> None:
            with whole_file(path, overwrite=False) as draft:
                Path(draft).write_text("ours")
                path.write_text("theirs")

        with pytest.raises(FileExistsError):
            write()
        assert path.read_text() == "theirs"
        assert list(path.parent.iterdir()) == [path]

    def test_a_file_system_without_hard_links_will_do(
        self, book: Any, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(source: str, target: str) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refused)
        book.save(path)
        assert type(book).load(path) == book
        assert list(path.parent.iterdir()) == [path]

    def test_a_name_of_the_greatest_length_will_do(self, book: Any, tmp_path: Path) -> None:
        path = tmp_path / ("x" * 250 + ".json")
        book.save(path)
        assert type(book).load(path) == book

    def test_a_path_may_be_bytes(self, book: Any, path: Path) -> None:
        book.save(os.fsencode(path))
        assert type(book).load(path) == book
