"""Types of rows that are made at run time: of results, queries and labelled books."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from datetime import UTC, datetime

import pytest

import tradingdata as td
from tradingdata import _core
from tradingdata.analysis import Lot
from tradingdata.table.rows import row_type

FIELDS = [("name", "text", "A name"), ("size", "integer", ""), ("at", "timestamp", "")]
ROW = row_type("Row", FIELDS)
MOMENT = datetime(2026, 11, 20, 10, tzinfo=UTC)


def test_a_row_is_a_constant_with_the_dataclass_protocol() -> None:
    row = ROW(name="a", size=5, at=MOMENT)
    assert (row.name, row["size"], row.at) == ("a", 5, MOMENT)
    assert repr(row).startswith("Row(name='a', size=5, at=datetime.datetime(2026")
    assert {row: 1}[ROW(name="a", size=5, at=MOMENT)] == 1
    assert dataclasses.asdict(row) == {"name": "a", "size": 5, "at": MOMENT}
    assert dataclasses.replace(row, size=6).size == row._replace(size=6).size == 6
    assert pickle.loads(pickle.dumps(row)) == copy.copy(row) == copy.deepcopy(row) == row
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.size = 6
    with pytest.raises(AttributeError, match="Row has no field 'sizes'; did you mean 'size'"):
        row.sizes  # noqa: B018
    with pytest.raises(TypeError, match="size takes an int or None, not 'five'"):
        ROW(size="five")
    match row:
        case ROW(name="a", size=size):
            assert size == 5
        case _:
            pytest.fail("no match")
    assert str(inspect.signature(ROW)) == "(*, name=None, size=None, at=None)"


def test_equal_schemas_have_one_type() -> None:
    assert row_type("Row", list(FIELDS)) is ROW
    assert row_type("Row", FIELDS[:2]) is not ROW
    assert Lot(**dict.fromkeys(_core.names_of(Lot))).kind == "shares"  # type: ignore[arg-type]


def test_names_that_no_attribute_can_have_are_refused() -> None:
    for name in ("__class__", "a\0b"):
        with pytest.raises(ValueError, match="a column cannot have the name"):
            row_type("Row", [(name, "text", "")])
    with pytest.raises(ValueError, match="two columns have the name a"):
        row_type("Row", [("a", "text", ""), ("a", "text", "")])


def test_a_field_that_is_optional_may_be_absent() -> None:
    fields = [("a", "text", "", False, False), ("later", "integer", "", False, True)]
    kind = _core.row_type("Row", fields)
    body = b'{"data":[{"a":"x"},{"later":"7","a":null},{}],"status":"success","message":""}'
    rows = _core.decode_book(kind, body)
    assert rows.to_dict(["a", "later"]) == {"a": ["x", None, None], "later": [None, 7, None]}
    assert [issue[:3] for issue in rows.issues] == [
        ("later", "number sent as text", 1),
        ("a", "missing", 1),
    ]
    with pytest.raises(td.DecodeError):
        _core.decode_book(kind, body, strict=True)
