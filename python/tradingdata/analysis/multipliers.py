"""Contract multipliers: how many shares one unit of quantity represents in a book's values.

The service describes a quantity as "shares or contracts". Where it counts contracts, a value is
``quantity * price * lot_size``; the multiplier is then the lot size, and otherwise 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..books.integrity import matching_multipliers
from .validation import read

if TYPE_CHECKING:
    from ..books.book import TradeBook

K = TypeVar("K", bound=Hashable)


def multipliers_of(trades: TradeBook, keys: Sequence[K]) -> dict[K, int]:
    """Returns the multipliers that the trades prove; ``keys`` has the key of each row.

    A trade proves the multiplier that its value, quantity, price and lot size agree with. A trade
    that agrees with both or neither proves nothing, and the multiplier is then taken to be 1.

    Raises:
        ValueError: If two trades of one key prove different multipliers, because their quantities
            cannot be added up.
    """
    quantities, prices, values, lots = read(
        trades, "quantity", "traded_price", "trade_value", "lot_size"
    )
    proofs: dict[K, tuple[int, int]] = {}
    rows = zip(keys, quantities, prices, values, lots, strict=True)
    for row, (key, quantity, price, value, lot) in enumerate(rows):
        if not lot or lot == 1 or None in (quantity, price, value):
            continue
        found = matching_multipliers(quantity, price, value, lot)
        if len(found) != 1:
            continue
        (multiplier,) = found
        before, first = proofs.setdefault(key, (multiplier, row))
        if before != multiplier:
            raise ValueError(
                f"rows {first} and {row} count quantities of one security in different units: "
                f"trade_value is quantity * traded_price * {before} in row {first} and * "
                f"{multiplier} in row {row}: see trades.check(), then calculate them separately"
            )
    return {key: multiplier for key, (multiplier, _) in proofs.items()}
