"""Whose and of what a trade is: the key by which trades are added and lots are matched.

It is account (``client_id``), exchange, segment, security and product. The symbol is no part of it:
all expiries and strikes of an underlying share one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .columns import read

if TYPE_CHECKING:
    from ..books import TradeBook

KEY = ("client_id", "exchange", "segment", "security_id", "product")

# What a display can do without: the display name tells more, where a symbol has many expiries.
ASIDES = (KEY[0], *KEY[2:4], "symbol")

Key = tuple[str, ...]
Names = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """What begins each row about a security: its key, and names to read.

    Attributes:
        client_id: the account; with the next four, the key of the row.
        exchange: the exchange.
        segment: the market segment.
        security_id: the security.
        product: the product code.
        symbol: trading symbol, where it is known; many securities may share one.
        display_name: custom symbol name, where it is known.
    """

    client_id: str
    exchange: str
    segment: str
    security_id: str
    product: str
    symbol: str | None
    display_name: str | None


def names_of(trades: TradeBook, keys: list[Key]) -> dict[Key, Names]:
    """Symbol and display name of each key, as the last trade of it tells them."""
    symbols, names = read(trades, "symbol", "display_name")
    return dict(zip(keys, zip(symbols, names, strict=True), strict=True))
