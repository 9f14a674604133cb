"""Other engines read the folder as it is: each record once, in its newest state (F183)."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

import tradingdata as td
from archive.engines import check_engines
from archiving import DAY, DAYS, archive_with, clock, order, order_response, response, trade


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    """Two fetches of a day and one of the day before, as A1 to A3 have them."""
    rows = [trade(str(number), quantity=number) for number in range(5)]
    return archive_with(
        tmp_path,
        response(td.TradeBook, [trade("9", DAYS[3], quantity=9)], clock("15:45", DAYS[3])),
        response(td.TradeBook, rows[:3], clock("15:45")),
        response(td.TradeBook, rows, clock("18:30")),
        order_response(),
        order_response(order("1", status="Open"), at="16:00"),
        order_response(order("1", status="Done"), at="17:00"),
    )


def test_polars_and_pandas_read_a_scan(archive: td.Archive) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.scan_parquet(f"{archive.path}/trades/*.parquet")
    assert frame.select(polars.col("quantity").sum()).collect().item() == 19
    book = td.TradeBook.from_arrow(polars.read_parquet(archive.files("trades")[-1]))
    assert list(book) == list(archive.trades(DAY))
    assert book.extra_fields == ()
    assert archive.scan("trades", DAY).filter("quantity > 2").pl().height == 2
    assert polars.DataFrame(archive.scan("trades", DAY)).height == 5
    pytest.importorskip("pandas")
    assert archive.scan("trades", DAY).select("day", "quantity").df()["quantity"].sum() == 10
    with pytest.raises(ValueError, match="name must be 'trades' or 'orders'"):
        archive.scan("fetches")


def test_the_queries_of_the_readme(archive: td.Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a trade that the service took back: it is not in the last response."""
    import duckdb

    archive.add(response(td.TradeBook, [trade("0", quantity=0)], clock("19:00")))
    monkeypatch.chdir(archive.path)
    text = Path("README.md").read_text("utf-8")
    (bust,) = re.findall(r"(    FROM \(FROM .*?)\n\n", text, re.DOTALL)
    with duckdb.connect() as own:
        found = own.execute(f"SELECT trade_no FROM ({bust}) ORDER BY 1").fetchall()
        assert found == [("1",), ("2",), ("3",), ("4",)]
        (total,) = re.findall(r'duckdb\.sql\("(.*?)"\)', text)
        assert [day for day, *_ in sorted(own.execute(total).fetchall())] == [DAYS[3], DAY]
    assert "read_parquet" in text


def test_a_version_with_more_fields_rewrites_the_days(
    archive: td.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it writes one; until then it reads the narrower ones."""
    from tradingdata import _core
    from tradingdata.archive import days, folder, store

    path = archive.path
    columns = days.COLUMNS["trades"]
    narrow = {name: kind for name, kind in columns.items() if name != "algo_id"}
    fields = {x: kind for x, kind in days._FIELDS["trades"].items() if x != "algo_id"}
    known = [x for x in _core.fields_of(days._TYPES["trades"]) if x[0] != "algo_id"]
    row = _core.row_type("Trade", [(*field, False) for field in known])
    monkeypatch.setitem(days.COLUMNS, "trades", narrow)
    monkeypatch.setitem(days._TYPES, "trades", row)
    monkeypatch.setitem(days._FIELDS, "trades", fields)
    settings = folder.Folder(path).settings() or {}
    folder.Folder(path).write_settings(settings | {"schema": store.schema_of()})
    for file in archive.files("trades"):
        Path(file).unlink()
    store.store_of.cache_clear()
    td.Archive(path).add(response(td.TradeBook, [], clock("19:00")))
    monkeypatch.undo()
    store.store_of.cache_clear()
    archive = td.Archive(path)
    assert len(archive.trades(DAYS[3], DAY)) == 6
    archive.add(response(td.TradeBook, [], clock("20:00", DAY + dt.timedelta(3))))
    check_engines(archive)
    assert [row.algo_id for row in archive.trades(DAYS[3])] == [None]
    assert archive.verify() == 7


def test_a_version_with_fewer_fields_says_that_it_stored(archive: td.Archive) -> None:
    """It puts nothing into days, which may have fields that it does not know."""
    from tradingdata.archive import folder, store

    schema = store.schema_of() | {"trades": [*store.schema_of()["trades"], "newer"]}
    files = folder.Folder(archive.path)
    files.write_settings((files.settings() or {}) | {"schema": schema})
    with pytest.warns(td.DataWarning, match="stored, but not yet in its day .*install"):
        entry = archive.add(response(td.TradeBook, [trade("9")], clock("20:00")))
    assert entry in archive.fetches()
    with pytest.raises(td.ArchiveError, match="install the version that wrote it"):
        archive.withdraw(entry.id)
