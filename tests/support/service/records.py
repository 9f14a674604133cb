"""Trades, orders and stocks as the service sends them: every field, in its order."""

from __future__ import annotations

import random
from collections.abc import Callable

from .coherence import Record, balance_order, balance_trade
from .service_document import Field, fields
from .values import Row, maker

ODD_TEXTS = (
    "",
    "twelve bytes",
    "thirteen byte",
    "टाटा मोटर्स लिमिटेड",
    "₹ 1,501.05",
    "रु₹123",
    "रु₹1234",
    'quote " backslash \\ slash /',
    "line\nfeed, tab\t, return\r, bell\x07",
    "NUL\x00 inside",
    "beyond the plane 📈",
    "=SUM(A1:A9)",
    "<script>alert(1)</script>",
    "x" * 300,
)
# Makes the values of a record agree with each other.
BALANCED: dict[str, Callable[[Record], None]] = {"trade": balance_trade, "order": balance_order}
# Text that says who or which: other values of it would change what the book means.
IDENTITY = ("identifier", "account", "code", "symbol", "ISIN", "status")


def trades(
    count: int, seed: int = 0, *, variety: bool = False, **overrides: object
) -> list[Record]:
    """Return `count` trades, the same for the same seed.

    `variety` puts odd texts (empty, 12 and 13 bytes, escapes, Devanagari, rupee signs, astral) into
    text fields. An override is the value of a field in every record, or a function of the index.
    """
    return samples("trade", count, seed, variety=variety, **overrides)


def orders(
    count: int, seed: int = 0, *, variety: bool = False, **overrides: object
) -> list[Record]:
    """Return `count` orders; the rest is as in `trades`."""
    return samples("order", count, seed, variety=variety, **overrides)


def stocks(
    count: int, seed: int = 0, *, variety: bool = False, **overrides: object
) -> list[Record]:
    """Return `count` stocks, each with codes of its own; the rest is as in `trades`."""
    return samples("stock", count, seed, variety=variety, **overrides)


def samples(
    kind: str, count: int, seed: int = 0, *, variety: bool = False, **overrides: object
) -> list[Record]:
    """Return `count` records of a kind, such as "trade"; the rest is as in `trades`."""
    table = fields(kind)
    if unknown := overrides.keys() - {field.name for field in table}:
        raise TypeError(f"not fields of the {kind} record: {sorted(unknown)}")
    makers = [(field.name, maker(field)) for field in table]
    generator = random.Random(f"{kind} {seed}")
    made = []
    for index in range(count):
        row = Row.make(seed, index, generator)
        record = {name: make(row) for name, make in makers}
        if kind in BALANCED:
            BALANCED[kind](record)
        if variety:
            _vary(record, table, generator)
        for name, override in overrides.items():
            record[name] = override(index) if callable(override) else override
        made.append(record)
    return made


def _vary(record: Record, table: tuple[Field, ...], generator: random.Random) -> None:
    for field in table:
        plain = field.type == "string" and not any(word in field.meaning for word in IDENTITY)
        if plain and generator.random() < 0.5:
            record[field.name] = generator.choice(ODD_TEXTS)
