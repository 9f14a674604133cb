"""The key of rows about one side of an order, which both books have.

An order is identified by client, day of entry, exchange, segment and order number; over several
days an order number may repeat.
"""

from __future__ import annotations

from datetime import date

from ..table.rows import leading

ORDER_KEY = ("client_id", "order_date_time.day", "exchange", "segment", "order_no")
ORDER_FIELDS = tuple(name.removesuffix(".day") for name in ORDER_KEY)
ORDER_LEAD = ("order_no",)
ORDER_APART = ("account", "exchange", "txn_type", "client_id", "day", "segment")

SAME, SOME_MISSING = 1, 2  # as the core reports the values of a group


@leading
class OfOrder:
    """The leading columns of every row about one side of an order.

    Attributes:
        account: Local label of the account, if known.
        client_id: Client identifier; with the next five, the key of the row.
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

    __slots__ = ()

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


ABOUT = tuple(OfOrder.__annotations__)[1 + len(ORDER_KEY) :]  # from the side on
