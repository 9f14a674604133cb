"""Types of rows that are made at run time live as long as their tables."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import pytest

from calls import run_child
from tradingdata import _core
from tradingdata.table.rows import row_type, with_extra

GROWTH = """
import gc, pathlib
from tradingdata import _core
from tradingdata.table.rows import row_type, with_extra

def resident():
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS")).split()[1])

def shape(number):
    kind = row_type("Row", [(f"c{number}_{at}", "text", "") for at in range(8)])
    rows = _core.table_of(kind, [["x"]] * 8)
    assert rows.with_extra_column(with_extra(kind))[0].extra is None

for number in range(1000):
    shape(number)
gc.collect()
before = resident()
for number in range(1000, 10_000):
    shape(number)
gc.collect()
print(resident() - before)
assert len(_core.row_types) < 10
"""


def one(name: str = "x") -> Any:
    return _core.table_of(row_type("Row", [(name, "text", "")]), [["value"]])


@pytest.mark.memory
def test_ten_thousand_shapes_grow_no_memory() -> None:
    """Each once kept 10 kB for the life of the process."""
    assert int(run_child(GROWTH)) < 12_000  # kilobytes


def test_equal_columns_have_one_type_while_it_is_used() -> None:
    first, second = one(), one()
    assert first.row_type is second.row_type
    assert first[0] == second[0]
    assert pickle.loads(pickle.dumps(first[0])) == first[0]


class Stream:
    """What exports a capsule that it was given."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, schema: object = None) -> Any:
        return self._capsule


PARTS: dict[str, Any] = {
    "slice": lambda whole: whole,
    "row": lambda whole: whole[0],
    "part": lambda whole: whole[0:1],
    "copy": lambda whole: whole.take([0, 0]),
    "wider": lambda whole: whole.with_extra_column(with_extra(whole.row_type)),
}


@pytest.mark.parametrize("kept", PARTS)
def test_whatever_refers_to_rows_keeps_their_type(kept: str) -> None:
    whole = one("kept")
    gone = weakref.ref(whole.row_type)
    held = PARTS[kept](whole)
    del whole
    gc.collect()
    assert (gone() is None) == (kept == "wider")  # which has a type of its own
    row = held if kept == "row" else held[0]
    assert (row.kept, row["kept"]) == ("value", "value")
    assert "kept='value'" in repr(row)
    del held, row
    gc.collect()
    assert gone() is None


def test_an_arrow_stream_outlives_the_type() -> None:
    whole = one("streamed")
    gone = weakref.ref(whole.row_type)
    capsule = whole.arrow_stream(["streamed"])
    del whole
    gc.collect()
    assert gone() is None
    others = [one(f"other{at}") for at in range(50)]  # in the memory that was freed
    made = _core.from_arrow(row_type("Row", [("streamed", "text", "")]), Stream(capsule))
    assert (made[0].streamed, len(others)) == ("value", 50)


def test_a_type_alone_still_makes_rows() -> None:
    kind = row_type("Row", [("alone", "text", "")])
    gc.collect()
    assert kind(alone="x").alone == "x"
    assert _core.names_of(kind) == ["alone"]
    with pytest.raises(ValueError, match="there is no record"):
        _core.names_of(int)
