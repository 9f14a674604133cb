"""Compares the order book with the trade book, order by order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import counted, group
from ..table.rows import declared
from .inputs import Orders, Trades, amount, days_of, joined, last_states, multipliers_at, of_days
from .keys import ORDER_COLUMNS, ORDER_KEY, ORDER_NAMES, SAME, SOME_MISSING, OfOrder
from .result_table import ResultTable

AGREES = "agrees"
VALUE_MISSING = "value missing"
_ENTERED = ORDER_COLUMNS[1]
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
            ``no order`` for trades without an order; ``order book empty`` if there was no order to
            compare with; ``value missing`` if the comparison lacks a value.
        legs: Rows in the order book.
        fills: Rows in the trade book.
        orders_quantity: Sum of ``traded_qty`` over the legs.
        trades_quantity: Sum of ``quantity`` over the trades.
        orders_average: ``avg_traded_price``, weighted over the legs; ``None`` if nothing traded.
        trades_average: ``trades_value / (trades_quantity * multiplier)``.
        orders_value: Sum of ``traded_qty * avg_traded_price * multiplier`` over the legs.
        trades_value: Sum of ``trade_value`` over the trades.
        multiplier: 1, or the lot size where ``trade_value`` counts contracts as lots of shares.
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
    multiplier: int


class Reconciliation(ResultTable[OrderCheck]):
    """Result of ``reconcile``: one row for each side of an order, with or without a fill.

    Attributes:
        other_days: Number of trades left out because their orders were entered on days that the
            order book does not have.
    """

    _row = OrderCheck
    _lead, _apart = ORDER_NAMES
    _key_columns = (
        *("finding", "display_name", "orders_quantity", "trades_quantity"),
        *("orders_average", "trades_average"),
    )
    _leading = 4
    _is_ranked = True

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


def reconcile(orders: Orders, trades: Trades, *, tolerance: float = 0.01) -> Reconciliation:
    """Compares each order of the order book with its trades: side, security, product and fills.

    An order is identified by client, day of entry, exchange, segment and ``order_no``. Its legs are
    summed by side, and so are its trades, so that the two sides of a bracket order remain separate.
    Quantities must be equal; average prices may differ by the tolerance, because the order book
    rounds them. Values that count a contract as a lot of shares are recognised. A missing value is
    never treated as zero. Sums are exact. Of a leg that the orders of several days have more than
    once, the last row counts. (Service: "Order record", "Trade record".)

    The order book covers the current day only. Trades of orders entered on days that it does not
    cover are left out and counted in ``other_days``. If it is empty, as after the service has
    cleared it, every trade is reported as ``order book empty``.

    Args:
        orders: The order book, or the books of several accounts as ``td.order_books`` returns them
            or by label.
        trades: The trade book or books of the same accounts.
        tolerance: Largest difference of average prices that still agrees, in the currency of the
            price.

    Returns:
        One row for each side of an order, with its ``finding``: differences first, orders without
        trades last.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the tolerance is negative or not finite, or if trades of one security are
            counted in different units.
        TradingDataError: If the book of one of several accounts could not be fetched.
    """
    book, labels = joined("orders", orders, OrderBook)
    fill_book, fill_labels = joined("trades", trades, TradeBook)
    fills = fill_book._rows
    if len(book):  # a trade without an entry time counts as one of the orders' days
        entered = set(days_of(book._rows, _ENTERED))
        fills, fill_labels = of_days(fills, fill_labels, entered.__contains__, _ENTERED)
    order_rows, labels = last_states(book, labels)
    rows = _compared(order_rows, fills, labels, fill_labels, amount("tolerance", tolerance))
    made = Reconciliation._of(rows)
    made.other_days = len(fill_book) - len(fills)
    return made


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
    return [pair for found in of_order.values() for pair in _crossed(found)]


def _compared(
    orders: Slice,
    trades: Slice,
    labels: list[str | None],
    fill_labels: list[str | None],
    tolerance: float,
) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of the result, in the order of the books."""
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
    multipliers = multipliers_at(trades, first_fill)
    alike = [
        ([*sides.likenesses(name), SAME], [*sides.likenesses(name, 1), SAME]) for name in _DIFFERS
    ]
    pairs = _pairs(sides)
    of_orders = orders.cells([first[leg] for leg, _ in pairs], ORDER_COLUMNS)
    of_trades = trades.cells([first_fill[fill] for _, fill in pairs], ORDER_COLUMNS)
    cells = zip(zip(*of_orders, strict=True), zip(*of_trades, strict=True), strict=True)
    for (leg, fill), (ordered, executed) in zip(pairs, cells, strict=True):
        account = labels[first[leg]] if leg >= 0 else fill_labels[first_fill[fill]]
        client, entered, *others = ordered if leg >= 0 else executed
        quantity, paid, shares, value = filled[leg], bought[leg], traded[fill], values[fill]
        multiplier = multipliers[fill]
        whole = scale * multiplier
        if leg < 0:
            finding = "no order" if len(orders) else "order book empty"
        elif quantity is None or shares is None:
            finding = VALUE_MISSING
        elif fill < 0:
            finding = "no trades" if quantity else AGREES
        else:
            likenesses = [of_legs[leg] | of_fills[fill] for of_legs, of_fills in alike]
            finding = _difference(ordered, executed, likenesses)
            if finding == AGREES and quantity != shares * unit:
                finding = "quantity differs"
            elif finding == AGREES and paid is not None and value is not None:
                gap = abs(paid * multiplier - value * unit)
                finding = AGREES if gap <= allowed * shares * multiplier else "price differs"
            elif finding == AGREES:
                finding = VALUE_MISSING
        yield (
            *(account, client, entered and entered.date(), *others, finding),
            *(legs[leg], fills[fill], None if quantity is None else quantity / unit, shares),
            None if paid is None or not quantity else paid * unit / (scale * quantity),
            None if value is None or not shares else value * unit / (whole * shares),
            None if paid is None else paid * multiplier / scale,
            None if value is None else value * unit / scale,
            multiplier,
        )


def _difference(ordered: tuple[Any, ...], executed: tuple[Any, ...], likenesses: list[int]) -> str:
    """Returns the finding on the fields that must be the same."""
    for (name, finding), likeness in zip(_DIFFERS.items(), likenesses, strict=True):
        place = ORDER_COLUMNS.index(name)
        if likeness != SAME or ordered[place] != executed[place]:
            return VALUE_MISSING if likeness & SOME_MISSING else finding
    return AGREES
