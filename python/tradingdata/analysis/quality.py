"""Execution quality: fill ratio, latencies and price improvement of each order."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import group
from ..table.rows import declared
from .checks import check_codes, require_values
from .fills import multipliers_at
from .inputs import IST, Multipliers, both_books, with_entries
from .issues import NO_ENTRY, UNPROVED, Note, noted
from .keys import ORDER_COLUMNS, ORDER_KEY, SAME, Key, OfOrder, lead_columns
from .result_table import BY_ORDER, ResultTable


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
            that waited, or whose ``exch_order_time`` is that of a later change.
        waited: These seconds for an order that waited: one with a trigger price, or entered before
            the market opened and before its exchange took any order of that day.
        to_first_fill: Seconds from the exchange to the first trade; ``None`` if negative.
        to_last_fill: Seconds from the exchange to the last trade; ``None`` if negative.
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
    waited: float | None
    to_first_fill: float | None
    to_last_fill: float | None
    price: float | None
    average: float | None
    better_by: float | None
    improvement: float | None


class ExecutionQuality(ResultTable[OrderExecution]):
    """Result of ``execution_quality``: one row for each side of an order."""

    _row = OrderExecution
    _view = BY_ORDER._replace(
        columns=(
            *("display_name", "improvement", "better_by", "fill_ratio", "to_first_fill"),
            *("price", "average"),
        ),
        narrow=("display_name", "improvement", "better_by"),
        sums=("improvement",),
        rank="improvement",
    )

    def _heading(self) -> str:
        total = group(self._sum("improvement"), 2)
        return f"{super()._heading()}, improvement {total}, times in seconds"


def execution_quality(
    orders: OrderBook,
    trades: TradeBook,
    *,
    multipliers: Multipliers | None = None,
    buy: str = "B",
    sell: str = "S",
) -> ExecutionQuality:
    """Measures how quickly, how completely and at what price each order was filled.

    An order is identified by client, day of entry, exchange, segment and ``order_no``. Its legs are
    combined by side, so that purchases and sales of a bracket order are not averaged. Of a leg that
    the orders of several days have more than once, the last row counts.
    Latencies run from ``order_date_time`` to ``exch_order_time`` to ``exch_trade_time``. Trades
    without an order are left out; ``reconcile`` reports them. Times of different zones are compared
    as instants. An order with trades that lack its time of entry has no ``fill_ratio``. (Service:
    "Order record", "Trade record".)

    Args:
        orders: The order book, of one or several accounts.
        trades: The trade book of the same accounts.
        multipliers: Multipliers of contracts that their trades do not prove, by ``security_id`` or
            ``(security_id, expiry_date)``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale. Orders with another code have no ``better_by``.

    Returns:
        One row for each side of an order.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks its quantity or value, if trades of one contract are counted in
            different units, or if only one of the books is localized.
    """
    check_codes(buy, sell)
    rows, fills = both_books(orders, trades)
    require_values(fills, "quantity", "trade_value")
    fills, entered, unknown = with_entries(fills, rows)
    notes: list[Note] = []
    doubted = entered, unknown
    columns = _measured(rows, fills, {buy: 1, sell: -1}, multipliers, doubted, notes)
    return noted(ExecutionQuality._of_columns(columns, rows.zone), notes)


def _measured(
    orders: Slice,
    trades: Slice,
    signs: dict[str | None, int],
    given: Multipliers | None,
    doubted: tuple[set[int], set[Key]],
    notes: list[Note],
) -> list[list[Any]]:
    """Returns the columns of the result, whose rows are the sides of orders, and notes issues."""
    sides = _core.Groups([orders, trades], (*ORDER_KEY, "txn_type"))
    of_order, first = sides.coarser(ORDER_KEY), sides.first()
    # In the order of the book, but the sides of one order together.
    chosen = [side for side, row in enumerate(first) if row >= 0]
    chosen.sort(key=of_order.__getitem__)
    decimals = _core.decimals_of([(trades, "trade_value"), (orders, "price")])
    places = _core.decimals_of([(orders, "quantity")])
    scale = 10**decimals
    proved, unproved = multipliers_at(trades, sides.first(1), "row {}".format, given)
    found: tuple[list[Any], ...] = (
        *(first, sides.sums("quantity", places), sides.sums("price", decimals), sides.counts()),
        sides.likenesses("price"),
        *(sides.sums("quantity", 0, 1), sides.sums("trade_value", decimals, 1), sides.counts(1)),
        proved,
        sides.sums("trigger_price", _core.decimals_of([(orders, "trigger_price")])),
        sides.extremes("order_date_time", greatest=False),
        sides.extremes("exch_order_time", greatest=False),
        *(sides.extremes("exch_trade_time", greatest, 1) for greatest in (False, True)),
    )
    columns = [[column[side] for side in chosen] for column in found]
    rows, ordered, totals, legs, same, filled, values, fills, multipliers, *waits = columns
    triggers, entered, received, started, ended = waits
    codes, prices = orders.cells(rows, ["txn_type", "price"])
    leading = lead_columns(orders.cells(rows, ORDER_COLUMNS))

    shares = [
        traded * multiplier if multiplier else 0
        for traded, multiplier in zip(filled, multipliers, strict=True)
    ]
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
    entries, unknown = doubted
    fill_sides = sides.numbers(1) if entries else []
    doubtful = {fill_sides[row] for row in entries}
    for side, key in zip(chosen, zip(*leading, strict=True), strict=True):
        if side in unproved:
            notes.append(Note(key, UNPROVED, f"order {key[5]}: {unproved[side]}"))
        if (*key[:2], *key[3:6]) in unknown:
            doubtful.add(side)
            text = f"order {key[5]}: trades of this number may be of another day"
            notes.append(Note(key, NO_ENTRY, text))
        elif side in doubtful:
            notes.append(Note(key, NO_ENTRY, f"order {key[5]}: trades matched by their order_no"))
    ratios = [
        part / whole if whole and side not in doubtful else None
        for side, part, whole in zip(chosen, filled, quantities, strict=True)
    ]
    return [
        *leading,
        *(quantities, filled, ratios),
        *(fills, entered, started, ended),
        *_latencies(leading[3], triggers, entered, received, started),
        *(list(map(_latency, received, times)) for times in (started, ended)),
        *(prices, averages),
        [
            None if each is None else each / (scale * held)
            for each, held in zip(better, shares, strict=True)
        ],
        [None if units is None else units / scale for units in better],
    ]


def _latency(start: datetime | None, end: datetime | None) -> float | None:
    """Returns the seconds between two times; None if the first is that of a later change."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


_OPEN = time(9, 15)
_LONGEST = timedelta(minutes=5)  # between entry and the first order that the exchange took


def _latencies(
    exchanges: list[str | None],
    triggers: list[int | None],
    entered: list[datetime | None],
    received: list[datetime | None],
    started: list[datetime | None],
) -> tuple[list[float | None], list[float | None]]:
    """Returns the seconds from entry to the exchange: latencies, and apart from them waits.

    That an exchange had taken no order yet shows that it was not open, unless it is this order
    which was the first: then only the time of day does, or how long it took.
    """
    first: dict[tuple[str | None, date], datetime] = {}
    for exchange, at in zip(exchanges, received, strict=True):
        if at is not None:
            key = exchange, at.date()
            first[key] = min(at, first.get(key, at))
    latencies: list[float | None] = []
    waits: list[float | None] = []
    columns = zip(exchanges, triggers, entered, received, started, strict=True)
    for exchange, trigger, start, end, fill in columns:
        seconds, has_waited = _latency(start, end), bool(trigger)
        if start is not None and end is not None:
            opened = first[exchange, end.date()]
            clock = start if start.tzinfo is None else start.astimezone(IST)
            early = clock.time() < _OPEN or opened - start > _LONGEST
            has_waited |= start < opened and early
            if fill is not None and fill < end:  # a change, after the order had traded
                seconds = None
        latencies.append(None if has_waited else seconds)
        waits.append(seconds if has_waited else None)
    return latencies, waits
