"""Charges against published worked examples, to the paisa, and the how-to's file of rates.

Each example names its source. The rates are those of its day; duties that its day took from both
sides are `other_buy` and `other_sell`.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest

import cases
import tradingdata as td
from analysis_samples import TIME, book, trade
from tradingdata.analysis.keys import CONTRACT, kind_of
from tradingdata.sandbox.day import SimulatedBooks
from tradingdata.sandbox.market import CLOSE, Market

PAGE = Path(__file__).parents[2] / "docs/how-to/trades-to-pnl.md"
CALL = {CONTRACT[1]: "D", **cases.expiring(24), **cases.CALL}

# A spreadsheet of 2013, "Astha Brokerage Calculator (all segments)", scribd.com/doc/193229870, for
# an account without brokerage. Its text takes STT of an intraday trade from the turnover; its
# figure is of the sale alone, which is the law, and is what is tested.
ASTHA = {"gst": 0.1236, "gst_on": ("exchange",), "other_buy": 0.00002, "other_sell": 0.00002}
# thincredblu.com/brokerage-calculator: 400 bought at 1,000 and sold at 1,100. The page shows the
# same STT (0.025 % of the sale) for delivery, where its own table of rates has 0.1 % of both.
THIN = {"brokerage": 0.0003, "cap": 20, "exchange": 0.0000325, "sebi": 0.0000015, "gst": 0.18}
# tradingqna.com/t/2203: 2,000 options bought at 100 and sold at 101. Its cesses (2 % and 1 % of a
# tax of 12 %) are left to the reader; here GST is the tax alone.
OPTIONS = {"per_order": 20, "stt_sell": 0.00017, "exchange": 0.00053, "sebi": 0.000002}

EXAMPLES: dict[str, tuple[list[td.Trade], dict[str, Any], dict[str, float]]] = {
    "intraday, Astha": (
        [trade(1, "B", 2500, 5000000.0), trade(2, "S", 2500, 5250000.0)],
        {"exchange": 0.000049, "stt_sell": 0.00025, **ASTHA},
        {"exchange_charges": 502.25, "gst": 62.0781, "stt": 1312.5, "other": 205, "all": 2081.8281},
    ),
    "delivery, Astha": (
        [trade(1, "B", 2500, 5000000.0), trade(2, "S", 2500, 5250000.0)],
        {"exchange": 0.000049, "stt_buy": 0.001, "stt_sell": 0.001, **ASTHA},
        {"exchange_charges": 502.25, "gst": 62.0781, "stt": 10250, "all": 11019.3281},
    ),
    "future, Astha": (
        [trade(1, "B", 50, 300000.0, **CALL), trade(2, "S", 50, 300500.0, **CALL)],
        {"exchange": 0.000045, "stt_sell": 0.0001, **ASTHA},
        {"exchange_charges": 27.0225, "gst": 3.339981, "stt": 30.05, "all": 72.422481},
    ),
    "option, Astha": (
        [trade(1, "B", 50, 5000.0, **CALL), trade(2, "S", 50, 5500.0, **CALL)],
        {"exchange": 0.00089, "stt_sell": 0.00017, **ASTHA},
        {"exchange_charges": 9.345, "gst": 1.155042, "stt": 0.935, "all": 11.645042},
    ),
    "intraday, thincredblu": (
        [trade(1, "B", 400, 400000.0), trade(2, "S", 400, 440000.0)],
        {**THIN, "stt_sell": 0.00025, "gst_on": ("brokerage", "exchange")},
        {"brokerage": 40, "exchange_charges": 27.3, "sebi": 1.26, "stt": 110, "all": 190.674},
    ),
    "option, tradingqna": (
        [trade(1, "B", 2000, 200000.0, **CALL), trade(2, "S", 2000, 202000.0, **CALL)],
        {**OPTIONS, "gst": 0.12, "gst_on": ("brokerage", "exchange")},
        {"brokerage": 40, "stt": 34.34, "exchange_charges": 213.06, "sebi": 0.804, "gst": 30.3672},
    ),
    # tradingqna.com/t/1726: 1,000 puts written at 27, a tax of 12 % with cesses of 3 % of it.
    "option written, tradingqna": (
        [trade(1, "S", 1000, 27000.0, **CALL)],
        {**OPTIONS, "gst": 0.1236, "gst_on": ("brokerage", "exchange"), "other_sell": 0.00006},
        {"stt": 4.59, "exchange_charges": 14.31, "sebi": 0.054, "other": 1.62, "all": 44.814716},
    ),
    # kiteconnect's mock of POST /margins/orders: one share at 1,498. Its stamp duty of 0.22 is cut
    # to the paisa (0.015 % are 0.2247), so that the sum of its own parts is 1.79255122.
    "delivery, kiteconnect-mocks": (
        [trade(1, "B", 1, 1498.0)],
        {"per_order": 0.01, "stt_buy": 0.001, "exchange": 0.0000345, "sebi": 0.000001, "gst": 0.18},
        {"stt": 1.498, "exchange_charges": 0.051681, "sebi": 0.001498, "gst": 0.01137222},
    ),
    # 1stopinvestment.com, "How do Zerodha brokerage charges work": 100 bought at 546, sold at 550.
    # Writes "0.0325 %" where it takes 0.00325 %, caps brokerage over both orders, and rounds STT of
    # 13.75 to 14; the other levies are to the paisa.
    "intraday, 1stopinvestment": (
        [trade(1, "B", 100, 54600.0), trade(2, "S", 100, 55000.0)],
        {"brokerage": 0.0001, "cap": 20, "stt_sell": 0.00025, "exchange": 0.0000325, "gst": 0.18}
        | {"sebi": 0.000001, "other_buy": 0.00006, "other_sell": 0.00006, "rounding": "note"}
        | {"gst_on": ("brokerage", "exchange")},
        {"brokerage": 10.96, "stt": 14, "exchange_charges": 3.56, "gst": 2.61, "sebi": 0.11}
        | {"other": 6.58, "all": 37.82},
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_published_example_is_met_to_the_last_digit(name: str) -> None:
    trades, rate, expected = EXAMPLES[name]
    rate = dict(rate)
    rounding = rate.pop("rounding", None)
    (row,) = td.charges(td.TradeBook(trades), [td.ChargeRate(**rate)], rounding=rounding)
    for levy, amount in expected.items():
        assert getattr(row, "total" if levy == "all" else levy) == amount, levy


def test_brokerage_is_on_the_turnover_of_the_order() -> None:
    """tradingqna.com/t/multiple-executed-orders/33647: 100 in four trades, 0.01 % or 20: 11.20."""
    values = [(20, 22400.0), (30, 33601.5), (10, 11201.0), (40, 44806.0)]
    fills = book(
        *(
            trade(at, "B", quantity, value, at, order_no="O")
            for at, (quantity, value) in enumerate(values)
        )
    )
    rate = td.ChargeRate(brokerage=0.0001, cap=20)
    assert td.charges(fills, rate).total == 11.20085
    assert td.charges(fills, rate, rounding="note").total == 11.2
    shares = td.charges(fills, rate, per="trade", rounding="note")
    assert [share.brokerage for share in shares] == [2.24, 3.36, 1.12, 4.48]


@pytest.mark.parametrize(
    ("amount", "values", "expected"),
    [
        (
            1000.01,
            [1.0, 1.0, 1.0],
            [333.33, 333.34, 333.34],
        ),  # portfolio-performance/portfolio#5953
        (0.01, [33.0, 66.0], [0.0, 0.01]),  # moneyphp/money#492
        (99.99, [75.0, 25.0], [74.99, 25.0]),  # the same
        (1.0, [1.0, 1.0, 1.0], [0.34, 0.33, 0.33]),  # spliit-app/spliit#374
    ],
)
def test_shares_of_an_amount_lose_and_invent_no_paisa(
    amount: float, values: list[float], expected: list[float]
) -> None:
    fills = book(*(trade(at, "B", 1, value, order_no="O") for at, value in enumerate(values)))
    rate = td.ChargeRate(per_order=amount)
    shares = td.charges(fills, rate, per="trade", rounding="note")
    assert [share.brokerage for share in shares] == expected
    assert shares.total == td.charges(fills, rate, rounding="note").total == amount


def test_what_is_sold_on_the_day_is_taxed_as_intraday() -> None:
    """tradingqna.com/t/13156: 1.621 was expected, of a delivery; t/88483: printed as 1."""
    (row,) = td.charges(
        book(trade(1, "B", 5, 785.5), trade(2, "S", 5, 835.5, 9)),
        [
            td.ChargeRate(where={"squared_off": True}, stt_sell=0.00025),
            td.ChargeRate(stt_sell=0.001),
        ],
    )
    assert row.stt == 0.208875
    both = book(trade(1, "B", 20, 2066.0), trade(2, "S", 20, 2071.0, 9))
    rate = td.ChargeRate(stt_sell=0.00025)
    assert td.charges(both, rate).total == 0.51775
    assert td.charges(both, rate, rounding="note").total == 1.0


# Two support pages with one example: support.zerodha.com and bigul.co, "How is the Securities
# Transaction Tax (STT) calculated?": 500 bought at 100, sold at 105, 200 bought at 110. The tax is
# on the average of all 1,200 shares, 103.75: 12.969 and 20.75, printed as 13 and 21.
MIXED = (
    trade(1, "B", 500, 50000.0),
    trade(2, "S", 500, 52500.0, 5),
    trade(3, "B", 200, 22000.0, 9),
)


def mixed_day(**more: Any) -> list[td.ChargeRate]:
    return [
        td.ChargeRate(where={"squared_off": True}, stt_sell=0.00025, **more),
        td.ChargeRate(stt_buy=0.001, stt_sell=0.001, **more),
    ]


def test_the_tax_of_a_mixed_day_is_on_its_average_price() -> None:
    shares = td.charges(book(*MIXED), mixed_day(average=True), per="trade")
    sold = [share.stt for share in shares if share.trade_no == "2"]
    assert sold == [500 * 103.75 * 0.00025] == [12.96875]
    assert sum(share.stt for share in shares) - 12.96875 == 200 * 103.75 * 0.001 == 20.75
    # Trade by trade: the sale at its own price, and two sevenths of each purchase.
    by_lots = td.charges(book(*MIXED), mixed_day())[0].stt
    assert by_lots == pytest.approx(52500 * 0.00025 + 72000 * 200 / 700 * 0.001, abs=1e-12)


def test_the_printed_tax_of_a_mixed_day_is_in_rupees() -> None:
    """Intraday and delivery are added, then rounded: 33.72 is 34, as 13 and 21 are."""
    (row,) = td.charges(book(*MIXED), mixed_day(average=True), rounding="note")
    assert row.stt == 34.0
    # L12: 500 at 100 and 200 at 110 bought, 600 sold at 105: an average of 135,000 / 1,300.
    trades = book(MIXED[0], MIXED[2], trade(4, "S", 600, 63000.0, 10))
    (row,) = td.charges(trades, mixed_day(average=True))
    assert row.stt == pytest.approx(135000 / 1300 * (600 * 0.00025 + 100 * 0.001), abs=1e-12)
    apart = td.charges(
        td.concat([trades, book(trade(5, "B", 1, 999.0, exchange="BSE"))]), mixed_day(average=True)
    )
    assert {charge.exchange: charge.stt for charge in apart}["NSE"] == row.stt


# sharekhan.com, "Brokerage structure charges" (2007): of one lot of 700 options, bought at 5 and
# sold at 10, the higher of 2.5 % of the premium and 100: 100 and 175.
# help.indiainfoline.com, "Brokerage": 60 and 75 a lot by slab, with at most 100 a lot.
@pytest.mark.parametrize(("price", "printed"), [(5, 100.0), (10, 175.0)])
def test_the_higher_of_a_fraction_and_an_amount_a_lot_is_published(
    price: int, printed: float
) -> None:
    bought = trade(1, "B", 700, 700.0 * price, lot_size=700, **CALL)
    rate = td.ChargeRate(brokerage=0.025, minimum_per_lot=100)
    assert td.charges(book(bought), [rate]).total == printed


def test_notes_round_by_day_and_segment_on_the_largest_row() -> None:
    days = [
        trade(number, "S", 1, value)._replace(
            **{CONTRACT[2]: str(number), TIME: dt.datetime(2026, 11, day)}
        )
        for number, (value, day) in enumerate([(1400.0, 19), (1100.0, 19), (1500.0, 20)])
    ]
    rate = td.ChargeRate(stt_sell=0.001, exchange=0.0000345)
    found = {row.security_id: row for row in td.charges(book(*days), [rate], rounding="note")}
    assert {name: row.stt for name, row in found.items()} == {"0": 1.9, "1": 1.1, "2": 2.0}
    assert [found[name].exchange_charges for name in "012"] == [0.05, 0.04, 0.05]
    exact = td.charges(book(*days), [rate], rounding={"stt": 0.1, "exchange": 1e-9})
    assert exact.total == 4.0 + 4000 * 0.0000345
    for wrong, error in (("paise", TypeError), ({"stt": 0}, ValueError), ({"tax": 1}, ValueError)):
        with pytest.raises(error, match="rounding"):
            td.charges(book(*days), [rate], rounding=wrong)


def rates_of_the_page(folder: Path) -> tuple[td.ChargeRate, ...]:
    (text,) = re.findall(r"```toml\n(# EXAMPLE.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (folder / "charges.toml").write_text(text)
    return td.ChargeRate.load(folder / "charges.toml")


def test_the_file_of_the_page_covers_ten_months_of_the_sandbox(tmp_path: Path) -> None:
    start = dt.date(2026, 1, 1)
    days = [start + dt.timedelta(days=n) for n in range(0, 304, 3)]
    books = [
        td.TradeBook.from_json(SimulatedBooks(1, Market(number, day), 30).at(CLOSE)["trade_book"])
        for number, day in enumerate(days)
        if day.weekday() < 5
    ]
    trades = td.concat(books)
    kinds = {
        (row.exchange, row.segment, kind_of(row.expiry_date, row.strike_price)) for row in trades
    }
    assert len(kinds) >= 5
    rates = rates_of_the_page(tmp_path)
    found = td.charges(trades, rates, rounding="note")
    assert {row.expiry_date is None for row in found if row.stt} == {True, False}
    assert found.total == pytest.approx(td.charges(trades, rates).total, rel=0.01)
