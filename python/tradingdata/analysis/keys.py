"""The key by which trades are added up and lots are matched: a security held in a product.

The key is client, exchange, segment, security and product. The symbol is not part of it, because
all expiries and strikes of an underlying share one symbol.
"""

from __future__ import annotations

from datetime import date

from ..table.rows import declared, leading

KEY = ("client_id", "exchange", "segment", "security_id", "product")
SECURITY = KEY[1:4]  # identifies what has one price, whoever trades it


Key = tuple[str, ...]

# Columns of a display: those that name a row, the first known of which is shown, and those that
# distinguish rows of the same name. A symbol may have many expiries, a name has one.
LEAD = ("display_name", "symbol", "security_id")
APART = ("account", "exchange", "product", "client_id", "segment", "security_id")


@leading
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

    __slots__ = ()

    account: str | None
    client_id: str
    exchange: str
    segment: str
    security_id: str
    product: str
    symbol: str | None
    display_name: str | None


KEYED = tuple(Keyed.__annotations__)


@declared
class Holding(Keyed):
    """The leading columns alone: a row that a function of prices takes."""

    __slots__ = ()


SHARES, FUTURE, OPTION = "shares", "future", "option"


def kind_of(expiry: date | None, strike: float | None) -> str:
    """Returns what a security is, whose values must not be added to those of another kind.

    The value of shares is what they cost, that of a future is notional, that of an option its
    premium. The service documents that only derivatives have an expiry date; it does not document
    the codes of ``instrument``, so an option is what has a strike price.
    """
    if expiry is None:
        return SHARES
    return OPTION if strike else FUTURE
