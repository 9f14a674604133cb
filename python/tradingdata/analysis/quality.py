"""Execution quality: fill ratio, latencies and price improvement of each order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..books.book import OrderBook, TradeBook
from .by_account import joined
from .exact_sums import decimals_of, exact_sum, in_units
from .multipliers import multipliers_of
from .order_key import ABOUT, APART, LEAD, OfOrder, rows_by_order
from .result_table import ResultTable
from .security_key import SECURITY
from .validation import check_codes, read, require_values

if TYPE_CHECKING:
    from .by_account import Orders, Trades


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderExecution(OfOrder):
    """How one side of an order was executed; see also ``OfOrder``.

    Latencies are whole seconds, because the service sends times to the second.

    Attributes:
        quantity: Ordered quantity, summed over the legs.
        filled: Traded quantity, summed over the trades.
        fill_ratio: ``filled / quantity``.
        fills: Number of trades.
        entered: Time of entry.
        first_fill: Time of the first trade.
        last_fill: Time of the last trade.
        to_exchange: Seconds from entry until the exchange received the order.
        to_first_fill: Seconds from then to the first trade.
        to_last_fill: Seconds from then to the last trade.
        price: Price of the order; ``None`` if it has none (0, or legs of different prices).
        average: Average price of its trades.
        better_by: How much better than ``price`` the average is per share: positive for a cheaper
            purchase or a more expensive sale.
        improvement: ``better_by`` for the filled quantity, in money.
    """

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
    improvement: float | None


class ExecutionQuality(ResultTable[OrderExecution]):
    """Result of ``execution_quality``: one row for each side of an order."""

    __slots__ = ()
    _row = OrderExecution
    _lead = LEAD
    _apart = APART
    _key_columns = (
        *("display_name", "improvement", "better_by", "fill_ratio", "to_first_fill"),
        *("price", "average"),
    )
    _noun = ("order", "orders")
    _leading = 3
    _summed = ("improvement",)
    _size = "improvement"

    def _heading(self) -> str:
        from ..display.plain_table import group

        total = group(exact_sum(self._columns["improvement"]), 2)
        return f"{super()._heading()}, improvement {total}, times in seconds"


def execution_quality(
    orders: Orders, trades: Trades, *, buy: str = "B", sell: str = "S"
) -> ExecutionQuality:
    """Measures how quickly, how completely and at what price each order was filled.

    An order is identified by client, day of entry, exchange, segment and ``order_no``. Its legs are
    combined by side, so that purchases and sales of a bracket order are not averaged.
    Latencies run from ``order_date_time`` to ``exch_order_time`` to ``exch_trade_time``. Trades
    without an order are left out; ``reconcile`` reports them. (Service: "Order record", "Trade
    record".)

    Args:
        orders: The order book, or the books of several accounts as ``td.order_books`` returns them
            or by label.
        trades: The trade book or books of the same accounts.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale. Orders with another code have no ``better_by``.

    Returns:
        One row for each side of an order.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks its quantity or value, if trades of one security are counted in
            different units, or if only one of the books is localized.
        TradingDataError: If the book of one of several accounts could not be fetched.
    """
    book, accounts = joined("orders", orders, OrderBook)
    fill_book, _ = joined("trades", trades, TradeBook)
    check_codes(buy, sell)
    if (book._rows.zone is None) != (fill_book._rows.zone is None):
        raise ValueError("only one of the books has a time zone: localize both")
    fills = rows_by_order(fill_book)
    measured = _Measured(book, fill_book, {buy: 1, sell: -1})
    rows = [
        (accounts[legs[0]], *key, *measured.row(legs, fills.get(key, {}).get(side, [])))
        for key, sides in rows_by_order(book).items()
        for side, legs in sides.items()
    ]
    return ExecutionQuality._of(rows, book._rows.zone)


class _Measured:
    def __init__(self, orders: OrderBook, trades: TradeBook, signs: dict[str, int]) -> None:
        self._signs = signs
        self._about = dict(zip(ABOUT, read(orders, *ABOUT), strict=True))
        self._ordered, self._prices = read(orders, "quantity", "price")
        self._entered, self._received = read(orders, "order_date_time", "exch_order_time")
        quantities, values, self._times = read(trades, "quantity", "trade_value", "exch_trade_time")
        require_values(trades, {"quantity": quantities, "trade_value": values})
        self._securities = list(zip(*read(trades, *SECURITY), strict=True))
        self._multipliers = multipliers_of(trades, self._securities)
        decimals = max(decimals_of(values), decimals_of([price for price in self._prices if price]))
        self._decimals, self._scale = decimals, 10**decimals
        self._quantities, self._values = quantities, in_units(values, decimals)

    def row(self, legs: list[int], fills: list[int]) -> tuple[Any, ...]:
        """Returns the columns of a row from the side on."""
        first, scale = legs[0], self._scale
        ordered = _sum([self._ordered[leg] for leg in legs])
        if ordered is not None and ordered == int(ordered):
            ordered = int(ordered)
        filled = sum(self._quantities[fill] for fill in fills)
        value = sum(self._values[fill] for fill in fills)
        shares = filled * self._multipliers.get(self._securities[fills[0]], 1) if fills else 0
        times = [self._times[fill] for fill in fills if self._times[fill] is not None]
        entered = _earliest([self._entered[leg] for leg in legs])
        received = _earliest([self._received[leg] for leg in legs])
        started, ended = (min(times), max(times)) if times else (None, None)
        price = self._price(legs)
        sign = self._signs.get(self._about["txn_type"][first])
        better = None
        if price is not None and shares and sign:
            (limit,) = in_units([price], self._decimals)
            better = sign * (limit * shares - value)
        return (
            *(self._about[name][first] for name in ABOUT),
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
            value / (scale * shares) if shares else None,
            None if better is None else better / (scale * shares),
            None if better is None else better / scale,
        )

    def _price(self, legs: list[int]) -> float | None:
        prices = {self._prices[leg] for leg in legs}
        return prices.pop() or None if len(prices) == 1 else None


def _sum(values: list[Any]) -> Any:
    return None if None in values else sum(values)


def _earliest(times: list[Any]) -> Any:
    return min((time for time in times if time is not None), default=None)


def _seconds(start: Any, end: Any) -> float | None:
    return None if start is None or end is None else float((end - start).total_seconds())
