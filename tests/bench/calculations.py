"""Calculations on decoded books of several accounts, beside polars on frames and plain loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

from .archives import books_of_days
from .bodies import book
from .case import Ready, Way, Ways, fact_of, peer

PART, ORDERS = 25_000, 20_000  # trades of an account, or its orders where they count
KEY = ("account", "client_id", "exchange", "segment", "security_id", "expiry_date", "product")
ORDER_KEY = ["account", "client_id", "exchange", "segment", "order_no"]
NAMES = ("symbol", "display_name", "opt_type", "strike_price")
TRADED, ENTERED = "exch_trade_time", "order_date_time"


def trades_of(size: int) -> Any:
    """A trade book of `size` trades, of as many accounts as have 25,000."""
    return _of_accounts("TradeBook", book("Trade", PART), size // PART)


def both_of(size: int) -> list[Any]:
    """An order book of `size` orders, of as many accounts as have 20,000, and all their trades."""
    bodies = {x: book(x, 0, orders=ORDERS) for x in ("Order", "Trade")}
    return [_of_accounts(f"{x}Book", body, size // ORDERS) for x, body in bodies.items()]


def _of_accounts(kind: str, body: Path, accounts: int) -> Any:
    td, content = peer("tradingdata"), body.read_bytes()
    decode = getattr(td, kind).from_json
    return td.concat([decode(content, account=f"desk{number}") for number in range(accounts)])


def _frame(book: Any) -> Any:
    return peer("polars").DataFrame(book)


def _td(name: str) -> Callable[..., Any]:
    return lambda *given, **options: getattr(peer("tradingdata"), name)(*given, **options)


def of(make: Callable[[int], Any], work: Callable[[Any], Any], check: Any = None) -> Way:
    """Work on what is made of a size beforehand."""

    def prepare(size: int) -> Ready:
        made = make(size)
        return Ready(lambda: work(made), check or fact_of())

    return prepare


def beside(ours: Any, polars: Any) -> Ways:
    """Work on a trade book, and of polars on a frame of it."""
    frames = of(lambda size: _frame(trades_of(size)), polars)
    return {"tradingdata": of(trades_of, ours), "polars": frames}


def beside_orders(ours: Any, polars: Any, check: Any, theirs: Any) -> Ways:
    """Work on orders and their trades, and of polars on frames of them."""
    frames = of(lambda x: list(map(_frame, both_of(x))), lambda both: polars(*both), theirs)
    return {"tradingdata": of(both_of, lambda both: ours(*both), check), "polars": frames}


def _sides(pl: Any) -> list[Any]:
    """Quantity and value bought and sold of each group."""
    quantity, value, side = map(pl.col, ("quantity", "trade_value", "txn_type"))
    return [
        column.filter(side == name).sum().alias(f"{name}_{what}")
        for name in "BS"
        for what, column in (("quantity", quantity), ("value", value))
    ]


def positions() -> Ways:
    def polars(frame: Any) -> Any:
        pl = peer("polars")
        groups = frame.group_by(KEY, maintain_order=True)
        averages = {f"{x}_average": pl.col(f"{x}_value") / pl.col(f"{x}_quantity") for x in "BS"}
        sums = groups.agg(*_sides(pl), pl.col(NAMES).first(), pl.len())
        return sums.with_columns(**averages)

    return beside(_td("positions"), polars)


def _fifo(trades: Any) -> dict[str, list[Any]]:
    """First in, first out over the rows: what each key realised."""
    lots: dict[Any, deque[tuple[int, float]]] = {}
    realised: dict[Any, float] = {}
    key_of = attrgetter(*KEY)
    for trade in sorted(trades, key=attrgetter(TRADED)):
        key, price = key_of(trade), trade.traded_price
        open_lots = lots.setdefault(key, deque())
        left = trade.quantity if trade.txn_type == "B" else -trade.quantity
        realised.setdefault(key, 0.0)
        while left and open_lots and (open_lots[0][0] > 0) != (left > 0):
            quantity, cost = open_lots[0]
            closed = min(abs(quantity), abs(left)) * (1 if quantity > 0 else -1)
            realised[key] += closed * (price - cost)
            left += closed
            if closed == quantity:
                open_lots.popleft()
            else:
                open_lots[0] = (quantity - closed, cost)
        if left:
            open_lots.append((left, price))
    return {"key": list(realised), "realised": list(realised.values())}


def realised() -> Ways:
    check = fact_of(realised="realised")
    return {
        "tradingdata": of(trades_of, _td("realised_pnl"), check),
        "a loop over the rows": of(trades_of, _fifo, check),
    }


def day() -> Ways:
    """The day's net with charges, and a loop over the rows without them."""

    def net(trades: Any) -> Any:
        td = peer("tradingdata")
        prices = dict(zip(*map(trades.column, ("security_id", "traded_price")), strict=True))
        capped = {"brokerage": 0.0003, "cap": 20, "gst": 0.18}
        rates = [
            td.ChargeRate(where={"product": {"I", "M"}}, **capped),
            td.ChargeRate(stt_sell=0.001),
        ]
        return td.day_pnl(trades, prices=prices, charges=rates)

    return realised() | {"tradingdata": of(trades_of, net, fact_of(realised="realised"))}


def daily() -> Ways:
    """Profit and loss by day of `size` days of 200 trades, and what all days realised together."""
    whole = lambda size: peer("tradingdata").concat(books_of_days(size, 200))  # noqa: E731
    check = fact_of(count=False, realised="realised")
    ours = lambda trades: peer("tradingdata").daily_pnl(trades, prices={})  # noqa: E731
    return {"tradingdata": of(whole, ours, check), "a loop over the rows": of(whole, _fifo, check)}


def _each(orders: Any) -> Any:
    """Orders by number and side: one may have several legs."""
    return orders.unique([*ORDER_KEY, "txn_type"], keep="first", maintain_order=True)


def reconcile() -> Ways:
    def polars(orders: Any, trades: Any) -> Any:
        pl, key = peer("polars"), [*ORDER_KEY, "txn_type"]
        compared = [name for name in KEY if name not in ORDER_KEY]
        traded = pl.col("quantity").sum().alias("traded")
        fills = trades.group_by(key).agg(traded, *_sides(pl), pl.col(compared).first())
        both = _each(orders).join(fills, on=key, how="full", suffix="_of_trades")
        same = [pl.col(name) == pl.col(f"{name}_of_trades") for name in compared]
        return both.with_columns(pl.all_horizontal(same).alias("agree")).sort(key)

    ours, theirs = fact_of(traded="trades_quantity"), fact_of(traded="traded")
    return beside_orders(_td("reconcile"), polars, ours, theirs)


def quality() -> Ways:
    def polars(orders: Any, trades: Any) -> Any:
        pl, key = peer("polars"), [*ORDER_KEY, "txn_type"]
        time, average = pl.col(TRADED), pl.col("value") / pl.col("filled")
        sums = trades.group_by(key).agg(
            pl.col("quantity").sum().alias("filled"),
            pl.col("trade_value").sum().alias("value"),
            time.min().alias("first_fill"),
            time.max().alias("last_fill"),
        )
        both = _each(orders).join(sums, on=key, how="left")
        return both.with_columns(
            (average - pl.col("price")).alias("better_by"),
            (pl.col("filled") / pl.col("quantity")).alias("fill_ratio"),
            (pl.col("first_fill") - pl.col(ENTERED)).alias("to_first_fill"),
        ).sort("better_by")

    check = fact_of(filled="filled")
    return beside_orders(_td("execution_quality"), polars, check, check)


def sort() -> Ways:
    names = ("symbol", "traded_price")
    return beside(lambda x: x.sort(*names), lambda x: x.sort(*names, maintain_order=True))
