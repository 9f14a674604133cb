"""First-in-first-out matching of one security's trades, and tables of lots."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from .exact_sums import share_of
from .result_table import ResultTable
from .security_key import APART, LEAD, Keyed

LONG = "long"
SHORT = "short"
UNMATCHED = "unmatched"


class Fill(NamedTuple):
    """One trade, or one opening lot; ``value`` is in exact units."""

    time: Any
    trade_no: str | None
    quantity: int
    value: int


class Remainder:
    """The unmatched part of a fill. The values of the parts taken add up to the fill's value."""

    __slots__ = ("fill", "left", "value")

    def __init__(self, fill: Fill) -> None:
        self.fill = fill
        self.left = fill.quantity
        self.value = fill.value

    def take(self, quantity: int) -> int:
        """Takes this quantity and returns its share of the value."""
        self.left -= quantity
        before = self.value
        self.value = share_of(self.fill.value, self.left, self.fill.quantity) if self.left else 0
        return before - self.value


class Matched(NamedTuple):
    """A quantity of a lot that a trade closed; both values are in exact units."""

    lot: Fill
    quantity: int
    lot_value: int
    trade_value: int


class OpenLots:
    """The open lots of one key by side, the oldest first."""

    __slots__ = ("_lots",)

    def __init__(self) -> None:
        self._lots: dict[str, deque[Remainder]] = {LONG: deque(), SHORT: deque()}

    def open(self, side: str, lot: Remainder) -> None:
        """Adds a lot, which becomes the newest of its side."""
        self._lots[side].append(lot)

    def close(self, side: str, trade: Remainder) -> Iterator[Matched]:
        """Closes lots of the side, the oldest first; ``trade`` keeps the quantity without a lot."""
        lots = self._lots[side]
        while trade.left and lots:
            lot = lots[0]
            quantity = min(trade.left, lot.left)
            value = lot.take(quantity)
            if not lot.left:
                lots.popleft()
            yield Matched(lot.fill, quantity, value, trade.take(quantity))

    def __iter__(self) -> Iterator[tuple[str, Remainder]]:
        return ((side, lot) for side, lots in self._lots.items() for lot in lots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot(Keyed):
    """One trade, or the part of it that is still open; see also ``Keyed``.

    Attributes:
        side: ``long`` (bought, not yet sold), ``short`` (sold, not yet bought back), or
            ``unmatched`` for a sale that had no lot to close and was not allowed to open one.
        trade_no: Trade number; ``None`` if an opening lot was given without one.
        time: Time of the trade; ``None`` if an opening lot was given without one.
        quantity: Shares or contracts, always positive.
        value: Value of this quantity when it was traded, before charges.
        multiplier: 1, or the lot size where ``value`` counts a contract as a lot of shares.
    """

    side: str
    trade_no: str | None
    time: datetime | None
    quantity: int
    value: float
    multiplier: int


class Lots(ResultTable[Lot]):
    """Lots grouped by key, within a key the oldest first."""

    __slots__ = ()
    _row = Lot
    _lead = LEAD
    _apart = APART
    _key_columns = ("side", "quantity", "value", "time")
