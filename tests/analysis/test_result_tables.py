"""Tables of results: sequences, frames of one schema, and how they look."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import book, order, trade
from tradingdata.analysis import ResultTable

FULL = td.realised_pnl(
    book(trade(1, "B", 10, 1000.0), trade(2, "S", 12, 1300.5, 5, display_name="<Infosys> & co")),
    shorts=False,
)
EMPTY = td.realised_pnl(book())
ORDERS = td.OrderBook([order(1, 10, 100.0)])
PAIRS: list[tuple[ResultTable[Any], ResultTable[Any]]] = [
    (FULL, EMPTY),
    (FULL.matches, EMPTY.matches),
    (FULL.unmatched, EMPTY.open_lots),
    (td.positions(book(trade(1, "B", 10, 1000.0))), td.positions(book())),
    (td.reconcile(ORDERS, book()), td.reconcile(td.OrderBook(), book())),
    (td.execution_quality(ORDERS, book()), td.execution_quality(td.OrderBook(), book())),
]
each = pytest.mark.parametrize(
    ("full", "empty"), PAIRS, ids=[type(full).__name__ for full, _ in PAIRS]
)


@each
def test_a_schema_never_depends_on_the_data(
    full: ResultTable[Any], empty: ResultTable[Any]
) -> None:
    assert (len(full), len(empty)) == (1, 0)
    assert full.to_pandas().dtypes.to_dict() == empty.to_pandas().dtypes.to_dict()
    assert full.to_polars().schema == empty.to_polars().schema
    assert full.to_arrow().schema == empty.to_arrow().schema
    assert list(full.to_pandas()) == full.columns == empty.columns == list(empty.to_dict())


@each
def test_every_form_tells_the_same(full: ResultTable[Any], empty: ResultTable[Any]) -> None:
    (row,) = full.to_dicts()
    assert row == {name: values[0] for name, values in full.to_dict().items()}
    assert full.to_polars().to_dicts() == [row] == full.to_arrow().to_pylist()
    assert all(getattr(full[0], name) == value for name, value in row.items())
    assert empty.to_dicts() == []


def test_the_dtypes_are_those_of_a_book() -> None:
    book_dtypes = set(map(str, td.TradeBook().to_pandas().dtypes))
    found = FULL.matches.to_pandas().dtypes.astype(str)
    assert set(found) == book_dtypes == {"str", "Int64", "float64", "datetime64[us]"}
    day = td.reconcile(ORDERS, book()).to_pandas()["day"].dtype
    assert str(day) == str(td.TradeBook().to_pandas()["expiry_date"].dtype)


def test_columns_picks_and_orders() -> None:
    wanted = ["realised", "product"]
    assert list(FULL.to_pandas(wanted)) == FULL.to_polars(wanted).columns == wanted
    assert FULL.to_arrow(wanted).column_names == wanted
    assert FULL.to_dicts(wanted) == [{"realised": 83.75, "product": "C"}]
    assert FULL.to_dicts([]) == [{}]
    assert FULL.to_pandas([]).shape == (1, 0)
    with pytest.raises(KeyError, match="RealisedPnl has no column 'profit'"):
        FULL.to_pandas(["profit"])
    with pytest.raises(TypeError, match="takes a list of names"):
        FULL.to_dict("realised")
    with pytest.raises(ValueError, match="names 'realised' twice"):
        FULL.to_dict(["realised", "realised"])


def test_it_is_indexed_and_iterated_as_a_list() -> None:
    many = td.positions(book(*(trade(n, "B", n, 1.0, security_id=str(n)) for n in range(1, 8))))
    rows = list(many)
    assert [row.buy_quantity for row in rows] == list(range(1, 8))
    assert many[-1] == rows[-1]
    assert many[1:6:2] == rows[1:6:2]
    assert rows[3] in many
    with pytest.raises(IndexError, match="row 7 of a result of 7"):
        many[7]
    with pytest.raises(AttributeError):
        rows[0].buy_quantity = 5  # type: ignore[misc]


def test_tables_compare_copy_and_pickle() -> None:
    for table in (FULL, FULL.matches, td.reconcile(ORDERS, book())):
        assert pickle.loads(pickle.dumps(table)) == table == copy.deepcopy(table)
    assert pickle.loads(pickle.dumps(FULL)).realised == FULL.realised
    assert FULL != EMPTY
    assert FULL.matches != FULL


def test_it_takes_the_arrow_stream() -> None:
    import duckdb
    import polars as pl

    result = FULL.matches
    assert pl.DataFrame(result)["realised"].to_list() == [83.75]
    total = duckdb.sql("select sum(realised) from result")
    assert total is not None
    assert total.fetchall() == [(83.75,)]


def test_a_terminal_shows_what_tells_most() -> None:
    shown = repr(FULL)
    assert shown.startswith("RealisedPnl: 1 row, realised 83.75 before charges, 2 sold without")
    assert "<Infosys> & co" in shown
    assert "client_id" not in shown
    assert "more columns" in shown
    assert repr(EMPTY) == "RealisedPnl: 0 rows, realised 0.00 before charges"


def test_a_notebook_shows_it_with_markup_escaped() -> None:
    html = FULL._repr_html_()
    assert "&lt;Infosys&gt; &amp; co" in html
    assert "<Infosys>" not in html
    assert 'title="client_id, segment, security_id, symbol"' in html
    assert "<table>" not in EMPTY._repr_html_()


def test_calculations_need_no_library() -> None:
    script = """
import sys
import tradingdata as td
td.positions(td.TradeBook())
td.realised_pnl(td.TradeBook()).to_dicts()
assert not {"pandas", "numpy", "polars", "pyarrow"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
