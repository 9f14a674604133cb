"""The keys of results, and the columns that their rows begin with.

A contract is exchange, segment, security and expiry date, since exchanges assign a ``security_id``
anew after an expiry. Trades are added up and lots are matched by account, client, contract and
product. The symbol is not part of that key, because all expiries and strikes of an underlying share
one symbol. An order is identified by account, client, day of entry, exchange, segment and order
number; over several days an order number may repeat.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from datetime import date
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from .._core import Slice
from ..table.rows import leading

CONTRACT = ("exchange", "segment", "security_id", "expiry_date")  # what has one price
KEY = ("account", "client_id", *CONTRACT, "product")
BY = "by"  # the last part of the key of lots that are matched by strategy
REQUIRED = tuple(name for name in KEY if name not in ("account", "expiry_date"))  # never None


Key = tuple[Any, ...]


@leading
class Keyed:
    """The leading columns of every row about a security: its account, its key and its names.

    Attributes:
        account: Local label of the account, if known; with the next six, the key of the row.
        client_id: Client identifier.
        exchange: Exchange.
        segment: Market segment code.
        security_id: Security identifier, which means another contract after an expiry.
        expiry_date: Expiry date of a contract; ``None`` for shares.
        product: Product code.
        symbol: Trading symbol, if known; several securities may share one.
        display_name: Custom symbol name, if known.
    """

    account: str | None
    client_id: str
    exchange: str
    segment: str
    security_id: str
    expiry_date: date | None
    product: str
    symbol: str | None
    display_name: str | None

    if TYPE_CHECKING:  # of all rows

        def _asdict(self) -> dict[str, Any]: ...
        def _replace(self, **changes: Any) -> Self: ...


class Lead(NamedTuple):
    """The values of these columns in one row; as text, how a message names its contract."""

    account: str | None
    client_id: str
    exchange: str
    segment: str
    security_id: str
    expiry_date: date | None
    product: str
    symbol: str | None = None
    display_name: str | None = None

    @property
    def key(self) -> Key:
        """The key of the row."""
        return self[: len(KEY)]

    @property
    def contract(self) -> Key:
        """What has one price."""
        return self[2 : 2 + len(CONTRACT)]

    def __str__(self) -> str:
        name = self.display_name or self.symbol
        parts = (self.security_id, self.expiry_date, name and f"({name})")
        return " ".join(str(part) for part in parts if part)


KEYED = Lead._fields
NAMES = KEYED[len(KEY) :]
CODES = tuple(name for name in REQUIRED if name != "security_id")
# Of a row that begins with these columns.
key_of: Callable[[object], Key] = attrgetter(*KEY)
contract_of: Callable[[object], Key] = attrgetter(*CONTRACT)
leading_of: Callable[[object], Key] = attrgetter(*KEYED)


def lead_of(row: object) -> Lead:
    """Returns the leading columns of a row."""
    return Lead._make(leading_of(row))


def missing_expiries(contracts: Sequence[Key]) -> dict[int, date]:
    """Returns the expiry of each contract that lacks one, where its id has one elsewhere.

    Raises:
        ValueError: If the id has several.
    """
    known: dict[Key, dict[date, None]] = {}
    for contract in contracts:
        if contract[-1] is not None:
            known.setdefault(contract[:-1], {})[contract[-1]] = None
    completed = {}
    for at, contract in enumerate(contracts):
        if contract[-1] is not None or contract[:-1] not in known:
            continue
        several = list(known[contract[:-1]])
        if len(several) > 1:
            raise ValueError(
                f"expiry_date is missing for security_id {contract[-2]!r}, which means the "
                f"contracts of {several[0]} and {several[1]}: correct such rows or leave them out"
            )
        completed[at] = several[0]
    return completed


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


ORDER_KEY = ("account", "client_id", "order_date_time.day", "exchange", "segment", "order_no")
EXECUTED = (*ORDER_KEY[:2], "exch_trade_time.day", *ORDER_KEY[3:], "txn_type")
ORDER_FIELDS = tuple(name.removesuffix(".day") for name in ORDER_KEY)
ORDER_SIDE = tuple(name.removeprefix("order_date_time.") for name in (*ORDER_KEY, "txn_type"))

SAME, SOME_MISSING, VARIOUS = 1, 2, 4  # as the core reports the values of a group


@leading
class OfOrder:
    """The leading columns of every row about one side of an order.

    Attributes:
        account: Local label of the account, if known; with the next six, the key of the row.
        client_id: Client identifier.
        day: Day on which the order was entered.
        exchange: Exchange.
        segment: Market segment code.
        order_no: Order number.
        txn_type: Code of the side.
        security_id: Security identifier.
        product: Product code.
        symbol: Trading symbol.
        display_name: Custom symbol name.
    """

    account: str | None
    client_id: str | None
    day: date | None
    exchange: str | None
    segment: str | None
    order_no: str | None
    txn_type: str | None
    security_id: str | None
    product: str | None
    symbol: str | None
    display_name: str | None


# The same columns of a book.
ORDER_COLUMNS = (*ORDER_FIELDS, *tuple(OfOrder.__annotations__)[len(ORDER_KEY) :])


OrderLead: Any = namedtuple("OrderLead", tuple(OfOrder.__annotations__))  # type: ignore[misc]


def leads_at(rows: Slice, at: list[int]) -> list[Any]:
    """Returns the leading columns of results about orders, of some rows of a book."""
    columns = rows.cells(at, ORDER_COLUMNS)
    columns[2] = [time and time.date() for time in columns[2]]
    return list(map(OrderLead._make, zip(*columns, strict=True)))
