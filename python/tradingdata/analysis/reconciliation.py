"""Compares the order book with the trade book, order by order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from typing import Any

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import counted, group
from ..table.rows import declared
from .fills import multipliers_at
from .inputs import Multipliers, amount, both_books, with_entries
from .issues import UNPROVED, Note, noted
from .keys import ORDER_COLUMNS, ORDER_KEY, SAME, SOME_MISSING, Key, OfOrder
from .result_table import BY_ORDER, ResultTable

AGREES = "agrees"
VALUE_MISSING = "value missing"
UNKNOWN = "multiplier unknown"
_ENTERED = ORDER_COLUMNS[2]
_PARTY = ORDER_KEY[:2]
_DIFFERS = {
    "txn_type": "side differs",
    "security_id": "security differs",
    "product": "product differs",
}


@declared
class OrderCheck(OfOrder):
    """One side of an order in both books; see also ``OfOrder``.

    Attributes:
        finding: ``agrees``; ``side differs``, ``security differs``, ``product differs``,
            ``quantity differs`` or ``price differs``; ``no trades`` for an order that is filled;
            ``earlier days missing`` for an order of a day before all trades, of which they are less
            than it has filled;
            ``no order`` for trades without an order; ``order book empty`` if there was no order of
            the client to compare with; ``value missing`` if the comparison lacks a value, also a
            time of entry;
            ``multiplier unknown`` if prices cannot be compared, since values prove none.
        legs: Rows in the order book.
        fills: Rows in the trade book.
        orders_quantity: Sum of ``traded_qty`` over the legs.
        trades_quantity: Sum of ``quantity`` over the trades.
        orders_average: ``avg_traded_price``, weighted over the legs; ``None`` if nothing traded.
        trades_average: ``trades_value / (trades_quantity * multiplier)``.
        orders_value: Sum of ``traded_qty * avg_traded_price * multiplier`` over the legs.
        trades_value: Sum of ``trade_value`` over the trades.
        multiplier: Shares in a contract as ``trade_value`` counts it, 1 for shares; ``None``
            without trades or where nothing proves it.
    """

    finding: str
    legs: int
    fills: int
    orders_quantity: float | None
    trades_quantity: int | None
    orders_average: float | None
    trades_average: float | None
    orders_value: float | None
    trades_value: float | None
    multiplier: int | None


_COMPARED = ("finding", "display_name", "orders_quantity", "trades_quantity")


class Reconciliation(ResultTable[OrderCheck]):
    """Result of ``reconcile``: one row for each side of an order, with or without a fill.

    Attributes:
        other_days: Number of trades left out because their orders were entered on days that the
            order book does not have.
    """

    _row = OrderCheck
    _view = BY_ORDER._replace(
        noun="row",
        columns=(*_COMPARED, "orders_average", "trades_average"),
        narrow=_COMPARED,
        rank="finding",
    )

    other_days: int

    def _ranks(self) -> list[Any]:
        rows = zip(self._column("finding"), self._column("fills"), strict=True)
        return [2 * (finding == AGREES) + (not fills) for finding, fills in rows]

    @property
    def agrees(self) -> bool:
        """Whether orders were compared and all of them agree; False if there were none."""
        return set(self._column("finding")) == {AGREES}

    @property
    def differences(self) -> Reconciliation:
        """The rows whose finding is not ``agrees``."""
        return self.filter(finding__ne=AGREES)

    def _heading(self) -> str:
        counts = Counter(self._column("finding"))
        parts = [counted(len(self), "order")]
        agree = counts.pop(AGREES, 0)
        parts += [f"{group(agree)} agree"] if len(self) else ["nothing to compare"]
        parts += [f"{group(count)} {finding}" for finding, count in sorted(counts.items())]
        if self.other_days:
            parts.append(f"{counted(self.other_days, 'trade')} of other days left out")
        return ", ".join(parts)


def reconcile(
    orders: OrderBook,
    trades: TradeBook,
    *,
    tolerance: float = 0.01,
    multipliers: Multipliers | None = None,
) -> Reconciliation:
    """Compares each order of the order book with its trades: side, security, product and fills.

    An order is identified by client, day of entry, exchange, segment and ``order_no``. Its legs are
    summed by side, and so are its trades, so that the two sides of a bracket order remain separate.
    Quantities must be equal; average prices may differ by the tolerance, because the order book
    rounds them. Values that count a contract as a lot of shares are recognised. A missing value is
    never treated as zero; without a time of entry, rows are matched by their other fields. Times of
    different zones are compared as instants. Sums are exact. Of a leg that the orders of several
    days have more than once, the last row counts. (Service: "Order record", "Trade record".)

    The order book covers the current day only. Trades of orders entered on days that it does not
    cover are left out and counted in ``other_days``. If it is empty, as after the service has
    cleared it, every trade is reported as ``order book empty``. Both are decided for each account
    and client, so that joining the books of others changes nothing.

    Args:
        orders: The order book, of one or several accounts.
        trades: The trade book of the same accounts.
        tolerance: Largest difference of average prices that still agrees, in the currency of the
            price.
        multipliers: Multipliers of contracts that their trades do not prove, by ``security_id`` or
            ``(security_id, expiry_date)``.

    Returns:
        One row for each side of an order, with its ``finding``: differences first, orders without
        trades last.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the tolerance is negative or not finite, if trades of one contract are
            counted in different units, or if only one of the books is localized.
    """
    made, notes = compared(orders, trades, amount("tolerance", tolerance), multipliers)
    return noted(made, notes)


def compared(
    orders: OrderBook, trades: TradeBook, tolerance: float, multipliers: Multipliers | None
) -> tuple[Reconciliation, list[Note]]:
    """Returns the comparison of two books, and its issues."""
    order_rows, fills = both_books(orders, trades)
    total = len(fills)
    began = {
        party: min(days, default=date.min)
        for party, days in _days_of(fills, "exch_trade_time").items()
    }
    fills, entered, unknown = with_entries(fills, order_rows)
    order_rows, also_entered, also_unknown = with_entries(order_rows, fills)
    covered = _days_of(order_rows, _ENTERED)
    rows_of = zip(*map(fills.column, (*_PARTY, _ENTERED)), strict=True)
    numbers = [  # a trade without an entry time counts as one of the orders' days
        row
        for row, (*party, at) in enumerate(rows_of)
        if at is None or at.date() in covered.get(tuple(party), {at.date()})
    ]
    if len(numbers) < total:
        fills = fills.take(numbers)
    doubted = also_entered, {at for at, row in enumerate(numbers) if row in entered}
    notes: list[Note] = []
    rows = _rows_of(
        order_rows,
        fills,
        tolerance,
        (multipliers, lambda row: f"row {numbers[row]}"),
        doubted,
        (began, set(covered), unknown | also_unknown),
        notes,
    )
    made = Reconciliation._of(rows)
    made.other_days = total - len(fills)
    return made, notes


def _days_of(rows: Slice, field: str) -> dict[Key, set[date]]:
    """Returns the days of rows by account and client."""
    first = _core.Groups([rows], [*_PARTY, f"{field}.day"]).first()
    found: dict[Key, set[date]] = {}
    for *party, at in zip(*rows.cells(first, [*_PARTY, field]), strict=True):
        found.setdefault(tuple(party), set()).update({at.date()} if at else ())
    return found


def _crossed(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the sides of one order, those without a leg last.

    Where a single side is left over in each book, the two are one pair, whose sides differ.
    """
    without_leg = [fill for leg, fill in pairs if leg < 0]
    without_fill = [leg for leg, fill in pairs if fill < 0]
    if len(without_leg) == len(without_fill) == 1:
        return [(leg, without_leg[0] if fill < 0 else fill) for leg, fill in pairs if leg >= 0]
    return sorted(pairs, key=lambda pair: pair[0] < 0)


def _pairs(sides: _core.Groups) -> list[tuple[int, int]]:
    """Returns which side of an order in the order book belongs to which in the trade book.

    A side that is missing in one of the books is -1 there.
    """
    orders_of = sides.coarser(ORDER_KEY)
    pairs = [
        (side if leg >= 0 else -1, side if fill >= 0 else -1)
        for side, (leg, fill) in enumerate(zip(sides.first(), sides.first(1), strict=True))
    ]
    if max(orders_of, default=-1) + 1 == len(orders_of):  # no order has two sides
        return pairs
    of_order: dict[int, list[tuple[int, int]]] = {}
    for order, pair in zip(orders_of, pairs, strict=True):
        of_order.setdefault(order, []).append(pair)
    return [
        pair
        for found in of_order.values()
        for pair in (_crossed(found) if len(found) > 1 else found)
    ]


def _rows_of(
    orders: Slice,
    trades: Slice,
    tolerance: float,
    given: tuple[Multipliers | None, Callable[[int], str]],
    doubted: tuple[set[int], set[int]],
    known: tuple[dict[Key, date], set[Key], set[Key]],
    notes: list[Note],
) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of the result, in the order of the books.

    ``known`` has, by account and client, the first day of the trades, and those with orders; and
    the order numbers of which some rows do not say on which of several days they were entered.
    """
    began, covered, unknown = known
    sides = _core.Groups([orders, trades], (*ORDER_KEY, "txn_type"))
    decimals = _core.decimals_of([(orders, "avg_traded_price"), (trades, "trade_value")])
    places = _core.decimals_of([(orders, "traded_qty")])
    unit, scale = 10**places, 10 ** (decimals + places)
    allowed = Fraction(repr(tolerance)) * scale
    # By side, in exact units, None if a value is missing; the last value is that of the side -1.
    first, first_fill = [*sides.first(), -1], [*sides.first(1), -1]
    legs, fills = [*sides.counts(), 0], [*sides.counts(1), 0]
    filled = [*sides.sums("traded_qty", places), None]
    bought = [*sides.sums_of_products("traded_qty", places, "avg_traded_price", decimals), None]
    traded = [*sides.sums("quantity", 0, 1), 0]
    values = [*sides.sums("trade_value", decimals, 1), 0]
    multipliers, unproved = multipliers_at(trades, first_fill, given[1], given[0])
    doubtful = [
        {numbers[row] for row in rows}
        for numbers, rows in zip((sides.numbers(), sides.numbers(1)), doubted, strict=True)
    ]
    alike = [
        ([*sides.likenesses(name), SAME], [*sides.likenesses(name, 1), SAME]) for name in _DIFFERS
    ]
    pairs = _pairs(sides)
    of_orders = orders.cells([first[leg] for leg, _ in pairs], ORDER_COLUMNS)
    of_trades = trades.cells([first_fill[fill] for _, fill in pairs], ORDER_COLUMNS)
    cells = zip(zip(*of_orders, strict=True), zip(*of_trades, strict=True), strict=True)
    for (leg, fill), (ordered, executed) in zip(pairs, cells, strict=True):
        account, client, entered, *others = ordered if leg >= 0 else executed
        quantity, paid, shares, value = filled[leg], bought[leg], traded[fill], values[fill]
        multiplier = multipliers[fill]
        day, party = entered and entered.date(), (account, client)
        leading = (account, client, day, *others)
        is_apart = quantity is None or shares is None or quantity != shares * unit
        is_early, incomplete = day and day < began.get(party, date.min), ""
        if is_early and None not in (quantity, shares) and shares * unit < quantity:
            incomplete = "earlier days missing"
        if is_apart and (*party, *others[:3]) in unknown:
            finding = VALUE_MISSING
        elif leg < 0:
            finding = "no order" if party in covered else "order book empty"
        elif quantity is None or shares is None:
            finding = VALUE_MISSING
        elif fill < 0:
            finding = (incomplete or "no trades") if quantity else AGREES
        else:
            likenesses = [of_legs[leg] | of_fills[fill] for of_legs, of_fills in alike]
            finding = _difference(ordered, executed, likenesses)
            if finding == AGREES and quantity != shares * unit:
                finding = incomplete or "quantity differs"
            elif finding == AGREES:
                lacks = None in (client, *others[:3]) or leg in doubtful[0] or fill in doubtful[1]
                if lacks or paid is None or value is None:
                    finding = VALUE_MISSING
                elif multiplier is None:
                    finding = UNKNOWN
                elif abs(paid * multiplier - value * unit) > allowed * shares * multiplier:
                    finding = "price differs"
        if fill in unproved:
            notes.append(Note(leading, UNPROVED, f"order {leading[5]}: {unproved[fill]}"))
        yield (
            *(*leading, finding),
            *(legs[leg], fills[fill], None if quantity is None else quantity / unit, shares),
            None if paid is None or not quantity else paid * unit / (scale * quantity),
            _ratio(value, unit, multiplier and shares and scale * multiplier * shares),
            0.0 if paid == 0 else _ratio(paid, multiplier, scale),
            None if value is None else value * unit / scale,
            multiplier,
        )


def _ratio(amount: int | None, unit: int | None, whole: int | None) -> float | None:
    return amount * unit / whole if amount is not None and unit and whole else None


def _difference(ordered: tuple[Any, ...], executed: tuple[Any, ...], likenesses: list[int]) -> str:
    """Returns the finding on the fields that must be the same."""
    for (name, finding), likeness in zip(_DIFFERS.items(), likenesses, strict=True):
        place = ORDER_COLUMNS.index(name)
        if likeness != SAME or ordered[place] != executed[place]:
            return VALUE_MISSING if likeness & SOME_MISSING else finding
    return AGREES
