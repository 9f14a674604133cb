"""What trades add up to, by account and security."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .result_table import ResultTable
from .security_key import ASIDES, Key, Keyed
from .trade_columns import read_fills

if TYPE_CHECKING:
    from ..books.book import TradeBook


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Keyed):
    """What the trades of one account in one security and product add up to; see also ``Keyed``.

    Quantities are in shares or contracts, amounts in the currency of the trades, before charges.

    Attributes:
        trades: how many trades.
        buy_quantity: bought.
        buy_value: paid for it.
        buy_average: paid for one, ``None`` where nothing was bought.
        sell_quantity: sold.
        sell_value: received for it.
        sell_average: received for one, ``None`` where nothing was sold.
        net_quantity: bought less sold. Holdings from before these trades are not in it.
        net_cash: received less paid.
    """

    trades: int
    buy_quantity: int
    buy_value: float
    buy_average: float | None
    sell_quantity: int
    sell_value: float
    sell_average: float | None
    net_quantity: int
    net_cash: float


class Positions(ResultTable[Position]):
    """What ``positions`` gives: a row for each key, in the order of its first trade."""

    __slots__ = ()
    _row = Position
    _asides = ASIDES


def positions(trades: TradeBook, *, buy: str = "B", sell: str = "S") -> Positions:
    """What trades add up to by account, exchange, segment, security and product.

    A row has what was bought and sold, for how much, and the net of both, over all days of the
    book. Amounts are sums of ``trade_value``, before charges, and exact: they are added as decimals
    as the service sent them, and each result is the float nearest to it. ``buy`` and ``sell`` are
    the codes of ``txn_type``, which the service does not document.

    Raises ValueError for another code, for a trade that lacks a value which counts, for a quantity
    below 1, and for a trade that stands in the book twice. (Service: "Trade record".)
    """
    fills = read_fills(trades, buy, sell)
    scale = 10**fills.decimals
    sums: dict[Key, list[int]] = {}
    for key, bought, quantity, value in zip(
        fills.keys, fills.bought, fills.quantities, fills.values, strict=True
    ):
        found = sums.get(key)
        if found is None:
            found = sums[key] = [0, 0, 0, 0, 0]
        side = 1 if bought else 3
        found[0] += 1
        found[side] += quantity
        found[side + 1] += value
    return Positions._of(
        (
            *key,
            *fills.names[key],
            count,
            bought,
            paid / scale,
            paid / (scale * bought) if bought else None,
            sold,
            received / scale,
            received / (scale * sold) if sold else None,
            bought - sold,
            (received - paid) / scale,
        )
        for key, (count, bought, paid, sold, received) in sums.items()
    )
