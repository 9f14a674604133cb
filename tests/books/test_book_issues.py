"""What comes with a book: issues, warnings, the response, and the body it is read from."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest

import tradingdata as td
from sample_books import BOOK, trade_book
from service import as_json, envelope, stocks, trades


class TestIssues:
    def test_each_field_and_problem_is_reported_once(self) -> None:
        rows = [row | {"quantity": "5"} for row in trades(3)]
        rows[1]["traded_price"] = "MKT"
        with pytest.warns(td.DataWarning, match=r"Trade\.traded_price"):
            book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert {(i.field, i.count, i.row, i.lost) for i in book.issues} == {
            ("quantity", 3, 0, False),
            ("traded_price", 1, 1, True),
        }
        assert next(i.raw for i in book.issues if i.lost) == '"MKT"'
        assert (book[1].quantity, book[1].traded_price) == (5, None)

    @pytest.mark.parametrize("asked_before", [True, False])
    def test_a_part_lists_the_issues_of_its_response(self, asked_before: bool) -> None:
        book = trade_book(4, client_id=str, lot_size="1")
        if asked_before:
            assert len(book.issues) == 2
        for part in (book[:1], book[::2], book.filter(symbol="none"), book[:3][:1]):
            assert [issue.field for issue in part.issues] == ["lot_size", "client_id"]
            assert part.response is None


def test_check_names_orders_of_which_more_than_the_quantity_was_traded() -> None:
    parts = [(6, 4), (7, 4), (None, 4), (11, None), (9, 4)]
    made = (td.Order(quantity=10, traded_qty=done, remaining_quantity=x) for done, x in parts)
    (issue,) = td.OrderBook(made).check()
    assert (issue.field, issue.count, issue.row) == ("traded_qty", 2, 1)
    assert float(issue.raw) == 7


class TestIssuesOfAllRows:
    def test_two_clients_and_a_repeated_trade_are_issues(self) -> None:
        rows = trades(10, variety=True)
        for i, row in enumerate(rows):
            row["client_id"] = "CL0001" if i < 7 else "CL0002, with a long name"
            row |= {"trade_no": f"a number that is long {min(i, 7)}", "order_no": "1"}
            row |= {"exchange": "NSE", "segment": "D" if i == 9 else "E"}
        clients, repeated = td.TradeBook.from_json(as_json(envelope(rows)), strict=True).issues
        assert (clients.field, clients.count, clients.row) == ("client_id", 3, 7)
        assert (clients.raw, clients.lost) == ("", False)
        assert (repeated.field, repeated.count, repeated.row) == ("trade_no", 1, 8)
        for row in rows:
            row |= {"client_id": None, "trade_no": None}
        assert td.TradeBook.from_json(as_json(envelope(rows))).issues == ()

    def test_missing_clients_are_no_other_client(self) -> None:
        rows = [row | {"client_id": None} for row in trades(3)]
        rows[1]["client_id"] = "A"
        assert td.TradeBook.from_json(as_json(envelope(rows))).issues == ()
        rows[2]["client_id"] = "B" * 100
        (issue,) = td.TradeBook.from_json(as_json(envelope(rows))).issues
        assert issue.row == 2

    @pytest.mark.parametrize("count", [1, 2, 3, 100, 3000])
    def test_repeated_trades_are_found_as_a_set_of_keys_finds_them(self, count: int) -> None:
        chance = random.Random(count)
        for numbers in (count // 2 + 1, count * 50):
            keys: set[tuple[Any, ...]] = set()
            repeats = []
            rows = [dict(trades(1)[0]) for _ in range(count)]
            for at, row in enumerate(rows):
                number = chance.randrange(numbers)
                row["trade_no"] = "7" * (number % 3 * 10) + str(number)
                row["exchange"] = "NSE" if number % 5 else "BSE"
                row["order_no"] = f"{number % 3}{chance.randrange(2)}"  # both sides of a trade
                key = (row["trade_no"], row["exchange"], row["order_no"])
                if key in keys:
                    repeats.append(at)
                keys.add(key)
            found = td.TradeBook.from_json(as_json(envelope(rows))).issues
            assert [(issue.count, issue.row) for issue in found] == (
                [(len(repeats), repeats[0])] if repeats else []
            )


class TestWarnings:
    BODY = as_json(envelope([trades(1)[0] | {"traded_price": "MKT", "quantity": [1]}] * 3))

    @pytest.mark.parametrize("kind", ["book", "list"])
    def test_a_book_that_lost_values_warns_once_at_the_callers_line(self, kind: str) -> None:
        row = stocks(1)[0] | {"mcap": "NA"}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if kind == "book":
                td.TradeBook.from_json(self.BODY)
            else:
                td.StockList.from_json(as_json([row]))
        assert [str(warning.message).split(":")[0] for warning in caught] == [
            "values of 2 fields were lost or missing (Trade.quantity, Trade.traded_price)"
            if kind == "book"
            else "values were lost or missing (Stock.mcap)"
        ]
        assert {warning.filename for warning in caught} == {__file__}
        assert {warning.category for warning in caught} == {td.DataWarning}

    def test_the_text_is_constant_so_that_a_loop_warns_once(self) -> None:
        other = as_json(envelope([trades(1)[0] | {"traded_price": "-", "quantity": {}}] * 2))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for body in [self.BODY, other] * 5:
                td.TradeBook.from_json(body)
        assert len(caught) == 1

    def test_a_book_of_another_record_warns_once_of_all_its_fields(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            book = td.OrderBook.from_json(as_json(envelope([{"client_id": "CL1"}])))
        assert len(book.issues) > 60
        (text,) = [str(warning.message) for warning in caught]
        assert text.startswith(f"values of {len(book.issues)} fields were lost or missing (Order.")
        assert text.count("Order.") == 3
        assert ", ...): the result's .issues says which" in text


class TestFromJson:
    BODY = as_json(envelope(trades(3)))

    @pytest.mark.parametrize("form", [bytes, bytearray, memoryview, bytes.decode])
    def test_bytes_and_text_are_taken(self, form: Any) -> None:
        book = td.TradeBook.from_json(form(self.BODY))
        assert book == trade_book(3)
        assert book.response is not None
        assert book.response.content == self.BODY.replace(b"ABCPK1000F", b"ABXXXXXX0F")

    def test_the_callers_bytes_are_not_masked_in_place(self) -> None:
        mine = bytearray(self.BODY)
        td.TradeBook.from_json(mine)
        assert mine == self.BODY

    def test_a_view_with_gaps_is_read_as_its_bytes(self) -> None:
        spread = bytes(byte for pair in zip(self.BODY, self.BODY, strict=True) for byte in pair)
        assert td.TradeBook.from_json(memoryview(spread)[::2]) == trade_book(3)


class TestResponse:
    def test_it_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError, match="cannot be changed"):
            BOOK.response.account = "x"  # type: ignore[union-attr]
        with pytest.raises(AttributeError):
            del BOOK.response.account  # type: ignore[union-attr]
