"""Wrong uses of books, one a line: the error, and the words that say what to write instead."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tradingdata as td
from sample_books import BOOK, LIST
from sample_records import INDIA
from service import trades

AnyBook: Any = BOOK
TRADES: Any = td.TradeBook
CONCAT: Any = td.concat
LOCAL = BOOK.localize(INDIA)
TABLE = pa.table({"symbol": ["A"], "other": ["B"]})
NAIVE = dt.datetime(2026, 1, 6, 9, 15)
IN_INDIA = NAIVE.replace(tzinfo=INDIA)


def read(**options: Any) -> Any:
    return TRADES.from_arrow(TABLE, **options)


def where(book: Any = BOOK, **conditions: Any) -> Callable[[], Any]:
    return lambda: book.filter(**conditions)


Use = tuple[Callable[[], Any], type[Exception], str]
BODIES: list[Any] = [None, 5, {"data": []}, trades(1)]
USES: dict[str, Use] = {
    # -- filter --
    "a number for text": (where(symbol=5), TypeError, "symbol=? takes"),
    "a dict": (where(symbol={"INFY": 5}), TypeError, "symbol=? takes"),
    "a set of two types": (where(symbol={"INFY", 5}), TypeError, "symbol=? takes"),
    "text for an integer": (where(quantity="5"), TypeError, "quantity=? takes"),
    "a fraction for an integer": (where(quantity=5.5), TypeError, "quantity=? takes"),
    "a switch for an integer": (where(quantity=True), TypeError, "quantity=? takes"),
    "a range": (where(quantity=range(5)), TypeError, "quantity=? takes"),
    "text for a number": (where(traded_price="1.5"), TypeError, "traded_price=? takes"),
    "times of two forms": (
        where(exch_trade_time=["2026-01-06 09:15:00", "09:15"]), TypeError, "time=? takes"),
    "a datetime and a time": (
        where(exch_trade_time={dt.date(2025, 1, 30), dt.time(9, 15)}), TypeError, "time=? takes"),
    "a time of day with a zone": (
        where(exch_trade_time=dt.time(9, 15, tzinfo=INDIA)), TypeError, "time=? takes"),
    "a datetime for a date": (
        where(expiry_date=dt.datetime(2025, 1, 30, 9)), TypeError, "expiry_date=? takes"),
    "nan": (where(traded_price=float("nan")), ValueError, "traded_price cannot be"),
    "infinity": (where(traded_price=float("inf")), ValueError, "traded_price cannot be"),
    "beyond 2**53": (where(traded_price=2**53 + 1), ValueError, "traded_price cannot be"),
    "a zone for naive times": (
        where(exch_trade_time=IN_INDIA), TypeError, r"has no zone: pass .*localize"),
    "no zone for times in a zone": (
        where(LOCAL, exch_trade_time=NAIVE), TypeError, "is in Asia/Kolkata"),
    "text that is no time": (
        where(exch_trade_time="20 Nov"), ValueError, "takes ISO text such as '2026-11-20'"),
    "text that is no date": (
        where(expiry_date="09:15"), ValueError, "takes ISO text such as '2026-11-20'"),
    "an unknown comparison": (
        where(quantity__gte=5), TypeError, "or one of __ne, __lt, __le, __gt, __ge, __between"),
    "half a comparison": (where(quantity__=5), TypeError, "not a comparison"),
    "in": (where(symbol__in=5), TypeError, r"symbol=\{...\} for any of several values"),
    "an unknown field": (
        where(simbol__gt="A"), TypeError, "no field 'simbol'; did you mean 'symbol'"),
    "greater than None": (where(quantity__gt=None), TypeError, "not None"),
    "greater than a set": (where(quantity__gt={5}), TypeError, "one value, not a set"),
    "greater than text": (where(quantity__gt="5"), TypeError, "quantity takes an int"),
    "between one value": (where(quantity__between=5), TypeError, r"takes \(lowest, highest\)"),
    "between three": (
        where(quantity__between=(1, 2, 3)), TypeError, r"takes \(lowest, highest\)"),
    "between None": (where(quantity__between=(1, None)), TypeError, "not None"),
    # -- sort, columns, indices --
    "sort by an unknown field": (
        lambda: AnyBook.sort("simbol"), KeyError, "no field 'simbol'; did you mean 'symbol'"),
    "sort by nothing": (lambda: AnyBook.sort(), TypeError, "names of columns"),
    "dicts of an unknown field": (
        lambda: AnyBook.to_dicts(["simbol"]), KeyError, "did you mean 'symbol'"),
    "lists of an unknown field": (
        lambda: AnyBook.to_dict(["simbol"]), KeyError, "did you mean 'symbol'"),
    "JSON of an unknown field": (
        lambda: AnyBook.to_json(columns=["simbol"]), KeyError, "did you mean 'symbol'"),
    "one name as columns": (lambda: AnyBook.to_dicts("symbol"), TypeError, "a list of names"),
    "a field as an index": (lambda: AnyBook["simbol"], TypeError, "did you mean 'symbol'"),
    "a field as an attribute": (lambda: AnyBook.simbol, AttributeError, "did you mean 'symbol'"),
    **{
        f"{index!r} as an index": (
            partial(AnyBook.__getitem__, index), TypeError, "integer|rows|no '0'")
        for index in (None, "0", 1.0, (1, 2))
    },
    # -- zones --
    "a second zone": (lambda: LOCAL.localize("UTC"), ValueError, "already in Asia/Kolkata"),
    "a number as a zone": (lambda: AnyBook.localize(5), TypeError, "tzinfo"),
    **{
        f"zone {name!r}": (partial(AnyBook.localize, name), ValueError, "no time zone")
        for name in ("Asia/Nowhere", "", "../etc/passwd", "/etc/passwd", "a\0b")
    },
    # -- books that are made and joined --
    **{
        f"a book of {odd!r}": (
            partial(TRADES, [td.Trade(), odd]), TypeError,
            r"a table of Trade is made of .*Trade records")
        for odd in (td.Order(), None, {"quantity": 1}, ("x",))
    },
    "records of two zones": (
        lambda: TRADES([td.Trade(exch_trade_time=at) for at in (NAIVE, IN_INDIA)]), ValueError,
        "different time zones"),
    "nothing to join": (lambda: CONCAT([]), ValueError, "nothing to join"),
    **{
        f"a book and a {type(odd).__name__}": (
            partial(CONCAT, [BOOK, odd]), TypeError, "books of one type")
        for odd in (td.OrderBook(), None, LIST)
    },
    "a list and a book": (lambda: CONCAT([LIST, BOOK]), TypeError, "books of one type"),
    "books of two zones": (lambda: CONCAT([BOOK, LOCAL]), ValueError, "different time zones"),
    # -- what is read --
    **{
        f"a body of type {type(odd).__name__}": (
            partial(TRADES.from_json, odd), TypeError,
            "takes a response body as bytes or str, not")
        for odd in BODIES
    },
    "the name of a file": (
        lambda: TRADES.from_json("x.json"), td.ConfigurationError, r"with TradeBook\.load"),
    "the path of a file": (
        lambda: TRADES.from_json(Path("x.json")), TypeError, r"with TradeBook\.load"),
    **{
        f"{call} of {name!r}": (
            partial(getattr(AnyBook, call), name), ValueError,
            r"`path` must end in \.json, \.parquet or \.csv")
        for call in ("save", "load")
        for name in ("book.td", "book", "book.json.gz", "book.txt")
    },
    "names of an unknown field": (
        lambda: read(names={"other": "simbol"}), KeyError, "did you mean 'symbol'"),
    "constants of an unknown field": (
        lambda: read(constants={"simbol": "x"}), KeyError, "did you mean 'symbol'"),
    "names of a column that is not there": (
        lambda: read(names={"another": "quantity"}), ValueError,
        "column another, which the data lacks"),
    "names of a field twice": (
        lambda: read(names={"other": "symbol"}), ValueError, "two columns named symbol"),
    "a constant that is a column": (
        lambda: read(constants={"symbol": "x"}), ValueError, "also a column"),
    "a constant of another type": (
        lambda: read(constants={"quantity": "x"}), TypeError, "quantity takes an int"),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_a_wrong_use_says_what_to_write(
    use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, error, words = USES[use]
    with pytest.raises(error, match=words):
        call()
    assert not list(tmp_path.iterdir())
