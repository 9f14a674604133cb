"""Books as plain dicts and lists."""

from __future__ import annotations

import json

import tradingdata as td
from service import as_json, envelope, trades


class TestPlainPython:
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


class TestJson:
    def test_columns_choose_and_unknown_fields_come_as_sent(self) -> None:
        rows = [trades(1)[0] | {"a": [1, {"b": "\n"}]}, trades(1)[0]]
        book = td.TradeBook.from_json(json.dumps(envelope(rows), indent=1))
        lines = book.to_json(columns=["symbol"], extra=True, lines=True).splitlines()
        assert [json.loads(line) for line in lines] == book.to_dicts(["symbol"], extra=True)
