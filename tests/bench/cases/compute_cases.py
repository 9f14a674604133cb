"""Calculations on a decoded book, beside polars on a frame of it and plain Python on its rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ..harness.bodies import book
from ..harness.case import Prepare, Ready, Source, peer

ORDER_OF = 5  # an order for each fifth trade


def _key() -> list[str]:
    """What identifies a position."""
    return list(peer("tradingdata.analysis.keys").KEY)


def _declared(record: str, what: str) -> list[str]:
    declarations = peer("tradingdata._util.declarations")
    return list(declarations.RECORDS[record][what])


def _order_key() -> list[str]:
    """What identifies an order in both books."""
    return [
        name for name in _declared("Order", "identity") if name in _declared("Trade", "identity")
    ]


def _ready(run: Callable[[], Any], rows: Callable[[Any], int] = len) -> Ready:
    return Ready(run, lambda found: {"rows": rows(found), "sums": {}, "kinds": {}})


def _trades(source: Source) -> Any:
    return peer("tradingdata").TradeBook.from_json(source.body())


def _orders(trades: Any) -> Any:
    path = book("Order", len(trades) // ORDER_OF)
    return peer("tradingdata").OrderBook.from_json(path.read_bytes())


def _frame(made: Any) -> Any:
    return peer("polars").DataFrame(made)


def positions_ours(source: Source) -> Ready:
    td, trades = peer("tradingdata"), _trades(source)
    return _ready(lambda: td.positions(trades))


def _sides(pl: Any) -> list[Any]:
    """Quantity and value bought and sold of each group."""
    quantity, value, side = map(pl.col, ("quantity", "trade_value", "txn_type"))
    return [
        column.filter(side == name).sum().alias(f"{name}_{what}")
        for name in "BS"
        for what, column in (("quantity", quantity), ("value", value))
    ]


def positions_polars(source: Source) -> Ready:
    pl, frame = peer("polars"), _frame(_trades(source))
    key = _key()
    first = pl.col(*_declared("Trade", "display")).exclude(*key, "quantity", "txn_type").first()
    averages = {
        f"{name}_average": pl.col(f"{name}_value") / pl.col(f"{name}_quantity") for name in "BS"
    }

    def run() -> Any:
        groups = frame.group_by(key, maintain_order=True).agg(*_sides(pl), first, pl.len())
        return groups.with_columns(**averages)

    return _ready(run)


def realised_ours(source: Source) -> Ready:
    td, trades = peer("tradingdata"), _trades(source)
    return _ready(lambda: td.realised_pnl(trades))


def realised_python(source: Source) -> Ready:
    """First in, first out over the rows, with what each lot realised."""
    trades = _trades(source)
    time, key_of = (attrgetter(*names) for names in (_declared("Trade", "event_times")[:1], _key()))

    def run() -> dict[Any, float]:
        lots: dict[Any, deque[tuple[int, float]]] = {}
        realised: dict[Any, float] = {}
        for trade in sorted(trades, key=time):
            key = key_of(trade)
            open_lots = lots.setdefault(key, deque())
            left = trade.quantity if trade.txn_type == "B" else -trade.quantity
            price = trade.traded_price
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
        return realised

    return _ready(run)


def reconcile_ours(source: Source) -> Ready:
    td, trades = peer("tradingdata"), _trades(source)
    orders = _orders(trades)
    return _ready(lambda: td.reconcile(orders, trades), lambda found: 0)


def reconcile_polars(source: Source) -> Ready:
    pl, trades = peer("polars"), _trades(source)
    left, right, order = _frame(_orders(trades)), _frame(trades), _order_key()
    compared = ["txn_type", *(name for name in _key() if name not in order)]

    def run() -> Any:
        fills = right.group_by(order).agg(*_sides(pl), pl.col(compared).first())
        both = left.join(fills, on=order, how="full", suffix="_of_trades")
        same = [pl.col(name) == pl.col(f"{name}_of_trades") for name in compared]
        return both.with_columns(pl.all_horizontal(same).alias("agree")).sort(order)

    return _ready(run, lambda found: 0)


def quality_ours(source: Source) -> Ready:
    td, trades = peer("tradingdata"), _trades(source)
    orders = _orders(trades)
    return _ready(lambda: td.execution_quality(orders, trades), lambda found: 0)


def quality_polars(source: Source) -> Ready:
    pl, trades = peer("polars"), _trades(source)
    left, right, order = _frame(_orders(trades)), _frame(trades), _order_key()
    time, entered = (pl.col(_declared(name, "event_times")[0]) for name in ("Trade", "Order"))
    averages = pl.col("value") / pl.col("filled")

    def run() -> Any:
        sums = [
            pl.col("quantity").sum().alias("filled"),
            pl.col("trade_value").sum().alias("value"),
        ]
        times = [time.min().alias("first_fill"), time.max().alias("last_fill")]
        both = left.join(right.group_by(order).agg(*sums, *times), on=order, how="left")
        return both.with_columns(
            (averages - pl.col("price")).alias("better_by"),
            (pl.col("filled") / pl.col("quantity")).alias("fill_ratio"),
            (pl.col("first_fill") - entered).alias("to_first_fill"),
        ).sort("better_by")

    return _ready(run, lambda found: 0)


def sort_ours(source: Source) -> Ready:
    trades = _trades(source)
    return _ready(lambda: trades.sort("symbol", "traded_price"))


def sort_polars(source: Source) -> Ready:
    frame = _frame(_trades(source))
    return _ready(lambda: frame.sort("symbol", "traded_price", maintain_order=True))


def equal_ours(source: Source) -> Ready:
    one, other = _trades(source), _trades(source)
    return _ready(lambda: one == other, int)


def equal_polars(source: Source) -> Ready:
    one, other = _frame(_trades(source)), _frame(_trades(source))
    return _ready(lambda: one.equals(other), int)


CASES: dict[str, Prepare] = {
    "positions": positions_ours,
    "positions:polars": positions_polars,
    "realised": realised_ours,
    "realised:python": realised_python,
    "reconcile": reconcile_ours,
    "reconcile:polars": reconcile_polars,
    "quality": quality_ours,
    "quality:polars": quality_polars,
    "sort": sort_ours,
    "sort:polars": sort_polars,
    "equal": equal_ours,
    "equal:polars": equal_polars,
}
