"""Unrealised profit and loss of open lots or positions, at the caller's prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from .. import _core
from .._core import Slice
from ..display.text import group
from ..table.rows import declared
from .changes import LotChange, begun, moments_of, under
from .inputs import Lookup, Prices
from .isins import MATCH_BY, by_isin, is_by_isin
from .issues import UNPRICED, UNPROVED, Note, about, noted, unused
from .keys import CONTRACT, KEY, Key, Keyed, contract_of, key_of, lead_of, leading_of
from .position import Positions
from .realised import LONG, SHORT, GivenLots, RealisedPnl, as_trades, read_lots
from .result_table import BY_CONTRACT, ResultTable


@declared
class Unrealised(Keyed):
    """Market value of one client's open quantity of a security and product; see also ``Keyed``.

    Attributes:
        quantity: Open quantity: positive if long, negative if short.
        value: Value at which it was traded: paid if positive, received if negative.
        average: Average price at which it was traded.
        price: Price passed by the caller; ``None`` if there is none.
        market_value: ``quantity * price * multiplier``, negative if short; ``None`` without a
            price or a multiplier.
        unrealised: ``market_value - value``, before charges; ``None`` likewise.
        multiplier: Shares in a contract as values count it, 1 for shares; ``None`` where nothing
            proves it.
        kind: ``shares``, ``future`` or ``option``.
    """

    quantity: int
    value: float
    average: float | None
    price: float | None
    market_value: float | None
    unrealised: float | None
    multiplier: int | None
    kind: str


class UnrealisedPnl(ResultTable[Unrealised]):
    """Result of ``unrealised_pnl``: one row for each key with an open quantity."""

    _row = Unrealised
    _view = BY_CONTRACT._replace(
        columns=("unrealised", "quantity", "average", "price", "market_value"),
        sums=("unrealised",),
        rank="unrealised",
    )

    @property
    def unrealised(self) -> float:
        """Sum over the rows that have a price, before charges."""
        return self._sum("unrealised")

    @property
    def unpriced(self) -> UnrealisedPnl:
        """The rows without a price or a multiplier, which are in no sum."""
        return self.filter(market_value=None)

    def _heading(self) -> str:
        return f"{super()._heading()}, unrealised {group(self.unrealised, 2)} before charges"


def unrealised_pnl(
    lots: GivenLots | RealisedPnl | Positions,
    prices: Prices,
    *,
    changes: Sequence[LotChange] = (),
    match_by: str = MATCH_BY[0],
) -> UnrealisedPnl:
    """Values open lots or positions at the given prices, before charges.

    The service documents no market prices (nor the meaning of an order's ``ref_ltp``), so the
    caller provides them. Amounts are exact; each result is the float nearest to the exact value.

    Args:
        lots: Lots of either side (``open_lots`` of ``realised_pnl``, its result itself, or one dict
            for each lot), or the result of ``positions``. Lots have their own value. The open
            quantity of a position is valued at the average of its side: of the purchases if it is
            long, of the sales if it is short.
        prices: Price of one share by ``security_id``, or by ``(security_id, expiry_date)`` where an
            id means several contracts, either of them after exchange and segment if need be: a
            mapping, a pandas Series with that index, or a function that takes a row with these
            fields. A missing price is ``None`` or NaN.
        changes: Changes of lots since their ``as_of``, which they then need (see ``td.LotChange``).
        match_by: ``"isin"`` nets lots of shares of one ISIN, as in ``realised_pnl``.

    Returns:
        One row for each key with an open quantity, with ``issues`` and the sum ``unrealised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a lot is incomplete or unmatched, or a price is ambiguous or not finite, or
            positions, which are no lots, are to change or to be matched by ISIN.

    Warns:
        DataWarning: If a contract has no price or no multiplier. Its rows have ``None`` and are in
            no sum. Keys of ``prices`` that matched nothing are named then.

    Example:
        >>> pnl = td.realised_pnl(trades)
        >>> td.unrealised_pnl(pnl.open_lots, prices={"2885": 1412.5})
    """
    price_of = Lookup("prices", prices)
    notes: list[Note] = []
    if changes or is_by_isin(match_by):
        if isinstance(lots, Positions):
            raise ValueError("positions have no lots: pass the result of realised_pnl")
        still_open = lots.open_lots if isinstance(lots, RealisedPnl) else lots
        held = read_lots("lots", still_open)
        zone = next((lot.time.tzinfo for lot in held if lot.time), None)
        held, notes = begun(held, moments_of(changes, zone), zone, None, {})
        if is_by_isin(match_by):
            rows, price_of.same, more = by_isin(as_trades(held, zone, LONG, SHORT))
            notes += more
            ids = zip(*map(rows.column, CONTRACT), strict=True)
            held = list(map(under, held, ids))
        lots = [lot._replace(multiplier=1) if lot.multiplier == 0 else lot for lot in held]
    result = valued(lots, price_of)
    return noted(result, notes + notes_of(result, price_of))


def notes_of(values: UnrealisedPnl, price_of: Lookup) -> list[Note]:
    """Returns the issues of open quantities: those without a price or a multiplier."""
    notes = []
    for row in values.unpriced:
        problem = UNPRICED if row.price is None else UNPROVED
        notes.append(about(lead_of(row), problem, "in no sum"))
    if notes:  # else a list with more contracts is fine
        notes += unused("prices", price_of.unmatched(map(contract_of, values)))
    return notes


def valued(lots: Any, price_of: Lookup) -> UnrealisedPnl:
    """Returns the open quantity of each key, from lots, realised profit and loss or positions."""
    if isinstance(lots, (RealisedPnl, Positions)):  # a price may be that of a closed contract
        contracts = zip(*map(lots._column, CONTRACT), strict=True)
        last = max(lots.days, default=date.min)
        price_of.among(key for key in contracts if key[-1] is None or key[-1] >= last)
    opened: Iterable[Open]
    if isinstance(lots, Positions):
        opened = _of_positions(lots)
    elif isinstance(lots, RealisedPnl):
        opened = _of_open_lots(lots.open_lots._rows)
    else:
        opened = _of_lots(lots)
    return UnrealisedPnl._of(_unrealised_row(held, price_of) for held in opened)


# A row of the key, the open quantity, positive if long, and the exact value it was traded for, as a
# ratio, since reducing fractions takes long; the multiplier, if it is known, and the kind.
Open = tuple[Keyed, int, tuple[int, int], int | None, str]


def _of_positions(positions: Positions) -> Iterator[Open]:
    for row in positions:
        net = row.net_quantity
        side = "buy" if net > 0 else "sell"
        if net:
            traded = Fraction(repr(getattr(row, f"{side}_value")))
            value = traded * net / getattr(row, f"{side}_quantity")
            yield row, net, value.as_integer_ratio(), row.multiplier, row.kind


def _of_open_lots(rows: Slice) -> Iterator[Open]:
    """Returns the lots of a result, which are complete: those of a key have one side and unit."""
    groups = _core.Groups([rows], KEY)
    decimals = _core.decimals_of([(rows, "value")])
    sums: Any = groups.sums("quantity", 0), groups.sums("value", decimals)
    for first, last, *amounts in zip(groups.first(), groups.last(), *sums, strict=True):
        lot = rows[last]
        sign = 1 if lot.side == LONG else -1
        quantity, value = (sign * amount for amount in amounts)
        yield lot, quantity, (value, 10**decimals), lot.multiplier, rows[first].kind


def _of_lots(lots: Any) -> Iterator[Open]:
    by_key: dict[Key, tuple[Keyed, int, Fraction, int | None, str]] = {}
    for lot in read_lots("lots", lots):
        sign = 1 if lot.side == LONG else -1
        multiplier = 1 if lot.multiplier == 0 else lot.multiplier  # 0 stands for shares
        key = key_of(lot)
        _, quantity, value, known, kind = by_key.get(
            key, (lot, 0, Fraction(0), multiplier, lot.kind)
        )
        if known != multiplier:
            raise ValueError(
                f"lots of security_id {lot.security_id!r} have the multipliers {known} "
                f"and {multiplier}: convert their quantities"
            )
        value += sign * Fraction(repr(lot.value))
        by_key[key] = (lot, quantity + sign * lot.quantity, value, known, kind)
    for row, quantity, value, known, kind in by_key.values():
        yield row, quantity, value.as_integer_ratio(), known, kind


def _unrealised_row(held: Open, price_of: Lookup) -> tuple[Any, ...]:
    key, quantity, (value, unit), multiplier, kind = held
    price = price_of(key) if quantity else Fraction(0)  # lots that cancel out need no price
    shares = 0 if not quantity else None if multiplier is None else quantity * multiplier
    average = market = gain = None
    if shares:
        average = (value if shares > 0 else -value) / (unit * abs(shares))
    if price is not None and shares is not None:
        worth, of_price = price.numerator * shares, price.denominator
        market = worth / of_price
        gain = (worth * unit - value * of_price) / (of_price * unit)
    return (
        *(*leading_of(key), quantity, value / unit),
        average,
        price.numerator / price.denominator if price is not None and quantity else None,
        *(market, gain),
        *(multiplier, kind),
    )
