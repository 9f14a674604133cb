"""The desk's day: realised, unrealised and charges of each security, and their net."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from ..books.book import TradeBook
from ..display.text import counted, group
from ..table.rows import declared
from .charging import ChargeRate, charge_sums
from .inputs import PRODUCTS, PriceLookup, Prices, Trades, day_from, days_of, joined, of_days
from .keys import KEY, KEYED, Keyed
from .pnl import realised_pnl
from .position import positions
from .realised import LONG, GivenLots, Lot, Lots, RealisedPnl
from .result_table import ResultTable, exact_sum

_AMOUNTS = ("realised", "unrealised", "charges", "net")


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
        change: Profit since the end of the day before, before charges: ``realised``, and the change
            of ``unrealised``; ``None`` unless the prices of both days are known.
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
    change: float | None


@declared
class DaySum:
    """The rows of a day with one value in a column.

    Attributes:
        group: The value.
        rows: Number of rows.
        unpriced: Number of open rows without a price, which are not part of ``unrealised``.
        realised: Sum of ``realised``.
        unrealised: Sum of ``unrealised`` over the rows that have a price.
        charges: Sum of ``charges``.
        net: Sum of ``net``.
    """

    group: str
    rows: int
    unpriced: int
    realised: float
    unrealised: float
    charges: float
    net: float


class DaySums(ResultTable[DaySum]):
    """Result of ``day_pnl(...).by(...)``: one row for each value."""

    _row = DaySum
    _lead = ("group",)
    _apart = ()
    _key_columns = ("net", "realised", "unrealised", "charges", "unpriced")
    _summed = _AMOUNTS
    _size = "net"


class DayPnl(ResultTable[DayRow]):
    """Result of ``day_pnl``: one row for each key that was traded on the day or is open.

    Attributes:
        day: The day; ``None`` for a book without trades.
        pnl: The realised profit and loss behind it, with its matches and lots.
    """

    _row = DayRow
    _key_columns = (
        *("net", "realised", "unrealised", "charges", "open_quantity"),
        *("open_average", "price"),
    )
    _summed = _AMOUNTS
    _size = "net"
    _leading = 4

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
        must not be added up; the ``change`` of several days may be.
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
    def change(self) -> float | None:
        """Profit since the day before, before charges; ``None`` if a row's is not known."""
        found = self._column("change")
        return None if None in found else exact_sum(found)

    @property
    def unpriced(self) -> DayPnl:
        """The open rows without a price, whose open quantity is in no sum."""
        return self.filter(unrealised=None)

    def by(self, column: str) -> DaySums:
        """Adds the rows up by a text column, such as ``segment``, ``product`` or ``kind``.

        Args:
            column: The column.

        Returns:
            One row for each of its values.

        Raises:
            KeyError: If there is no such column.
            TypeError: If it is not text.
        """
        if column not in self.columns:
            raise KeyError(self._no_column(column))
        if self._kinds[column] != "text":
            raise TypeError(f"{column} is not text: add up by one of the leading columns")
        groups: dict[str, list[int]] = {}
        for row, value in enumerate(self._column(column)):
            groups.setdefault(value or "", []).append(row)
        made = []
        for value, rows in groups.items():
            amounts = self._rows.cells(rows, _AMOUNTS)
            made.append((value, len(rows), amounts[1].count(None), *map(exact_sum, amounts)))
        return DaySums._of(made)

    def _heading(self) -> str:
        text = ", ".join(
            f"{name} {group(getattr(self, name), 2)}" for name in ("net", *_AMOUNTS[:3])
        )
        if self.day is not None:
            text = f"{self.day}: {text if len(self) else 'no trades, and nothing is open'}"
        if missing := len(self.unpriced):
            text += f", {counted(missing, 'open row')} without a price, not included"
        if expired := len(self.pnl.expired):
            text += f", {counted(expired, 'lot')} expired (see .pnl.expired)"
        return text


def day_pnl(
    trades: Trades,
    *,
    day: date | str | None = None,
    opening: GivenLots | None = None,
    prices: Prices | None = None,
    previous_prices: Prices | None = None,
    settle: Prices | None = None,
    charges: Sequence[ChargeRate] | None = None,
    shorts: bool | Collection[str] = True,
    merge: Collection[str] = (),
    buy: str = "B",
    sell: str = "S",
) -> DayPnl:
    """Computes the profit and loss of one day: realised, unrealised, charges and their net.

    Trades of earlier days are matched first, as in ``realised_pnl``; they and ``opening`` are what
    the day starts with. Amounts are exact. (Service: "Trade record".)

    ``unrealised`` is measured from cost, so the ``net`` of several days must not be added up. For a
    figure that may be, pass ``previous_prices`` too, and use ``change``.

    Args:
        trades: A trade book, or the books of several accounts.
        day: The day, as a date or ISO text; the latest day of the book unless given.
        opening: Lots that were open before the first trade, as in ``realised_pnl``.
        prices: Closing prices of what is open, as in ``unrealised_pnl``. What has none is listed in
            ``unpriced`` and in no sum.
        previous_prices: Closing prices of the day before, for ``change``.
        settle: Settlement prices of expired contracts, as in ``realised_pnl``.
        charges: Rates of charges, as in ``charges``; without them, charges are 0.
        shorts: Whether sales may open short lots, as in ``realised_pnl``.
        merge: What is matched across, as in ``realised_pnl``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key that was traded on the day or is open, with the sums ``realised``,
        ``unrealised``, ``charges`` and ``net``, and ``by`` to add up by a column.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As ``realised_pnl`` and ``charges``.
        TradingDataError: If the book of one of several accounts could not be fetched.

    Example:
        >>> day = td.day_pnl(trades, prices=closes, charges=td.ChargeRate.load("charges.toml"))
        >>> day.net, day.by("segment")
    """
    book, accounts = joined("trades", trades, TradeBook)
    price_of = PriceLookup("prices", {} if prices is None else prices)
    before = {} if previous_prices is None else previous_prices
    before_of = PriceLookup("previous_prices", before)
    days = days_of(book._rows)
    wanted = (days[-1] if days else None) if day is None else day_from(day)
    same: dict[str, Any] = {"merge": merge, "shorts": shorts, "buy": buy, "sell": sell}
    pnl = realised_pnl(trades, opening, day=wanted, settle=settle, **same)
    columns = (pnl._column(name) for name in (*KEYED, "realised", "matched_quantity"))
    rows = {
        number: _Row(tuple(leading), realised, bool(matched))
        for number, *leading, realised, matched in zip(pnl._groups, *columns, strict=True)
    }

    def row_of(each: Any) -> _Row:
        key = tuple(getattr(each, name) for name in KEY)
        row = rows[pnl._group_of[key]]
        row.multiplier, row.kind = pnl._multipliers[key], each.kind
        return row

    def hold(lots: Lots, when: str, price_of: PriceLookup) -> None:
        for lot in lots:
            row = row_of(lot)
            getattr(row, when).hold(lot, price_of(lot), row.multiplier)

    has_start = previous_prices is not None and wanted is not None
    if has_start:
        earlier = book.filter(exch_trade_time__lt=wanted)
        if not isinstance(shorts, bool):  # of which some may be those of today's products only
            same["shorts"] = set(shorts) & {*PRODUCTS, *earlier._column("product")}
        hold(realised_pnl(earlier, opening, **same).open_lots, "before", before_of)
    traded, _ = of_days(book._rows, accounts, lambda each: each == wanted)
    for each in positions(TradeBook._of(traded), buy=buy, sell=sell):
        row = row_of(each)
        row.traded = True
        row.bought.add(each.buy_quantity, each.buy_value)
        row.sold.add(each.sell_quantity, each.sell_value)
    if charges is not None:
        for key, amounts in charge_sums(traded, charges, buy).items():
            rows[pnl._group_of[key]].charges += sum(amounts)
    hold(pnl.open_lots, "now", price_of)
    shown = (row for row in rows.values() if row.traded or row.now.prices)
    result = DayPnl._of(row.columns(has_start=has_start) for row in shown)
    result.day, result.pnl = wanted, pnl
    return result


class _Sum:
    """A quantity, what it was traded for and what it is worth, exactly."""

    def __init__(self) -> None:
        self.quantity, self.value, self.market = 0, Fraction(0), Fraction(0)
        self.prices: set[Fraction | None] = set()

    def add(self, quantity: int, value: float) -> None:
        self.quantity += quantity
        self.value += Fraction(repr(value))

    def hold(self, lot: Lot, price: Fraction | None, multiplier: int) -> None:
        """Adds an open lot, whose own multiplier was not known before later trades proved it."""
        sign = 1 if lot.side == LONG else -1
        self.add(sign * lot.quantity, sign * lot.value)
        self.market += (price or 0) * sign * lot.quantity * multiplier
        self.prices.add(price)

    def average(self, multiplier: int) -> float | None:
        return float(self.value / (self.quantity * multiplier)) if self.quantity else None

    @property
    def unrealised(self) -> Fraction | None:
        """The profit since it was traded; ``None`` if a part has no price."""
        return None if None in self.prices else self.market - self.value


class _Row:
    """The amounts of one row, exactly."""

    def __init__(self, leading: tuple[Any, ...], realised: float, traded: bool) -> None:
        self.leading, self.realised, self.traded = leading, Fraction(repr(realised)), traded
        self.kind, self.multiplier, self.charges = "shares", 1, Fraction(0)
        self.bought, self.sold = _Sum(), _Sum()
        self.before, self.now = _Sum(), _Sum()  # the end of the day before, and of the day

    def columns(self, *, has_start: bool) -> tuple[Any, ...]:
        """Returns the values of a ``DayRow``."""
        unrealised, start = self.now.unrealised, self.before.unrealised
        prices = self.now.prices - {None}
        net = self.realised + (unrealised or 0) - self.charges
        change = None
        if has_start and start is not None and unrealised is not None:
            change = float(self.realised + unrealised - start)
        sums = (self.bought, self.sold, self.now)
        return (
            *(*self.leading, self.kind),
            *(cell for each in sums for cell in (each.quantity, each.average(self.multiplier))),
            float(prices.pop() or 0) if len(prices) == 1 and self.now.quantity else None,
            float(self.realised),
            None if unrealised is None else float(unrealised),
            *(float(self.charges), float(net), change),
        )
