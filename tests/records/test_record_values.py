"""Values of records: the ends of their ranges, their zones, and personal ones."""

from __future__ import annotations

import datetime as dt
import math
import zoneinfo
from decimal import Decimal
from typing import Any

import pytest
import pytz

import tradingdata as td
from sample_records import INDIA

pytestmark = pytest.mark.sanitize


REFUSED: list[tuple[str, Any, str]] = [
    *(("quantity", number, "64 bits") for number in (2**63, -(2**63) - 1, 10**400)),
    *(("traded_price", number, "finite") for number in (math.nan, math.inf, -math.inf)),
    ("traded_price", 2**53 + 1, "would round"),
    ("symbol", "\ud800", "half of a surrogate pair"),
]


class TestEdges:
    @pytest.mark.parametrize(("field", "value", "why"), REFUSED)
    def test_what_a_field_cannot_hold_is_refused(self, field: str, value: Any, why: str) -> None:
        with pytest.raises(ValueError, match=f"{field} cannot be .*{why}"):
            td.Trade(**{field: value})

    def test_the_zero_date_is_none_however_it_is_given(self) -> None:
        trade = td.Trade(expiry_date=dt.date(1, 1, 1), exch_trade_time=dt.datetime(1, 1, 1))
        assert trade == td.Trade()
        with pytest.raises(ValueError, match="0001-01-01"):
            td.Trade(exch_trade_time=dt.datetime(1, 1, 1, 10, 30))

    def test_numbers_of_other_libraries_are_taken(self) -> None:
        class Whole:
            def __index__(self) -> int:
                return 7

        trade = td.Trade(quantity=Whole(), traded_price=Decimal("1.5"))  # type: ignore[arg-type]
        assert (trade.quantity, trade.traded_price) == (7, 1.5)

    @pytest.mark.parametrize("flag", [True, False])
    @pytest.mark.parametrize("name", ["quantity", "traded_price"])
    def test_a_truth_value_is_no_number(self, name: str, flag: bool) -> None:
        with pytest.raises(TypeError, match=name):
            td.Trade(**{name: flag})  # type: ignore[arg-type]


class TestZones:
    WHEN = dt.datetime(2026, 1, 6, 9, 15, tzinfo=INDIA)

    def test_equal_instants_in_two_zones_are_two_records(self) -> None:
        india = td.Trade(exch_trade_time=self.WHEN)
        utc = td.Trade(exch_trade_time=self.WHEN.astimezone(dt.UTC))
        assert india.exch_trade_time == utc.exch_trade_time
        assert india != utc

    def test_the_times_of_a_record_are_in_one_zone(self) -> None:
        naive = self.WHEN.replace(tzinfo=None)
        with pytest.raises(ValueError, match="exch_trade_time is in another time zone"):
            td.Trade(order_date_time=naive, exch_trade_time=self.WHEN)
        trade = td.Trade(order_date_time=self.WHEN, exch_trade_time=self.WHEN)
        with pytest.raises(ValueError, match="another time zone"):
            trade._replace(exch_trade_time=naive)
        moved = trade._replace(exch_trade_time=naive, order_date_time=naive)
        assert moved.exch_trade_time == naive

    def test_a_zone_of_pytz_is_replaced_by_the_one_of_its_name(self) -> None:
        kolkata = pytz.timezone("Asia/Kolkata")
        right = kolkata.localize(dt.datetime(2026, 1, 6, 9, 15))
        trade = td.Trade(exch_trade_time=right, order_date_time=self.WHEN)
        assert trade == td.Trade(exch_trade_time=self.WHEN, order_date_time=self.WHEN)
        assert trade.exch_trade_time == right
        with pytest.raises(ValueError, match="attach a pytz zone with its localize"):
            td.Trade(exch_trade_time=dt.datetime(2026, 1, 6, 9, 15, tzinfo=kolkata))

    def test_the_second_of_two_equal_clock_times_is_refused(self) -> None:
        new_york = zoneinfo.ZoneInfo("America/New_York")
        first = dt.datetime(2025, 11, 2, 1, 30, tzinfo=new_york)
        assert td.Trade(exch_trade_time=first).exch_trade_time == first
        with pytest.raises(ValueError, match=r"fold=1.*pass it in UTC"):
            td.Trade(exch_trade_time=first.replace(fold=1))
        second = pytz.timezone("America/New_York").localize(
            dt.datetime(2025, 11, 2, 1, 30), is_dst=False
        )
        with pytest.raises(ValueError, match=r"the UTC offset of .* differs"):
            td.Trade(exch_trade_time=second)
        harmless = self.WHEN.replace(fold=1)
        assert td.Trade(exch_trade_time=harmless).exch_trade_time == harmless
