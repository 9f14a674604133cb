"""Sample books for the tests of books, beside lists of the same rows."""

from __future__ import annotations

import datetime as dt
import operator
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope, trades

INDIA = ZoneInfo("Asia/Kolkata")
ROWS = 23


def trade_book(count: int = ROWS, **overrides: object) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope(trades(count, **overrides))))  # type: ignore[arg-type]


BOOK = trade_book(variety=True)
LIST = list(BOOK)
BOUND = st.none() | st.integers(-ROWS - 3, ROWS + 3)
SLICES = st.builds(slice, BOUND, BOUND, BOUND.filter(lambda step: step != 0))


def assert_like(book: td.TradeBook, rows: list[td.Trade]) -> None:
    assert isinstance(book, td.TradeBook)
    assert len(book) == len(rows)
    assert list(book) == rows
    assert list(reversed(book)) == rows[::-1]
    assert operator.length_hint(iter(book)) == len(rows)


class Nameless(dt.tzinfo):
    """A zone that no file can name."""

    def utcoffset(self, when: dt.datetime | None, /) -> dt.timedelta:
        return dt.timedelta(minutes=330)

    def dst(self, when: dt.datetime | None, /) -> None:
        return None

    def tzname(self, when: dt.datetime | None, /) -> None:
        return None


def trade_with(changes: dict[str, object]) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope([trades(1)[0] | changes])))
