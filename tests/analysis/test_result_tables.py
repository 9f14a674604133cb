"""Tables of results: sequences, frames of one schema, and how they look."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import RESULTS, book, order, results, trade, unwarned
from pandas_dtypes import TEXT
from tradingdata.analysis import ResultTable

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


def test_it_is_indexed_and_iterated_as_a_list() -> None:
    many = td.positions(book(*(trade(n, "B", n, 1.0, security_id=str(n)) for n in range(1, 8))))
    rows = list(many)
    assert [row.buy_quantity for row in rows] == list(range(1, 8))
    assert many[-1] == rows[-1]
    assert list(many[1:6:2]) == rows[1:6:2]
    assert isinstance(many[1:6:2], td.analysis.Positions)
    assert many[1:3].days == many.days
    assert [row.buy_quantity for row in many.sort("-buy_quantity")] == [7, 6, 5, 4, 3, 2, 1]
    assert rows[3] in many
    with pytest.raises(IndexError, match="row 7 of a table of 7"):
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
    assert shown.startswith("RealisedPnl: 2026-11-20: 1 row, realised 83.75 before charges,")
    assert "sold without an opening: 1" in shown
    assert "<Infosys> & co" in shown
    assert "client_id" not in shown
    assert "more columns" in shown
    assert repr(EMPTY) == "RealisedPnl: 0 rows, realised 0.00 before charges"


def test_a_notebook_shows_it_with_markup_escaped() -> None:
    html = FULL._repr_html_()
    assert "&lt;Infosys&gt; &amp; co" in html
    assert "<Infosys>" not in html
    assert (
        'title="account, client_id, exchange, segment, security_id, expiry_date, product, symbol'
        in html
    )
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


def lines_of(table: ResultTable[Any], width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    return repr(table).splitlines()


def named(number: int, side: str, value: float, name: str, **more: Any) -> td.Trade:
    facts: dict[str, Any] = {"display_name": name, "security_id": name} | more
    return trade(number, side, 1, value, number, **facts)


MIXED = book(
    named(1, "B", 100.0, "Flat"),
    named(2, "S", 100.0, "Flat"),
    named(3, "B", 100.0, "A name that is as long as names get"),
    named(4, "S", 150.0, "A name that is as long as names get"),
    named(5, "B", 900.0, "Twice", product="I"),
    named(6, "S", 100.0, "Twice", product="I"),
    named(7, "B", 900.0, "Twice", exchange="BSE"),
    named(8, "S", 1000.5, "Twice", exchange="BSE"),
)


def test_the_result_comes_first_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = td.OrderBook([order(number, 1, 100.0) for number in range(1, 9)])
    pnl = td.realised_pnl(MIXED)
    responses: list[tuple[ResultTable[Any], str]] = [
        (pnl, "realised"),
        (pnl.matches, "realised"),
        (td.positions(MIXED), "net_quantity"),
        (td.unrealised_pnl(td.realised_pnl(MIXED[:5]), lambda row: 1.0), "unrealised"),
        (td.reconcile(orders, MIXED), "finding"),
        (td.execution_quality(orders, MIXED), "better_by"),
    ]
    for table, response in responses:
        lines = lines_of(table, 80, monkeypatch)
        names = next(line for line in lines[1:] if "display_name" in line)
        assert response in names.split(), type(table).__name__
        assert max(map(len, lines[1:])) <= 80
        assert f">{response}<" in table._repr_html_()
        assert table._repr_html_().partition("</thead>")[0].count("<th") <= 12


def test_rows_are_sorted_by_size_with_a_total_below(monkeypatch: pytest.MonkeyPatch) -> None:
    pnl = td.realised_pnl(MIXED)
    assert [row.realised for row in pnl] == [-800.0, 100.5, 50.0, 0.0]
    lines = lines_of(pnl, 80, monkeypatch)
    assert [line.split()[-2] for line in lines[3:7]] == ["-800.00", "100.50", "50.00", "0.00"]
    assert lines[7].split() == ["total", "-649.50"]
    assert "<tfoot>" in pnl._repr_html_()
    assert "total" not in repr(td.realised_pnl(MIXED[:2]))  # one row is its own total


def test_rows_that_only_exchange_or_product_distinguish_show_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("product", "C"), ("exchange", "NSE")):
        alike = [row._replace(**{name: value}) for row in MIXED]
        other = {"product": "exchange", "exchange": "product"}[name]
        lines = lines_of(td.realised_pnl(book(*alike)), 80, monkeypatch)
        assert lines[1].split()[:3] == ["display_name", other, "realised"]
    lines = lines_of(td.realised_pnl(MIXED[:4]), 80, monkeypatch)
    assert lines[1].split()[:2] == ["display_name", "realised"]
    accounts = [row._replace(account="desk1") for row in MIXED]
    accounts += [row._replace(client_id="C2", account="desk2") for row in MIXED]
    lines = lines_of(td.realised_pnl(book(*accounts)), 80, monkeypatch)
    assert lines[1].split()[:4] == ["display_name", "account", "exchange", "realised"]


def test_long_results_begin_with_their_largest_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [named(n, "B", float(n), f"S{n}") for n in range(1, 31)]
    lines = lines_of(td.positions(book(*made)), 80, monkeypatch)
    assert [line.split()[0] for line in lines[3:13]] == [f"S{n}" for n in range(30, 20, -1)]
    assert lines[13].strip() == "… 20 more"


def test_quantities_of_orders_are_numbers_as_in_a_book() -> None:
    checks = td.reconcile(ORDERS, book(trade(1, "B", 10, 1000.0)))
    assert checks.to_csv(None, ["orders_quantity", "trades_quantity"]).splitlines()[1] == "10.0,10"
    half = td.OrderBook([order(1, 2.5, 100.0)])
    assert td.reconcile(half, book()).to_dicts(["orders_quantity"]) == [{"orders_quantity": 2.5}]


def test_filters_keep_what_belongs_to_the_rows() -> None:
    pnl = td.realised_pnl(MIXED, shorts=False)
    won = pnl.filter(realised__gt=0)
    assert isinstance(won, td.analysis.RealisedPnl)
    assert (won.realised, len(won.matches)) == (150.5, 2)
    assert {match.security_id for match in won.matches} == {row.security_id for row in won}
    assert pnl.filter(lambda row: row.realised < 0, exchange="NSE").realised == -800.0
    found = td.reconcile(ORDERS, MIXED)
    assert found.filter(finding__ne="agrees") == found.differences
    with pytest.raises(TypeError, match="RealisedPnl has no field 'realized'; did you mean"):
        pnl.filter(realized=0)


def test_no_total_is_shown_without_a_sum_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (60, 80, 200):
        assert "total" not in "\n".join(lines_of(td.positions(MIXED), width, monkeypatch))
        assert "total" in "\n".join(lines_of(td.realised_pnl(MIXED), width, monkeypatch))


def test_flat_positions_are_not_counted_as_open() -> None:
    day = "Positions: 2026-11-20, "
    assert repr(td.positions(MIXED)).startswith(f"{day}0 open positions, 4 flat\n")
    assert repr(td.positions(MIXED[:3])).startswith(
        "Positions: 2026-11-20, 1 open position, 1 flat\n"
    )
    assert repr(td.positions(MIXED[2:3])).startswith(f"{day}1 open position\n")


def test_differences_are_not_hidden_by_what_agrees() -> None:
    orders = td.OrderBook([order(number, number // 31, 100.0) for number in range(1, 40)])
    found = td.reconcile(orders, book())
    assert len(found.differences) == 9
    assert repr(found).count("no trades") - 1 == 9  # the heading names them too


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_screen_shows_names_and_what_they_come_to(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = td.OrderBook([order(number, 1, 100.0) for number in range(1, 9)])
    tables: list[tuple[ResultTable[Any], set[str]]] = [
        (td.positions(MIXED), {"display_name", "net_quantity", "net_cash"}),
        (td.realised_pnl(MIXED), {"display_name", "realised"}),
        (td.execution_quality(orders, MIXED), {"order_no", "display_name", "improvement"}),
    ]
    for table, wanted in tables:
        lines = lines_of(table, width, monkeypatch)
        assert max(map(len, lines)) <= width
        assert wanted <= set(" ".join(lines).split())
