"""A table that is used like a data frame says what to write instead, or does it."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tradingdata as td
from tradingdata.table.conditions import value_in

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


def test_a_method_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(td.TradeBook.head)) is td.TradeBook.head
    assert pickle.loads(pickle.dumps(BOOK.head))(2) == BOOK[:2]


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ({"symbol": "s1"}, "0 trades: symbol is 'S0', 'S1', 'S2', 'S3', 'S4' and 3 more; did you"),
        ({"quantity__gt": 10}, "0 trades: quantity is from 0 to 7"),
        ({"quantity": 1, "symbol": "S2"}, "0 trades: no row meets all conditions at once"),
        ({"expiry_date": "2026-11-20"}, "0 trades: expiry_date is missing in every row"),
        ({"pan_no": "ABCPK1234F"}, "0 trades"),
    ],
)
def test_a_filter_that_finds_nothing_says_what_there_is(
    conditions: dict[str, Any], why: str
) -> None:
    matches = BOOK.filter(**conditions)
    assert repr(matches).replace("\n  ", " ").startswith(f"TradeBook: {why}")
    assert why[9:20] in matches._repr_html_().replace("&#x27;", "'")
    assert (matches, matches.issues) == (td.TradeBook(), ())


def test_conditions_take_any_list_and_the_days_of_frames() -> None:
    for several in (["S1"], ("S1",), {"S1"}, pd.Series(["S1"]), np.array(["S1"]), iter(["S1"])):
        assert BOOK.filter(symbol=several) == BOOK[1:2]
    day = dt.date(2026, 11, 26)
    book = td.TradeBook([td.Trade(expiry_date=day, exch_trade_time=dt.datetime(2026, 11, 20, 9))])
    for same in (day, "2026-11-26", pd.Timestamp(day), np.datetime64(day)):
        assert len(book.filter(expiry_date=same)) == 1
    local = book.localize("Asia/Kolkata")
    assert len(local.filter(exch_trade_time__ge="2026-11-20 09:00")) == 1
    assert len(local.filter(exch_trade_time__gt="2026-11-20 09:00")) == 0
    nine = dt.datetime(2026, 11, 20, 9)
    with pytest.raises(TypeError, match=r"has no zone: pass a time without one, or localize\(\)"):
        book.filter(exch_trade_time=nine.replace(tzinfo=dt.UTC))
    with pytest.raises(TypeError, match="is in Asia/Kolkata: pass a time with a zone, or ISO text"):
        local.filter(exch_trade_time=nine)


def test_a_whole_number_in_text_has_at_most_64_bits() -> None:
    assert value_in("-w", "integer", f"{2**63 - 1}") == 2**63 - 1
    for text in (f"{2**63}", f"{-(2**63) - 1}", "1.5"):
        with pytest.raises(ValueError, match="-w takes a whole number of at most 64 bits"):
            value_in("-w", "integer", text)
