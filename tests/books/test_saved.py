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

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.filterwarnings("ignore::tradingdata.DataWarning"),
]

PAN = "ABCDE1234F"
MASKED = "ABXXXXXX4F"


def book_of(record: str, *, keep: bool = False) -> Any:
    kind = record.lower()
    personal: dict[str, Any] = {} if kind == "stock" else {"pan_no": PAN}
    body = body_of(kind, samples(kind, 12, variety=True, **personal))
    return BOOKS[kind].from_json(body, keep_personal_data=keep)


@pytest.fixture(params=[*sorted(RECORDS), "\ufeff{}\r\n ", " {} "])
def book(request: pytest.FixtureRequest) -> Any:
    """A book of each record, and two with issues, unknown fields and space around the body."""
    if "{}" not in request.param:
        return book_of(request.param)
    odd = {"quantity": "5", "traded_price": "MKT", "new": {"a": 1}, "x": ',"_tradingdata":{}'}
    text = json.dumps(envelope([trades(1)[0] | odd]), indent=1)
    return td.TradeBook.from_json(request.param.format(text).encode())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.json"


def saved(book: Any, path: Path) -> Any:
    book.save(path, overwrite=True)
    assert is_private(path)
    return type(book).load(path)


WAYS: dict[str, Any] = {
    "json": saved,
    "parquet": lambda book, path: saved(book, path.with_suffix(".parquet")),
    **{
        f"pickle {protocol}": lambda book, _, protocol=protocol: pickle.loads(
            pickle.dumps(book, protocol)
        )
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}
ZONES = [
    *(None, "Asia/Kolkata", dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30))),
    dt.timezone(-dt.timedelta(hours=3, seconds=7), "odd"),
]


class TestRoundTrip:
    @pytest.mark.parametrize("way", WAYS)
    def test_a_book_and_its_parts_come_back(self, way: str, book: Any, path: Path) -> None:
        name = book.columns[0]
        # A table of stocks has no times, and so no zone; another one has the name of its zone.
        zones = ZONES[:1] if isinstance(book, td.StockList) else ZONES
        for zone in zones[:2] if way == "parquet" else zones:
            local = book.localize(zone)
            chosen = local.filter(**{name: local[0][name]})
            for part in (local, local[2:7], local[::-3], chosen, local[:0]):
                again = WAYS[way](part, path)
                assert again == part
                assert hash(again) == hash(part)
                assert again.to_dicts(extra=True) == part.to_dicts(extra=True)
                if way != "parquet":  # which has rows alone
                    assert (again.issues, again.response) == (part.issues, part.response)

    def test_the_file_is_the_response_with_one_more_member(self, book: Any, path: Path) -> None:
        book.save(path)
        saved = json.loads(path.read_bytes())
        facts = saved.pop("_tradingdata")
        sent = json.loads(book.response.content)
        assert saved == (sent if isinstance(sent, dict) else {"data": sent})
        assert facts["sha256"] == book.response.sha256

    def test_rows_of_another_record_in_parquet_are_refused(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        path = tmp_path / "orders.parquet"
        book_of("Order").save(path)
        with pytest.raises(ValueError, match=r"no saved TradeBook.*TradeBook\.from_arrow"):
            td.TradeBook.load(path)

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
    def test_every_damage_is_noticed(self, path: Path) -> None:
        td.TradeBook.from_json(as_json(envelope(trades(1)))).save(path)
        whole = path.read_bytes()
        changed = (
            whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 7)
        )
        cut = (whole[:length] for length in range(0, len(whole), 11))
        for content in (*changed, *cut, whole + b" "):
            path.write_bytes(content)
            with pytest.raises(ValueError, match=r"damaged|not written|another version"):
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

    def test_another_version_and_another_record_are_reported(self, path: Path) -> None:
        book_of("Order").save(path)
        with pytest.raises(ValueError, match="holds Order records, not Trade"):
            td.TradeBook.load(path)
        whole = path.read_bytes()
        path.write_bytes(re.sub(rb'("_tradingdata":\{"version": ?)\d', rb"\g<1>3", whole))
        assert path.read_bytes() != whole
        with pytest.raises(ValueError, match="another version"):
            td.OrderBook.load(path)


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
