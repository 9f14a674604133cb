"""Unrealised profit and loss and exposure of open lots or positions, at the caller's prices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DataWarning
from .exact_sums import exact_sum
from .fifo import LONG
from .opening_lots import read_lots
from .pnl import RealisedPnl
from .position import Positions
from .prices import PriceLookup
from .result_table import ResultTable
from .security_key import APART, KEY, LEAD, Keyed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .opening_lots import GivenLots
    from .prices import Prices

_NAMED = 3  # securities that a warning names


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """

    quantity: int
    value: float
    average: float | None
    price: float | None
    market_value: float | None
    unrealised: float | None
    multiplier: int


class Exposure(NamedTuple):
    """Market values added up, in the currency of the prices.

    Attributes:
        long: Sum of the long rows.
        short: Sum of the short rows, which is negative.
        gross: ``long - short``.
        net: ``long + short``.
    """

    long: float
    short: float
    gross: float
    net: float


class UnrealisedPnl(ResultTable[Unrealised]):
    """Result of ``unrealised_pnl``: one row for each key with an open quantity."""

    __slots__ = ()
    _row = Unrealised
    _lead = LEAD
    _apart = APART
    _key_columns = ("unrealised", "quantity", "average", "price", "market_value")
    _summed = ("unrealised", "market_value")
    _size = "unrealised"

    @property
    def unrealised(self) -> float:
        """Sum over the rows that have a price, before charges."""
        return exact_sum(self._columns["unrealised"])

    @property
    def exposure(self) -> Exposure:
        """Long, short, gross and net market value of the rows that have a price."""
        values = [value for value in self._columns["market_value"] if value is not None]
        long = [value for value in values if value > 0]
        short = [value for value in values if value < 0]
        gross = exact_sum([*long, *(-value for value in short)])
        return Exposure(exact_sum(long), exact_sum(short), gross, exact_sum(values))

    @property
    def unpriced(self) -> list[Unrealised]:
        """The rows without a price, which are in no sum."""
        return [row for row in self if row.market_value is None]

    def _heading(self) -> str:
        from ..display.plain_table import group

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
        One row for each key with an open quantity, with the sums ``unrealised`` and ``exposure``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a lot is incomplete or unmatched, or a price is ambiguous or not finite.

    Warns:
        DataWarning: If a security has no price. Its rows have ``None`` and are in no sum.

    Example:
        >>> pnl = td.realised_pnl(trades)
        >>> td.unrealised_pnl(pnl.open_lots, prices={"2885": 1412.5})
    """
    price_of = PriceLookup(prices)
    rows = list(_valued(open_quantities(lots), price_of))
    made = UnrealisedPnl._of(rows)
    if missing := made.unpriced:
        named = ", ".join(f"{row.security_id} ({row.symbol})" for row in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        warnings.warn(
            f"no price for security_id {named}{more}: left out of all sums, see .unpriced",
            DataWarning,
            stacklevel=2,
        )
    return made


class Open(NamedTuple):
    """An open quantity, positive if long, and the exact value it was traded for."""

    key: Keyed
    quantity: int
    value: Fraction
    multiplier: int


def open_quantities(lots: Any) -> Iterable[Open]:
    """Returns the open quantity of each key, from lots, realised profit and loss or positions."""
    if isinstance(lots, Positions):
        return _of_positions(lots)
    return _of_lots(lots.open_lots if isinstance(lots, RealisedPnl) else lots)


def _of_positions(positions: Positions) -> Iterator[Open]:
    for row in positions:
        net = row.net_quantity
        side = row.buy_quantity, row.buy_value
        if net < 0:
            side = row.sell_quantity, row.sell_value
        if net:
            yield Open(row, net, Fraction(repr(side[1])) * net / side[0], row.multiplier)


def _of_lots(lots: Any) -> Iterator[Open]:
    found: dict[tuple[str, ...], Open] = {}
    for lot in read_lots("lots", lots):
        sign = 1 if lot.side == LONG else -1
        multiplier = lot.multiplier or 1
        key = Keyed(**dict(zip(KEY, lot.key, strict=True)), **lot.names._asdict())
        before = found.get(lot.key, Open(key, 0, Fraction(0), multiplier))
        if before.multiplier != multiplier:
            raise ValueError(
                f"lots of security_id {key.security_id!r} have the multipliers {before.multiplier} "
                f"and {multiplier}: convert their quantities"
            )
        value = before.value + sign * Fraction(repr(lot.value))
        found[lot.key] = Open(key, before.quantity + sign * lot.quantity, value, multiplier)
    yield from found.values()


def _valued(found: Iterable[Open], price_of: PriceLookup) -> Iterator[tuple[Any, ...]]:
    for key, quantity, value, multiplier in found:
        shares = quantity * multiplier
        price = price_of(key) if shares else Fraction(0)  # equal lots of both sides need none
        market = None if price is None else price * shares
        yield (
            *(getattr(key, field.name) for field in fields(Keyed)),
            quantity,
            float(value),
            float(value / shares) if shares else None,
            float(price) if price is not None and shares else None,
            None if market is None else float(market),
            None if market is None else float(market - value),
            multiplier,
        )
