"""The desk's day: realised, unrealised and charges of each security, and their net."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from ..books.book import TradeBook
from ..display.text import group
from ..table.rows import declared
from .changes import LotChange
from .charging import ChargeRate, Rounding, charged
from .fills import Fills
from .inputs import Lookup, Multipliers, Prices, days_of, rows_in
from .isins import MATCH_BY
from .issues import NO_KEY, UNPROVED, noted
from .keys import KEYED, Keyed, key_of, keys_of
from .pnl import matched, realised_of
from .position import Position, positions_of
from .realised import GivenLots, Realised, RealisedPnl, read_lots
from .result_table import BY_CONTRACT, ResultTable
from .unrealised import Unrealised, notes_of, valued

_AMOUNTS = ("net", "realised", "unrealised", "charges")


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


class DayPnl(ResultTable[DayRow]):
    """Result of ``day_pnl``: one row for each key that was traded on the day, is open or expired.

    Attributes:
        day: The day; ``None`` for a book without trades.
        pnl: The realised profit and loss behind it, with its matches and lots.
    """

    _row = DayRow
    _view = BY_CONTRACT._replace(
        columns=(*_AMOUNTS, "open_quantity", "open_average", "price"),
        narrow=_AMOUNTS,
        sums=_AMOUNTS,
        rank="net",
    )

    day: date | None
    pnl: RealisedPnl

    @property
    def realised(self) -> float:
        """Sum of what was realised on the day, before charges."""
        return self._sum("realised")

    @property
    def unrealised(self) -> float:
        """Sum over the open rows that have a price, before charges, measured from cost.

        It contains what was already unrealised the day before, so that the ``net`` of several days
        must not be added up.
        """
        return self._sum("unrealised")

    @property
    def charges(self) -> float:
        """Sum of the charges of the day's trades."""
        return self._sum("charges")

    @property
    def net(self) -> float:
        """``realised + unrealised - charges``, without what has no price (see ``unpriced``)."""
        return self._sum("net")

    @property
    def unpriced(self) -> DayPnl:
        """The open rows without a price, whose open quantity is in no sum."""
        return self.filter(unrealised=None)

    def _heading(self) -> str:
        text = ", ".join(f"{name} {group(getattr(self, name), 2)}" for name in _AMOUNTS)
        if self.day is not None:
            text = f"{self.day}: {text if len(self) else 'no trades, and nothing is open'}"
        return text


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
    charges: ChargeRate | Sequence[ChargeRate] | None = None,
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
    pnl = realised_of(fills, matched(fills, settle, shorts, buy, sell))
    price_of.same = fills.same
    of_day = fills.on_day(fills.day)
    found = positions_of(of_day, buy, sell)
    traded = dict(zip(keys_of(found), found, strict=True))
    value = valued(pnl, price_of)
    held = dict(zip(keys_of(value), value, strict=True))
    costs = {key: cost for (_, key), cost in charged(of_day, charges, buy, rounding).items()}
    shown = {*traded, *held, *keys_of(pnl.expired)}
    made = {
        key: _row(row, pnl._contracts[key], traded.get(key), held.get(key), costs.get(key, 0))
        for key, row in zip(keys_of(pnl), pnl, strict=True)
        if row.matched_quantity or key in shown
    }
    result = DayPnl._of(made.values())
    result.day, result.pnl = fills.day, noted(pnl, fills.notes, warn=False)
    # What is said of a key that was closed before the day is in no number of the day.
    notes = [note for note in fills.notes if note.leading == NO_KEY or key_of(note.leading) in made]
    of_lots = [note for note in notes_of(value, price_of) if note.problem != UNPROVED]
    return noted(result, notes + of_lots)


def _row(
    row: Realised,
    contract: tuple[int | None, str],
    traded: Position | None,
    held: Unrealised | None,
    charged: Fraction | int,
) -> tuple[Any, ...]:
    """Returns the values of a ``DayRow``."""
    multiplier, kind = contract
    sides = ((0, 0.0), (0, 0.0))
    if traded is not None:
        sides = ((traded.buy_quantity, traded.buy_value), (traded.sell_quantity, traded.sell_value))
    still_open = (0, None, None) if held is None else (held.quantity, held.average, held.price)
    unrealised = 0.0 if held is None else held.unrealised
    net = Fraction(repr(row.realised)) + Fraction(repr(unrealised or 0.0)) - charged
    return (
        *(*(getattr(row, name) for name in KEYED), kind),
        *(cell for side in sides for cell in (side[0], _average(*side, multiplier))),
        *(*still_open, row.realised, unrealised, float(charged), float(net)),
    )


def _average(quantity: int, value: float, multiplier: int | None) -> float | None:
    if not quantity or multiplier is None:
        return None
    return float(Fraction(repr(value)) / (quantity * multiplier))
