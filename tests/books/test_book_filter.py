"""Rows chosen and sorted, books put in a time zone, and a book read as if it were a data frame."""

from __future__ import annotations

import datetime as dt
import operator
import zoneinfo
from typing import Any

import pytest
import pytz

import tradingdata as td
from sample_books import BOOK, INDIA, LIST, assert_like
from service import as_json, envelope, trades

pytestmark = pytest.mark.sanitize

DERIVATIVE = dt.date(2025, 1, 30)
CONDITIONS: list[dict[str, Any]] = [
    {"symbol": "INFY"},
    {"symbol": {"INFY", "TCS"}},
    {"symbol": frozenset({"INFY"}), "exchange": {"NSE", "BSE"}},
    {"symbol": "no such symbol"},
    {"symbol": set()},
    {"lot_size": 250},
    {"lot_size": {1, 250}},
    {"traded_price": LIST[5].traded_price},
    {"traded_price": 0},
    {"expiry_date": DERIVATIVE},
    {"expiry_date": None},
    {"expiry_date": {None, DERIVATIVE}},
    {"exch_trade_time": LIST[3].exch_trade_time},
    {"exch_trade_time": {row.exch_trade_time for row in LIST[:4]}},
    {"quantity": 5.0},
    {},
]


class TestFilter:
    @pytest.mark.parametrize("conditions", CONDITIONS)
    def test_it_is_the_rows_whose_values_are_among_those(self, conditions: dict[str, Any]) -> None:
        def meets(row: td.Trade) -> bool:
            return all(
                row[name] in (wanted if isinstance(wanted, (set, frozenset)) else {wanted})
                for name, wanted in conditions.items()
            )

        assert_like(BOOK.filter(**conditions), [row for row in LIST if meets(row)])
        assert_like(BOOK[2:9].filter(**conditions), [row for row in LIST[2:9] if meets(row)])


class TestLocalize:
    def test_the_clock_times_stay_the_same_in_the_zone(self) -> None:
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

    @pytest.mark.parametrize(
        ("zone", "expected"),
        [
            (pytz.timezone("Asia/Kolkata"), INDIA),
            (pytz.UTC, zoneinfo.ZoneInfo("UTC")),
            (pytz.FixedOffset(330), dt.timezone(dt.timedelta(minutes=330))),
        ],
    )
    def test_a_zone_of_pytz_is_replaced_by_the_one_of_its_name(
        self, zone: dt.tzinfo, expected: dt.tzinfo
    ) -> None:
        local = BOOK.localize(zone)
        assert local == BOOK.localize(expected)
        assert local[0].exch_trade_time.tzinfo == expected  # type: ignore[union-attr]
        assert local.to_arrow().equals(BOOK.localize(expected).to_arrow())

    def test_slices_filters_and_unions_stay_in_the_zone(self) -> None:
        local = BOOK.localize("Asia/Kolkata")
        for part in (
            local[3:5],
            local[::2],
            local.filter(symbol="INFY"),
            td.concat([local, local]),
        ):
            assert all(row.exch_trade_time.tzinfo is INDIA for row in part)  # type: ignore[union-attr]


OPERATORS = {
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
MOMENT = LIST[7].exch_trade_time or dt.datetime.max
BOUNDS = [
    ("quantity", 0),
    ("quantity", LIST[3].quantity),
    ("traded_price", LIST[5].traded_price),
    ("symbol", "INFY"),
    ("expiry_date", DERIVATIVE),
    ("exch_trade_time", MOMENT),
    ("exch_trade_time", MOMENT.date()),
    ("exch_trade_time", MOMENT.time()),
]


def seen_as(value: Any, bound: Any) -> Any:
    """The part of a timestamp that is compared with a bound: oracle for dates and times."""
    if isinstance(value, dt.datetime) and not isinstance(bound, dt.datetime):
        return value.time() if isinstance(bound, dt.time) else value.date()
    return value


class TestComparisons:
    @pytest.mark.parametrize("comparison", OPERATORS)
    @pytest.mark.parametrize(("name", "bound"), BOUNDS, ids=str)
    def test_it_is_the_rows_for_which_python_says_so(
        self, name: str, bound: Any, comparison: str
    ) -> None:
        def meets(row: td.Trade) -> bool:
            value = row[name]
            if value is None:
                return comparison == "ne"
            return bool(OPERATORS[comparison](seen_as(value, bound), bound))

        chosen = BOOK.filter(**{f"{name}__{comparison}": bound})
        assert_like(chosen, [row for row in LIST if meets(row)])

    @pytest.mark.parametrize(("name", "bound"), BOUNDS, ids=str)
    def test_a_range_includes_both_ends(self, name: str, bound: Any) -> None:
        values = [seen_as(row[name], bound) for row in LIST if row[name] is not None]
        low, high = sorted([bound, max(values)])
        expected = [
            row
            for row in LIST
            if row[name] is not None and low <= seen_as(row[name], bound) <= high
        ]
        assert expected
        assert_like(BOOK.filter(**{f"{name}__between": (low, high)}), expected)

    def test_a_day_equals_every_time_of_it(self) -> None:
        day = MOMENT.date()
        on_it = [row for row in LIST if row.exch_trade_time and row.exch_trade_time.date() == day]
        assert_like(BOOK.filter(exch_trade_time=day), on_it)
        assert_like(BOOK.filter(exch_trade_time={day, None}), on_it)

    def test_not_none_is_every_value_and_not_a_set_is_none_of_it(self) -> None:
        derivatives = [row for row in LIST if row.expiry_date is not None]
        assert 0 < len(derivatives) < len(LIST)
        assert_like(BOOK.filter(expiry_date__ne=None), derivatives)
        others = [row for row in LIST if row.symbol not in ("INFY", "TCS")]
        assert_like(BOOK.filter(symbol__ne={"INFY", "TCS"}), others)

    def test_instants_are_compared_across_zones(self) -> None:
        local = BOOK.localize(INDIA)
        instant = MOMENT.replace(tzinfo=INDIA).astimezone(dt.UTC)
        later = [row for row in LIST if row.exch_trade_time and row.exch_trade_time > MOMENT]
        assert [row.order_no for row in local.filter(exch_trade_time__gt=instant)] == [
            row.order_no for row in later
        ]

    def test_a_list_is_a_set_and_text_is_a_time(self) -> None:
        for several in (["INFY", "TCS"], ("INFY", "TCS")):
            assert BOOK.filter(symbol=several) == BOOK.filter(symbol={"INFY", "TCS"})
        day, clock = MOMENT.date(), MOMENT.time().replace(microsecond=0)
        for value in (MOMENT.replace(microsecond=0), day, clock):
            texts = [str(value), value.isoformat()]
            for text in texts:
                assert BOOK.filter(exch_trade_time__ge=text) == BOOK.filter(
                    exch_trade_time__ge=value
                )
        (expiry, *_) = [row.expiry_date for row in LIST if row.expiry_date]
        assert BOOK.filter(expiry_date=[str(expiry)]) == BOOK.filter(expiry_date=expiry)
        assert len(BOOK.filter(expiry_date=str(expiry)))


class TestFunctions:
    def test_a_function_of_the_row_chooses_among_the_rows_that_meet_the_conditions(self) -> None:
        seen: list[td.Trade] = []

        def large(row: td.Trade) -> bool:
            seen.append(row)
            return row.quantity is not None and row.quantity > 50

        part = BOOK[3:].filter(large, symbol=LIST[4].symbol)
        among = [row for row in LIST[3:] if row.symbol == LIST[4].symbol]
        assert_like(part, [row for row in among if large(row)])
        assert seen[: len(among)] == among

    def test_its_error_comes_out(self) -> None:
        with pytest.raises(ZeroDivisionError):
            BOOK.filter(lambda row: 1 / 0)


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

    def test_unknown_fields_and_issues_stay(self) -> None:
        rows = [row | {"extra": i, "quantity": -i} for i, row in enumerate(trades(4))]
        book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert [row["extra"] for row in book.sort("quantity")] == [3, 2, 1, 0]
        assert book.sort("quantity").issues == book.issues
