"""How well orders were executed: how fast, how much of them, and at what price."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .exact_sums import decimals_of, in_units
from .order_key import ASIDES, OfOrder, keys_of, rows_by_order, trades_by_order
from .result_table import ResultTable
from .validation import check_book, check_codes, read, require_values

if TYPE_CHECKING:
    from ..books.book import OrderBook, TradeBook


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderExecution(OfOrder):
    """How one order was executed; see also ``OfOrder``. Latencies are whole seconds, as times are.

    Attributes:
        txn_type: the code of its side.
        quantity: ordered, summed over the legs.
        filled: traded, summed over the trades.
        fill_ratio: ``filled`` by ``quantity``.
        fills: how many trades.
        entered: order entry time.
        first_fill: time of the first trade.
        last_fill: time of the last trade.
        to_exchange: seconds from the entry until the exchange received it.
        to_first_fill: seconds from there to the first trade.
        to_last_fill: seconds from there to the last trade.
        price: the order's price; ``None`` without one (0, or legs of different prices).
        average: price of all its trades together.
        better_by: how much better than ``price`` that is, for one share: positive where a purchase
            was cheaper or a sale dearer.
    """

    txn_type: str | None
    quantity: float | None
    filled: int
    fill_ratio: float | None
    fills: int
    entered: datetime | None
    first_fill: datetime | None
    last_fill: datetime | None
    to_exchange: float | None
    to_first_fill: float | None
    to_last_fill: float | None
    price: float | None
    average: float | None
    better_by: float | None


class ExecutionQuality(ResultTable[OrderExecution]):
    """What ``execution_quality`` gives: a row for each order, in the order book's order."""

    __slots__ = ()
    _row = OrderExecution
    _asides = (*ASIDES, "entered", "first_fill", "last_fill")


def execution_quality(
    orders: OrderBook, trades: TradeBook, *, buy: str = "B", sell: str = "S"
) -> ExecutionQuality:
    """How fast, how far and at what price each order of the order book was filled.

    Fills are those of the trade book; an order is known by account, day of entry, exchange, segment
    and ``order_no``, its legs taken together. Latencies go from ``order_date_time`` over
    ``exch_order_time`` to ``exch_trade_time``. ``buy`` and ``sell`` are the codes of ``txn_type``,
    which the service does not document; an order of another code has no ``better_by``.

    Raises ValueError for a trade that lacks its quantity or its value, and where only one book is
    localized. Trades of orders that the order book does not have are left out: ``reconcile`` tells
    of them. (Service: "Order record", "Trade record".)
    """
    from ..books.book import OrderBook, TradeBook

    check_book("orders", orders, OrderBook)
    check_book("trades", trades, TradeBook)
    check_codes(buy, sell)
    if (orders._table.zone is None) != (trades._table.zone is None):
        raise ValueError("times of one book have a zone, of the other none; localize them alike")
    by_order = rows_by_order(keys_of(orders))
    by_trade, _ = trades_by_order(trades, by_order)
    measured = _Measured(orders, trades, {buy: 1, sell: -1})
    rows = [(*key, *measured.row(legs, by_trade.get(key, []))) for key, legs in by_order.items()]
    return ExecutionQuality._of(rows, orders._table.zone)


class _Measured:
    def __init__(self, orders: OrderBook, trades: TradeBook, signs: dict[str, int]) -> None:
        self._signs = signs
        self._symbols, self._sides = read(orders, "symbol", "txn_type")
        self._ordered, self._prices = read(orders, "quantity", "price")
        self._entered, self._received = read(orders, "order_date_time", "exch_order_time")
        quantities, values, self._times = read(trades, "quantity", "trade_value", "exch_trade_time")
        require_values(trades, {"quantity": quantities, "trade_value": values})
        decimals = max(decimals_of(values), decimals_of([price for price in self._prices if price]))
        self._scale = 10**decimals
        self._quantities, self._values = quantities, in_units(values, decimals)

    def row(self, legs: list[int], fills: list[int]) -> tuple[Any, ...]:
        """The rest of a row, from the symbol on."""
        first, scale = legs[0], self._scale
        ordered = _sum([self._ordered[leg] for leg in legs])
        filled = sum(self._quantities[fill] for fill in fills)
        value = sum(self._values[fill] for fill in fills)
        times = [self._times[fill] for fill in fills if self._times[fill] is not None]
        entered = _least([self._entered[leg] for leg in legs])
        received = _least([self._received[leg] for leg in legs])
        started, ended = (min(times), max(times)) if times else (None, None)
        price = self._price(legs)
        sign = self._signs.get(self._sides[first])
        better = None
        if price is not None and filled and sign:
            (asked,) = in_units([price], len(str(scale)) - 1)
            better = sign * (asked * filled - value) / (scale * filled)
        return (
            self._symbols[first],
            self._sides[first],
            ordered,
            filled,
            filled / ordered if ordered else None,
            len(fills),
            entered,
            started,
            ended,
            _seconds(entered, received),
            _seconds(received, started),
            _seconds(received, ended),
            price,
            value / (scale * filled) if filled else None,
            better,
        )

    def _price(self, legs: list[int]) -> float | None:
        prices = {self._prices[leg] for leg in legs}
        return prices.pop() or None if len(prices) == 1 else None


def _sum(values: list[Any]) -> Any:
    return None if None in values else sum(values)


def _least(times: list[Any]) -> Any:
    return min((time for time in times if time is not None), default=None)


def _seconds(start: Any, end: Any) -> float | None:
    return None if start is None or end is None else float((end - start).total_seconds())
