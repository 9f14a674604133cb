"""Tables of results: sequences, frames of one schema, and how they look."""

from __future__ import annotations

import copy
import pickle

import pytest

import tradingdata as td
from analysis_samples import RESULTS, book, order, results, trade, unwarned
from pandas_dtypes import TEXT

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

FULL = unwarned(
    lambda: td.realised_pnl(
        book(
            trade(1, "B", 10, 1000.0), trade(2, "S", 12, 1300.5, 5, display_name="<Infosys> & co")
        ),
        shorts=False,
    )
)
EMPTY = td.realised_pnl(book())
ORDERS = td.OrderBook([order(1, 10, 100.0)])
TRADES = [trade(1, "B", 10, 1000.0), trade(2, "S", 12, 1300.5, 5)]
ALL = results(ORDERS, book(*TRADES, trade(3, "B", 1, 1.0, security_id="11")))
NONE = results(td.OrderBook(), book())


@pytest.mark.parametrize("name", RESULTS)
def test_a_schema_never_depends_on_the_data(name: str) -> None:
    full, empty = ALL[name], NONE[name]
    assert len(full) > 0
    assert len(empty) == 0
    assert full.to_pandas().dtypes.to_dict() == empty.to_pandas().dtypes.to_dict()
    assert full.to_polars().schema == empty.to_polars().schema
    assert full.to_arrow().schema == empty.to_arrow().schema
    assert list(full.to_pandas()) == full.columns == empty.columns == list(empty.to_dict())


def test_the_dtypes_are_those_of_a_book() -> None:
    book_dtypes = set(map(str, td.TradeBook().to_pandas().dtypes))
    found = FULL.matches.to_pandas().dtypes.astype(str)
    assert set(found) == book_dtypes == {TEXT, "Int64", "float64", "datetime64[us]"}
    day = td.reconcile(ORDERS, book()).to_pandas()["day"].dtype
    assert str(day) == str(td.TradeBook().to_pandas()["expiry_date"].dtype)


def test_tables_compare_copy_and_pickle() -> None:
    for table in (FULL, FULL.matches, td.reconcile(ORDERS, book())):
        assert pickle.loads(pickle.dumps(table)) == table == copy.deepcopy(table)
    assert pickle.loads(pickle.dumps(FULL)).realised == FULL.realised
    assert FULL != EMPTY
    assert FULL.matches != FULL


def test_quantities_of_orders_are_numbers_as_in_a_book() -> None:
    checks = td.reconcile(ORDERS, book(trade(1, "B", 10, 1000.0)))
    assert checks.to_csv(None, ["orders_quantity", "trades_quantity"]).splitlines()[1] == "10.0,10"
    half = td.OrderBook([order(1, 2.5, 100.0)])
    assert td.reconcile(half, book()).to_dicts(["orders_quantity"]) == [{"orders_quantity": 2.5}]
