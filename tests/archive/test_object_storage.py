"""An archive in a bucket of a server on this machine."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAY, clock, numbers, order, order_response, response, trade, trade_response
from calls import at_once
from tradingdata import sandbox

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, Any]]:
    """The options of a server of S3 on loopback, which has a bucket."""
    s3fs = pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    found = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
    s3fs.S3FileSystem(**found).mkdir("bucket")
    yield found
    server.stop()


@pytest.fixture
def address(options: dict[str, Any], request: pytest.FixtureRequest) -> str:
    return f"s3://bucket/{request.node.name}"


def test_a_bucket_holds_an_archive(address: str, options: dict[str, Any]) -> None:
    archive = td.Archive(address, storage_options=options)
    archive.add(trade_response(trade("1"), trade("2")))
    archive.add(trade_response(trade("1", quantity=7), trade("3"), at="16:00"))
    archive.add(order_response(order("1", status="Done")))
    for _ in range(2):
        again = td.Archive(address, storage_options=options, create=False)
        assert numbers(again.trades(DAY)) == ["1", "2", "3"]
        assert [row.quantity for row in again.trades(DAY).filter(trade_no="1")] == [7]
        assert again.sql("SELECT count(*) AS n FROM trades, orders")[0].n == 3
        assert len(again.history("1")) == 1
        assert again.verify() == 5
        again.compact()
    assert len(pickle.loads(pickle.dumps(archive)).trades(DAY)) == 3
    with pytest.raises(td.ArchiveError, match="there is no archive"):
        td.Archive(f"{address}/none", storage_options=options, create=False)


def test_another_client_sees_each_commit_at_once(address: str, options: dict[str, Any]) -> None:
    """The listings that s3fs keeps are of before the commit."""
    writer = td.Archive(address, storage_options=options)
    reader = td.Archive(address, storage_options=options | {"use_listings_cache": True})
    for count in range(1, 4):
        records = [trade(str(number)) for number in range(count)]
        writer.add(trade_response(*records, at=f"1{count}:00"))
        assert len(reader.trades(DAY)) == count


def test_the_first_one_creates_it(address: str, options: dict[str, Any]) -> None:
    zones = ["UTC", "Asia/Kolkata", "Europe/London", "America/New_York"]

    def create(zone: str) -> str:
        try:
            return str(td.Archive(address, tz=zone, storage_options=options).tz)
        except td.ArchiveError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(create, zones))
    (created,) = set(results) & set(zones)
    assert sum("which cannot change" in result for result in results) == 3
    assert str(td.Archive(address, storage_options=options).tz) == created


def test_writers_and_compactions_at_once(address: str, options: dict[str, Any]) -> None:
    """In object storage, too."""

    def work(writer: int) -> None:
        archive = td.Archive(address, storage_options=options)
        for number in range(3):
            book = response(td.TradeBook, [trade("1")], clock("15:45"))
            archive.add(book, account=f"{writer}-{number}")
            if writer == 0:
                archive.compact()

    td.Archive(address, storage_options=options)
    at_once(4, work)
    archive = td.Archive(address, storage_options=options)
    assert len(archive.trades(DAY)) == 12
    assert archive.verify() == 12


def test_a_lost_object_is_named(address: str, options: dict[str, Any]) -> None:
    """And the response once more repairs it."""
    storage = pytest.importorskip("s3fs").S3FileSystem(**options)
    archive = td.Archive(address, storage_options=options)
    book = trade_response(trade("1"))
    archive.add(book)
    archive.add(order_response(order("1")))
    for pattern, at in (("trades/*/*.parquet", 0), ("log/*/*.json", -1)):
        storage.invalidate_cache()
        storage.rm_file(sorted(storage.glob(f"{address}/{pattern}"))[at])
        again = td.Archive(address, storage_options=options)
        with pytest.raises(td.ArchiveError, match=str(DAY)):
            again.trades(DAY)
        again.add(book)
        assert len(again.trades(DAY)) == 1


_FETCH = """
import sys
import tradingdata as td
url, token, address, endpoint = sys.argv[1:]
options = {"key": "k", "secret": "s", "endpoint_url": endpoint}
archive = td.Archive(address, storage_options=options)
with td.Client(url, access_token=token, account="desk1") as client:
    print(archive.fetch(client).trades.rows)
"""


def test_a_process_of_its_own_fetches_into_it(address: str, options: dict[str, Any]) -> None:
    with sandbox.start(orders=20) as service:
        arguments = [service.base_url, service.token(), address, options["endpoint_url"]]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _FETCH, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(td.__file__).parent.parent,
        )
    assert done.returncode == 0, done.stderr
    archive = td.Archive(address, storage_options=options)
    assert len(archive.trades(account="desk1")) == int(done.stdout)
