"""Sample records for the tests of records, and values that each kind of field takes or refuses."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope, trades
from tradingdata import _core

RECORDS = tuple(record["name"] for record in _core.records())
TYPES: tuple[Any, ...] = tuple(getattr(td, name) for name in RECORDS)
INDIA = ZoneInfo("Asia/Kolkata")
PAN = "ABCDE1234F"

# A value for any field of a kind, and what none of them takes.
GOOD: dict[str, Any] = {
    "text": "INFY",
    "integer": 5,
    "number": 1501.05,
    "timestamp": dt.datetime(2026, 1, 6, 9, 15, 1),
    "date": dt.date(2026, 1, 29),
}
BAD: dict[str, Any] = {
    "text": 5,
    "integer": "5",
    "number": "1.5",
    "timestamp": dt.date(2026, 1, 6),
    "date": dt.datetime(2026, 1, 29),
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(codec="utf-8")),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "timestamp": st.datetimes(min_value=dt.datetime(1, 1, 2)),
    "date": st.dates(),
}
TEXT = VALUES["text"]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | VALUES["number"] | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def kinds_of(kind: type) -> dict[str, str]:
    return {name: kind for name, kind, _, _ in _core.fields_of(kind.__name__)}


def first_of(kind: type, wanted: str) -> str:
    return next(name for name, kind in kinds_of(kind).items() if kind == wanted)


def filled(kind: type) -> Any:
    return kind(**{name: GOOD[of] for name, of in kinds_of(kind).items()})


def wire_trade(**unknown: object) -> td.Trade:
    """A trade as the service sends it, with unknown fields."""
    record = trades(1)[0] | unknown
    return td.TradeBook.from_json(as_json(envelope([record])))[0]


@st.composite
def records(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(TYPES))
    kinds = kinds_of(kind)
    names = draw(st.lists(st.sampled_from(sorted(kinds)), unique=True, max_size=12))
    return kind(**{name: draw(st.none() | VALUES[kinds[name]]) for name in names})
