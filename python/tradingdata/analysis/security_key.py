"""The key by which trades are added up and lots are matched.

The key is client, exchange, segment, security and product. The symbol is not part of it, because
all expiries and strikes of an underlying share one symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .validation import read

if TYPE_CHECKING:
    from ..books.book import TradeBook

KEY = ("client_id", "exchange", "segment", "security_id", "product")
SECURITY = KEY[1:4]  # what has one price, whoever trades it

# Hidden in displays: display_name is clearer, because a symbol may have many expiries.
ASIDES = (KEY[0], *KEY[2:4], "symbol")

Key = tuple[str, ...]
Names = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """The leading columns of every row about a security: its key and its names.

    Attributes:
        client_id: Client identifier; with the next four, the key of the row.
        exchange: Exchange.
        segment: Market segment code.
        security_id: Security identifier.
        product: Product code.
        symbol: Trading symbol, if known; several securities may share one.
        display_name: Custom symbol name, if known.
    """

    client_id: str
    exchange: str
    segment: str
    security_id: str
    product: str
    symbol: str | None
    display_name: str | None


def names_of(trades: TradeBook, keys: list[Key]) -> dict[Key, Names]:
    """Returns symbol and display name of each key, taken from its last trade."""
    symbols, names = read(trades, "symbol", "display_name")
    return dict(zip(keys, zip(symbols, names, strict=True), strict=True))
