"""Values of records: the ends of their ranges, their zones, and personal ones."""

from __future__ import annotations

import copy
import datetime as dt
import json
import math
import pickle
import zoneinfo
from decimal import Decimal

import pytest
import pytz

import tradingdata as td
from sample_records import INDIA, PAN, wire_trade
from service import as_json, envelope, trades

pytestmark = pytest.mark.sanitize


class TestEdges:
    @pytest.mark.parametrize(
        "when",
        [
            dt.datetime(1, 1, 2),
            dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
            dt.datetime(2024, 2, 29, 12, 0, 0, 1),
            dt.datetime.max,
        ],
    )
    def test_times_of_all_years_keep_their_microseconds(self, when: dt.datetime) -> None:
        trade = td.Trade(exch_trade_time=when, expiry_date=when.date())
        for one in (trade, pickle.loads(pickle.dumps(trade))):
            assert one.exch_trade_time == when
            assert one.expiry_date == when.date()

    def test_the_zero_date_is_none_however_it_is_given(self) -> None:
        trade = td.Trade(expiry_date=dt.date(1, 1, 1), exch_trade_time=dt.datetime(1, 1, 1))
        assert trade == td.Trade()
        with pytest.raises(ValueError, match="0001-01-01"):
            td.Trade(exch_trade_time=dt.datetime(1, 1, 1, 10, 30))

    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400])
    def test_larger_integers_are_refused(self, number: int) -> None:
        with pytest.raises(ValueError, match=r"quantity cannot be .* 64 bits"):
            td.Trade(quantity=number)

    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
    def test_what_is_not_finite_is_refused(self, number: float) -> None:
        with pytest.raises(ValueError, match=r"traded_price cannot be .* finite"):
            td.Trade(traded_price=number)

    def test_an_integer_that_would_round_is_refused(self) -> None:
        assert td.Trade(traded_price=2**53).traded_price == 2.0**53
        with pytest.raises(ValueError, match="would round"):
            td.Trade(traded_price=2**53 + 1)

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

    def test_half_a_surrogate_pair_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"symbol cannot be .*half of a surrogate pair"):
            td.Trade(symbol="\ud800")


class TestZones:
    WHEN = dt.datetime(2026, 1, 6, 9, 15, tzinfo=INDIA)

    def test_times_keep_their_zone_in_copies_and_pickles(self) -> None:
        trade = td.Trade(exch_trade_time=self.WHEN, quantity=1)
        for one in (
            trade,
            copy.copy(trade),
            copy.deepcopy(trade),
            pickle.loads(pickle.dumps(trade)),
        ):
            assert one == trade
            assert one.exch_trade_time == self.WHEN
            assert one.exch_trade_time.tzinfo is INDIA

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

    def test_a_changed_copy_stays_in_its_zone(self) -> None:
        row = td.TradeBook.from_json(as_json(envelope(trades(1)))).localize("Asia/Kolkata")[0]
        assert row._replace(quantity=row.quantity) == row
        assert row._replace(quantity=1).exch_trade_time.tzinfo is INDIA  # type: ignore[union-attr]

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


class TestPersonalData:
    def test_a_repr_masks_it_even_where_it_was_kept(self) -> None:
        assert PAN not in repr(td.Trade(pan_no=PAN))
        assert "pan_no='ABXXXXXX4F'" in repr(td.Trade(pan_no=PAN))

    def test_what_was_kept_stays_in_copies_and_pickles(self) -> None:
        trade = td.Trade(pan_no=PAN)
        assert copy.copy(trade).pan_no == pickle.loads(pickle.dumps(trade)).pan_no == PAN

    def test_what_was_masked_is_nowhere_in_a_pickle(self) -> None:
        trade = wire_trade(pan_no=PAN)
        assert trade.pan_no == "ABXXXXXX4F"
        assert PAN.encode() not in pickle.dumps(trade)
        assert pickle.loads(pickle.dumps(trade)) == trade

    def test_what_a_changed_copy_is_given_is_kept(self) -> None:
        trade = wire_trade()._replace(pan_no=PAN)
        assert pickle.loads(pickle.dumps(trade)).pan_no == PAN

    def test_a_refusal_does_not_show_it(self) -> None:
        with pytest.raises(TypeError, match="pan_no takes a str or None, not int") as caught:
            td.Trade(pan_no=1234567890)  # type: ignore[arg-type]
        assert "1234567890" not in str(caught.value)


def test_every_control_character_is_escaped_in_json() -> None:
    text = "".join(map(chr, range(1, 33)))
    exported = td.TradeBook([td.Trade(symbol=text)]).to_json()
    assert json.loads(exported)[0]["symbol"] == text
