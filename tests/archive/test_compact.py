"""Maintenance of an archive: merging files, dropping history, tables of a later version."""

from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tradingdata as td
from archiving import DAY, archive_with, numbers, order, order_response, trade, trade_response
from tradingdata import _core
from tradingdata.archive import ingest as ingest_module
from tradingdata.table.rows import row_type


def test_compact_keeps_every_state(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")
    for hour in range(10, 16):
        archive.add(order_response(order("1", status=f"at {hour}"), at=f"{hour}:00"))
    before = archive.history("1")
    assert archive.compact() > 0
    assert len(archive.files("orders")) == 1
    assert archive.history("1") == before
    assert archive.verify() == 6
    assert [row.status for row in archive.orders(DAY)] == ["at 15"]


def test_the_files_of_the_log_are_merged_now_and_then(tmp_path: Path) -> None:
    """Polls of a day would otherwise take longer and longer."""
    archive = td.Archive(tmp_path / "books")
    entries = [archive.add(trade_response(trade("1"), at=f"12:{poll:02}")) for poll in range(24)]
    assert len(archive.files("fetches")) < 10
    assert archive.fetches() == entries
    assert archive.verify() == 1


def test_a_writer_may_be_at_work_while_history_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F112: it stores only a line for rows that another program replaces and drops meanwhile."""
    archive = archive_with(tmp_path)
    ingest, hidden = type(archive._ingest), ingest_module._find_rows
    line = ingest._line
    with monkeypatch.context() as earlier:
        week_ago = dt.datetime.now(dt.UTC) - dt.timedelta(7)
        earlier.setattr(ingest, "_line", lambda self, each, _: line(self, each, week_ago))
        archive.add(trade_response(trade("1", quantity=1), at="15:00"))

    def find_rows(*arguments: Any) -> None:
        hidden(*arguments)
        monkeypatch.undo()
        archive.add(trade_response(trade("1", quantity=2), at="15:01"))
        archive.compact(keep_history=False)

    monkeypatch.setattr(ingest_module, "_find_rows", find_rows)
    assert not archive.add(trade_response(trade("1", quantity=1), at="15:02")).stored
    assert [row.quantity for row in archive.trades(DAY)] == [1]
    assert archive.verify() == 2


def test_compact_removes_the_files_of_no_version(tmp_path: Path) -> None:
    """Also merged files that no checkpoint lists any more, and those of a killed writer."""
    from deltalake import DeltaTable

    states = [trade_response(trade("1", quantity=hour), at=f"{hour}:00") for hour in (10, 11, 12)]
    archive = archive_with(tmp_path, *states)
    folder = Path(archive.path, "trades")
    assert archive.compact() > 0
    merged = set(folder.rglob("*.parquet")) - set(folder.rglob("_delta_log/*"))
    table = DeltaTable(folder)
    assert len(merged) > len(table.file_uris()), "the merged ones are younger than a day"
    table.alter.set_table_properties({"delta.deletedFileRetentionDuration": "interval 0 seconds"})
    DeltaTable(folder).create_checkpoint()
    table.alter.set_table_properties({"delta.deletedFileRetentionDuration": "interval 24 hours"})
    killed, writing = folder / "month=2026-11/killed.parquet", folder / "month=2026-11/now.parquet"
    killed.write_bytes(b"half")
    writing.write_bytes(b"half")
    old = time.time() - 25 * 3600
    for path in (*merged, killed):
        os.utime(path, (old, old))
    archive.compact()
    left = set(folder.rglob("*.parquet")) - set(folder.rglob("_delta_log/*"))
    assert {path.name for path in left - {writing}} == {
        Path(uri).name for uri in DeltaTable(folder).file_uris()
    }
    assert writing in left, "another writer may be about to commit it"
    assert [row.quantity for row in archive.trades(DAY)] == [12]
    assert archive.verify() > 0


def test_compact_drops_history_if_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = td.Archive(tmp_path / "books")
    for hour in range(10, 16):
        archive.add(order_response(order("1", status=f"at {hour}"), order("2"), at=f"{hour}:00"))
    log = archive.fetches()
    archive.compact(keep_history=False)
    assert len(archive.history("1")) == 6, "replaced in the last 24 hours"
    monkeypatch.setattr("tradingdata.archive.archive.RETENTION_HOURS", 0)
    archive.compact(keep_history=False)
    assert [state.order.status for state in archive.history("1")] == ["at 15"]
    assert [*map(tuple, archive.sql("SELECT count(*) FROM order_states"))] == [(2,)]
    assert archive.verify() == 2
    archive.add(order_response(order("1", status="at 16"), at="16:00"))
    archive.compact(keep_history=False)
    assert [row.status for row in archive.orders(DAY).filter(order_no="1")] == ["at 16"]
    assert numbers(archive.orders(DAY)) == ["1", "2"]
    assert archive.fetches()[:6] == log
    assert archive.accounts == (None,)


def test_a_later_version_may_append_a_column(tmp_path: Path) -> None:
    """Files without it are read with those that have it, and no checksum changes."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    query = "SELECT day, 'x' AS account, 1 AS fetch_id, '2026-11' AS month, 5 AS later FROM t"
    connection = duckdb.connect()
    connection.register("t", archive.scan("trades").to_arrow_table())
    archive._store.append("trades", connection.sql(query))
    archive.add(trade_response(trade("1"), trade("2"), at="16:00"))
    assert numbers(archive.trades(DAY)) == ["1", "2"]
    assert archive.verify() == 3
    assert [*map(tuple, archive.sql("SELECT count(later), count(*) FROM trades"))] == [(0, 2)]


def test_a_later_version_may_append_a_column_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")))

    kinds = [field[:3] for field in _core.fields_of(ingest_module.Line)]
    line = ingest_module.Ingest._line
    with monkeypatch.context() as later:
        later.setattr(ingest_module, "Line", row_type("Line", [*kinds, ("host", "text", "")]))
        later.setattr(
            ingest_module.Ingest, "_line", lambda *given: line(*given) | {"host": "server"}
        )
        archive.add(trade_response(trade("1"), trade("2"), at="16:00"))
    archive.add(trade_response(trade("1"), trade("2"), trade("3"), at="17:00"))
    assert [*map(tuple, archive.sql("SELECT host FROM fetches ORDER BY filed_at"))] == [
        (None,),
        ("server",),
        (None,),
    ]
    assert numbers(archive.trades(DAY)) == ["1", "2", "3"]
    assert archive.verify() == 6
