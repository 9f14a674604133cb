"""Compares the order book with the trade book, order by order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from ..books.book import OrderBook, TradeBook
from ..display.text import counted, group
from ..table.rows import declared
from .fills import Proof, multipliers_at
from .inputs import Lookup, Multipliers, amount, both_books, with_entries
from .issues import UNPROVED, Note, noted
from .keys import ORDER_COLUMNS, ORDER_KEY, SAME, SOME_MISSING, Key, OfOrder, leads_at
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
_compared = attrgetter(*_DIFFERS)


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
    decimals = _core.decimals_of([(order_rows, "avg_traded_price"), (fills, "trade_value")])
    places = _core.decimals_of([(order_rows, "traded_qty")])
    filled = sides.sums("traded_qty", places)
    paid = sides.sums_of_products("traded_qty", places, "avg_traded_price", decimals)
    legs = _book_sides(sides, 0, order_rows, also_entered, filled, paid)
    traded, values = sides.sums("quantity", 0, 1), sides.sums("trade_value", decimals, 1)
    lookup = None if multipliers is None else Lookup("multipliers", multipliers)
    proofs = multipliers_at(fills, sides.first(1), lambda row: f"row {numbers[row]}", lookup)
    executed = _book_sides(sides, 1, fills, entered, traded, values, proofs)
    scale = 10 ** (decimals + places)
    units = _Units(10**places, scale, *(Fraction(repr(tolerance)) * scale).as_integer_ratio())
    known = _Coverage(began, set(covered), unknown | also_unknown)
    rows, notes = [], []
    for leg, fill in _pairs(sides.coarser(ORDER_KEY), legs, executed):
        lead = (leg if leg.rows else fill).lead
        rows.append((*lead, _finding(leg, fill, units, known), *_amounts(leg, fill, units)))
        if fill.proof.lacks:
            notes.append(Note(lead, UNPROVED, f"order {lead.order_no}: {fill.proof.lacks}"))
    result = Reconciliation._of(rows)
    result.other_days = total - len(fills)
    return result, notes


def _days_by_party(rows: Slice, field: str) -> dict[Key, set[date]]:
    """Returns the days of rows by account and client."""
    first = _core.Groups([rows], [*_PARTY, f"{field}.day"]).first()
    days_by_party: dict[Key, set[date]] = {}
    for *party, at in zip(*rows.cells(first, [*_PARTY, field]), strict=True):
        days_by_party.setdefault(tuple(party), set()).update({at.date()} if at else ())
    return days_by_party


class _Coverage(NamedTuple):
    """What is known by account and client: the first day of trades, and whether it has orders.

    ``unknown`` has the order numbers of which some rows do not say on which of several days they
    were entered.
    """

    began: dict[Key, date]
    covered: set[Key]
    unknown: set[Key]


class _Units(NamedTuple):
    """How many units of an order's quantity and of a product are 1.

    Products may differ by ``allowed / of`` for each share.
    """

    quantity: int
    product: int
    allowed: int
    of: int


class _BookSide(NamedTuple):
    """A side of an order in one of the books, whose rows are added up; None if one lacks a value.

    The quantity of an order is in units, and its value a product; those of trades are not.
    """

    rows: int
    quantity: Any
    value: Any
    likenesses: tuple[int, ...] = ()
    proof: Proof = Proof(None)
    lead: Any = None
    lacks_entry: bool = False


_NONE = _BookSide(0, None, None), _BookSide(0, 0, 0)  # no leg, and no trade


def _book_sides(
    sides: _core.Groups,
    part: int,
    rows: Slice,
    lacking: set[int],
    quantities: list[int | None],
    values: list[int | None],
    proofs: Iterable[Proof] = repeat(Proof(None)),
) -> list[_BookSide]:
    """Returns each side in one of the books; ``lacking`` are rows without a time of entry."""
    likenesses = zip(*(sides.likenesses(name, part) for name in _DIFFERS), strict=True)
    leads = leads_at(rows, sides.first(part))
    sums = sides.counts(part), quantities, values
    columns = zip(*sums, likenesses, proofs, leads, repeat(False), strict=False)
    of_book = [_BookSide._make(facts) if facts[0] else _NONE[part] for facts in columns]
    numbers = sides.numbers(part) if lacking else []
    for number in {numbers[row] for row in lacking}:
        of_book[number] = of_book[number]._replace(lacks_entry=True)
    return of_book


Pairs = list[tuple[_BookSide, _BookSide]]


def _pairs(orders: list[int], legs: list[_BookSide], fills: list[_BookSide]) -> Pairs:
    """Returns which side of an order in the order book belongs to which in the trade book."""
    pairs = list(zip(legs, fills, strict=True))
    if max(orders, default=-1) + 1 == len(orders):  # no order has two sides
        return pairs
    of_order: dict[int, Pairs] = {}
    for order, pair in zip(orders, pairs, strict=True):
        of_order.setdefault(order, []).append(pair)
    return [pair for same_order in of_order.values() for pair in _crossed(same_order)]


def _crossed(pairs: Pairs) -> Pairs:
    """Returns the sides of one order, those without a leg last.

    Where a single side is left over in each book, the two are one pair, whose sides differ.
    """
    without_leg = [fill for leg, fill in pairs if not leg.rows]
    without_fill = [leg for leg, fill in pairs if not fill.rows]
    if len(without_leg) == len(without_fill) == 1:
        return [(leg, fill if fill.rows else without_leg[0]) for leg, fill in pairs if leg.rows]
    return sorted(pairs, key=lambda pair: not pair[0].rows)


def _finding(leg: _BookSide, fill: _BookSide, units: _Units, known: _Coverage) -> str:
    """Returns what the comparison of a side finds."""
    lead = (leg if leg.rows else fill).lead
    party, number = lead[:2], (lead.exchange, lead.segment, lead.order_no)
    is_known = leg.quantity is not None and fill.quantity is not None
    lacks = leg.quantity - fill.quantity * units.quantity if is_known else None
    multiplier = fill.proof.multiplier
    if lacks != 0 and (*party, *number) in known.unknown:
        return VALUE_MISSING
    if not leg.rows:
        return "no order" if party in known.covered else "order book empty"
    if lacks is None:
        return VALUE_MISSING
    if not fill.rows:
        return _shortage(lead, lacks, known) or "no trades" if leg.quantity else AGREES
    if (difference := _difference(leg, fill)) != AGREES:
        return difference
    if lacks:
        return _shortage(lead, lacks, known) or "quantity differs"
    if leg.lacks_entry or fill.lacks_entry:
        return VALUE_MISSING
    if None in (lead.client_id, *number, leg.value, fill.value):
        return VALUE_MISSING
    if multiplier is None:
        return UNKNOWN
    apart = abs(leg.value * multiplier - fill.value * units.quantity)
    is_apart = apart * units.of > units.allowed * fill.quantity * multiplier
    return "price differs" if is_apart else AGREES


def _shortage(lead: Any, lacks: int, known: _Coverage) -> str:
    """Returns the finding on what the trades lack of an order of a day before all of them."""
    is_early = lead.day is not None and lead.day < known.began.get(lead[:2], date.min)
    return "earlier days missing" if is_early and lacks > 0 else ""


def _difference(leg: _BookSide, fill: _BookSide) -> str:
    """Returns the finding on the fields that must be the same."""
    values = _compared(leg.lead), _compared(fill.lead)
    facts = zip(_DIFFERS.values(), leg.likenesses, fill.likenesses, *values, strict=True)
    for finding, likeness, other, value, other_value in facts:
        if likeness | other != SAME or value != other_value:
            return VALUE_MISSING if (likeness | other) & SOME_MISSING else finding
    return AGREES


def _amounts(leg: _BookSide, fill: _BookSide, units: _Units) -> tuple[Any, ...]:
    """Returns the columns after the finding."""
    multiplier, shares, unit, scale = fill.proof.multiplier, fill.quantity, *units[:2]
    return (
        *(leg.rows, fill.rows, _ratio(leg.quantity, 1, unit), shares),
        _ratio(leg.value, unit, leg.quantity and scale * leg.quantity),
        _ratio(fill.value, unit, multiplier and shares and scale * multiplier * shares),
        0.0 if leg.value == 0 else _ratio(leg.value, multiplier, scale),
        *(_ratio(fill.value, unit, scale), multiplier),
    )


def _ratio(amount: int | None, count: int | None, whole: int | None) -> float | None:
    return amount * count / whole if amount is not None and count and whole else None
