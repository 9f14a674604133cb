"""What other libraries make of a row: they read it, or raise. Each runs in a process of its own."""

from __future__ import annotations

import pytest

from calls import run_child

WRITING_JSON = """
import orjson
from tradingdata.analysis import Lot
from tradingdata.table.rows import row_type
wide = row_type("Wide", [("a", "text", "")])
for row in (td.Trade(order_no="1"), td.Order(), td.Stock(), Lot(symbol="INFY"), wide(a="1")) * 3:
    try:
        print(orjson.dumps(row))
    except TypeError as error:
        print(error)
    print(orjson.dumps([row], default=lambda given: type(given).__name__).decode())
"""


def test_orjson_refuses_a_row_or_calls_default() -> None:
    pytest.importorskip("orjson")
    printed = run_child(WRITING_JSON).splitlines()
    names = ["Trade", "Order", "Stock", "Lot", "Wide"] * 3
    assert printed[1::2] == [f'["{name}"]' for name in names]
    assert all(line.startswith("Type is not JSON serializable") for line in printed[::2])
