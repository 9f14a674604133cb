"""Sorted books, and a book read as if it were a data frame."""

from __future__ import annotations

import pytest

import tradingdata as td
from sample_books import BOOK, LIST, assert_like
from service import as_json, envelope, trades


class TestSort:
    @pytest.mark.parametrize("reverse", [False, True])
    @pytest.mark.parametrize(
        "name", ["symbol", "quantity", "traded_price", "exch_trade_time", "expiry_date"]
    )
    def test_it_is_stable_with_missing_values_last(self, name: str, reverse: bool) -> None:
        rows = [*LIST, *(row._replace(order_no="again") for row in LIST)]
        rows[4:4] = [td.Trade(order_no="empty"), td.Trade(order_no="empty too")]
        book = td.TradeBook(rows)
        with_value = [row for row in rows if row[name] is not None]
        without = [row for row in rows if row[name] is None]
        expected = sorted(with_value, key=lambda row: row[name], reverse=reverse) + without
        assert_like(book.sort(name, reverse=reverse), expected)
        assert_like(book[5:].sort(name), list(book[5:].sort(name)))

    def test_several_fields_sort_one_after_the_other(self) -> None:
        rows = [row for row in LIST if row.symbol and row.quantity is not None]
        book = td.TradeBook(rows)
        assert_like(
            book.sort("symbol", "quantity"),
            sorted(rows, key=lambda row: (row.symbol, row.quantity)),
        )

    def test_a_mistake_says_what_to_write(self) -> None:
        with pytest.raises(KeyError, match="did you mean 'symbol'"):
            BOOK.sort("simbol")
        with pytest.raises(TypeError, match="at least one field"):
            BOOK.sort()

    def test_unknown_fields_and_issues_stay(self) -> None:
        rows = [row | {"extra": i, "quantity": -i} for i, row in enumerate(trades(4))]
        book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert [row["extra"] for row in book.sort("quantity")] == [3, 2, 1, 0]
        assert book.sort("quantity").issues == book.issues


class TestReadAsAFrame:
    @pytest.mark.parametrize("name", ["symbol", "traded_price"])
    def test_a_column_says_where_columns_are(self, name: str) -> None:
        with pytest.raises(TypeError, match=rf"\.to_dict\(\)\['{name}'\] or \.to_pandas\(\)"):
            BOOK[name]  # type: ignore[call-overload]
        with pytest.raises(AttributeError, match=r"\.to_pandas\(\)"):
            getattr(BOOK, name)

    def test_an_unknown_name_is_reported_with_the_closest_one(self) -> None:
        with pytest.raises(TypeError, match="did you mean 'symbol'"):
            BOOK["simbol"]  # type: ignore[call-overload]
        with pytest.raises(AttributeError, match="did you mean 'symbol'") as caught:
            getattr(BOOK, "simbol")  # noqa: B009
        assert caught.value.name == "simbol"
        assert not hasattr(BOOK, "__array_interface__")
