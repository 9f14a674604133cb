"""What the peers know of a record, all of it read from the compiled field table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tradingdata import _core

# What a script reads of a trade: what was traded, when, how much of it and at what price.
FIVE = ("exch_trade_time", "symbol", "txn_type", "quantity", "traded_price")


@functools.cache
def kinds(record: str) -> dict[str, str]:
    """The kind of each field by wire name, in the service's order."""
    return {name: kind for name, kind, *_ in _core.fields_of(record)}


def names_of(record: str, *of_kind: str) -> list[str]:
    """The fields of some kinds."""
    return [name for name, kind in kinds(record).items() if kind in of_kind]


def loop_over(names: Iterable[str], access: str) -> Callable[[Iterable[Any]], None]:
    """A `for` loop that reads fields of every record, as a user would write it out.

    `access` is "attribute" or "item". The source is made here and compiled, since a loop over names
    with getattr would measure getattr.
    """
    form = {"attribute": "record.{}", "item": "record[{!r}]"}[access]
    lines = [f"        {form.format(name)}" for name in names]
    source = "\n".join(["def loop(records):", "    for record in records:", *lines])
    namespace: dict[str, Any] = {}
    exec(compile(source, "<loop over fields>", "exec"), namespace)
    loop: Callable[[Iterable[Any]], None] = namespace["loop"]
    return loop
