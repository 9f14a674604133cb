"""Positions: purchases, sales and their net by client and security."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

from .. import _core
from ..display.text import counted, group
from ..table.rows import declared
from .inputs import Trades, days_of, days_text, fills_of, key_facts
from .keys import FUTURE, KEY, OPTION, SHARES, Keyed
from .result_table import ResultTable


@declared
class Position(Keyed):
    """The sum of one client's trades in one security and product; see also ``Keyed``.

    Quantities are shares or contracts; amounts are in the currency of the trades, before charges.

    Attributes:
        trades: Number of trades.
        buy_quantity: Quantity bought.
        buy_value: Value of the purchases.
        buy_average: Average price of the purchases, ``None`` without any.
        sell_quantity: Quantity sold.
        sell_value: Value of the sales.
        sell_average: Average price of the sales, ``None`` without any.
        net_quantity: ``buy_quantity - sell_quantity``, without holdings from before these trades.
        net_cash: ``sell_value - buy_value``.
        multiplier: 1, or the lot size where values count a contract as a lot of shares.
        kind: ``shares``, ``future`` or ``option``. Cash paid for shares, the notional value of
            futures and the premium of options must not be added up.
        expiry_date: Expiry date of a contract; ``None`` for shares.
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
    multiplier: int
    kind: str
    expiry_date: date | None


class Positions(ResultTable[Position]):
    """Result of ``positions``: one row for each key.

    Attributes:
        days: The days of the trades, in order.
    """

    _row = Position
    _key_columns = (
        *("net_quantity", "net_cash", "buy_average", "sell_average"),
        *("buy_quantity", "sell_quantity", "trades"),
    )
    # Without a total: a sum of premiums, notional values of futures and shares means nothing.
    _noun = ("position", "positions")
    _size = "net_cash"
    _zero = "net_quantity"

    days: tuple[date, ...]

    def _heading(self) -> str:
        held = Counter(self.filter(net_quantity__ne=0)._column("kind"))
        text = counted(held.total(), "open position")
        if self.days:
            text = f"{days_text(self.days)}, {text}"
        if held.keys() - {SHARES}:
            parts = [counted(held[kind], kind) for kind in (FUTURE, OPTION) if held[kind]]
            text += f" ({', '.join([f'{group(held[SHARES])} in shares', *parts])})"
        flat = len(self) - held.total()
        return f"{text}, {group(flat)} flat" if flat else text


def positions(
    trades: Trades, *, day: date | str | None = None, buy: str = "B", sell: str = "S"
) -> Positions:
    """Adds up trades by client, exchange, segment, security and product.

    A row has purchases, sales and their net over all days of the book (see ``days``), before
    charges. Amounts are exact: sums of ``trade_value`` as decimals, each result the float nearest
    to its sum. (Service: "Trade record".)

    Args:
        trades: A trade book, or the books of several accounts as ``td.trade_books`` returns them or
            by label.
        day: Counts the trades of this day only, as a date or ISO text.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, or if quantities of one security are in different units.
        OverflowError: If amounts are too large to be added exactly.
        TradingDataError: If the book of one of several accounts could not be fetched.
    """
    rows, accounts, wanted = fills_of(trades, day, buy, sell, timed=False)
    facts = key_facts(rows, accounts, _core.Groups([rows], KEY))
    decimals = _core.decimals_of([(rows, "trade_value")])
    sides = _core.Groups([rows], (*KEY, "txn_type"))
    (codes,) = rows.cells(sides.first(), ["txn_type"])
    # None of the sums is None, since rows without a value are refused.
    quantities, values = sides.sums("quantity", 0), sides.sums("trade_value", decimals)
    sums: Any = zip(sides.counts(), quantities, values, strict=True)
    totals = dict(zip(zip(sides.coarser(KEY), codes, strict=True), sums, strict=True))
    scale = 10**decimals
    none = (0, 0, 0)
    made = []
    for number, (leading, proved, kind, expiry) in enumerate(zip(*facts, strict=True)):
        multiplier = proved or 1
        purchases, bought, paid = totals.get((number, buy), none)
        sales, sold, received = totals.get((number, sell), none)
        traded = [
            (quantity, value / scale, value / (scale * quantity * multiplier) if quantity else None)
            for quantity, value in ((bought, paid), (sold, received))
        ]
        net = (bought - sold, (received - paid) / scale)
        contract = (multiplier, kind, expiry)
        made.append((*leading, purchases + sales, *traded[0], *traded[1], *net, *contract))
    result = Positions._of(made)
    result.days = days_of(rows) if wanted is None else (wanted,)
    return result
