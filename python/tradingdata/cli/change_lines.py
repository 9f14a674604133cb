"""Formats the updates of a watch as lines of text or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tradingdata.display.preview import KEY_COLUMNS, field_text, instrument_name, printable

from .advice import for_a_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from tradingdata.books.diff import OrderChange
    from tradingdata.errors import TradingDataError
    from tradingdata.watch.updates import OrderUpdate

_MOST_FIELDS = 4


def clock(update: OrderUpdate) -> str:
    """Returns the time of day of an update: in the zone of its rows, or on this machine's clock."""
    book = update[0]
    return f"{update.at.astimezone(None if book is None else book._rows.zone):%H:%M:%S}"


def change_line(change: OrderChange, *, numbered: bool = True) -> str:
    """Returns a line about a change: number, name and side of the order, old and new values."""
    order = change.order
    number = order.order_no if numbered else None
    words = [f"{change.kind:<7}", number, instrument_name(order), order.txn_type]
    line = "  ".join(printable(str(word)) for word in words if word)
    if change.kind == "new":
        terms = f"{_value(order, 'quantity')} at {_value(order, 'price').removeprefix('at ')}"
        return f"{line}  {terms}, {_value(order, 'status')}"
    key_columns = KEY_COLUMNS["Order"]
    fields = sorted(change.fields, key=lambda name: name not in key_columns)
    values = [
        f"{name} {_value(change.previous, name)} -> {_value(order, name)}"
        for name in fields[:_MOST_FIELDS]
    ]
    if len(change.fields) > _MOST_FIELDS:
        values.append(f"+{len(change.fields) - _MOST_FIELDS} more")
    return f"{line}  {', '.join(values)}".rstrip()


def missed_line(error: TradingDataError) -> str:
    """Returns a line about a failed poll."""
    return f"missed   {printable(for_a_terminal(error))}"


def change_objects(changes: Iterable[OrderChange], at: datetime) -> Iterator[str]:
    """Yields a JSON object for each change, with time, kind, changed fields and the order."""
    from tradingdata.books.book import OrderBook

    for change in changes:
        facts: dict[str, Any] = {"at": at.isoformat(), "kind": change.kind}
        facts["fields"] = list(change.fields)
        facts["order"] = OrderBook([change.order]).to_dicts(extra=True, json=True)[0]
        yield json.dumps(facts, ensure_ascii=False)


def missed_object(error: TradingDataError, at: datetime) -> str:
    """Returns a JSON object about a failed poll."""
    facts = {"at": at.isoformat(), "kind": "missed", "error": type(error).__name__}
    return json.dumps({**facts, "message": for_a_terminal(error)}, ensure_ascii=False)


def _value(order: Any, name: str) -> str:
    try:
        value = order[name]
    except KeyError:  # an unknown field that the earlier record lacks
        value = None
    if value is None:
        return "none"
    return field_text("Order", name, value) or "''"
