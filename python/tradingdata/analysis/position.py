"""Positions: purchases, sales and their net by client and security."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..books.book import TradeBook
from .by_account import joined
from .result_table import ResultTable
from .security_key import APART, LEAD, Key, Keyed, leading
from .trade_columns import read_fills

if TYPE_CHECKING:
    from .by_account import Trades


@dataclass(frozen=True, slots=True, kw_only=True)
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


class Positions(ResultTable[Position]):
    """Result of ``positions``: one row for each key."""

    __slots__ = ()
    _row = Position
    _lead = LEAD
    _apart = APART
    _key_columns = (
        *("net_quantity", "net_cash", "trades", "buy_quantity", "buy_average"),
        *("sell_quantity", "sell_average"),
    )
    # Without a total: a sum of premiums, notional values of futures and shares means nothing.
    _noun = ("position", "positions")
    _size = "net_cash"
    _zero = "net_quantity"

    def _heading(self) -> str:
        from ..display.plain_table import group

        flat = self._columns["net_quantity"].count(0)
        held = len(self) - flat
        text = f"{group(held)} open {self._noun[held != 1]}"
        return f"{text}, {group(flat)} flat" if flat else text


def positions(trades: Trades, *, buy: str = "B", sell: str = "S") -> Positions:
    """Adds up trades by client, exchange, segment, security and product.

    A row has purchases, sales and their net over all days of the book, before charges. Amounts are
    exact: sums of ``trade_value`` as decimals, each result the float nearest to its sum. (Service:
    "Trade record".)

    Args:
        trades: A trade book, or the books of several accounts as ``td.trade_books`` returns them or
            by label.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, or if quantities of one security are in different units.
        TradingDataError: If the book of one of several accounts could not be fetched.
    """
    book, accounts = joined("trades", trades, TradeBook)
    fills = read_fills(book, accounts, buy, sell)
    scale = 10**fills.decimals
    sums: dict[Key, list[int]] = {}
    for key, is_purchase, quantity, value in zip(
        fills.keys, fills.bought, fills.quantities, fills.values, strict=True
    ):
        found = sums.get(key)
        if found is None:
            found = sums[key] = [0, 0, 0, 0, 0]
        side = 1 if is_purchase else 3
        found[0] += 1
        found[side] += quantity
        found[side + 1] += value
    rows = []
    for key, (count, bought, paid, sold, received) in sums.items():
        multiplier = fills.multipliers.get(key, 1)
        rows.append(
            (
                *leading(key, fills.names[key]),
                count,
                bought,
                paid / scale,
                paid / (scale * bought * multiplier) if bought else None,
                sold,
                received / scale,
                received / (scale * sold * multiplier) if sold else None,
                bought - sold,
                (received - paid) / scale,
                multiplier,
            )
        )
    return Positions._of(rows)
