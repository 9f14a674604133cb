"""Compares the order book with the trade book, order by order."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cached_property
from typing import Any

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import counted, group
from ..table.rows import declared
from .inputs import Orders, Trades, amount, days_of, joined, last_states, of_days
from .keys import ORDER_COLUMNS, ORDER_KEY, ORDER_NAMES, SAME, SOME_MISSING, OfOrder, lead_columns
from .result_table import ResultTable

Sum = int | None  # in exact units; None if a value is missing

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
        ValueError: If the tolerance is negative or not finite.
        TradingDataError: If the book of one of several accounts could not be fetched.
    """
    book, labels = joined("orders", orders, OrderBook)
    fill_book, fill_labels = joined("trades", trades, TradeBook)
    fills = fill_book._rows
    if len(book):  # a trade without an entry time counts as one of the orders' days
        entered = set(days_of(book._rows, _ENTERED))
        fills, fill_labels = of_days(fills, fill_labels, entered.__contains__, _ENTERED)
    order_rows, labels = last_states(book, labels)
    compared = _Comparison(order_rows, fills, amount("tolerance", tolerance))
    made = Reconciliation._of_columns(compared.columns(labels, fill_labels))
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


class _Comparison:
    """The sides of orders in both books: sums in exact units, and fields that must be the same.

    For each row of the result, ``legs`` and ``fills`` have the number of a side, or -1.
    """

    def __init__(self, orders: Slice, trades: Slice, tolerance: float) -> None:
        self._orders, self._trades = orders, trades
        self._sides = _core.Groups([orders, trades], (*ORDER_KEY, "txn_type"))
        self._first, self._first_fill = self._sides.first(), self._sides.first(1)
        self._pair()
        self._decimals = _core.decimals_of([(orders, "avg_traded_price"), (trades, "trade_value")])
        self._places = _core.decimals_of([(orders, "traded_qty")])
        self._unit, self._scale = 10**self._places, 10 ** (self._decimals + self._places)
        allowed = Fraction(repr(tolerance)) * self._scale
        self._allowed: int = allowed.numerator
        self._per: int = allowed.denominator

    def _pair(self) -> None:
        """Finds which side of an order in the order book belongs to which in the trade book."""
        orders_of = self._sides.coarser(ORDER_KEY)
        pairs = [
            (side if leg >= 0 else -1, side if fill >= 0 else -1)
            for side, (leg, fill) in enumerate(zip(self._first, self._first_fill, strict=True))
        ]
        if max(orders_of, default=-1) + 1 < len(orders_of):  # an order has two sides
            of_order: dict[int, list[tuple[int, int]]] = {}
            for order, pair in zip(orders_of, pairs, strict=True):
                of_order.setdefault(order, []).append(pair)
            pairs = [pair for found in of_order.values() for pair in _crossed(found)]
        self._legs, self._fills = [leg for leg, _ in pairs], [fill for _, fill in pairs]

    def columns(self, labels: list[str | None], fill_labels: list[str | None]) -> list[list[Any]]:
        """Returns the columns of the result, in the order of the books."""
        sides, legs, fills = self._sides, self._legs, self._fills
        rows, fill_rows = _of(legs, self._first, -1), _of(fills, self._first_fill, -1)
        leading = self._orders.cells(rows, ORDER_COLUMNS)
        of_trades = self._trades.cells(fill_rows, ORDER_COLUMNS)
        agreeing = self._agreeing(leading, of_trades)
        if -1 in rows:
            leading = [
                [fill if row < 0 else leg for row, leg, fill in zip(rows, *both, strict=True)]
                for both in zip(leading, of_trades, strict=True)
            ]
        accounts = [
            labels[row] if row >= 0 else fill_labels[fill]
            for row, fill in zip(rows, fill_rows, strict=True)
        ]
        bought = sides.sums_of_products(
            "traded_qty", self._places, "avg_traded_price", self._decimals
        )
        compared: Any = map(
            self._compared,
            *(legs, fills, agreeing),
            _of(legs, sides.sums("traded_qty", self._places), None),
            _of(legs, bought, None),
            _of(fills, sides.sums("quantity", 0, part=1), 0),
            _of(fills, sides.sums("trade_value", self._decimals, part=1), 0),
        )
        finding, *amounts = map(list, zip(*compared, strict=True)) if legs else [[]] * 8
        counts = _of(legs, sides.counts(), 0), _of(fills, sides.counts(1), 0)
        return [*lead_columns(accounts, leading), finding, *counts, *amounts]

    def _agreeing(self, of_orders: list[list[Any]], of_trades: list[list[Any]]) -> list[str]:
        """Returns, for each row, the finding on the fields that must be the same."""
        found = [AGREES] * len(self._legs)
        for name in reversed(_DIFFERS):  # the first that differs is the finding
            place = ORDER_COLUMNS.index(name)
            columns = zip(
                _of(self._legs, self._sides.likenesses(name), SAME),
                _of(self._fills, self._sides.likenesses(name, part=1), SAME),
                of_orders[place],
                of_trades[place],
                strict=True,
            )
            for row, (likeness, of_fills, leg, fill) in enumerate(columns):
                if leg != fill or likeness != SAME or of_fills != SAME:
                    missing = (likeness | of_fills) & SOME_MISSING
                    found[row] = VALUE_MISSING if missing else _DIFFERS[name]
        return found

    def _compared(
        self, leg: int, fill: int, agreeing: str, filled: Sum, bought: Sum, traded: Sum, value: Sum
    ) -> tuple[Any, ...]:
        """Returns the finding, and the columns of a row from the quantities on."""
        scale, unit = self._scale, self._unit
        multiplier, prices_agree = 1, False
        if value is not None:
            value *= unit
        if fill >= 0 and bought is not None and value is not None and traded is not None:
            prices_agree = self._prices_agree(bought, value, traded)
            if not prices_agree:
                lots = {int(lot) for lot in self._lot_sizes[leg] | self._lot_sizes[~fill]}
                lot = lots.pop() if len(lots) == 1 else 1
                if self._prices_agree(bought * lot, value, traded * lot):
                    multiplier, prices_agree = lot, True
            bought *= multiplier
        if leg < 0:
            finding = "no order" if len(self._orders) else "order book empty"
        elif filled is None or traded is None:
            finding = VALUE_MISSING
        elif fill < 0:
            finding = "no trades" if filled else AGREES
        elif agreeing != AGREES:
            finding = agreeing
        elif filled != traded * unit:
            finding = "quantity differs"
        elif bought is None or value is None:
            finding = VALUE_MISSING
        else:
            finding = AGREES if prices_agree else "price differs"
        lots_value = scale * multiplier
        return (
            finding,
            None if filled is None else filled / unit,
            traded,
            None if bought is None or not filled else bought * unit / (lots_value * filled),
            None if value is None or not traded else value / (lots_value * traded),
            None if bought is None else bought / scale,
            None if value is None else value / scale,
            multiplier,
        )

    def _prices_agree(self, bought: int, value: int, shares: int) -> bool:
        return abs(bought - value) * self._per <= self._allowed * shares

    @cached_property
    def _lot_sizes(self) -> dict[int, set[float]]:
        """The lot sizes of each side of an order; those of its trades are at ``~side``."""
        found: dict[int, set[float]] = defaultdict(set)
        for part, rows in enumerate((self._orders, self._trades)):
            numbers = self._sides.numbers(part)
            for number, lot in zip(numbers, rows.column("lot_size"), strict=True):
                if lot:
                    found[~number if part else number].add(lot)
        return found


def _of(sides: list[int], column: list[Any], missing: Any) -> list[Any]:
    """Returns the values of the sides, where -1 has the value ``missing``."""
    return [missing if side < 0 else column[side] for side in sides]
