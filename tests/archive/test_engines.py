"""Other engines read the folder as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tradingdata as td
from archiving import DAY, DAYS, archive_with, clock, order_response, response, trade
from calls import wait_until
from tradingdata import sandbox


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    book = response(
        td.TradeBook, [trade(str(number), quantity=number) for number in range(5)], clock("15:45")
    )
    return archive_with(tmp_path, book, order_response())


def test_polars_scans_the_table(archive: td.Archive) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.scan_delta(f"{archive.path}/trades")
    assert frame.select(polars.col("quantity").sum()).collect().item() == 10
    assert archive.scan("trades", DAY).filter("quantity > 2").pl().height == 2
    assert polars.DataFrame(archive.scan("trades", DAY)).height == 5


def test_duckdb_reads_the_files(archive: td.Archive) -> None:
    import duckdb

    files = archive.files("trades")
    found = duckdb.execute(f"SELECT sum(quantity) FROM read_parquet({files!r})").fetchall()
    assert found == [(10,)]
    assert archive.files("orders") == []
    with pytest.raises(ValueError, match="name must be one of"):
        archive.files("stocks")


def test_pandas_reads_a_scan_and_the_table(archive: td.Archive) -> None:
    import deltalake

    pytest.importorskip("pandas")
    scanned = archive.scan("trades", DAY).select("day", "quantity").df()
    assert scanned["quantity"].sum() == 10
    read = deltalake.DeltaTable(f"{archive.path}/trades").to_pandas()
    assert read["quantity"].sum() == 10
    with pytest.raises(ValueError, match="name must be 'trades' or 'orders'"):
        archive.scan("fetches")


@pytest.mark.filterwarnings("ignore")  # what Dask warns of is not ours
def test_dask_reads_the_files(archive: td.Archive) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.read_parquet(archive.files("trades"), columns=["quantity"])
    assert frame["quantity"].sum().compute(scheduler="synchronous") == 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the server
def test_object_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive in s3:// behaves as one in a folder."""
    pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    # In a process of its own: deltalake keeps the GIL while it looks for a table.
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    log = tmp_path / "log"
    with log.open("w") as errors:
        server = subprocess.Popen(command, stderr=errors)
    try:
        running = re.compile(r"(http://[\d.]+:\d+)\s")
        wait_until(lambda: running.search(log.read_text()) is not None)
        (address,) = running.findall(log.read_text())[:1]
        for name, value in {
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
        }.items():
            monkeypatch.setenv(name, value)
        storage = boto3.client("s3", endpoint_url=address)
        storage.create_bucket(Bucket="books")
        archive = td.Archive("s3://books/desk")
        archive.add(response(td.TradeBook, [trade("1"), trade("2")], clock("15:45")))
        archive.add(response(td.TradeBook, [trade("3")], clock("16:45")))
        again = td.Archive("s3://books/desk", create=False)
        assert sorted(str(row.trade_no) for row in again.trades(DAY)) == ["1", "2", "3"]
        assert [*map(tuple, again.sql("SELECT count(*) FROM trades"))] == [(3,)]
        assert again.verify() == 3
        with pytest.raises(td.ArchiveError, match="not on a local disk"):
            again.compact()
        assert len(again.trades(DAY)) == 3
        with pytest.raises(td.ArchiveError, match="there is no archive"):
            td.Archive("s3://books/none", create=False)

        archive = td.Archive("s3://books/accounts")
        with sandbox.start(accounts=["desk1", "desk2"], orders=20) as service:
            clients = [service.client(label) for label in ("desk1", "desk2")]
            for _ in range(2):
                archive.fetch(clients).raise_errors()
            orders = clients[0].order_book()
            assert list(archive.orders(account="desk1")) == list(orders)
            assert list(archive.trades(account="desk2")) == list(clients[1].trade_book())
        assert len(archive.fetches(account="desk1")) == 4
        assert len(archive.history(str(orders[0].order_no), account="desk1")) == 1
        query = "SELECT DISTINCT account FROM trades WHERE account <> 'desk1'"
        assert [*map(tuple, archive.sql(query))] == [("desk2",)]

        # An object of another day is not read, and may be missing.
        archive = td.Archive("s3://books/days")
        archive.add(response(td.TradeBook, [trade("0", DAYS[0])], clock("15:45", DAYS[0])))
        for found in storage.list_objects_v2(Bucket="books", Prefix="days/trades/month")[
            "Contents"
        ]:
            storage.delete_object(Bucket="books", Key=found["Key"])
        for number in ("1", "2"):
            archive.add(response(td.TradeBook, [trade(number)], clock(f"1{number}:45")))
        assert len(archive.trades(DAY)) == 2
        with pytest.raises(td.ArchiveError, match="damaged or unreadable"):
            archive.trades(DAYS[0], missing_ok=True)
    finally:
        server.kill()
        server.wait()
