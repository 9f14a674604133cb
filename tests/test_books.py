"""Books as sequences: compared with lists, filtered, localized, joined, told as plain Python."""

from __future__ import annotations

import collections.abc
import copy
import datetime as dt
import operator
import warnings
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope, orders, stocks, trades

INDIA = ZoneInfo("Asia/Kolkata")
ROWS = 23


def trade_book(count: int = ROWS, **overrides: object) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope(trades(count, **overrides))))  # type: ignore[arg-type]


BOOK = trade_book(variety=True)
LIST = list(BOOK)
BOUND = st.none() | st.integers(-ROWS - 3, ROWS + 3)
SLICES = st.builds(slice, BOUND, BOUND, BOUND.filter(lambda step: step != 0))


def assert_like(book: td.TradeBook, rows: list[td.Trade]) -> None:
    assert isinstance(book, td.TradeBook)
    assert len(book) == len(rows)
    assert list(book) == rows
    assert list(reversed(book)) == rows[::-1]
    assert operator.length_hint(iter(book)) == len(rows)


class TestSequence:
    @settings(deadline=None)
    @given(st.integers(-2 * ROWS, 2 * ROWS))
    def test_an_index_is_that_of_a_list(self, index: int) -> None:
        if -ROWS <= index < ROWS:
            assert BOOK[index] == LIST[index]
        else:
            with pytest.raises(IndexError, match=f"row {index} of a book of {ROWS}"):
                BOOK[index]

    @settings(deadline=None)
    @given(SLICES)
    def test_a_slice_is_that_of_a_list(self, part: slice) -> None:
        assert_like(BOOK[part], LIST[part])

    @settings(deadline=None)
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

    @settings(deadline=None)
    @given(SLICES, st.integers(0, ROWS - 1), BOUND, BOUND)
    def test_membership_index_and_count_are_those_of_a_list(
        self, part: slice, wanted: int, start: int | None, stop: int | None
    ) -> None:
        book = td.concat([BOOK[part], BOOK[part]])
        rows = LIST[part] * 2
        record = LIST[wanted]
        assert (record in book) == (record in rows)
        assert book.count(record) == rows.count(record)
        bounds = (start or 0, ROWS if stop is None else stop)
        try:
            expected = rows.index(record, *bounds)
        except ValueError:
            with pytest.raises(ValueError, match="no row"):
                book.index(record, *bounds)
        else:
            assert book.index(record, *bounds) == expected

    @pytest.mark.parametrize("index", [None, "0", 1.0, (1, 2)])
    def test_only_integers_and_slices_are_indices(self, index: Any) -> None:
        with pytest.raises(TypeError):
            BOOK[index]

    def test_a_number_that_stands_for_an_integer_is_an_index(self) -> None:
        class Whole:
            def __index__(self) -> int:
                return 3

        assert BOOK[Whole()] == LIST[3]

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

    def test_an_empty_book_is_false(self) -> None:
        assert not td.TradeBook()
        assert trade_book(1)

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

    def test_the_rows_in_between_count_in_equality(self) -> None:
        odd = td.TradeBook([LIST[0], LIST[0], LIST[2]])
        assert odd != BOOK[:3]

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

    def test_it_has_no_response_and_no_issues(self) -> None:
        book = td.TradeBook(LIST)
        assert book.response is None
        assert book.issues == ()

    @pytest.mark.parametrize("odd", [td.Order(), None, {"quantity": 1}, ("x",)])
    def test_anything_but_its_record_is_refused(self, odd: Any) -> None:
        with pytest.raises(TypeError, match=r"a book of Trade is made of .*Trade records"):
            td.TradeBook([td.Trade(), odd])

    def test_records_of_two_zones_are_refused(self) -> None:
        naive = dt.datetime(2026, 1, 6, 9, 15)
        mixed = [td.Trade(exch_trade_time=naive), td.Trade(exch_trade_time=naive.astimezone(INDIA))]
        with pytest.raises(ValueError, match="different time zones"):
            td.TradeBook(mixed)


class TestConcat:
    @settings(deadline=None)
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

    def test_nothing_to_join_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="nothing to join"):
            td.concat([])

    @pytest.mark.parametrize("odd", [td.OrderBook(), None, LIST])
    def test_books_of_another_kind_are_refused(self, odd: Any) -> None:
        with pytest.raises(TypeError, match="books of one kind"):
            td.concat([BOOK, odd])
        with pytest.raises(TypeError):
            td.concat([odd, BOOK])

    def test_books_of_different_zones_are_refused(self) -> None:
        with pytest.raises(ValueError, match="different time zones"):
            td.concat([BOOK, BOOK.localize("Asia/Kolkata")])

    def test_issues_come_along(self) -> None:
        odd = trade_with({"quantity": "5"})
        assert [issue.field for issue in td.concat([BOOK, odd]).issues] == ["quantity"]


def trade_with(changes: dict[str, object]) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope([trades(1)[0] | changes])))


DERIVATIVE = dt.date(2025, 1, 30)
CONDITIONS: list[dict[str, Any]] = [
    {"symbol": "INFY"},
    {"symbol": {"INFY", "TCS"}},
    {"symbol": frozenset({"INFY"}), "exchange": {"NSE", "BSE"}},
    {"symbol": "no such symbol"},
    {"symbol": set()},
    {"lot_size": 250},
    {"lot_size": {1, 250}},
    {"tick_size": 0.05},
    {"mkt_pro_value": 0},
    {"expiry_date": DERIVATIVE},
    {"expiry_date": None},
    {"expiry_date": {None, DERIVATIVE}},
    {"exch_trade_time": LIST[3].exch_trade_time},
    {"exch_trade_time": {row.exch_trade_time for row in LIST[:4]}},
    {},
]


class TestFilter:
    @pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
    def test_it_is_the_rows_whose_values_are_among_those(self, conditions: dict[str, Any]) -> None:
        def meets(row: td.Trade) -> bool:
            return all(
                row[name] in (wanted if isinstance(wanted, (set, frozenset)) else {wanted})
                for name, wanted in conditions.items()
            )

        assert_like(BOOK.filter(**conditions), [row for row in LIST if meets(row)])
        assert_like(BOOK[2:9].filter(**conditions), [row for row in LIST[2:9] if meets(row)])

    @pytest.mark.parametrize(
        ("name", "odd"),
        [
            ("symbol", 5),
            ("symbol", ["INFY"]),
            ("symbol", ("INFY",)),
            ("symbol", {"INFY", 5}),
            ("quantity", "5"),
            ("quantity", 5.0),
            ("quantity", True),
            ("quantity", range(5)),
            ("traded_price", float("nan")),
            ("traded_price", "1.5"),
            ("exch_trade_time", DERIVATIVE),
            ("exch_trade_time", "2026-01-06 09:15:00"),
            ("expiry_date", dt.datetime(2025, 1, 30)),
        ],
        ids=repr,
    )
    def test_a_value_that_a_field_never_has_is_refused(self, name: str, odd: Any) -> None:
        with pytest.raises(TypeError, match=f"{name}= takes"):
            BOOK.filter(**{name: odd})

    def test_a_time_without_the_books_zone_is_refused(self) -> None:
        when = LIST[0].exch_trade_time
        assert when is not None
        local = BOOK.localize(INDIA)
        with pytest.raises(TypeError, match=r"naive.*localize"):
            BOOK.filter(exch_trade_time=when.replace(tzinfo=INDIA))
        with pytest.raises(TypeError, match="stands in Asia/Kolkata"):
            local.filter(exch_trade_time=when)
        assert local[0] in local.filter(exch_trade_time=when.replace(tzinfo=INDIA))

    def test_an_unknown_field_is_told_with_the_closest_one(self) -> None:
        with pytest.raises(TypeError, match="no field 'simbol'; did you mean 'symbol'"):
            BOOK.filter(simbol="INFY")

    def test_unknown_fields_stay_with_their_rows(self) -> None:
        rows = [row | {"extra": i} for i, row in enumerate(trades(6))]
        book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert [row["extra"] for row in book[::-2]] == [5, 3, 1]
        assert book[:0].extra_fields == ()


class TestLocalize:
    def test_the_same_clock_times_stand_in_the_zone(self) -> None:
        local = BOOK.localize("Asia/Kolkata")
        for naive, aware in zip(BOOK, local, strict=True):
            assert aware.exch_trade_time == naive.exch_trade_time.replace(tzinfo=INDIA)  # type: ignore[union-attr]
            assert aware.expiry_date == naive.expiry_date
        assert local != BOOK
        assert local.response is BOOK.response
        assert local.issues == BOOK.issues

    def test_none_makes_them_naive_again(self) -> None:
        assert BOOK.localize(INDIA).localize(None) == BOOK

    def test_the_same_zone_again_changes_nothing(self) -> None:
        local = BOOK.localize("Asia/Kolkata")
        assert local.localize(INDIA) is local

    def test_another_zone_is_refused_as_nothing_would_be_converted(self) -> None:
        with pytest.raises(ValueError, match="Asia/Kolkata already"):
            BOOK.localize("Asia/Kolkata").localize("UTC")

    @pytest.mark.parametrize("name", ["Asia/Nowhere", "", "../etc/passwd", "/etc/passwd", "a\0b"])
    def test_a_name_that_is_no_zone_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="no time zone"):
            BOOK.localize(name)

    def test_what_is_no_zone_is_refused(self) -> None:
        with pytest.raises(TypeError, match="tzinfo"):
            BOOK.localize(5)  # type: ignore[arg-type]

    def test_slices_filters_and_unions_stay_in_the_zone(self) -> None:
        local = BOOK.localize("Asia/Kolkata")
        for part in (
            local[3:5],
            local[::2],
            local.filter(symbol="INFY"),
            td.concat([local, local]),
        ):
            assert all(row.exch_trade_time.tzinfo is INDIA for row in part)  # type: ignore[union-attr]


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

    def test_a_column_that_does_not_exist_is_told_with_the_closest_one(self) -> None:
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

    @pytest.mark.parametrize("kind", [td.TradeBook, td.OrderBook, td.StockList])
    def test_an_empty_book_has_its_columns(self, kind: Any) -> None:
        assert kind().to_dicts() == []
        assert kind().to_dict() == {name: [] for name in kind().columns}

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


class TestIssues:
    def test_a_sound_answer_has_none(self) -> None:
        assert BOOK.issues == ()

    def test_each_field_and_problem_is_told_once(self) -> None:
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

    def test_several_clients_and_repeated_trades_are_told(self) -> None:
        clients = trade_book(4, client_id=lambda i: "CL1" if i < 2 else "CL2")
        assert [(i.field, i.row, i.lost) for i in clients.issues] == [("client_id", 2, False)]
        rows = trades(4)
        repeated = td.TradeBook.from_json(as_json(envelope([*rows, rows[2]])))  # F98: kept, told
        assert len(repeated) == 5
        assert [(i.field, i.count, i.lost) for i in repeated.issues] == [("trade_no", 1, False)]

    @pytest.mark.parametrize("asked_before", [True, False])
    def test_a_part_tells_what_did_not_fit_in_its_answer(self, asked_before: bool) -> None:
        book = trade_book(4, client_id=str, lot_size="1")
        if asked_before:
            assert len(book.issues) == 2
        for part in (book[:1], book[::2], book.filter(symbol="none"), book[:3][:1]):
            assert [issue.field for issue in part.issues] == ["lot_size", "client_id"]
            assert part.response is None

    def test_personal_values_are_not_told(self) -> None:
        with pytest.warns(td.DataWarning):
            book = trade_with({"pan_no": ["ABCDE1234F"]})
        assert [(issue.field, issue.raw) for issue in book.issues] == [("pan_no", "")]


class TestWarnings:
    BODY = as_json(envelope([trades(1)[0] | {"traded_price": "MKT", "quantity": [1]}] * 3))

    @pytest.mark.parametrize("kind", ["book", "list"])
    def test_each_field_that_lost_values_warns_at_the_callers_line(self, kind: str) -> None:
        row = stocks(1)[0] | {"mcap": "NA"}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if kind == "book":
                td.TradeBook.from_json(self.BODY)
            else:
                td.StockList.from_json(as_json([row]))
        texts = sorted(str(warning.message).split(":")[0] for warning in caught)
        assert texts == (
            ["Trade.quantity", "Trade.traded_price"] if kind == "book" else ["Stock.mcap"]
        )
        assert {warning.filename for warning in caught} == {__file__}
        assert {warning.category for warning in caught} == {td.DataWarning}

    def test_the_text_is_constant_so_that_a_loop_warns_once(self) -> None:
        other = as_json(envelope([trades(1)[0] | {"traded_price": "-", "quantity": {}}] * 2))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for body in [self.BODY, other] * 5:
                td.TradeBook.from_json(body)
        assert len(caught) == 2

    def test_strict_raises_instead(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(td.DecodeError, match="strict"):
                td.TradeBook.from_json(self.BODY, strict=True)

    def test_a_lossless_conversion_does_not_warn(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            trade_with({"quantity": "5"})


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

    @pytest.mark.parametrize("odd", [None, 5, {"data": []}, ["x"], trades(1)])
    def test_anything_else_is_refused(self, odd: Any) -> None:
        with pytest.raises(TypeError, match="from_json takes an answer as bytes or str"):
            td.TradeBook.from_json(odd)

    def test_a_book_of_another_record_is_all_missing_fields(self) -> None:
        with pytest.warns(td.DataWarning):
            book = td.StockList.from_json(as_json(orders(1)))
        assert book.extra_fields


class TestResponse:
    def test_a_body_from_a_file_came_not_over_http(self) -> None:
        response = BOOK.response
        assert response is not None
        assert (response.status_code, response.attempts, response.received_at) == (None, 0, None)
        assert "offline" in repr(response)

    def test_it_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError, match="cannot be changed"):
            BOOK.response.account = "x"  # type: ignore[union-attr]
        with pytest.raises(AttributeError):
            del BOOK.response.account  # type: ignore[union-attr]
