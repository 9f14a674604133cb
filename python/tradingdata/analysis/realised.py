"""The result of ``realised_pnl``: its rows, and the matches and lots behind them."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from ..table.rows import declared
from .inputs import days_text
from .keys import APART, KEY, KEYED, LEAD, Key, Keyed
from .lots import Lots
from .result_table import ResultTable

if TYPE_CHECKING:
    from .._core import Slice

INTRADAY = "I"  # the product whose lots are expected to be closed on their day


@declared
class Match(Keyed):
    """A quantity that one trade opened and another closed; see also ``Keyed``.

    Attributes:
        side: ``long`` if the purchase came first, ``short`` if the sale did.
        buy_trade_no: Trade number of the purchase; ``None`` for a settlement, or an opening lot
            without one.
        buy_time: Time of the purchase; ``None`` for an opening lot without one.
        sell_trade_no: Trade number of the sale; ``None`` for a settlement, or an opening lot
            without one.
        sell_time: Time of the sale; ``None`` for an opening lot without one.
        close_time: Time of the closing trade: the sale of a long lot, the purchase for a short one.
            A settlement is at 15:30 on the expiry date.
        quantity: Shares or contracts.
        cost: Value of the purchase.
        proceeds: Value of the sale.
        realised: ``proceeds - cost``, before charges.
    """

    __slots__ = ()

    side: str
    buy_trade_no: str | None
    buy_time: datetime | None
    sell_trade_no: str | None
    sell_time: datetime | None
    close_time: datetime
    quantity: int
    cost: float
    proceeds: float
    realised: float


class Matches(ResultTable[Match]):
    """Matches of opening and closing trades, in the order in which they were closed."""

    __slots__ = ()
    _row = Match
    _lead = LEAD
    _apart = APART
    _key_columns = ("side", "realised", "quantity", "close_time", "cost", "proceeds")
    _summed = ("realised",)


@declared
class Realised(Keyed):
    """Realised profit and loss of one client in one security and product; see also ``Keyed``.

    Attributes:
        matched_quantity: Quantity that was both opened and closed.
        cost: Value of its purchases.
        proceeds: Value of its sales.
        realised: ``proceeds - cost``, before charges.
        unmatched_quantity: Quantity sold that neither closed a lot nor was allowed to open a short
            one (see ``shorts``); not part of ``realised``.
        unmatched_value: Value of these sales.
        open_quantity: Quantity still open: positive if long, negative if short; without what has
            expired.
        open_value: Value at which the open quantity was traded: paid if positive, received if
            negative.
    """

    __slots__ = ()

    matched_quantity: int
    cost: float
    proceeds: float
    realised: float
    unmatched_quantity: int
    unmatched_value: float
    open_quantity: int
    open_value: float


class RealisedPnl(ResultTable[Realised]):
    """Result of ``realised_pnl``: one row for each key, with the lots behind the figures.

    Attributes:
        days: The days whose closing trades count, in order.
        matches: Which trade closed which lot.
        unmatched: Sales that neither closed nor opened a lot; not part of ``realised``.
        open_lots: Lots still open at the end of the last day; the ``opening`` of the next.
        expired: Lots whose contract expired before the last day and that no ``settle`` price
            closed. They are neither realised nor open.

    The result of ``filter`` has the matches and lots of its rows.
    """

    __slots__ = ("_group_of", "_groups", "days", "expired", "matches", "open_lots", "unmatched")
    _row = Realised
    _lead = LEAD
    _apart = APART
    _key_columns = (
        *("realised", "open_quantity", "matched_quantity", "cost", "proceeds"),
        "unmatched_quantity",
    )
    _summed = ("realised",)
    _size = "realised"

    days: tuple[date, ...]
    matches: Matches
    unmatched: Lots
    open_lots: Lots
    expired: Lots
    _group_of: dict[Key, int]  # the row of a trade's key: several keys share one if merged
    _groups: list[int]  # by row

    def _leading_values(self) -> list[Any]:
        return list(zip(*map(self._column, KEYED), strict=True))

    def _part(self, rows: Slice) -> RealisedPnl:
        made = super()._part(rows)
        groups: dict[Any, list[int]] = {}  # those of merged rows could have equal names
        for leading, group in zip(self._leading_values(), self._groups, strict=True):
            groups.setdefault(leading, []).append(group)
        made._groups = [groups[leading][0] for leading in made._leading_values()]
        kept = {group for leading in made._leading_values() for group in groups[leading]}

        def part(table: Any) -> Any:
            keys = zip(*map(table._column, KEY), strict=True)
            chosen = [row for row, key in enumerate(keys) if self._group_of[key] in kept]
            return table._taken(chosen)

        made.matches, made.unmatched = part(self.matches), part(self.unmatched)
        made.open_lots, made.expired = part(self.open_lots), part(self.expired)
        return made

    @property
    def realised(self) -> float:
        """Sum over all rows, before charges."""
        return self._sum("realised")

    @property
    def overdue(self) -> Lots:
        """The open lots of the product ``I`` (intraday) that were opened before the last day."""
        if not self.days:
            return self.open_lots[:0]
        last = self.days[-1]
        return self.open_lots.filter(
            lambda lot: lot.product == INTRADAY and lot.time and lot.time.date() < last
        )

    def _heading(self) -> str:
        from ..display.plain_table import counted, group

        parts = [super()._heading(), f"realised {group(self.realised, 2)} before charges"]
        if self.days:
            parts[0] = f"{days_text(self.days)}: {parts[0]}"
        if sales := len(self.unmatched):
            parts.append(f"{counted(sales, 'sale')} without an opening (see .unmatched)")
        if expired := len(self.expired):
            parts.append(f"{counted(expired, 'lot')} expired (see .expired)")
        if overdue := len(self.overdue):
            parts.append(f"{counted(overdue, 'intraday lot')} open after the day (see .overdue)")
        return ", ".join(parts)
