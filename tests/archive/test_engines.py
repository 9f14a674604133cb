"""Other engines read the folder as it is."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import tradingdata as td
from archiving import DAY, DAYS, archive_with, clock, numbers, order_response, response, trade
from tradingdata import sandbox


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    book = response(
        td.TradeBook, [trade(str(number), quantity=number) for number in range(5)], clock("15:45")
    )
    return archive_with(tmp_path, book, order_response())


def test_polars_scans_the_table(archive: td.Archive) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.scan_parquet(f"{archive.path}/trades/**/*.parquet", hive_partitioning=True)
    assert frame.select(polars.col("quantity").sum()).collect().item() == 10
    assert archive.scan("trades", DAY).filter("quantity > 2").pl().height == 2
    assert polars.DataFrame(archive.scan("trades", DAY)).height == 5


def test_duckdb_reads_the_files(archive: td.Archive) -> None:
    import duckdb

    files = archive.files("trades")
    found = duckdb.execute(f"SELECT sum(quantity) FROM read_parquet({files!r})").fetchall()
    assert found == [(10,)]
    glob = f"{archive.path}/trades/**/*.parquet"
    query = f"SELECT sum(quantity), any_value(month) FROM read_parquet('{glob}')"
    assert duckdb.execute(query).fetchall() == [(10, "2026-11")]
    assert archive.files("orders") == []
    with pytest.raises(ValueError, match="name must be 'trades' or 'orders'"):
        archive.files("stocks")


def test_pandas_reads_a_scan_and_the_table(archive: td.Archive) -> None:
    pandas = pytest.importorskip("pandas")
    scanned = archive.scan("trades", DAY).select("day", "quantity").df()
    assert scanned["quantity"].sum() == 10
    read = pandas.read_parquet(f"{archive.path}/trades")
    assert read["quantity"].sum() == 10
    with pytest.raises(ValueError, match="name must be 'trades' or 'orders'"):
        archive.scan("fetches")


@pytest.mark.filterwarnings("ignore")  # what Dask warns of is not ours
def test_dask_reads_the_files(archive: td.Archive) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.read_parquet(archive.files("trades"), columns=["quantity"])
    assert frame["quantity"].sum().compute(scheduler="synchronous") == 10


@pytest.fixture
def bucket(request: pytest.FixtureRequest) -> str:
    """An address in object storage: objects are put whole, and never renamed."""
    pytest.importorskip("fsspec")
    return f"memory://{request.node.name}"


def test_object_storage(bucket: str) -> None:
    """An archive in object storage behaves as one in a folder."""
    archive = td.Archive(f"{bucket}/desk")
    archive.add(response(td.TradeBook, [trade("1"), trade("2")], clock("15:45")))
    archive.add(response(td.TradeBook, [trade("3")], clock("16:45")))
    again = td.Archive(f"{bucket}/desk", create=False)
    assert numbers(again.trades(DAY)) == ["1", "2", "3"]
    assert [*map(tuple, again.sql("SELECT count(*) FROM trades"))] == [(3,)]
    assert again.verify() == 3
    assert again.compact() == 2
    assert len(again.trades(DAY)) == 3
    assert numbers(pickle.loads(pickle.dumps(again)).trades(DAY)) == ["1", "2", "3"]
    with pytest.raises(td.ArchiveError, match="there is no archive"):
        td.Archive(f"{bucket}/none", create=False)


def test_accounts_in_object_storage(bucket: str) -> None:
    archive = td.Archive(bucket)
    with sandbox.start(accounts=["desk1", "desk2"], orders=20) as service:
        clients = [service.client(label) for label in ("desk1", "desk2")]
        for _ in range(2):
            archive.fetch(td.Accounts({str(each.account): each for each in clients}))
        orders = clients[0].order_book()
        assert numbers(archive.orders(account="desk1")) == numbers(orders)
        assert numbers(archive.trades(account="desk2")) == numbers(clients[1].trade_book())
    assert len(archive.fetches(account="desk1")) == 4
    assert len(archive.history(str(orders[0].order_no), account="desk1")) == 1
    query = "SELECT DISTINCT account FROM trades WHERE account <> 'desk1'"
    assert [*map(tuple, archive.sql(query))] == [("desk2",)]


def test_an_object_of_another_day_is_not_read(bucket: str) -> None:
    import fsspec

    archive = td.Archive(bucket)
    archive.add(response(td.TradeBook, [trade("0", DAYS[0])], clock("15:45", DAYS[0])))
    storage, path = fsspec.core.url_to_fs(bucket)
    storage.rm(f"{path}/trades", recursive=True)
    for number in ("1", "2"):
        archive.add(response(td.TradeBook, [trade(number)], clock(f"1{number}:45")))
    assert len(archive.trades(DAY)) == 2
    with pytest.raises(td.ArchiveError, match="is missing"):
        archive.trades(DAYS[0], missing_ok=True)
