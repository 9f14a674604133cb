"""The desk's day: realised, unrealised and charges of each security, and their net."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from ..books.book import TradeBook
from ..display.text import group
from ..table.rows import declared
from ..table.table import Record
from .changes import LotChange
from .charge_rates import Rates
from .charging import Rounding, levies_of
from .fills import Fills
from .inputs import Lookup, Multipliers, Prices, days_of, rows_in
from .isins import MATCH_BY
from .issues import NO_KEY, UNPROVED, noted
from .keys import KEYED, Key, Keyed, keys_of
from .pnl import facts_of, matched, realised_of
from .position import Position, positions_of
from .realised import GivenLots, Realised, RealisedPnl, read_lots
from .result_table import BY_CONTRACT, ResultTable
from .unrealised import Unrealised, notes_of, valued

_IDLE = "no trades, and nothing is open"


@declared
class DayRow(Keyed):
    """One client's day in one security and product; see also ``Keyed``.

    Attributes:
        kind: ``shares``, ``future`` or ``option``.
        buy_quantity: Quantity bought on the day, in shares or contracts.
        buy_average: Average price of these purchases, ``None`` without any.
        sell_quantity: Quantity sold on the day.
        sell_average: Average price of these sales, ``None`` without any.
        open_quantity: Quantity open at the end of the day: positive if long, negative if short.
        open_average: Average price at which it was traded.
        price: Price passed by the caller; ``None`` if there is none.
        realised: Profit of what was closed on the day, before charges.
        unrealised: Value of the open quantity at the price, less what it was traded for; ``None``
            without a price.
        charges: Charges of the day's trades; 0 if no rates were passed.
        net: ``realised + unrealised - charges``, without what has no price.
    """

    kind: str
    buy_quantity: int
    buy_average: float | None
    sell_quantity: int
    sell_average: float | None
    open_quantity: int
    open_average: float | None
    price: float | None
    realised: float
    unrealised: float | None
    charges: float
    net: float


class NetPnl(ResultTable[Record]):
    """Rows that have what was realised, charges and a net.

    Attributes:
        pnl: The realised profit and loss behind them, with its matches and lots.
    """

    _said: ClassVar[tuple[str, ...]]  # the sums in the heading

    pnl: RealisedPnl

    @property
    def realised(self) -> float:
        """Sum of what was realised, before charges."""
        return self._sum("realised")

    @property
    def charges(self) -> float:
        """Sum of the charges."""
        return self._sum("charges")

    @property
    def net(self) -> float:
        """Sum of what the rows earned after charges, without what has no price."""
        return self._sum("net")

    def _heading(self) -> str:
        return ", ".join(f"{name} {group(self._sum(name), 2)}" for name in self._said)


class DayPnl(NetPnl[DayRow]):
    """Result of ``day_pnl``: one row for each key that was traded on the day, is open or expired.

    Attributes:
        day: The day; ``None`` for a book without trades.
        pnl: The realised profit and loss behind it, with its matches and lots.
    """

    _row = DayRow
    _said = ("net", "realised", "unrealised", "charges")
    _view = BY_CONTRACT._replace(
        columns=(*_said, "open_quantity", "open_average", "price"),
        narrow=_said,
        sums=_said,
        rank="net",
    )

    day: date | None

    @property
    def unrealised(self) -> float:
        """Sum over the open rows that have a price, before charges, measured from cost.

        It contains what was already unrealised the day before, so that the ``net`` of several days
        must not be added up.
        """
        return self._sum("unrealised")

    @property
    def unpriced(self) -> DayPnl:
        """The open rows without a price, whose open quantity is in no sum."""
        return self.filter(unrealised=None)

    def _heading(self) -> str:
        text = super()._heading() if len(self) or self.day is None else _IDLE
        return text if self.day is None else f"{self.day}: {text}"


def day_pnl(
    trades: TradeBook,
    *,
    day: date | str | None = None,
    opening: GivenLots | None = None,
    prices: Prices | None = None,
    settle: Prices | None = None,
    multipliers: Multipliers | None = None,
    changes: Sequence[LotChange] = (),
    match_by: str = MATCH_BY[0],
    charges: Rates | None = None,
    rounding: Rounding = None,
    shorts: bool | Collection[str] = True,
    buy: str = "B",
    sell: str = "S",
) -> DayPnl:
    """Computes the profit and loss of one day: realised, unrealised, charges and their net.

    Trades of earlier days are matched first, as in ``realised_pnl``; they and ``opening`` are what
    the day starts with. Amounts are exact. (Service: "Trade record".)

    ``unrealised`` is measured from cost, so the ``net`` of several days must not be added up.

    Args:
        trades: A trade book, of one or several accounts.
        day: The day, as a date or ISO text; the latest day of the book unless given.
        opening: Lots that were open before the first trade, as in ``realised_pnl``.
        prices: Closing prices of what is open, as in ``unrealised_pnl``. What has none is listed in
            ``unpriced`` and in no sum.
        settle: Settlement prices of expired contracts, as in ``realised_pnl``.
        multipliers: Multipliers of contracts that their trades do not prove, as in
            ``realised_pnl``.
        changes: Changes of open lots, as in ``realised_pnl``.
        match_by: ``"isin"`` matches shares of one ISIN as one security, as in ``realised_pnl``.
        charges: Rates of charges, as in ``charges``; without them, charges are 0.
        rounding: Rounds charges, as in ``charges``.
        shorts: Whether sales may open short lots, as in ``realised_pnl``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key that was traded on the day, is open, or has lots that expired without a
        settlement, with ``issues`` and the sums ``realised``, ``unrealised``, ``charges`` and
        ``net``. Without trades on the day, what is
        carried is valued, with an issue.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As ``realised_pnl`` and ``charges``.

    Warns:
        DataWarning: If the result has issues.

    Example:
        >>> day = td.day_pnl(trades, prices=closes, charges=td.ChargeRate.load("charges.toml"))
        >>> day.net, day.filter(segment="E").net
    """
    price_of = Lookup("prices", {} if prices is None else prices)
    lots = [] if opening is None else read_lots("opening", opening)
    if day is None:
        day = max(days_of(rows_in("trades", trades, TradeBook)), default=None)
    more: Any = {"multipliers": multipliers, "changes": changes, "match_by": match_by}
    fills = Fills(trades, day, buy, sell, lots=lots, earlier=True, **more)
    stages = matched(fills, settle, shorts, buy, sell)
    pnl = realised_of(fills, stages)
    facts = facts_of(stages)
    price_of.same = fills.same
    of_day = fills.on_day(fills.day)
    traded = positions_of(of_day, buy, sell)
    value = valued(pnl, price_of)
    costs, unit = charged(of_day, charges, buy, rounding)
    tables = traded, value, pnl.expired
    by_key: Any = [dict(zip(keys_of(table), table, strict=True)) for table in tables]
    day_rows = {}
    kept = []
    for at, (key, row) in enumerate(zip(keys_of(pnl), pnl, strict=True)):
        position, held, expired = [rows.get(key) for rows in by_key]
        if row.matched_quantity or (position, held, expired) != (None, None, None):
            cost: Any = costs.get((fills.day, key), 0)
            charge = cost.numerator, cost.denominator * unit
            day_rows[key] = _day_row(row, *facts[key], position, held, charge)
            kept.append(at)
    result = DayPnl._of(day_rows.values(), leads=[(pnl._rows, kept, KEYED)])
    result.day, result.pnl = fills.day, noted(pnl, fills.notes, warn=False)
    # Issues of keys that were closed before the day concern none of its numbers.
    notes = [note for note in fills.notes if note.lead == NO_KEY or note.lead.key in day_rows]
    of_lots = [note for note in notes_of(value, price_of) if note.problem != UNPROVED]
    return noted(result, notes + of_lots)


def charged(
    fills: Fills, rates: Rates | None, buy: str, rounding: Rounding
) -> tuple[dict[Any, Any], int]:
    """Returns the sum of the levies of each day and key, exactly, and how many units are 1.

    Where ISINs join keys, theirs is that of all.
    """
    costs: dict[tuple[date, Key], Any] = {}
    if rates is None:
        return costs, 1
    levied = levies_of(
        fills.sent,
        rates,
        buy,
        joined=fills.rows,
        by_key=fills.by_key if fills.rows is fills.sent else None,
        rounding=rounding,
        multipliers=fills.given,
        where=fills.where,
    )
    for place in levied.places:
        at = place.day, place.key
        costs[at] = costs.get(at, 0) + sum(place.levies.values())
    return costs, levied.unit


def _ratio(amount: float) -> tuple[int, int]:
    """Returns an amount as the decimal that it is written as."""
    return Decimal(repr(amount)).as_integer_ratio()


def _day_row(
    row: Realised,
    multiplier: int | None,
    kind: str,
    traded: Position | None,
    held: Unrealised | None,
    charged: tuple[int, int],
) -> tuple[Any, ...]:
    """Returns the values of a ``DayRow`` after the leading ones.

    Exact by ratios, since reducing fractions takes long.
    """
    unrealised = 0.0 if held is None else held.unrealised
    gained, of_gained = _ratio(row.realised)
    more, of_more = _ratio(unrealised or 0.0)
    cost, of_cost = charged
    net = (gained * of_more + more * of_gained) * of_cost - cost * of_gained * of_more
    sides: tuple[Any, ...] = (0, None) * 2
    if traded is not None:
        averages = traded.buy_average, traded.sell_average
        if traded.multiplier != multiplier:  # trades of other days prove another one
            averages = (
                _average(traded.buy_quantity, traded.buy_value, multiplier),
                _average(traded.sell_quantity, traded.sell_value, multiplier),
            )
        sides = traded.buy_quantity, averages[0], traded.sell_quantity, averages[1]
    still_open = (0, None, None) if held is None else (held.quantity, held.average, held.price)
    return (
        *(kind, *sides, *still_open),
        *(row.realised, unrealised, cost / of_cost, net / (of_gained * of_more * of_cost)),
    )


def _average(quantity: int, value: float, multiplier: int | None) -> float | None:
    if not quantity or multiplier is None:
        return None
    return float(Fraction(repr(value)) / (quantity * multiplier))
