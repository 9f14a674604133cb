"""Compares the order book with the trade book, order by order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import repeat, starmap
from typing import Any, NamedTuple, TypeVar

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display import counted, group
from ..table.rows import declared
from .inputs import Lookup, Multipliers, amount, both_books, with_entries
from .keys import ORDER_COLUMNS, ORDER_KEY, SAME, SOME_MISSING, Key, OfOrder
from .multipliers import multipliers_at
from .results import BY_ORDER, Column, Note, Problem, ResultTable, noted

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


Value = TypeVar("Value")
Sides = tuple[list[int], list[int]]  # of each pair, in the order book and in the trade book

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
    tolerance: float | Decimal = 0.01,
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
    result, notes = compared(orders, trades, amount("tolerance", tolerance), multipliers)
    return noted(result, notes)


def compared(
    orders: OrderBook, trades: TradeBook, tolerance: float, multipliers: Multipliers | None
) -> tuple[Reconciliation, list[Note]]:
    """Returns the comparison of two books, and its issues."""
    order_rows, fills = both_books(orders, trades)
    total = len(fills)
    days = _days_by_party(fills, "exch_trade_time")
    began = {party: min(of_party, default=date.min) for party, of_party in days.items()}
    fills, entered, unknown = with_entries(fills, order_rows)
    order_rows, also_entered, also_unknown = with_entries(order_rows, fills)
    covered = _days_by_party(order_rows, _ENTERED)
    by_entry = _core.Groups([fills], [*_PARTY, f"{_ENTERED}.day"])
    is_covered = [  # a trade without an entry time counts as one of the orders' days
        at is None or at.date() in covered.get(tuple(party), {at.date()})
        for *party, at in zip(*fills.cells(by_entry.first(), [*_PARTY, _ENTERED]), strict=True)
    ]
    numbers: Sequence[int] = range(total)
    if not all(is_covered):
        numbers = [row for row, number in enumerate(by_entry.numbers()) if is_covered[number]]
        fills = fills.take(numbers)
        entered = {at for at, row in enumerate(numbers) if row in entered}
    sides = _core.Groups([order_rows, fills], (*ORDER_KEY, "txn_type"))
    legs, trades_of = sides.counts(), sides.counts(1)
    pairs = _pairs(sides.coarser(ORDER_KEY), legs, trades_of)
    of_orders, of_trades = ([pair[book] for pair in pairs] for book in (0, 1))
    first = _at(sides.first(), of_orders), _at(sides.first(1), of_trades)
    leads = order_rows.cells(first[0], ORDER_COLUMNS)
    only = [at for at, side in enumerate(of_orders) if not legs[side]]  # trades without a leg
    others = fills.cells([first[1][at] for at in only], ORDER_COLUMNS)
    for column, values in zip(leads, others, strict=True):
        for at, value in zip(only, values, strict=True):
            column[at] = value
    leads[2] = [time and time.date() for time in leads[2]]
    decimals = _core.decimals_of([(order_rows, "avg_traded_price"), (fills, "trade_value")])
    places = _core.decimals_of([(order_rows, "traded_qty")])
    scale = 10 ** (decimals + places)
    allowed = (Fraction(repr(tolerance)) * scale).as_integer_ratio()
    terms = _Terms(began, set(covered), unknown | also_unknown, 10**places, scale, *allowed)
    lookup = None if multipliers is None else Lookup("multipliers", multipliers)
    proofs = multipliers_at(fills, first[1], lambda row: f"row {numbers[row]}", lookup)
    lacking = []
    for part, of_book in enumerate((also_entered, entered)):
        side_of = sides.numbers(part) if of_book else []
        lacking.append({side_of[row] for row in of_book})
    filled = sides.sums("traded_qty", places)
    paid = sides.sums_of_products("traded_qty", places, "avg_traded_price", decimals)
    columns: list[Any] = [
        *(_at(legs, of_orders), _at(trades_of, of_trades)),
        [filled[side] if legs[side] else None for side in of_orders],
        _at(sides.sums("quantity", 0, 1), of_trades),
        [paid[side] if legs[side] else None for side in of_orders],
        _at(sides.sums("trade_value", decimals, 1), of_trades),
        [proof.multiplier for proof in proofs],
    ]
    facts = zip(
        repeat(terms),
        zip(*leads[: len(ORDER_KEY)], strict=True),
        *columns,
        _differences(sides, (order_rows, fills), (of_orders, of_trades), first),
        [leg in lacking[0] or fill in lacking[1] for leg, fill in pairs],
        strict=False,
    )
    findings = list(starmap(_finding, facts))
    result = Reconciliation._of_named(leads, {"finding": findings, **_amounts(terms, *columns)})
    result.other_days = total - len(fills)
    notes = []
    for proof, *lead in zip(proofs, *leads, strict=True):
        if proof.lacks:
            text = f"order {lead[5]}: {proof.lacks}"
            notes.append(Note(tuple(lead), Problem.UNPROVED, text))
    return result, notes


def _at(values: Sequence[Value], numbers: list[int]) -> list[Value]:
    return list(map(values.__getitem__, numbers))


def _days_by_party(rows: Slice, field: str) -> dict[Key, set[date]]:
    """Returns the days of rows by account and client."""
    first = _core.Groups([rows], [*_PARTY, f"{field}.day"]).first()
    days_by_party: dict[Key, set[date]] = {}
    for *party, at in zip(*rows.cells(first, [*_PARTY, field]), strict=True):
        days_by_party.setdefault(tuple(party), set()).update({at.date()} if at else ())
    return days_by_party


class _Terms(NamedTuple):
    """What decides about all sides.

    Attributes:
        began: The first day of trades of each account and client.
        covered: The accounts and clients that have orders.
        unknown: Order numbers of which some rows do not say on which of several days they were
            entered.
        unit: How many units of an order's quantity are 1.
        scale: How many units of a product are 1.
        allowed: By how much products may differ for each share, in units over ``of``.
        of: The divisor of ``allowed``.
    """

    began: dict[Key, date]
    covered: set[Key]
    unknown: set[Key]
    unit: int
    scale: int
    allowed: int
    of: int


def _pairs(orders: list[int], legs: list[int], fills: list[int]) -> list[tuple[int, int]]:
    """Returns which side of an order in the order book belongs to which in the trade book.

    Given are the order of each side, and the numbers of its legs and trades.
    """
    if max(orders, default=-1) + 1 == len(orders):  # no order has two sides
        return [(side, side) for side in range(len(orders))]
    of_order: dict[int, list[int]] = {}
    for side, order in enumerate(orders):
        of_order.setdefault(order, []).append(side)
    return [pair for sides in of_order.values() for pair in _crossed(sides, legs, fills)]


def _crossed(sides: list[int], legs: list[int], fills: list[int]) -> list[tuple[int, int]]:
    """Returns the sides of one order, those without a leg last.

    Where a single side is left over in each book, the two are one pair, whose sides differ.
    """
    without_leg = [side for side in sides if not legs[side]]
    without_fill = [side for side in sides if not fills[side]]
    if len(without_leg) == len(without_fill) == 1:
        return [(side, side if fills[side] else without_leg[0]) for side in sides if legs[side]]
    return [(side, side) for side in sorted(sides, key=lambda side: not legs[side])]


def _finding(
    terms: _Terms,
    key: Key,
    legs: int,
    fills: int,
    quantity: int | None,
    traded: int | None,
    value: int | None,
    trades_value: int | None,
    multiplier: int | None,
    difference: str,
    lacks_entry: bool,
) -> str:
    """Returns what the comparison of a side of an order in both books finds.

    Their rows are added up; None if one lacks a value. The quantity of an order is in units, and
    its value a product; those of trades are not.
    """
    account, client, _, *number = key
    lacks = None if quantity is None or traded is None else quantity - traded * terms.unit
    if lacks != 0 and (account, client, *number) in terms.unknown:
        return VALUE_MISSING
    if not legs:
        return "no order" if (account, client) in terms.covered else "order book empty"
    if lacks is None or traded is None:
        return VALUE_MISSING
    if not fills:
        return _shortage(key, lacks, terms) or "no trades" if quantity else AGREES
    if difference != AGREES:
        return difference
    if lacks:
        return _shortage(key, lacks, terms) or "quantity differs"
    if lacks_entry or None in (client, *number) or value is None or trades_value is None:
        return VALUE_MISSING
    if multiplier is None:
        return UNKNOWN
    apart = abs(value * multiplier - trades_value * terms.unit)
    is_apart = apart * terms.of > terms.allowed * traded * multiplier
    return "price differs" if is_apart else AGREES


def _shortage(key: Key, lacks: int, terms: _Terms) -> str:
    """Returns the finding on what the trades lack of an order of a day before all of them."""
    is_early = key[2] is not None and key[2] < terms.began.get(key[:2], date.min)
    return "earlier days missing" if is_early and lacks > 0 else ""


def _differences(
    sides: _core.Groups, books: tuple[Slice, Slice], numbers: Sides, first: Sides
) -> list[str]:
    """Returns the finding on the fields that must be the same in each pair.

    Of both books, the rows are given, and the number and first row of the side in each pair.
    """
    findings = [AGREES] * len(first[0])
    for name, finding in _DIFFERS.items():
        alike = (_at(sides.likenesses(name, part), numbers[part]) for part in (0, 1))
        values = (rows.cells(at, [name])[0] for rows, at in zip(books, first, strict=True))
        for at, (likeness, other, value, other_value) in enumerate(
            zip(*alike, *values, strict=True)
        ):
            both = likeness | other
            if (both != SAME or value != other_value) and findings[at] == AGREES:
                findings[at] = VALUE_MISSING if both & SOME_MISSING else finding
    return findings


def _amounts(terms: _Terms, legs: list[int], fills: list[int], *sums: Any) -> dict[str, Column]:
    """Returns the columns after the finding."""
    ordered, traded, products, values, multipliers = sums
    unit, scale = terms.unit, terms.scale
    quantities = [quantity and scale * quantity for quantity in ordered]
    shares = [
        multiplier and quantity and scale * multiplier * quantity
        for multiplier, quantity in zip(multipliers, traded, strict=True)
    ]
    return {
        "legs": legs,
        "fills": fills,
        "orders_quantity": list(map(_ratio, ordered, repeat(1), repeat(unit))),
        "trades_quantity": traded,
        "orders_average": list(map(_ratio, products, repeat(unit), quantities)),
        "trades_average": list(map(_ratio, values, repeat(unit), shares)),
        "orders_value": [
            0.0 if product == 0 else _ratio(product, multiplier, scale)
            for product, multiplier in zip(products, multipliers, strict=True)
        ],
        "trades_value": list(map(_ratio, values, repeat(unit), repeat(scale))),
        "multiplier": multipliers,
    }


def _ratio(amount: int | None, count: int | None, whole: int | None) -> float | None:
    return amount * count / whole if amount is not None and count and whole else None
