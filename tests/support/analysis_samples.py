"""Manually constructed trades and orders for tests of calculations."""

from __future__ import annotations

import datetime as dt
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

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


def on_day(made: list[td.Trade], day: int) -> list[td.Trade]:
    """The trades some days later."""
    later = dt.timedelta(days=day)
    return [row._replace(**{TIME: (row[TIME] or at(0)) + later}) for row in made]


def displayed() -> dict[str, Any]:
    """Results whose rows only some columns tell apart, that are long, or that know little."""

    def row(number: int, side: str, value: float, name: str, **more: Any) -> td.Trade:
        return trade(number, side, 1, value, number, display_name=name, security_id=name, **more)

    long_name = "A name that is as long as names get"
    rows = [
        *(row(1, "B", 100.0, "Flat"), row(2, "S", 100.0, "Flat")),
        *(row(3, "B", 100.0, long_name), row(4, "S", 150.0, long_name)),
        *(row(5, "B", 900.0, "Twice", product="I"), row(6, "S", 100.0, "Twice", product="I")),
        *(row(7, "B", 900.0, "Twice", exchange="BSE"), row(8, "S", 1e3, "Twice", exchange="BSE")),
    ]
    mixed, tagged = td.TradeBook(rows), [each._replace(algo_id="slow") for each in rows[:3]]
    desks = [each._replace(account="desk1") for each in rows]
    desks += [each._replace(client_id="C2", account="desk2") for each in rows]
    later = [each._replace(exch_trade_time=at(9, 1)) for each in rows[4:]]
    names = {f"result-{number}": mixed[:number] for number in (2, 3, 4, 8)}
    orders = td.OrderBook([order(number, number // 31, 100.0) for number in range(1, 40)])
    return {
        **{f"{name}-realised": td.realised_pnl(trades) for name, trades in names.items()},
        **{f"{name}-positions": td.positions(trades) for name, trades in names.items()},
        "result-matches": td.realised_pnl(mixed).matches,
        "result-accounts": td.realised_pnl(td.TradeBook(desks)),
        "result-two-days": td.realised_pnl(td.TradeBook([*rows[:4], *later])),
        "result-strategies": td.realised_pnl(td.TradeBook([*tagged, *rows[3:]]), by="algo_id"),
        "result-long": td.positions(td.TradeBook(row(n, "B", n, f"S{n}") for n in range(1, 31))),
        "result-sold": td.realised_pnl(mixed[5:], shorts=False),
        "result-no-trades": td.realised_pnl(td.TradeBook()),
        "result-no-positions": td.positions(td.TradeBook()),
        "result-differences": td.reconcile(orders, td.TradeBook()),
        "result-nothing": td.reconcile(td.OrderBook(), td.TradeBook()),
    }
