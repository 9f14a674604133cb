"""Books as plain dicts and lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tradingdata as td
from sample_books import BOOK, LIST, ROWS
from service import as_json, envelope, trades


class TestPlainPython:
    @pytest.mark.parametrize("part", [slice(None), slice(3, 9), slice(None, None, -3), slice(0)])
    def test_dicts_hold_what_rows_hold(self, part: slice) -> None:
        assert BOOK[part].to_dicts() == [row._asdict() for row in LIST[part]]
        columns = BOOK[part].to_dict()
        assert list(columns) == BOOK.columns
        assert columns == {name: [row[name] for row in LIST[part]] for name in BOOK.columns}

    def test_columns_choose_and_order(self) -> None:
        names = ["symbol", "expiry_date"]
        assert [list(row) for row in BOOK.to_dicts(names)] == [names] * ROWS
        assert list(BOOK.to_dict(columns=tuple(names))) == names
        assert BOOK.to_dicts([]) == [{}] * ROWS
        assert BOOK.to_dict([]) == {}

    def test_a_column_that_does_not_exist_is_reported_with_the_closest_one(self) -> None:
        for method in (BOOK.to_dicts, BOOK.to_dict):
            with pytest.raises(KeyError, match="no field 'simbol'; did you mean 'symbol'"):
                method(["simbol"])
            with pytest.raises(TypeError, match="a list of names"):
                method("symbol")

    def test_unknown_fields_come_where_they_are_asked_for(self) -> None:
        rows = [trades(1)[0] | {"a": i} | ({"b": [i]} if i % 2 else {}) for i in range(4)]
        book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert book.extra_fields == ("a", "b")
        assert [row.get("b") for row in book.to_dicts(["symbol"], extra=True)] == [
            None,
            [1],
            None,
            [3],
        ]
        assert "a" not in book.to_dicts()[0]
        assert book.to_dict(["symbol"], extra=True)["b"] == [None, [1], None, [3]]
        assert book[:1].extra_fields == ("a",)
        assert list(book[:1].to_dict(["symbol"], extra=True)) == ["symbol", "a"]

    def test_dicts_are_their_own(self) -> None:
        first, second = BOOK.to_dicts()[:2]
        first.clear()
        assert second == LIST[1]._asdict()
        assert BOOK.to_dicts()[0] == LIST[0]._asdict()

    def test_a_value_that_repeats_is_not_carried_past_a_missing_one(self) -> None:
        """A row's dict starts as the one before it."""
        symbols = ["A", "A", None, None, "A", "x" * 13, "x" * 13, None]
        sizes = [1, None, None, 0, 0, 2, 2, 1]
        prices = [0, -0.0, None, None, 0.0, 1, 1, 1]
        rows = [
            trades(1)[0] | {"symbol": symbol, "lot_size": size, "tick_size": price}
            for symbol, size, price in zip(symbols, sizes, prices, strict=True)
        ]
        book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert [row["symbol"] for row in book.to_dicts()] == symbols
        assert [row["lot_size"] for row in book.to_dicts()] == sizes
        assert [str(row["tick_size"]) for row in book.to_dicts()] == [
            str(None if price is None else float(price)) for price in prices
        ]
        assert book[5:].to_dicts() == book.to_dicts()[5:]


class TestJson:
    @pytest.mark.parametrize("book", [BOOK, BOOK[3:9], BOOK[:0], BOOK.localize("Asia/Kolkata")])
    def test_text_and_dicts_say_the_same(self, book: td.TradeBook) -> None:
        reported = book.to_dicts(json=True)
        assert json.loads(json.dumps(reported)) == reported == json.loads(book.to_json())
        lines = book.to_json(lines=True).splitlines()
        assert [json.loads(line) for line in lines] == reported

    def test_columns_choose_and_unknown_fields_come_as_sent(self) -> None:
        rows = [trades(1)[0] | {"a": [1, {"b": "\n"}]}, trades(1)[0]]
        book = td.TradeBook.from_json(json.dumps(envelope(rows), indent=1))
        lines = book.to_json(columns=["symbol"], extra=True, lines=True).splitlines()
        assert [json.loads(line) for line in lines] == book.to_dicts(["symbol"], extra=True)
        with pytest.raises(KeyError, match="did you mean 'symbol'"):
            book.to_json(columns=["simbol"])

    def test_a_file_is_written_once(self, tmp_path: Path) -> None:
        path = tmp_path / "trades.json"
        BOOK.to_json(path, ["symbol"])
        assert json.loads(path.read_text("utf-8")) == BOOK.to_dicts(["symbol"])
        with pytest.raises(FileExistsError):
            BOOK.to_json(path)
        BOOK.to_json(path, overwrite=True, lines=True)
        assert len(path.read_text("utf-8").splitlines()) == ROWS
