"""Books as sequences: compared with lists, constructed from records, joined."""

from __future__ import annotations

import collections.abc
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from sample_books import BOOK, BOUND, LIST, ROWS, SLICES, assert_like, trade_book, trade_with
from service import as_json, envelope, trades


class TestSequence:
    @given(st.integers(-2 * ROWS, 2 * ROWS))
    def test_an_index_is_that_of_a_list(self, index: int) -> None:
        if -ROWS <= index < ROWS:
            assert BOOK[index] == LIST[index]
        else:
            with pytest.raises(IndexError, match=f"row {index} of a table of {ROWS}"):
                BOOK[index]

    @given(SLICES, SLICES, st.integers(-ROWS, ROWS))
    def test_a_slice_of_a_slice_too(self, first: slice, second: slice, index: int) -> None:
        book, rows = BOOK[first], LIST[first]
        assert_like(book[second], rows[second])
        assert BOOK[first] == BOOK[first][:]
        if -len(rows) <= index < len(rows):
            assert book[index] == rows[index]
        else:
            with pytest.raises(IndexError):
                book[index]

    @given(SLICES, st.integers(0, ROWS - 1), BOUND, BOUND)
    def test_membership_index_and_count_are_those_of_a_list(
        self, part: slice, wanted: int, start: int | None, stop: int | None
    ) -> None:
        book = td.concat([BOOK[part], BOOK[part]])
        rows = LIST[part] * 2
        record = LIST[wanted]
        assert (record in book) == (record in rows)
        assert book.count(record) == rows.count(record)
        assert record not in rows or book.index(record) == rows.index(record)
        bounds = (start or 0, ROWS if stop is None else stop)
        try:
            expected = rows.index(record, *bounds)
        except ValueError:
            with pytest.raises(ValueError, match="no row"):
                book.index(record, *bounds)
        else:
            assert book.index(record, *bounds) == expected

    def test_what_is_no_record_is_in_no_book(self) -> None:
        assert None not in BOOK
        assert td.Order() not in BOOK
        assert BOOK.count(td.Stock()) == 0  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no row"):
            BOOK.index("INFY")  # type: ignore[arg-type]

    def test_books_are_no_registered_sequences(self) -> None:
        """Polars would take them row by row, ten times slower than by columns."""
        assert not isinstance(BOOK, collections.abc.Sequence)
        assert isinstance(BOOK, collections.abc.Collection)
        assert isinstance(BOOK, collections.abc.Reversible)

    def test_equality_is_by_kind_and_rows(self) -> None:
        same = trade_book(variety=True)
        assert same == BOOK
        assert hash(same) == hash(BOOK)
        assert BOOK[:5] == trade_book(variety=True)[:5]
        assert BOOK[:5] != BOOK[1:6]
        assert BOOK[:5] != BOOK
        assert BOOK != LIST
        assert td.TradeBook() != td.OrderBook()
        assert hash(td.TradeBook()) == hash(BOOK[:0])

    def test_a_copy_is_the_book_itself_as_it_never_changes(self) -> None:
        assert copy.copy(BOOK) is BOOK
        assert copy.deepcopy([BOOK])[0] is BOOK

    @pytest.mark.parametrize("name", ["response", "issues", "columns", "brand_new"])
    def test_a_book_cannot_be_changed(self, name: str) -> None:
        with pytest.raises(AttributeError):
            setattr(BOOK, name, None)
        with pytest.raises(TypeError):
            BOOK[0] = LIST[1]  # type: ignore[index]
        with pytest.raises(TypeError):
            del BOOK[0]  # type: ignore[attr-defined]


class TestByHand:
    def test_a_book_is_made_of_any_iterable_of_records(self) -> None:
        assert td.TradeBook(LIST) == BOOK
        assert td.TradeBook(iter(LIST)) == BOOK
        assert td.TradeBook(BOOK) == BOOK
        assert len(td.StockList([td.Stock(nsesymbol="INFY")])) == 1


class TestConcat:
    @given(st.lists(SLICES, min_size=1, max_size=4))
    def test_it_is_all_rows_in_order(self, parts: list[slice]) -> None:
        joined = td.concat([BOOK[part] for part in parts])
        assert_like(joined, [row for part in parts for row in LIST[part]])

    def test_unknown_fields_come_along_under_their_names(self) -> None:
        one = trade_with({"a": 1, "b": 2})
        other = trade_with({"b": 3, "c": 4})
        joined = td.concat([one, other, one[:0]])
        assert joined.extra_fields == ("a", "b", "c")
        assert [row._extra for row in joined] == [{"a": 1, "b": 2}, {"b": 3, "c": 4}]

    def test_issues_come_along(self) -> None:
        odd = trade_with({"quantity": "5"})
        found = td.concat([BOOK, odd, odd]).issues
        rows = len(BOOK), len(BOOK) + len(odd)
        assert [(issue.field, issue.row) for issue in found] == [("quantity", row) for row in rows]

    def test_issues_of_a_response_are_counted_in_the_joined_book(self) -> None:
        """Also a repeated trade, which is looked for when it is asked for."""
        twice = td.TradeBook.from_json(as_json(envelope(trades(1) * 2)))
        joined = td.concat([BOOK, twice, td.TradeBook(twice)])
        assert [(issue.field, issue.row) for issue in joined.issues] == [
            *((issue.field, issue.row) for issue in BOOK.issues),
            ("trade_no", len(BOOK) + 1),
        ]


@pytest.mark.long
def test_a_book_of_200_mb_is_read_whole() -> None:
    one = as_json(trades(1)[0])
    count = 200_000_000 // len(one)
    body = as_json(envelope([])).replace(b"[]", b"[" + b",".join([one] * count) + b"]")
    assert len(body) > 200_000_000
    book = td.TradeBook.from_json(body)
    assert len(book) == count
    assert book[0] == book[-1] == td.TradeBook.from_json(as_json(envelope(trades(1))))[0]
    [repeated] = book.issues
    assert (repeated.field, repeated.count) == ("trade_no", count - 1)
    with pytest.raises(td.DecodeError, match="ends too early"):
        td.TradeBook.from_json(body[:-30])


def test_responses_with_one_body_are_equal_unless_a_label_or_a_kept_number_differs() -> None:
    """Their text need not be compared value by value."""
    records = trades(3, pan_no="ABCPK1234F")
    body = as_json(envelope(records))
    book = td.TradeBook.from_json(body)
    assert book == td.TradeBook.from_json(body)
    assert book != td.TradeBook.from_json(body, account="desk")
    assert book != td.TradeBook.from_json(body, keep_personal_data=True)
    assert book[:2] == td.TradeBook.from_json(body)[:2] != book[1:]
    another = as_json(envelope([record | {"pan_no": "ABCPK9999F"} for record in records]))
    kept = [td.TradeBook.from_json(each, keep_personal_data=True) for each in (body, another)]
    assert kept[0] != kept[1]
    later = as_json(envelope([*records[:2], records[2] | {"quantity": 7}]))
    assert book != td.TradeBook.from_json(later)
