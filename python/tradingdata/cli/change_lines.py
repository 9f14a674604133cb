"""Updates of a watch as lines: for people, and as JSON for programs."""

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

_MOST_FIELDS = 4


def clock(at: datetime) -> str:
    """The time of day on this machine's clock."""
    return f"{at.astimezone():%H:%M:%S}"


def change_line(change: OrderChange, *, numbered: bool = True) -> str:
    """Returns what happened to an order: its number, name and side, and what changed to what."""
    order = change.order
    number = order.order_no if numbered else None
    words = [f"{change.kind:<7}", number, instrument_name(order), order.txn_type]
    line = "  ".join(printable(str(word)) for word in words if word)
    if change.kind == "new":
        asked = f"{_value(order, 'quantity')} at {_value(order, 'price').removeprefix('at ')}"
        return f"{line}  {asked}, {_value(order, 'status')}"
    telling = KEY_COLUMNS["Order"]
    fields = sorted(change.fields, key=lambda name: name not in telling)
    told = [
        f"{name} {_value(change.previous, name)} -> {_value(order, name)}"
        for name in fields[:_MOST_FIELDS]
    ]
    if len(change.fields) > _MOST_FIELDS:
        told.append(f"+{len(change.fields) - _MOST_FIELDS} more")
    return f"{line}  {', '.join(told)}".rstrip()


def missed_line(error: TradingDataError) -> str:
    """Why a poll brought nothing."""
    return f"missed   {for_a_terminal(printable(' '.join(str(error).split())))}"


def change_objects(changes: Iterable[OrderChange], at: datetime) -> Iterator[str]:
    """A JSON object for each change: when, what kind, which fields, and the whole order."""
    from tradingdata.books.book import OrderBook

    for change in changes:
        facts: dict[str, Any] = {"at": at.isoformat(), "kind": change.kind}
        facts["fields"] = list(change.fields)
        facts["order"] = OrderBook([change.order]).to_dicts(extra=True, json=True)[0]
        yield json.dumps(facts, ensure_ascii=False)


def missed_object(error: TradingDataError, at: datetime) -> str:
    """A JSON object for a poll that brought nothing."""
    facts = {"at": at.isoformat(), "kind": "missed", "error": type(error).__name__}
    return json.dumps({**facts, "message": str(error)}, ensure_ascii=False)


def _value(order: Any, name: str) -> str:
    try:
        value = order[name]
    except KeyError:  # an unknown field that was not there
        value = None
    if value is None:
        return "none"
    return field_text("Order", name, value) or "''"
