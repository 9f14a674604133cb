"""The declarations of records and calls that the core exports, by name."""

from __future__ import annotations

from .. import _core

RECORDS = {record["name"]: record for record in _core.records()}

CALLS = {call["name"]: call for call in _core.calls()}

CALL_OF = {call["record"]: call["name"] for call in _core.calls()}
"""The name of the call that returns each record."""

BOOK_CALLS = {name: call for name, call in CALLS.items() if call["form"] == "envelope"}
"""The calls that return a book of an account."""


# What other services call a field, and the field; in either record.
ALIASES = [
    (alias, field)
    for field, aliases in {
        "quantity": "qty volume lots",
        "traded_price": "fill_price trade_price avg_price rate",
        "txn_type": "side buy_sell direction transaction_type action",
        "exch_trade_time": "time timestamp datetime trade_time fill_time",
        "order_date_time": "time timestamp datetime order_time order_timestamp",
        "symbol": "ticker tradingsymbol instrument_token scrip",
        "order_no": "order_id orderid",
        "trade_no": "trade_id tradeid",
        "expiry_date": "expiry",
        "strike_price": "strike",
    }.items()
    for alias in aliases.split()
]


def kinds_of(record: str | type) -> dict[str, str]:
    """Returns the fields of a record, or the columns of a type of rows, each with its kind."""
    return {name: kind for name, kind, _, _ in _core.fields_of(record)}
