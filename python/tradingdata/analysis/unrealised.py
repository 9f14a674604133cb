"""Unrealised profit and loss of open lots or positions, at the caller's prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from fractions import Fraction
from typing import Any

from .._util.warn import warn_user
from ..display.text import group
from ..errors import DataWarning
from ..table.rows import declared
from .inputs import PriceLookup, Prices
from .keys import KEY, KEYED, Key, Keyed
from .position import Positions
from .realised import LONG, GivenLots, RealisedPnl, read_lots
from .result_table import ResultTable

_NAMED = 3  # securities that a warning names


@declared
class Unrealised(Keyed):
    """Market value of one client's open quantity of a security and product; see also ``Keyed``.

    Attributes:
        quantity: Open quantity: positive if long, negative if short.
        value: Value at which it was traded: paid if positive, received if negative.
        average: Average price at which it was traded.
        price: Price passed by the caller; ``None`` if there is none.
        market_value: ``quantity * price * multiplier``, negative if short; ``None`` without a
            price.
        unrealised: ``market_value - value``, before charges; ``None`` without a price.
        multiplier: 1, or the lot size where values count a contract as a lot of shares.
        kind: ``shares``, ``future`` or ``option``.
        expiry_date: Expiry date of a contract; ``None`` for shares.
    """

    quantity: int
    value: float
    average: float | None
    price: float | None
    market_value: float | None
    unrealised: float | None
    multiplier: int
    kind: str
    expiry_date: date | None


class UnrealisedPnl(ResultTable[Unrealised]):
    """Result of ``unrealised_pnl``: one row for each key with an open quantity."""

    _row = Unrealised
    _key_columns = ("unrealised", "quantity", "average", "price", "market_value")
    _summed = ("unrealised",)
    _size = "unrealised"

    @property
    def unrealised(self) -> float:
        """Sum over the rows that have a price, before charges."""
        return self._sum("unrealised")

    @property
    def unpriced(self) -> UnrealisedPnl:
        """The rows without a price, which are in no sum."""
        return self.filter(market_value=None)

    def _heading(self) -> str:
        parts = [super()._heading(), f"unrealised {group(self.unrealised, 2)} before charges"]
        if missing := len(self.unpriced):
            parts.append(f"{group(missing)} without a price, in no sum (see .unpriced)")
        return ", ".join(parts)


def unrealised_pnl(lots: GivenLots | RealisedPnl | Positions, prices: Prices) -> UnrealisedPnl:
    """Values open lots or positions at the given prices, before charges.

    The service documents no market prices (nor the meaning of an order's ``ref_ltp``), so the
    caller provides them. Amounts are exact; each result is the float nearest to the exact value.

    Args:
        lots: Lots of either side (``open_lots`` of ``realised_pnl``, its result itself, or one dict
            for each lot), or the result of ``positions``. Lots have their own value. The open
            quantity of a position is valued at the average of its side: of the purchases if it is
            long, of the sales if it is short.
        prices: Price of one share by ``security_id``, or by ``(exchange, segment, security_id)``
            where a ``security_id`` is used in several: a mapping, a pandas Series with that index,
            or a function that takes a row with these fields. A missing price is ``None`` or NaN.

    Returns:
        One row for each key with an open quantity, with the sum ``unrealised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a lot is incomplete or unmatched, or a price is ambiguous or not finite.

    Warns:
        DataWarning: If a security has no price. Its rows have ``None`` and are in no sum.

    Example:
        >>> pnl = td.realised_pnl(trades)
        >>> td.unrealised_pnl(pnl.open_lots, prices={"2885": 1412.5})
    """
    made = valued(lots, PriceLookup("prices", prices))
    if missing := made.unpriced:
        named = ", ".join(f"{row.security_id} ({row.symbol})" for row in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        what = f"no price for security_id {named}{more}: left out of all sums, see .unpriced"
        warn_user(DataWarning(what))
    return made


def valued(lots: Any, price_of: PriceLookup) -> UnrealisedPnl:
    """Returns the open quantity of each key, from lots, realised profit and loss or positions."""
    given = lots.open_lots if isinstance(lots, RealisedPnl) else lots
    found = _of_positions(given) if isinstance(given, Positions) else _of_lots(given)
    return UnrealisedPnl._of(_row(each, price_of) for each in found)


# A row of the key, the open quantity, positive if long, and the exact value it was traded for;
# multiplier, kind and expiry date.
Open = tuple[Keyed, int, Fraction, int, str, date | None]


def _of_positions(positions: Positions) -> Iterator[Open]:
    for row in positions:
        net = row.net_quantity
        side = "buy" if net > 0 else "sell"
        if net:
            traded = Fraction(repr(getattr(row, f"{side}_value")))
            value = traded * net / getattr(row, f"{side}_quantity")
            yield row, net, value, row.multiplier, row.kind, row.expiry_date


def _of_lots(lots: Any) -> Iterable[Open]:
    found: dict[Key, Open] = {}
    for lot in read_lots("lots", lots):
        sign = 1 if lot.side == LONG else -1
        multiplier = lot.multiplier or 1
        key = tuple(getattr(lot, name) for name in KEY)
        contract = (multiplier, lot.kind, lot.expiry_date)
        _, quantity, value, known, *_ = found.get(key, (lot, 0, Fraction(0), *contract))
        if known != multiplier:
            raise ValueError(
                f"lots of security_id {lot.security_id!r} have the multipliers {known} "
                f"and {multiplier}: convert their quantities"
            )
        value += sign * Fraction(repr(lot.value))
        found[key] = (lot, quantity + sign * lot.quantity, value, *contract)
    return found.values()


def _row(held: Open, price_of: PriceLookup) -> tuple[Any, ...]:
    key, quantity, value, multiplier, *contract = held
    shares = quantity * multiplier
    price = price_of(key) if shares else Fraction(0)  # equal lots of both sides need none
    market = None if price is None else price * shares
    return (
        *(*(getattr(key, name) for name in KEYED), quantity, float(value)),
        float(value / shares) if shares else None,
        float(price) if price is not None and shares else None,
        None if market is None else float(market),
        None if market is None else float(market - value),
        *(multiplier, *contract),
    )
