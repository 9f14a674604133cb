"""Do the two books say the same of every order?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .exact_sums import decimals_of, in_units
from .order_key import ASIDES, OfOrder, keys_of, rows_by_order, trades_by_order
from .result_table import ResultTable
from .validation import check_book, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..books.book import OrderBook, TradeBook

AGREES = "agrees"
NO_TRADES = "no trades"
NO_ORDER = "no order"
VALUE_MISSING = "value missing"
QUANTITY = "quantity differs"
PRICE = "price differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCheck(OfOrder):
    """One order, as the order book and as the trade book tell it; see also ``OfOrder``.

    Attributes:
        finding: ``agrees``; ``quantity differs``; ``price differs``; ``no trades`` of an order that
            is filled; ``no order`` for the trades; ``value missing``, so that it cannot be told.
        legs: rows in the order book.
        fills: rows in the trade book.
        orders_quantity: ``traded_qty``, summed over the legs.
        trades_quantity: ``quantity``, summed over the trades.
        orders_average: ``avg_traded_price``, weighted over the legs; ``None`` where nothing traded.
        trades_average: ``trade_value`` by ``quantity`` of the trades.
        orders_value: ``traded_qty`` times ``avg_traded_price``, summed over the legs.
        trades_value: ``trade_value``, summed over the trades.
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


class Reconciliation(ResultTable[OrderCheck]):
    """What ``reconcile`` gives: a row for each order, also for those without a fill.

    Attributes:
        other_days: trades that were left out, since their orders were entered on other days than
            those of the order book.
    """

    __slots__ = ("other_days",)
    _row = OrderCheck
    _asides = ASIDES

    other_days: int

    @property
    def agrees(self) -> bool:
        """Whether the books agree on every order that was compared."""
        return set(self._columns["finding"]) <= {AGREES}

    @property
    def differences(self) -> Reconciliation:
        """The rows that do not agree."""
        findings = self._columns["finding"]
        return self.part([row for row, finding in enumerate(findings) if finding != AGREES])

    def part(self, rows: Sequence[int]) -> Reconciliation:
        """Some of the rows, by their numbers."""
        columns = self._columns.values()
        return _made([tuple(values[row] for values in columns) for row in rows], self.other_days)

    def _heading(self) -> str:
        from ..display.plain_table import group

        counts: dict[str, int] = {}
        for finding in self._columns["finding"]:
            counts[finding] = counts.get(finding, 0) + 1
        parts = [f"{group(len(self))} {'order' if len(self) == 1 else 'orders'}"]
        agree = counts.pop(AGREES, 0)
        parts += [f"{group(agree)} agree"] if len(self) else []
        parts += [f"{group(count)} {finding}" for finding, count in sorted(counts.items())]
        if self.other_days:
            parts.append(f"{group(self.other_days)} trades of other days left out")
        return ", ".join(parts)


def _made(rows: list[tuple[Any, ...]], other_days: int) -> Reconciliation:
    made = Reconciliation._of(rows)
    made.other_days = other_days
    return made


def reconcile(orders: OrderBook, trades: TradeBook, *, tolerance: float = 0.01) -> Reconciliation:
    """Compares filled quantity and average price of each order in the two books.

    An order's legs are summed, and so are its trades; an order is known by account, day of entry,
    exchange, segment and ``order_no``. Quantities must be equal. Average prices may differ by
    ``tolerance``, in the currency of the price, since the order book rounds them; values then agree
    within that for each share. Sums are exact.

    The order book has the orders of the current day only, so trades whose order was entered on no
    day that it has are left out and counted in ``other_days``: all of them, where the order book is
    empty. A value that is missing makes its order ``value missing``, never a zero.

    Raises ValueError for a tolerance below 0. (Service: "Order record", "Trade record".)
    """
    from ..books.book import OrderBook, TradeBook

    check_book("orders", orders, OrderBook)
    check_book("trades", trades, TradeBook)
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
        raise TypeError(f"tolerance is a number, not {tolerance!r}")
    if not 0 <= tolerance < float("inf"):
        raise ValueError(f"tolerance is a finite number of 0 or more, not {tolerance!r}")
    by_order = rows_by_order(keys_of(orders))
    fills, other_days = trades_by_order(trades, by_order)
    sums = _Sums(orders, trades, tolerance)
    keys = [*by_order, *(key for key in fills if key not in by_order)]
    rows = [(*key, *sums.compare(by_order.get(key, []), fills.get(key, []))) for key in keys]
    return _made(rows, other_days)


class _Sums:
    """Both books' quantities and values by row, as exact numbers."""

    def __init__(self, orders: OrderBook, trades: TradeBook, tolerance: float) -> None:
        self._filled, average, self._order_symbols = read(
            orders, "traded_qty", "avg_traded_price", "symbol"
        )
        self._traded, value, self._trade_symbols = read(trades, "quantity", "trade_value", "symbol")
        known = [each for each in (*average, *value) if each is not None]
        decimals = decimals_of(known)
        self._scale = 10**decimals
        self._averages = _units_or_none(average, decimals)
        self._values = _units_or_none(value, decimals)
        self._tolerance = Fraction(repr(tolerance)) * self._scale

    def compare(self, legs: list[int], fills: list[int]) -> tuple[Any, ...]:
        """The rest of a row, from the symbol on."""
        symbol = self._order_symbols[legs[0]] if legs else self._trade_symbols[fills[0]]
        filled, bought = self._of_legs(legs) if legs else (None, None)
        traded = _sum([self._traded[row] for row in fills])
        value = _sum([self._values[row] for row in fills])
        return (
            symbol,
            self._finding(legs, fills, filled, bought, traded, value),
            len(legs),
            len(fills),
            None if filled is None else float(filled),
            traded,
            _average(bought, filled, self._scale),
            _average(value, traded, self._scale),
            None if bought is None else float(bought / self._scale),
            None if value is None else value / self._scale,
        )

    def _of_legs(self, legs: list[int]) -> tuple[Any, Any]:
        """Filled quantity and value; a leg without a fill needs no price."""
        quantities = [_exact(self._filled[row]) for row in legs]
        values: list[Any] = []
        for row, quantity in zip(legs, quantities, strict=True):
            average = self._averages[row]
            if quantity is None or (quantity and average is None):
                values.append(None)
            else:
                values.append(quantity * (average or 0))
        return _sum(quantities), _sum(values)

    def _finding(
        self, legs: list[int], fills: list[int], filled: Any, bought: Any, traded: Any, value: Any
    ) -> str:
        if not legs:
            return NO_ORDER
        if filled is None or traded is None:
            return VALUE_MISSING
        if not fills:
            return NO_TRADES if filled else AGREES
        if filled != traded:
            return QUANTITY
        if bought is None or value is None:
            return VALUE_MISSING
        return PRICE if abs(bought - value) > self._tolerance * traded else AGREES


def _units_or_none(values: Sequence[float | None], decimals: int) -> list[int | None]:
    units = iter(in_units([value for value in values if value is not None], decimals))
    return [None if value is None else next(units) for value in values]


def _exact(quantity: float | None) -> int | Fraction | None:
    if quantity is None:
        return None
    return int(quantity) if quantity.is_integer() else Fraction(repr(quantity))


def _sum(values: list[Any]) -> Any:
    """The sum, or None where a value is missing."""
    return None if None in values else sum(values)


def _average(value: Any, quantity: Any, scale: int) -> float | None:
    return float(value / (scale * quantity)) if value is not None and quantity else None
