"""The columns of which the core makes tables, and the values that a column has."""

from __future__ import annotations

import datetime as dt
import random
import struct
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import at, book, trade
from tradingdata import _core
from tradingdata.table.rows import row_type

LONG = "a name that is longer than a cell"
ROWS: _core.Slice = book(
    trade(0, "B", 1, 1.0),
    trade(1, "B", 1, 1.0, second=60, display_name=LONG),
    trade(2, "S", 1, 1.0, second=86_400, display_name=LONG),
    trade(3, "S", 1, 1.0, exch_trade_time=None),
    trade(4, "S", 1, 1.0, second=61, display_name="short"),
)._rows
PART = ROWS[1:]


def made(*columns: Any) -> dict[str, list[Any]]:
    kind = row_type("Made", [("number", "integer", ""), ("name", "text", ""), ("day", "date", "")])
    rows = _core.table_of(kind, list(columns))
    return {name: rows.column(name) for name in ("number", "name", "day")}


def test_columns_of_a_slice_stand_beside_lists_of_values() -> None:
    """A date is the day of a time; the row -1 has no values."""
    at_rows = [3, -1, 0, 2]
    columns = PART, at_rows, ["display_name", "exch_trade_time"]
    assert made([1, 2, None, 4], columns) == {
        "number": [1, 2, None, 4],
        "name": ["short", None, LONG, None],
        "day": [at(61).date(), None, at(60).date(), None],
    }


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        (([1], ["x"]), ValueError),
        (([1], ["x"], [None], [None]), ValueError),
        (([1], (PART, [0], ["symbol", "expiry_date", "expiry_date"])), ValueError),
        (([1, 2], (PART, [0], ["symbol", "expiry_date"])), ValueError),
        (([1], (PART, [0], ["expiry_date", "symbol"])), ValueError),
        (([1], (PART, [0], ["symbol", "expiry"])), KeyError),
        (([1], (PART, [4], ["symbol", "expiry_date"])), IndexError),
        (([1], (PART, [-2], ["symbol", "expiry_date"])), IndexError),
    ],
)
def test_columns_that_are_no_table_are_refused(columns: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        made(*columns)


def test_rows_of_another_schema_are_refused_where_their_values_are_read() -> None:
    """Values of another kind have another size: they were read and written beyond their memory."""
    other = _core.table_of(row_type("Other", [("display_name", "number", "")]), [[1.0, 2.0]])
    with pytest.raises(ValueError, match="fields of the same kinds"):
        _core.Groups([PART, other], ["display_name"])
    wider = row_type("Wider", [("a", "date", ""), ("b", "text", "")])
    with pytest.raises(ValueError, match="begins with their fields"):
        other.with_extra_column(wider)
    dated = row_type("Dated", [("display_name", "number", ""), ("b", "date", "")])
    with pytest.raises(ValueError, match="one more field, which is text"):
        other.with_extra_column(dated)
    assert other != PART
    assert other[0] != PART[0]
    assert other[0] not in PART
    with pytest.raises(ValueError, match="different records"):
        _core.join([PART, other])


def test_each_value_of_a_column_is_listed_once_in_order() -> None:
    assert PART.distinct("display_name") == [LONG, None, "short"]
    assert PART.distinct("txn_type") == ["B", "S"]
    assert PART.distinct("exch_trade_time") == [at(60), at(86_400), None, at(61)]
    day = at(0).date()
    assert PART.distinct("exch_trade_time.day") == [day, day + dt.timedelta(days=1), None]
    assert td.TradeBook()._rows.distinct("account") == []
    prices = book(*(trade(0, "B", 1, 1.0, traded_price=price) for price in (0.0, -0.0, 1.0)))
    assert prices._rows.distinct("traded_price") == [0, 1]
    with pytest.raises(KeyError):
        PART.distinct("exch_trade")
    with pytest.raises(TypeError):
        PART.distinct("quantity.day")


def test_groups_within_others_are_of_the_same_rows() -> None:
    outer = _core.Groups([PART], ["display_name"])
    with pytest.raises(ValueError, match="same rows"):
        _core.Groups([ROWS], ["txn_type"], outer)


SECONDS = (-86_401, -86_400, -1, 0, 86_399, 9 * 86_400)
CELLS: dict[str, list[Any]] = {  # some of which begin or end alike, or are zero in memory
    "display_name": [None, "", "ab", "a", LONG, LONG[:-1] + "r", "er " + LONG],
    "symbol": [None, "", "ab", "b", "bab"],
    "exch_trade_time": [None, *(dt.datetime(1970, 1, 1) + dt.timedelta(0, at) for at in SECONDS)],
    "traded_price": [None, 0.0, -0.0, 0.1],
    "quantity": [None, 0, 7, 2**62],
}


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_those_of_a_dict(seed: int) -> None:
    """Of parts of two tables, by fields of any kind, in which a missing value is a value."""
    rng = random.Random(seed)
    key = rng.sample([*CELLS, "exch_trade_time.day"], rng.randint(1, 3))

    def key_of(row: td.Trade) -> tuple[Any, ...]:
        day = row.exch_trade_time and row.exch_trade_time.date()
        return tuple(day if name.endswith(".day") else row[name] for name in key)

    rows = [td.Trade(**{name: rng.choice(of) for name, of in CELLS.items()}) for _ in range(40)]
    start, stop = rng.randint(0, 20), rng.randint(20, 40)
    parts = [rows[start:20], rows[20:stop]]
    slices = [td.TradeBook(rows[:20])._rows[start:], td.TradeBook(rows[20:])._rows[: stop - 20]]
    groups = _core.Groups(slices, key)
    within = _core.Groups(slices, key[:1], _core.Groups(slices, key[1:]))
    known: dict[Any, int] = {}
    coarse: dict[Any, int] = {}
    for number, part in enumerate(parts):
        numbers = [known.setdefault(key_of(row), len(known)) for row in part]
        assert groups.numbers(number) == within.numbers(number) == numbers
        hashes = struct.iter_unpack("Q", slices[number].hashes(key))
        assert len(set(zip(numbers, hashes, strict=True))) == len(set(numbers))
    assert len(groups) == len(known)
    assert groups.coarser(key[1:]) == [coarse.setdefault(of[1:], len(coarse)) for of in known]
    for number, part in enumerate(parts):
        members = [[row for row in part if key_of(row) == one] for one in known]
        assert groups.counts(number) == [len(of) for of in members]
        times = [[row.exch_trade_time for row in of if row.exch_trade_time] for of in members]
        for greatest, extreme in ((True, max), (False, min)):
            wanted = [extreme(of, default=None) for of in times]
            assert groups.extremes("exch_trade_time", greatest, number) == wanted
