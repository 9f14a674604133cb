"""An archive as Parquet by day, opened as one table by the tools that read it."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import tradingdata as td
from archiving import DAYS, archive_with, clock, order_response, response, trade, trade_response
from private_files import is_private
from sample_records import PAN
from service import orders, trades
from tradingdata._util.atomic_file import whole_file

MONDAY, TUESDAY = DAYS[:2]


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    """Two accounts on Monday, one on Tuesday with an unknown field, and a day without trades."""
    return archive_with(
        tmp_path,
        trade_response(*(trade(str(n), MONDAY, quantity=n) for n in (1, 2)), account="a"),
        trade_response(trade("1", MONDAY, quantity=3), account="b"),
        trade_response(trade("1", TUESDAY, quantity=4, fee=[1.50], न="₹"), account="a"),
        trade_response(account="a"),
        order_response(*orders(3), account="a"),
    )


def test_there_is_a_file_for_each_day_that_was_fetched(archive: td.Archive, tmp_path: Path) -> None:
    folder = tmp_path / "parquet"
    paths = archive.export(folder)
    found = sorted(str(path) for path in folder.rglob("*") if path.is_file())
    assert sorted(paths) == found
    days = [Path(path).relative_to(folder).parts for path in paths]
    assert [parts for parts in days if parts[0] == "trades"] == [
        ("trades", f"day={day}", "trades.parquet") for day in (MONDAY, TUESDAY, DAYS[4])
    ]
    assert all(map(is_private, paths))
    with pytest.raises(td.ArchiveError, match=f"lacks the orders of {TUESDAY} "):
        archive.export(folder, TUESDAY)
    with pytest.warns(td.DataWarning, match="lacks") as warned:
        again = archive.export(folder, TUESDAY, missing_ok=True)
    assert warned[0].filename == __file__
    assert again == [str(folder / f"trades/day={TUESDAY}/trades.parquet")]


def test_every_file_has_the_same_schema_whatever_the_data(
    archive: td.Archive, tmp_path: Path
) -> None:
    schemas = [pq.read_schema(path) for path in archive.export(tmp_path / "p")]
    trade_schemas = [schema for schema in schemas if "trade_no" in schema.names]
    assert len(trade_schemas) == 3
    assert all(schema.equals(trade_schemas[0], check_metadata=True) for schema in trade_schemas)
    expected = td.TradeBook().to_arrow().schema
    assert trade_schemas[0].names == ["account", *expected.names, "extra"]
    assert trade_schemas[0].types == [pa.string(), *expected.types, pa.string()]


def test_the_rows_are_those_of_the_archive(archive: td.Archive, tmp_path: Path) -> None:
    archive.export(tmp_path / "p")
    table = pq.read_table(tmp_path / "p/trades", partitioning="hive")
    assert table.num_rows == len(archive.trades()) == 4
    assert table.select(td.TradeBook().columns).to_pylist() == archive.trades().to_dicts()
    assert table.column("account").to_pylist() == ["a", "a", "b", "a"]
    extra = table.column("extra").to_pylist()
    assert extra[:3] == [None] * 3
    assert json.loads(extra[3]) == {"fee": [1.5], "न": "₹"}


def test_polars_duckdb_and_arrow_open_it_as_one_table(archive: td.Archive, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    archive.export(folder)
    # What a program leaves that is killed while it exports.
    with whole_file(folder / "trades/any.parquet", overwrite=True, drafts=str(folder)) as draft:
        left = Path(draft).with_name(f".left{Path(draft).name}")
        left.write_bytes(b"half a file")
    (folder / "trades/any.parquet").unlink()
    query = "SELECT day, sum(quantity)::INT FROM read_parquet(?) GROUP BY day"
    by_duckdb = duckdb.execute(query, [f"{folder}/trades/*/*.parquet"]).fetchall()
    frame = pl.read_parquet(folder / "trades", hive_partitioning=True)
    by_polars = frame.group_by("day").agg(pl.col("quantity").sum()).rows()
    table = ds.dataset(folder / "trades", partitioning="hive").to_table()
    assert dict(by_duckdb) == dict(by_polars) == {MONDAY: 6, TUESDAY: 4}
    assert sum(table.column("quantity").to_pylist()) == 10


def test_a_later_export_replaces_the_files(archive: td.Archive, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    archive.export(folder)
    archive.add(trade_response(trade("9", TUESDAY, quantity=5), at="18:00", account="a"))
    paths = archive.export(folder)
    assert len(paths) == len([path for path in folder.rglob("*") if path.is_file()])
    assert pl.read_parquet(folder / "trades")["quantity"].sum() == 15


def test_an_export_shows_its_progress(
    archive: td.Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    count = len(archive.export(tmp_path / "p"))
    assert capsys.readouterr().err == ""
    archive.export(tmp_path / "p", progress=True)
    shown = capsys.readouterr().err
    assert shown.startswith("\rexport:   0%")
    assert f"{count}/{count}" in shown


def test_an_export_masks_as_its_archive_does(tmp_path: Path) -> None:
    plain = response(td.TradeBook, [trade(pan_no=PAN)], clock("15:45"), keep=True)
    keeping = archive_with(tmp_path, plain, keep_personal_data=True)
    (path,) = keeping.export(tmp_path / "kept")
    assert pl.read_parquet(path)["pan_no"].to_list() == [PAN]
    (path,) = td.Archive(keeping.path).export(tmp_path / "masked")
    assert pl.read_parquet(path)["pan_no"].to_list() == ["ABXXXXXX4F"]


def test_a_file_that_cannot_be_written_leaves_the_older_one(
    archive: td.Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "p"
    before = {path: Path(path).read_bytes() for path in archive.export(folder)}

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="No space left"):
        archive.export(folder)
    assert {path: Path(path).read_bytes() for path in before} == before
    assert sorted(map(str, (path for path in folder.rglob("*") if path.is_file()))) == sorted(
        before
    )


def test_many_rows_are_exported_in_their_order(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(*trades(200, variety=True)))
    paths = archive.export(tmp_path / "p")
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    assert [row["trade_no"] for row in rows] == [row.trade_no for row in archive.trades()]
