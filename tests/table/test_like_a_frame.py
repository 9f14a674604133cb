"""A table that is used like a data frame says what to write instead, or does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tradingdata as td

BOOK = td.TradeBook([td.Trade(symbol=f"S{at}", quantity=at) for at in range(8)])
ONE: Any = BOOK


def test_a_list_takes_a_table() -> None:
    rows: list[td.Trade] = []
    rows += BOOK
    assert rows == list(BOOK)


def test_head_tail_and_column() -> None:
    assert (BOOK.head(), BOOK.tail()) == (BOOK[:5], BOOK[3:])
    assert (BOOK.head(2), BOOK.tail(2)) == (BOOK[:2], BOOK[6:])
    assert (len(BOOK.head(0)), len(BOOK.tail(0)), BOOK.tail(99)) == (0, 0, BOOK)
    assert BOOK.column("quantity") == list(range(8))
    with pytest.raises(KeyError, match="did you mean 'symbol'"):
        BOOK.column("symbl")
    for call in (BOOK.head, BOOK.tail):
        with pytest.raises(td.ConfigurationError, match="rows must be an integer of at least 0"):
            call(-1)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: ONE["symbol"], r"read a column with \.column\('symbol'\)"),
        (lambda: ONE[["symbol", "quantity"]], r"select columns with \.to_pandas\(columns="),
        (lambda: ONE["symbol", "quantity"], r"select columns with \.to_pandas\(columns="),
        (lambda: ONE[[True] * 8], r"select rows with \.filter"),
        (lambda: ONE[np.ones(8, bool)], r"select rows with \.filter"),
        (lambda: ONE + ONE, r"td\.concat\(\[one, other\]\)"),
    ],
)
def test_what_frames_take_is_refused_with_what_to_write(
    use: Callable[[], object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        use()


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("groupby", r"\.to_pandas\(\)"),
        ("iloc", "a slice"),
        ("sort_by", r"\.sort\("),
        ("shape", "len"),
    ],
)
def test_what_frames_have_is_named_with_what_to_write(name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=f"TradeBook has no {name!r}: use .*{instead}"):
        getattr(BOOK, name)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        ONE[1.5]
