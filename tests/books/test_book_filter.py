"""Rows chosen from a book by their values, and books put in a time zone."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from typing import Any

import pytest
import pytz

import tradingdata as td
from sample_books import BOOK, INDIA, LIST, assert_like
from service import as_json, envelope, trades

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
    {"tick_size": 0},
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

    @pytest.mark.parametrize(
        ("name", "odd"),
        [
            ("symbol", 5),
            ("symbol", ["INFY"]),
            ("symbol", ("INFY",)),
            ("symbol", {"INFY", 5}),
            ("quantity", "5"),
            ("quantity", 5.5),
            ("quantity", True),
            ("quantity", range(5)),
            ("traded_price", "1.5"),
            ("exch_trade_time", "2026-01-06 09:15:00"),
            ("exch_trade_time", {DERIVATIVE, dt.time(9, 15)}),
            ("exch_trade_time", dt.time(9, 15, tzinfo=INDIA)),
            ("expiry_date", dt.datetime(2025, 1, 30)),
        ],
    )
    def test_a_value_that_a_field_never_has_is_refused(self, name: str, odd: Any) -> None:
        with pytest.raises(TypeError, match=f"{name}=? takes"):
            BOOK.filter(**{name: odd})

    @pytest.mark.parametrize("odd", [float("nan"), float("inf"), 2**53 + 1])
    def test_a_number_that_a_column_cannot_hold_is_refused(self, odd: float) -> None:
        with pytest.raises(ValueError, match="traded_price cannot be"):
            BOOK.filter(traded_price=odd)

    def test_a_time_without_the_books_zone_is_refused(self) -> None:
        when = LIST[0].exch_trade_time
        assert when is not None
        local = BOOK.localize(INDIA)
        with pytest.raises(TypeError, match=r"naive.*localize"):
            BOOK.filter(exch_trade_time=when.replace(tzinfo=INDIA))
        with pytest.raises(TypeError, match="is in Asia/Kolkata"):
            local.filter(exch_trade_time=when)
        assert local[0] in local.filter(exch_trade_time=when.replace(tzinfo=INDIA))

    def test_an_unknown_field_is_reported_with_the_closest_one(self) -> None:
        with pytest.raises(TypeError, match="no field 'simbol'; did you mean 'symbol'"):
            BOOK.filter(simbol="INFY")

    def test_unknown_fields_stay_with_their_rows(self) -> None:
        rows = [row | {"extra": i} for i, row in enumerate(trades(6))]
        book = td.TradeBook.from_json(as_json(envelope(rows)))
        assert [row["extra"] for row in book[::-2]] == [5, 3, 1]
        assert book[:0].extra_fields == ()


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

    def test_another_zone_is_refused_as_nothing_would_be_converted(self) -> None:
        with pytest.raises(ValueError, match="already in Asia/Kolkata"):
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
