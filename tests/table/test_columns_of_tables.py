"""The columns of which the core makes tables, and the values that a column has."""

from __future__ import annotations

import datetime as dt
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


def test_groups_within_groups_are_those_of_both_keys() -> None:
    outer = _core.Groups([PART], ["display_name"])
    both = _core.Groups([PART], ["display_name", "txn_type"])
    assert _core.Groups([PART], ["txn_type"], outer).numbers() == both.numbers() == [0, 1, 2, 3]
    assert _core.Groups([PART], [], outer).numbers() == outer.numbers() == [0, 0, 1, 2]
    with pytest.raises(ValueError, match="same rows"):
        _core.Groups([ROWS], ["txn_type"], outer)
