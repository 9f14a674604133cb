"""Execution quality: fill ratio, latencies and price improvement of each order."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display import group
from ..table.rows import declared
from .events import check_codes, require_values
from .inputs import IST, Lookup, Multipliers, both_books, with_entries
from .keys import ORDER_COLUMNS, ORDER_KEY, SAME, Key, OfOrder, leads_at
from .multipliers import Proof, multipliers_at
from .results import BY_ORDER, Column, Note, Problem, ResultTable, noted


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
    rows = _by_order(rows)
    sides = _core.Groups([rows, fills], (*ORDER_KEY, "txn_type"))
    size = sum(map(bool, sides.counts()))  # those that have an order come first
    first, legs = sides.first()[:size], sides.counts()[:size]
    lookup = None if multipliers is None else Lookup("multipliers", multipliers)
    proofs = multipliers_at(fills, sides.first(1)[:size], "row {}".format, lookup)
    numbers = sides.numbers(1) if entered else []
    doubtful = {numbers[row] for row in entered}
    notes = []
    if unknown or doubtful or any(proof.lacks for proof in proofs):
        notes = _doubts(leads_at(rows, first), proofs, doubtful, unknown)

    places = _core.decimals_of([(rows, "quantity")])
    decimals = _core.decimals_of([(fills, "trade_value"), (rows, "price")])
    unit, scale = 10**places, 10**decimals
    ordered = [units and units / unit for units in sides.sums("quantity", places)[:size]]
    filled: Any = sides.sums("quantity", 0, 1)[:size]
    values = sides.sums("trade_value", decimals, 1)[:size]
    shares = [
        quantity * (proof.multiplier or 0) for quantity, proof in zip(filled, proofs, strict=True)
    ]
    given, codes, exchanges = rows.cells(first, ["price", "txn_type", "exchange"])
    alike = sides.likenesses("price")[:size]
    prices = [
        price if price and likeness == SAME else None
        for price, likeness in zip(given, alike, strict=True)
    ]
    signs = {buy: 1, sell: -1}
    sums: Any = sides.sums("price", decimals)[:size]
    improvements = [
        signs[code] * (total // count * held - value) if price and held and code in signs else None
        for price, held, code, total, count, value in zip(
            prices, shares, codes, sums, legs, values, strict=True
        )
    ]
    started, ended = (
        sides.extremes("exch_trade_time", greatest, 1)[:size] for greatest in (False, True)
    )
    entry, received = (sides.extremes(name, greatest=False)[:size] for name in _TIMES)
    triggers = sides.sums("trigger_price", _core.decimals_of([(rows, "trigger_price")]))[:size]
    latencies, waits = _latencies_and_waits(exchanges, entry, received, started, triggers)
    columns: dict[str, Column] = {
        "quantity": ordered,
        "filled": filled,
        "fill_ratio": [
            quantity / whole if whole and number not in doubtful else None
            for number, (quantity, whole) in enumerate(zip(filled, ordered, strict=True))
        ],
        "fills": sides.counts(1)[:size],
        "entered": entry,
        "first_fill": started,
        "last_fill": ended,
        "to_exchange": latencies,
        "waited": waits,
        "to_first_fill": list(map(_latency, received, started)),
        "to_last_fill": list(map(_latency, received, ended)),
        "price": prices,
        "average": [
            value / (scale * held) if held else None
            for value, held in zip(values, shares, strict=True)
        ],
        "better_by": [
            None if units is None else units / (scale * held)
            for units, held in zip(improvements, shares, strict=True)
        ],
        "improvement": [None if units is None else units / scale for units in improvements],
    }
    leads = [(rows, first, ORDER_COLUMNS)]
    return noted(ExecutionQuality._of_named(leads, columns, rows.zone), notes)


def _by_order(rows: Slice) -> Slice:
    """Returns orders in which the sides of one order are together."""
    numbers = _core.Groups([rows], ORDER_KEY).numbers()
    if numbers == sorted(numbers):
        return rows
    return rows.take(sorted(range(len(rows)), key=numbers.__getitem__))


def _doubts(
    leads: list[Any], proofs: list[Proof], doubtful: set[int], unknown: set[Key]
) -> list[Note]:
    """Returns what is not known of sides; adds to ``doubtful`` those of ``unknown`` orders."""
    notes = []
    for number, (lead, proof) in enumerate(zip(leads, proofs, strict=True)):
        text = f"order {lead.order_no}: "
        if proof.lacks:
            notes.append(Note(lead, Problem.UNPROVED, text + proof.lacks))
        if (*lead[:2], lead.exchange, lead.segment, lead.order_no) in unknown:
            doubtful.add(number)
            notes.append(
                Note(lead, Problem.NO_ENTRY, f"{text}trades of this number may be of another day")
            )
        elif number in doubtful:
            notes.append(Note(lead, Problem.NO_ENTRY, f"{text}trades matched by their order_no"))
    return notes


def _latency(start: datetime | None, end: datetime | None) -> float | None:
    """Returns the seconds between two times; None if the first is that of a later change."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


_TIMES = ("order_date_time", "exch_order_time")
_OPEN = time(9, 15)
_LONGEST = timedelta(minutes=5)  # between entry and the first order that the exchange took

Times = list[datetime | None]


def _latencies_and_waits(
    exchanges: list[str | None],
    entered: Times,
    received: Times,
    started: Times,
    triggers: list[int | None],
) -> tuple[list[float | None], list[float | None]]:
    """Returns the seconds from entry to the exchange: a latency, or else a wait.

    That an exchange had taken no order yet shows that it was not open, unless it is this order
    which was the first: then only the time of day does, or how long it took.
    """
    opened: dict[tuple[str | None, date], datetime] = {}  # first order of each exchange and day
    for exchange, at in zip(exchanges, received, strict=True):
        if at is not None and at < opened.setdefault((exchange, at.date()), at):
            opened[exchange, at.date()] = at
    latencies: list[float | None] = []
    waits: list[float | None] = []
    columns = zip(exchanges, entered, received, started, triggers, strict=True)
    for exchange, start, end, traded, trigger in columns:
        seconds, has_waited = _latency(start, end), bool(trigger)
        if start is not None and end is not None:
            first = opened[exchange, end.date()]
            if start < first and not has_waited:
                clock = start if start.tzinfo is None else start.astimezone(IST)
                has_waited = clock.time() < _OPEN or first - start > _LONGEST
            if traded is not None and traded < end:  # changed after a trade
                seconds = None
        latencies.append(None if has_waited else seconds)
        waits.append(seconds if has_waited else None)
    return latencies, waits
