"""Execution quality: fill ratio, latencies and price improvement of each order."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import group
from ..table.rows import declared
from .checks import check_codes, require_values
from .fills import Proof, multipliers_at
from .inputs import IST, Lookup, Multipliers, both_books, with_entries
from .issues import NO_ENTRY, UNPROVED, Note, noted
from .keys import ORDER_KEY, SAME, OfOrder, leads_at
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
    sides = _core.Groups([rows, fills], (*ORDER_KEY, "txn_type"))
    places = _core.decimals_of([(rows, "quantity")])
    decimals = _core.decimals_of([(fills, "trade_value"), (rows, "price")])
    measured, notes = [], []
    numbers = sides.numbers(1) if entered else []
    doubtful = {numbers[row] for row in entered}
    all_sides = _executions(sides, rows, fills, places, decimals, multipliers)
    opened = _first_received(all_sides)
    unit, scale = 10**places, 10**decimals
    for side in all_sides:
        lead = side.lead
        if side.proof.lacks:
            notes.append(Note(lead, UNPROVED, f"order {lead.order_no}: {side.proof.lacks}"))
        is_doubtful = side.number in doubtful
        if unknown and (*lead[:2], lead.exchange, lead.segment, lead.order_no) in unknown:
            text = f"order {lead.order_no}: trades of this number may be of another day"
            notes.append(Note(lead, NO_ENTRY, text))
            is_doubtful = True
        elif is_doubtful:
            text = f"order {lead.order_no}: trades matched by their order_no"
            notes.append(Note(lead, NO_ENTRY, text))
        quantity = None if side.quantity is None else side.quantity / unit
        shares = side.filled * (side.proof.multiplier or 0)
        price = side.price if side.price and side.likeness == SAME else None
        improvement = None
        if price is not None and shares and lead.txn_type in (buy, sell):
            sign = 1 if lead.txn_type == buy else -1
            improvement = sign * (side.prices // side.legs * shares - side.value)
        measured.append(
            (
                *lead,
                quantity,
                side.filled,
                side.filled / quantity if quantity and not is_doubtful else None,
                side.fills,
                side.entered,
                side.started,
                side.ended,
                *_latency_and_wait(side, opened),
                _latency(side.received, side.started),
                _latency(side.received, side.ended),
                price,
                side.value / (scale * shares) if shares else None,
                None if improvement is None else improvement / (scale * shares),
                None if improvement is None else improvement / scale,
            )
        )
    return noted(ExecutionQuality._of(measured, rows.zone), notes)


class _Execution(NamedTuple):
    """A side of an order and its trades, added up exactly."""

    lead: Any
    number: int
    order: int
    price: float | None
    legs: int
    quantity: int | None
    prices: Any
    triggers: int | None
    likeness: int  # whether the prices of the legs are equal
    entered: datetime | None
    received: datetime | None
    filled: int
    value: int
    fills: int
    started: datetime | None
    ended: datetime | None
    proof: Proof


def _executions(
    sides: _core.Groups,
    orders: Slice,
    trades: Slice,
    places: int,
    decimals: int,
    multipliers: Multipliers | None,
) -> list[_Execution]:
    """Returns the sides that have an order, those of one order together."""
    lookup = None if multipliers is None else Lookup("multipliers", multipliers)
    columns: Any = zip(
        leads_at(orders, sides.first()),
        range(len(sides)),
        sides.coarser(ORDER_KEY),
        *orders.cells(sides.first(), ["price"]),
        sides.counts(),
        sides.sums("quantity", places),
        sides.sums("price", decimals),
        sides.sums("trigger_price", _core.decimals_of([(orders, "trigger_price")])),
        sides.likenesses("price"),
        *(sides.extremes(name, greatest=False) for name in _TIMES),
        sides.sums("quantity", 0, 1),
        sides.sums("trade_value", decimals, 1),
        sides.counts(1),
        *(sides.extremes("exch_trade_time", greatest, 1) for greatest in (False, True)),
        multipliers_at(trades, sides.first(1), "row {}".format, lookup),
        strict=True,
    )
    executed = [side for side in map(_Execution._make, columns) if side.legs]
    return sorted(executed, key=attrgetter("order"))


def _latency(start: datetime | None, end: datetime | None) -> float | None:
    """Returns the seconds between two times; None if the first is that of a later change."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


_TIMES = ("order_date_time", "exch_order_time")
_OPEN = time(9, 15)
_LONGEST = timedelta(minutes=5)  # between entry and the first order that the exchange took

Opened = dict[tuple[str | None, date], datetime]


def _first_received(sides: list[_Execution]) -> Opened:
    """Returns when each exchange took its first order of each day."""
    opened: Opened = {}
    for side in sides:
        if side.received is not None:
            key = side.lead.exchange, side.received.date()
            if side.received < opened.setdefault(key, side.received):
                opened[key] = side.received
    return opened


def _latency_and_wait(side: _Execution, opened: Opened) -> tuple[float | None, float | None]:
    """Returns the seconds from entry to the exchange: a latency, or else a wait.

    That an exchange had taken no order yet shows that it was not open, unless it is this order
    which was the first: then only the time of day does, or how long it took.
    """
    start, end = side.entered, side.received
    seconds, has_waited = _latency(start, end), bool(side.triggers)
    if start is not None and end is not None:
        first = opened[side.lead.exchange, end.date()]
        if start < first and not has_waited:
            clock = start if start.tzinfo is None else start.astimezone(IST)
            has_waited = clock.time() < _OPEN or first - start > _LONGEST
        if side.started is not None and side.started < end:  # changed after a trade
            seconds = None
    return (None, seconds) if has_waited else (seconds, None)
