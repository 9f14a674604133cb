"""What an empty book says of the filter that matched nothing."""

from __future__ import annotations

import tradingdata as td
from sample_books import BOOK, LIST
from service import as_json, envelope, trades


class TestNotes:
    def orders(self) -> td.OrderBook:
        statuses = ["Success", "Pending", "Error", "Success"]
        return td.OrderBook(
            [td.Order(status=status, quantity=10.0 * i) for i, status in enumerate(statuses)]
        )

    def test_a_filter_that_matches_nothing_says_which_values_there_are(self) -> None:
        none = self.orders().filter(status="error")
        assert none.notes == ("status is one of Error, Pending, Success; did you mean Error?",)
        assert "status is one of Error, Pending, Success; did you mean Error?" in repr(none)
        assert "status is one of Error, Pending, Success; did you mean Error?" in none._repr_html_()

    def test_other_kinds_say_their_range(self) -> None:
        assert self.orders().filter(quantity__gt=1e6).notes == ("quantity is one of 0, 10, 20, 30",)
        many = td.OrderBook([td.Order(quantity=float(i)) for i in range(1, 1001)])
        assert many.filter(quantity=0.5).notes == ("quantity is between 1 and 1,000",)
        assert many.filter(symbol="INFY").notes == ("symbol has no value in any row",)

    def test_only_conditions_that_no_row_meets_are_named(self) -> None:
        none = self.orders().filter(status="Error", quantity__lt=0)
        assert [note.partition(" ")[0] for note in none.notes] == ["quantity"]

    def test_conditions_that_exclude_each_other_are_said_to(self) -> None:
        none = self.orders().filter(status="Error", quantity=0)
        assert none.notes == (
            "status, quantity: each condition holds for some rows, but for none do all",
        )

    def test_many_values_are_counted_and_those_of_an_account_not_listed(self) -> None:
        rows = trades(30, symbol=lambda i: f"S{i:02}", pan_no="ABCPK1234F")
        book = td.TradeBook.from_json(as_json(envelope(rows)), keep_personal_data=True)
        assert book.filter(symbol="T29").notes == (
            "symbol has 30 values, such as S00, S01, S02; did you mean S29?",
        )
        assert "ABCPK1234F" not in book.filter(pan_no="x").notes[0]

    def test_a_book_with_rows_has_none_and_neither_has_an_empty_one(self) -> None:
        assert BOOK.notes == BOOK.filter(symbol=LIST[0].symbol).notes == ()
        assert td.TradeBook().filter(symbol="INFY").notes == ()

    def test_the_first_filter_that_matched_nothing_keeps_its_note(self) -> None:
        none = self.orders().filter(status="error")
        assert none.filter(quantity=0).notes == none.notes

    def test_what_is_shown_cannot_change_the_terminal(self) -> None:
        book = td.OrderBook([td.Order(status="a\x1b[31m")])
        assert "\x1b" not in repr(book.filter(status="b"))
