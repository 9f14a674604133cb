"""Charges at rates that the caller passes: by order, exact, and never free by accident."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cases
import tradingdata as td
from analysis_samples import DAY, TIME, book, trade
from tradingdata.analysis.keys import CONTRACT

ID = CONTRACT[2]
CALL: dict[str, Any] = {CONTRACT[1]: "D", **cases.expiring(24), **cases.CALL}

MADE = book(
    trade(1, "B", 10, 10000.0),
    trade(2, "B", 10, 10000.0, order_no="O1"),
    trade(3, "S", 20, 22000.0, 9),
    trade(4, "S", 5, 5000.0, 9, product="I"),
)
RATE = td.ChargeRate(
    brokerage=0.01,
    per_order=1.5,
    cap=100,
    stt_buy=0.001,
    stt_sell=0.002,
    exchange=0.0003,
    sebi=0.000001,
    stamp_buy=0.00015,
    gst=0.18,
)


def night(hour: int, minute: int, days: int = 0) -> dict[str, Any]:
    return {TIME: dt.datetime.combine(DAY + dt.timedelta(days=days), dt.time(hour, minute))}


def test_an_order_across_midnight_is_charged_once_on_its_first_day() -> None:
    """L13: its day begins at 06:00; what is levied on values stays on the day of each fill."""
    fills = book(
        trade(1, "B", 10, 1000.0, order_no="O1", **night(23, 59)),
        trade(2, "B", 30, 3000.0, order_no="O1", **night(0, 1, 1)),
        trade(3, "B", 10, 1000.0, order_no="O1", **night(6, 0, 1)),  # another day's order
    )
    rate = td.ChargeRate(brokerage=0.01, cap=20, per_order=5, stt_buy=0.001, gst=0.18)
    first = td.charges(fills, rate, day=DAY)[0]
    assert (first.brokerage, first.stt, first.gst) == (25.0, 1.0, 4.5)
    second = td.charges(fills, rate, day=DAY + dt.timedelta(days=1))[0]
    assert (second.brokerage, second.stt) == (15.0, 4.0)
    assert td.charges(fills, rate).total == first.total + second.total
    shares = td.charges(fills, rate, per="trade")
    assert [share.brokerage for share in shares] == [25.0, 0.0, 15.0]
    assert td.charges(fills, rate, per="trade", day=DAY) == shares[:1]


def test_the_day_of_an_order_begins_at_six_in_india() -> None:
    utc = book(
        trade(1, "B", 10, 1000.0, order_no="O1", **night(5, 59)),  # 11:29 and 11:31 in India
        trade(2, "B", 10, 1000.0, order_no="O1", **night(6, 1)),
        trade(3, "B", 10, 1000.0, order_no="O1", **night(23, 0)),  # 04:30 of the next day
        trade(4, "B", 10, 1000.0, order_no="O1", **night(0, 45, 1)),  # 06:15
    ).localize("UTC")
    assert td.charges(utc, td.ChargeRate(per_order=20)).total == 40.0


def test_slabs_are_of_the_order_not_of_its_fills() -> None:
    """L14: "35 or 2.5 %, per order": each fill alone would be below the slab."""
    fills = book(*(trade(number, "B", 1, 1000.0, order_no="O1") for number in (1, 2)))
    slabs = [
        td.ChargeRate(where={"order_value__lt": 1400}, brokerage=0.025),
        td.ChargeRate(per_order=35),
    ]
    assert td.charges(fills, slabs).total == 35.0
    assert td.charges(fills[:1], slabs).total == 25.0
    assert td.charges(fills, td.ChargeRate(brokerage=0.025, cap=35)).total == 35.0
    with pytest.raises(TypeError, match="order_value takes a float"):
        td.charges(fills, [td.ChargeRate(where={"order_value__lt": "x"})])
    with pytest.raises(TypeError, match="order_value__under= is not a comparison"):
        td.ChargeRate(where={"order_value__under": 1})


def test_the_higher_of_a_fraction_and_an_amount_by_lot() -> None:
    """L14: "the higher of 1 % and 100 a lot"; and the lower of both."""
    lots: dict[str, Any] = {"lot_size": 50, **CALL, "order_no": "O1"}
    fills = book(trade(1, "B", 50, 4000.0, **lots), trade(2, "B", 100, 8000.0, **lots))
    higher = td.ChargeRate(brokerage=0.01, minimum_per_lot=100)
    lower = td.ChargeRate(brokerage=0.01, cap_per_lot=100)
    assert [td.charges(fills, rate).total for rate in (higher, lower)] == [300.0, 120.0]
    dear = book(trade(1, "B", 50, 40000.0, **lots), trade(2, "B", 100, 80000.0, **lots))
    assert [td.charges(dear, rate).total for rate in (higher, lower)] == [1200.0, 300.0]
    capped = td.ChargeRate(brokerage=0.01, minimum_per_lot=100, cap=250)
    assert td.charges(fills, capped).total == 250.0
    with pytest.raises(ValueError, match=r"per_lot needs .* in row 0"):
        td.charges(book(fills[0]._replace(lot_size=None)), higher)


def test_two_strategies_that_offset_each_other_share_the_day() -> None:
    """L16: charged apart, both would be deliveries; the day's 0.25 is of the sale."""
    both = book(trade(1, "B", 10, 1000.0, algo_id="a"), trade(2, "S", 10, 1000.0, 5, algo_id="b"))
    rates = [
        td.ChargeRate(where={"squared_off": True}, stt_sell=0.00025),
        td.ChargeRate(stt_buy=0.001, stt_sell=0.001),
    ]
    assert sum(td.charges(book(row), rates).total for row in both) == 2.0
    assert [share.total for share in td.charges(both, rates, per="trade")] == [0.0, 0.25]
    with pytest.raises(ValueError, match='per must be "trade"'):
        td.charges(both, rates, per="order")  # type: ignore[call-overload]


def test_each_part_of_an_order_is_taxed_at_its_own_rate() -> None:
    """Of the purchase, 4 of 10 are squared off; the first rate's amount by order is divided."""
    fills = book(trade(1, "B", 10, 1000.0), trade(2, "S", 4, 400.0, 5))
    rates = [
        td.ChargeRate(where={"squared_off": True}, brokerage=0.01, per_order=10, gst=0.18),
        td.ChargeRate(brokerage=0.02, per_order=99, gst=0.05),
    ]
    brokerage = 4 + 4 + 12 + 6, 4 + 10  # purchase, sale
    gst = (4 + 4) * 0.18 + (12 + 6) * 0.05, (4 + 10) * 0.18
    for shares in (td.charges(fills, rates), td.charges(fills, rates, per="trade")):
        assert sum(share.brokerage for share in shares) == sum(brokerage)
        assert sum(share.gst for share in shares) == pytest.approx(sum(gst))
    assert tuple(share.brokerage for share in shares) == brokerage
    assert tuple(share.gst for share in shares) == pytest.approx(gst)


def test_rates_have_one_form_in_every_function(tmp_path: Path) -> None:
    """L18: one rate, a list, or the path of a file."""
    path = tmp_path / "rates.toml"
    path.write_text("[[rate]]\nbrokerage = 0.001\naverage = true\ncap = 5\n")
    rate = td.ChargeRate(brokerage=0.001, average=True, cap=5)
    for rates in (path, str(path), rate, [rate], (rate,)):
        assert td.charges(MADE, rates).total == 15.0
        day = td.day_pnl(MADE, prices={"10": 1.0}, charges=rates)
        daily = td.daily_pnl(MADE, prices={DAY: {"10": 1.0}}, charges=rates)
        assert day.charges == daily.charges == 15.0
    with pytest.raises(TypeError, match="or the path of a TOML file"):
        td.day_pnl(MADE, charges=[{"stt_buy": 1}])  # type: ignore[list-item]
    with pytest.raises(FileNotFoundError):
        td.charges(MADE, "no.toml")
    with pytest.raises(TypeError, match="average must be True or False"):
        td.ChargeRate(average=1)  # type: ignore[arg-type]


def test_rates_are_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "charges.toml"
    path.write_text('[[rate]]\nwhere = {product = ["I", "M"]}\ncap = 20\n[[rate]]\ngst = 0.18\n')
    assert td.ChargeRate.load(path) == (
        td.ChargeRate(where={"product": ["I", "M"]}, cap=20),
        td.ChargeRate(gst=0.18),
    )
    path.write_text("[[rate]]\nwhere = {exch_trade_time__ge = 2026-11-01T00:00:00+05:30}\n")
    assert len(td.charges(MADE.localize("Asia/Kolkata"), td.ChargeRate.load(path)))
    path.write_text("[[rate]]\nwhere = {quantity__between = [1, 10]}\n")
    assert td.ChargeRate.load(path) == (td.ChargeRate(where={"quantity__between": [1, 10]}),)
    for text, message in (
        ("[[rate]]\nbrokrage = 1\n", "rate 1 of .*: it has 'brokrage'; did you mean 'brokerage'"),
        ("[[rate]]\ngst = 18\n", "rate 1 of .*: gst is a fraction"),
        ("rate = [1]\n", "rate 1 of .* must be a mapping, not int"),
        ("[[rate]]\nwhere = 'E'\n", "rate 1 of .*: where must be a dict of conditions"),
        ("[[rate]]\nwhere = {nope = 1}\n", "rate 1 of .*: Trade has no field 'nope'"),
        ("[rates]\n", "must have \\[\\[rate\\]\\] tables"),
        ("", "must have"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            td.ChargeRate.load(path)


def test_numbers_of_numpy_and_decimal_are_numbers() -> None:
    plain = td.ChargeRate(brokerage=0.001, per_order=20, cap=50.5)
    for number, fraction, cap in (
        (np.int64(20), np.float64(0.001), np.float32(50.5)),
        (Decimal(20), Decimal("0.001"), Decimal("50.5")),
    ):
        rate = td.ChargeRate(brokerage=fraction, per_order=number, cap=cap)  # type: ignore[arg-type]
        assert (rate, td.charges(MADE, [rate])) == (plain, td.charges(MADE, [plain]))
    unit: Any = np.float64(0.01)
    assert td.charges(MADE, [RATE], rounding={"stt": unit}).total > 0
    with pytest.raises(TypeError, match="brokerage must be a number"):
        td.ChargeRate(brokerage=np.bool_(True))  # type: ignore[arg-type]


def test_per_lot_has_the_multiplier_of_shares_under_any_id_of_their_isin() -> None:
    """The values prove none: 10 at 10.00 are 137.00."""
    isin: dict[str, Any] = {"isin": "INE009A01021", "lot_size": 10, "traded_price": 10.0}
    rows = [
        trade(1, "B", 10, 137.0, **isin),
        trade(2, "S", 10, 138.0, 1, exchange="BSE", **{ID: "500"}, **isin),
    ]
    for known in ("10", "500"):
        result = td.day_pnl(
            book(*rows), match_by="isin", multipliers={known: 1}, charges=[td.ChargeRate(per_lot=5)]
        )
        assert (result.realised, result.charges) == (1.0, 10.0)
