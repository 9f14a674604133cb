"""Compares the order book with the trade book, order by order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..books.book import OrderBook, TradeBook
from .by_account import joined
from .exact_sums import decimals_of, in_units
from .order_key import ABOUT, APART, LEAD, OfOrder, paired_sides, rows_by_order, trades_of_days
from .result_table import ResultTable, kinds_of
from .validation import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .by_account import Orders, Trades

AGREES = "agrees"
NO_TRADES = "no trades"
NO_ORDER = "no order"
ORDERS_EMPTY = "order book empty"
VALUE_MISSING = "value missing"
QUANTITY = "quantity differs"
PRICE = "price differs"
_DIFFERS = {
    "txn_type": "side differs",
    "security_id": "security differs",
    "product": "product differs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
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

    __slots__ = ("other_days",)
    _row = OrderCheck
    _lead = LEAD
    _apart = APART
    _key_columns = (
        *("finding", "display_name", "orders_quantity", "trades_quantity"),
        *("orders_average", "trades_average"),
    )
    _leading = 4
    _is_ranked = True  # differences come first

    other_days: int

    @property
    def agrees(self) -> bool:
        """Whether orders were compared and all of them agree; False if there were none."""
        return set(self._columns["finding"]) == {AGREES}

    @property
    def differences(self) -> Reconciliation:
        """The rows whose finding is not ``agrees``."""
        return self.filter(finding__ne=AGREES)

    def _take(self, rows: Sequence[int]) -> Reconciliation:
        made = super()._take(rows)
        made.other_days = self.other_days
        return made

    def _heading(self) -> str:
        from ..display.plain_table import group

        counts: dict[str, int] = {}
        for finding in self._columns["finding"]:
            counts[finding] = counts.get(finding, 0) + 1
        parts = [f"{group(len(self))} {'order' if len(self) == 1 else 'orders'}"]
        agree = counts.pop(AGREES, 0)
        parts += [f"{group(agree)} agree"] if len(self) else ["nothing to compare"]
        parts += [f"{group(count)} {finding}" for finding, count in sorted(counts.items())]
        if self.other_days:
            parts.append(f"{group(self.other_days)} trades of other days left out")
        return ", ".join(parts)


def reconcile(orders: Orders, trades: Trades, *, tolerance: float = 0.01) -> Reconciliation:
    """Compares each order of the order book with its trades: side, security, product and fills.

    An order is identified by client, day of entry, exchange, segment and ``order_no``. Its legs are
    summed by side, and so are its trades, so that the two sides of a bracket order remain separate.
    Quantities must be equal; average prices may differ by the tolerance, because the order book
    rounds them. Values that count a contract as a lot of shares are recognised. A missing value is
    never treated as zero. Sums are exact. (Service: "Order record", "Trade record".)

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
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
        raise TypeError(f"tolerance must be a number, not {tolerance!r}")
    if not 0 <= tolerance < float("inf"):
        raise ValueError(f"tolerance must be finite and at least 0, not {tolerance!r}")
    legs, fills, other_days = rows_by_order(book), rows_by_order(fill_book), 0
    if legs:
        fills, other_days = trades_of_days(fills, legs)
    books = _Books(book, fill_book, tolerance)
    rows = [
        (labels[pair[0][0]] if pair[0] else fill_labels[pair[1][0]], *key, *books.compare(*pair))
        for key in [*legs, *(key for key in fills if key not in legs)]
        for pair in paired_sides(legs.get(key, {}), fills.get(key, {}))
    ]
    at = {name: place for place, name in enumerate(kinds_of(OrderCheck))}
    rows.sort(key=lambda row: (row[at["finding"]] == AGREES, not row[at["fills"]]))
    made = Reconciliation._of(rows)
    made.other_days = other_days
    return made


class _Books:
    """The columns of both books that are compared, amounts in exact units."""

    def __init__(self, orders: OrderBook, trades: TradeBook, tolerance: float) -> None:
        self._filled, average, self._order_lots = read(
            orders, "traded_qty", "avg_traded_price", "lot_size"
        )
        self._traded, value, self._trade_lots = read(trades, "quantity", "trade_value", "lot_size")
        self._of_orders = dict(zip(ABOUT, read(orders, *ABOUT), strict=True))
        self._of_trades = dict(zip(ABOUT, read(trades, *ABOUT), strict=True))
        known = [each for each in (*average, *value) if each is not None]
        decimals = decimals_of(known)
        self._scale = 10**decimals
        self._averages = _units_or_none(average, decimals)
        self._values = _units_or_none(value, decimals)
        self._tolerance = Fraction(repr(tolerance)) * self._scale

    def compare(self, legs: list[int], fills: list[int]) -> tuple[Any, ...]:
        """Returns the columns of a row from the side on."""
        source, first = (self._of_orders, legs[0]) if legs else (self._of_trades, fills[0])
        filled, bought = self._sum_legs(legs) if legs else (None, None)
        traded = _sum([self._traded[row] for row in fills])
        value = _sum([self._values[row] for row in fills])
        multiplier = 1
        if fills and None not in (bought, value, traded):
            multiplier = self._multiplier(legs, fills, bought, value, traded)
        bought = None if bought is None else bought * multiplier
        return (
            *(source[name][first] for name in ABOUT),
            self._finding(legs, fills, filled, bought, traded, value, multiplier),
            len(legs),
            len(fills),
            filled if filled is None or isinstance(filled, int) else float(filled),
            traded,
            _average(bought, filled, self._scale * multiplier),
            _average(value, traded, self._scale * multiplier),
            None if bought is None else float(bought / self._scale),
            None if value is None else value / self._scale,
            multiplier,
        )

    def _sum_legs(self, legs: list[int]) -> tuple[Any, Any]:
        """Returns filled quantity and value; a leg without a fill needs no price."""
        quantities = [_exact(self._filled[row]) for row in legs]
        values: list[Any] = []
        for row, quantity in zip(legs, quantities, strict=True):
            average = self._averages[row]
            if quantity is None or (quantity and average is None):
                values.append(None)
            else:
                values.append(quantity * (average or 0))
        return _sum(quantities), _sum(values)

    def _multiplier(
        self, legs: list[int], fills: list[int], bought: Any, value: Any, traded: int
    ) -> int:
        """Returns the lot size if the values agree with it and not without it, otherwise 1."""
        lots = {self._order_lots[row] for row in legs} | {self._trade_lots[row] for row in fills}
        known = [int(lot) for lot in lots if lot]
        for multiplier in (1, *known) if len(known) == 1 else (1,):
            if self._prices_agree(bought * multiplier, value, traded * multiplier):
                return multiplier
        return 1

    def _prices_agree(self, bought: Any, value: Any, shares: int) -> bool:
        return bool(abs(bought - value) <= self._tolerance * shares)

    def _finding(
        self,
        legs: list[int],
        fills: list[int],
        filled: Any,
        bought: Any,
        traded: Any,
        value: Any,
        multiplier: int,
    ) -> str:
        if not legs:
            return NO_ORDER if self._filled else ORDERS_EMPTY
        if filled is None or traded is None:
            return VALUE_MISSING
        if not fills:
            return NO_TRADES if filled else AGREES
        for name, finding in _DIFFERS.items():
            found = {self._of_orders[name][row] for row in legs}
            found |= {self._of_trades[name][row] for row in fills}
            if None in found:
                return VALUE_MISSING
            if len(found) > 1:
                return finding
        if filled != traded:
            return QUANTITY
        if bought is None or value is None:
            return VALUE_MISSING
        return AGREES if self._prices_agree(bought, value, traded * multiplier) else PRICE


def _units_or_none(values: Sequence[float | None], decimals: int) -> list[int | None]:
    units = iter(in_units([value for value in values if value is not None], decimals))
    return [None if value is None else next(units) for value in values]


def _exact(quantity: float | None) -> int | Fraction | None:
    if quantity is None:
        return None
    return int(quantity) if quantity.is_integer() else Fraction(repr(quantity))


def _sum(values: list[Any]) -> Any:
    """Returns the sum, or None if a value is missing."""
    return None if None in values else sum(values)


def _average(value: Any, quantity: Any, scale: int) -> float | None:
    return float(value / (scale * quantity)) if value is not None and quantity else None
