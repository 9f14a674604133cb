"""A table that is used like a data frame says what to write instead, or does it."""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
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


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: ONE.sort(by="symbol"), r"sort\(\) has no by=: use the names of columns alone"),
        (lambda: ONE.sort("symbol", descending=True), r"descending=: use reverse=True"),
        (lambda: ONE.sort("symbol", ascending=False), r"ascending=: use reverse=True"),
        (lambda: ONE.head(n=3), r"head\(\) has no n=: use rows="),
        (lambda: ONE.to_csv("x.csv", index=False), r"has no index=: use \.to_pandas\(\)\.to_csv"),
        (lambda: ONE.to_json(orient="records"), r"has no orient=: use lines=True"),
        (lambda: ONE.from_json(b"[]", acount="a"), r"no acount=; did you mean 'account'\?"),
        (lambda: ONE.to_parquet(), r"^to_parquet\(\) missing 1 required"),
        (lambda: ONE.filter("symbol == 'S1'"), r"filter takes conditions, such as symbol="),
        (lambda: ONE.filter([True] * 8), r"filter takes conditions, such as symbol="),
        (lambda: ONE.filter(side="B"), r"no field 'side'; did you mean 'txn_type'\?"),
        (lambda: ONE["qty"], r"no 'qty'; did you mean 'quantity'\?"),
        (lambda: td.TradeBook(ONE.to_pandas()), r"with TradeBook\.from_arrow"),
        (lambda: td.concat([ONE, td.OrderBook()]), r"not TradeBook and OrderBook$"),
        (lambda: td.concat(ONE, ONE), r"a list of books: td\.concat\(\[one, other\]\)$"),
        (lambda: td.concat(ONE), r"a list of books: td\.concat\(\[one, other\]\)$"),
    ],
)
def test_a_wrong_argument_names_the_right_one(use: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        use()


def test_a_misspelt_method_names_the_right_one() -> None:
    with pytest.raises(AttributeError, match="did you mean 'to_pandas'"):
        ONE.to_panda  # noqa: B018


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
