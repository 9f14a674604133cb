"""Lots: what was bought at once and is not sold yet, and their order: first in, first out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from .amounts import part_of
from .keys import ASIDES, Keyed
from .results import ResultTable


class Part(NamedTuple):
    """A part of a fill: when and as which trade it was done, how many, and for how much."""

    time: Any
    trade_no: str | None
    quantity: int
    value: int


class Remainder:
    """A fill of which parts are taken; the parts of its value add up to the whole value."""

    __slots__ = ("fill", "left", "worth")

    def __init__(self, fill: Part) -> None:
        self.fill = fill
        self.left = fill.quantity
        self.worth = fill.value

    def take(self, quantity: int) -> int:
        """Takes so many, and returns their part of the value."""
        self.left -= quantity
        before = self.worth
        self.worth = part_of(self.fill.value, self.left, self.fill.quantity) if self.left else 0
        return before - self.worth

    def rest(self) -> Part:
        """What is left."""
        return Part(self.fill.time, self.fill.trade_no, self.left, self.worth)


class Queue:
    """The lots of one key, the oldest first."""

    __slots__ = ("_lots",)

    def __init__(self) -> None:
        self._lots: deque[Remainder] = deque()

    def buy(self, fill: Part) -> None:
        """Adds a lot, the newest."""
        self._lots.append(Remainder(fill))

    def sell(self, sale: Remainder) -> Iterator[tuple[Part, int, int, int]]:
        """Takes a sale from the oldest lots on: each lot, how many of it, their cost and proceeds.

        What no lot is left for stays in ``sale``.
        """
        while sale.left and self._lots:
            lot = self._lots[0]
            quantity = min(sale.left, lot.left)
            cost = lot.take(quantity)
            if not lot.left:
                self._lots.popleft()
            yield lot.fill, quantity, cost, sale.take(quantity)

    def rest(self) -> Iterator[Part]:
        """What is left of the lots, the oldest first."""
        return (lot.rest() for lot in self._lots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot(Keyed):
    """A quantity that was traded at once, or what is left of it; see also ``Keyed``.

    Attributes:
        trade_no: the trade's identifier, ``None`` for a lot that was given without one.
        time: when it was traded, ``None`` for a lot that was given without it.
        quantity: how many.
        value: what they were traded for, all together, before charges.
    """

    trade_no: str | None
    time: datetime | None
    quantity: int
    value: float


class Lots(ResultTable[Lot]):
    """Lots by key, and within a key in the order of their times."""

    __slots__ = ()
    _row = Lot
    _asides = ASIDES
