"""The key by which trades are added up and lots are matched.

The key is client, exchange, segment, security and product. The symbol is not part of it, because
all expiries and strikes of an underlying share one symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .validation import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..books.book import TradeBook

KEY = ("client_id", "exchange", "segment", "security_id", "product")
SECURITY = KEY[1:4]  # identifies what has one price, whoever trades it

LEAD = ("display_name", "symbol", KEY[3])  # a symbol may have many expiries, a name has one
APART = ("account", KEY[1], KEY[4], KEY[0], *KEY[2:4])

Key = tuple[str, ...]


class Names(NamedTuple):
    """Further names of a key, for displays."""

    account: str | None
    symbol: str | None
    display_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """The leading columns of every row about a security: its account, its key and its names.

    Attributes:
        account: Local label of the account, if known.
        client_id: Client identifier; with the next four, the key of the row.
        exchange: Exchange.
        segment: Market segment code.
        security_id: Security identifier.
        product: Product code.
        symbol: Trading symbol, if known; several securities may share one.
        display_name: Custom symbol name, if known.
    """

    account: str | None
    client_id: str
    exchange: str
    segment: str
    security_id: str
    product: str
    symbol: str | None
    display_name: str | None


def leading(key: Key, names: Names) -> tuple[str | None, ...]:
    """Returns the values of the leading columns."""
    return (names.account, *key, names.symbol, names.display_name)


def names_of(
    trades: TradeBook, accounts: Sequence[str | None], keys: Sequence[Key]
) -> dict[Key, Names]:
    """Returns account label, symbol and display name of each key, taken from its last trade."""
    symbols, names = read(trades, "symbol", "display_name")
    return dict(zip(keys, map(Names, accounts, symbols, names), strict=True))
