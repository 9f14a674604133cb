"""Execution quality: fill ratio, latencies and price improvement of each order."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import group
from ..table.rows import declared
from .checks import check_codes, require_values
from .inputs import Orders, Trades, joined, last_states, multipliers_at
from .keys import ORDER_COLUMNS, ORDER_KEY, ORDER_NAMES, SAME, OfOrder, lead_columns
from .result_table import ResultTable


@declared
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
        to_exchange: Seconds from entry until the exchange received the order; ``None`` for an order
            entered before the market opened (09:15), which waits for that.
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

    _row = OrderExecution
    _lead, _apart = ORDER_NAMES
    _key_columns = (
        *("display_name", "improvement", "better_by", "fill_ratio", "to_first_fill"),
        *("price", "average"),
    )
    _noun = ("order", "orders")
    _leading = 3
    _summed = ("improvement",)
    _size = "improvement"

    def _heading(self) -> str:
        total = group(self._sum("improvement"), 2)
        return f"{super()._heading()}, improvement {total}, times in seconds"


def execution_quality(
    orders: Orders, trades: Trades, *, buy: str = "B", sell: str = "S"
) -> ExecutionQuality:
    """Measures how quickly, how completely and at what price each order was filled.

    An order is identified by client, day of entry, exchange, segment and ``order_no``. Its legs are
    combined by side, so that purchases and sales of a bracket order are not averaged. Of a leg that
    the orders of several days have more than once, the last row counts.
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
    require_values(fill_book._rows, "quantity", "trade_value")
    rows, accounts = last_states(book, accounts)
    columns = _measured(rows, fill_book._rows, accounts, {buy: 1, sell: -1})
    return ExecutionQuality._of_columns(columns, book._rows.zone)


def _measured(
    orders: Slice, trades: Slice, accounts: list[str | None], signs: dict[str | None, int]
) -> list[list[Any]]:
    """Returns the columns of the result, whose rows are the sides of orders."""
    sides = _core.Groups([orders, trades], (*ORDER_KEY, "txn_type"))
    of_order, first = sides.coarser(ORDER_KEY), sides.first()
    # In the order of the book, but the sides of one order together.
    chosen = [side for side, row in enumerate(first) if row >= 0]
    chosen.sort(key=of_order.__getitem__)
    decimals = _core.decimals_of([(trades, "trade_value"), (orders, "price")])
    places = _core.decimals_of([(orders, "quantity")])
    scale = 10**decimals
    found: tuple[list[Any], ...] = (
        *(first, sides.sums("quantity", places), sides.sums("price", decimals), sides.counts()),
        sides.likenesses("price"),
        *(sides.sums("quantity", 0, 1), sides.sums("trade_value", decimals, 1), sides.counts(1)),
        multipliers_at(trades, sides.first(1)),
        sides.extremes("order_date_time", greatest=False),
        sides.extremes("exch_order_time", greatest=False),
        *(sides.extremes("exch_trade_time", greatest, 1) for greatest in (False, True)),
    )
    columns = [[column[side] for side in chosen] for column in found]
    rows, ordered, totals, legs, same, filled, values, fills, multipliers, *times = columns
    entered, received, started, ended = times
    codes, prices = orders.cells(rows, ["txn_type", "price"])

    shares = [traded * each for traded, each in zip(filled, multipliers, strict=True)]
    prices = [
        price if price and likeness == SAME else None
        for price, likeness in zip(prices, same, strict=True)
    ]
    better = [
        signs[code] * (total // count * held - value) if price and held and code in signs else None
        for price, held, code, total, count, value in zip(
            prices, shares, codes, totals, legs, values, strict=True
        )
    ]
    averages = [
        each / (scale * held) if held else None for each, held in zip(values, shares, strict=True)
    ]
    quantities = [None if units is None else units / 10**places for units in ordered]
    return [
        *lead_columns([accounts[row] for row in rows], orders.cells(rows, ORDER_COLUMNS)),
        *(quantities, filled),
        [each / whole if whole else None for each, whole in zip(filled, quantities, strict=True)],
        *(fills, entered, started, ended),
        list(map(_to_exchange, entered, received)),
        *(list(map(_seconds, received, times)) for times in (started, ended)),
        *(prices, averages),
        [
            None if each is None else each / (scale * held)
            for each, held in zip(better, shares, strict=True)
        ],
        [None if units is None else units / scale for units in better],
    ]


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()


_OPEN = time(9, 15)


def _to_exchange(entered: datetime | None, received: datetime | None) -> float | None:
    """Returns the latency to the exchange, ``None`` for a wait for the market to open."""
    if entered is not None and received is not None:
        is_early = entered.time() < _OPEN, received.time() < _OPEN
        if is_early[0] != is_early[1] or entered.date() != received.date():
            return None
    return _seconds(entered, received)
