"""Manually constructed trades and orders for tests of calculations, and Hypothesis strategies."""

from __future__ import annotations

import datetime as dt
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st

import tradingdata as td
from tradingdata import analysis
from tradingdata._util.declarations import RECORDS

Result = TypeVar("Result")
TIME = RECORDS["Trade"]["event_times"][0]

DAY = dt.date(2026, 11, 20)
OPENING_BELL = dt.datetime(2026, 11, 20, 9, 15)
TRADE = td.Trade(
    client_id="C1",
    exchange="NSE",
    segment="E",
    product="C",
    symbol="INFY",
    security_id="10",
    order_date_time=OPENING_BELL,
)
_SET: dict[str, Any] = {name: each for name, each in TRADE._asdict().items() if each is not None}
ORDER = td.Order(**_SET, txn_type="B")


def at(second: int, day: int = 0) -> dt.datetime:
    return OPENING_BELL + dt.timedelta(days=day, seconds=second)


def trade(
    number: int, side: str, quantity: int | None, value: float | None, second: int = 0, **more: Any
) -> td.Trade:
    """A trade of account C1 in security 10, unless `more` says otherwise; its price is rounded."""
    facts: dict[str, Any] = {"trade_no": str(number), "order_no": f"O{number}"}
    if quantity and value is not None:
        facts["traded_price"] = round(value / quantity, 2)
    facts |= more
    made = TRADE._replace(txn_type=side, quantity=quantity, trade_value=value)
    return made._replace(**{TIME: at(second), **facts})


def order(number: int, filled: float | None, average: float | None, **more: Any) -> td.Order:
    """The order that `trade` of the same number belongs to."""
    made = ORDER._replace(quantity=filled, traded_qty=filled, avg_traded_price=average)
    return made._replace(**{"order_no": f"O{number}", **more})


def book(*trades: td.Trade) -> td.TradeBook:
    return td.TradeBook(trades)


def unwarned(work: Callable[[], Result]) -> Result:
    """The result of a calculation whose issues are not what a test is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return work()


CALCULATIONS = [name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name))]


def calculated(name: str, orders: td.OrderBook, trades: td.TradeBook) -> Any:
    """The result of a calculation with these books, and samples of its other arguments."""
    given = {
        "orders": orders,
        "trades": trades,
        "lots": unwarned(lambda: td.realised_pnl(trades, shorts=False)),
        "prices": lambda row, *day: 1.5,
        "rates": [td.ChargeRate(gst=0.18)],
    }
    function = getattr(analysis, name)
    parameters = inspect.signature(function).parameters.values()
    required = [one.name for one in parameters if one.default is one.empty]
    missing = [one for one in required if one not in given]
    assert not missing, f"add a sample of {missing}"
    return unwarned(lambda: function(**{one: given[one] for one in required}))


# The tables that belong to a result of matching, by the names of its attributes.
BELONGING = ("matches", "open_lots", "unmatched", "issues")
RESULTS = [*CALCULATIONS, *BELONGING]


def results(orders: td.OrderBook, trades: td.TradeBook) -> dict[str, Any]:
    """The result of each calculation, and the tables that belong to it, by the names in RESULTS."""
    pnl = unwarned(lambda: td.realised_pnl(trades, shorts=False))
    found = {name: calculated(name, orders, trades) for name in CALCULATIONS}
    return found | {name: getattr(pnl, name) for name in BELONGING}


def paise(amount: float) -> int:
    """An amount as whole paise; it must be some."""
    units = round(amount * 100)
    assert units / 100 == amount
    return units


@st.composite
def trades(draw: st.DrawFn, *, whole_prices: bool = False, most: int = 30) -> list[td.Trade]:
    """Trades of several clients, exchanges, securities and products, many of the same second.

    With `whole_prices` every share has a price in whole paise; otherwise values need not divide.
    """
    made = []
    for number in range(1, draw(st.integers(0, most)) + 1):
        quantity = draw(st.integers(1, 40))
        units = draw(st.integers(0, 10**6))
        made.append(
            trade(
                number,
                draw(st.sampled_from("BS")),
                quantity,
                (units * quantity if whole_prices else units) / 100,
                draw(st.integers(0, 8)),
                client_id=draw(st.sampled_from(["C1", "C1", "C1", "C2"])),
                exchange=draw(st.sampled_from(["NSE", "NSE", "NSE", "BSE"])),
                security_id=draw(st.sampled_from(["10", "10", "10", "11"])),
                product=draw(st.sampled_from("CCI")),
            )
        )
    return made


def on_day(made: list[td.Trade], day: int) -> list[td.Trade]:
    """The trades some days later."""
    later = dt.timedelta(days=day)
    return [row._replace(**{TIME: (row[TIME] or at(0)) + later}) for row in made]
