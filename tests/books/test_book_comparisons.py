"""Rows chosen by comparisons, ranges, days, times and functions, against the same in Python."""

from __future__ import annotations

import datetime as dt
import operator
from typing import Any

import pytest

import tradingdata as td
from sample_books import BOOK, INDIA, LIST, assert_like

DERIVATIVE = dt.date(2025, 1, 30)
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

    @pytest.mark.parametrize(
        ("keyword", "value", "message"),
        [
            ("quantity__gte", 5, "takes __ne, __lt, __le, __gt, __ge, __between"),
            ("quantity__", 5, "not a comparison"),
            ("simbol__gt", "A", "no field 'simbol'; did you mean 'symbol'"),
            ("quantity__gt", None, "not None"),
            ("quantity__gt", {5}, "one value, not a set"),
            ("quantity__gt", "5", "quantity takes an int"),
            ("quantity__between", 5, r"takes \(lowest, highest\)"),
            ("quantity__between", (1, 2, 3), r"takes \(lowest, highest\)"),
            ("quantity__between", (1, None), "not None"),
        ],
    )
    def test_a_mistake_says_what_to_write(self, keyword: str, value: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            BOOK.filter(**{keyword: value})


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
