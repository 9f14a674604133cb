"""Maintenance of an archive: merging files, deleting what was merged, files of a later version."""

from __future__ import annotations

import datetime as dt
import os
import random
import shutil
import time
from pathlib import Path

import duckdb
import pytest

import tradingdata as td
from archiving import DAY, DAYS, archive_with, numbers, order, order_response, trade, trade_response
from tradingdata.archive import store
from tradingdata.archive.views import merge


@pytest.fixture
def polled(tmp_path: Path) -> td.Archive:
    """Six states of an order, in one commit each."""
    archive = td.Archive(tmp_path / "books")
    for hour in range(10, 16):
        archive.add(order_response(order("1", status=f"at {hour}"), order("2"), at=f"{hour}:00"))
    return archive


def files_of(archive: td.Archive, suffix: str) -> list[Path]:
    return sorted(Path(archive.path).rglob(f"*{suffix}"))


def aged(archive: td.Archive, monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Makes everything some days older."""
    monkeypatch.setattr(store, "_RETENTION", store._RETENTION - dt.timedelta(days))
    for path in Path(archive.path).rglob("*.*"):
        old = time.time() - days * 86_400
        os.utime(path, (old, old))


def test_compact_keeps_every_state(polled: td.Archive) -> None:
    before, log = polled.history("1"), polled.fetches()
    assert len(before) == 6
    assert polled.compact() == 10, "five files of the log and five of rows"
    assert len(polled.files("orders")) == 1
    assert polled.history("1") == before
    assert polled.fetches() == log
    assert polled.verify() == 12
    assert [row.status for row in polled.orders(DAY).filter(order_no="1")] == ["at 15"]
    assert polled.compact() == 0


def test_compact_keeps_the_order_of_rows(tmp_path: Path) -> None:
    """Of days so large that DuckDB writes and reads them with several threads."""
    rng = random.Random(61)
    archive = archive_with(tmp_path)
    for day in DAYS[:3]:
        rows = [trade(str(number), day) for number in range(12_000)]
        for row in rows:
            row["exch_trade_time"] = f"{day} 10:{rng.randrange(60):02}:{rng.randrange(60):02}"
        archive.add(trade_response(*rng.sample(rows, len(rows))))
    before = [archive.trades(day) for day in DAYS[:3]]
    assert archive.compact()
    assert [archive.trades(day) for day in DAYS[:3]] == before
    assert archive.trades(DAYS[0], DAYS[2]) == td.concat(before)


def test_a_merge_with_other_rows_than_the_log_has_is_an_error(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1"), trade("2")))
    (entry,), (file,) = archive.fetches(), archive.files("trades")
    for rows in (1, 3):
        write = merge("trades", f"{DAY:%Y-%m}", [(file, entry.id)], rows)
        with pytest.raises(OSError, match=f"2 rows where the log has {rows}"):
            write(str(tmp_path / f"{rows}.parquet"))


def test_merged_files_are_hidden_and_a_day_later_deleted(
    polled: td.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other engines read each row once; a reader that listed the files before still has them."""
    glob = f"{polled.path}/orders/**/*.parquet"
    polled.compact()
    assert duckdb.execute(f"SELECT count(*) FROM '{glob}'").fetchall() == [(12,)]
    assert len(files_of(polled, ".parquet.merged")) == 6
    assert len(files_of(polled, ".json")) == 1 + 6 + 1
    polled.compact()
    assert len(files_of(polled, ".parquet.merged")) == 6, "younger than a day"
    aged(polled, monkeypatch, 2)
    killed = Path(polled.path, "orders/month=2026-11/.killed.draft")
    killed.write_bytes(b"half")
    later = time.time() + 3 * 86_400  # what aged() did to the limit
    os.utime(killed, (later, later))
    polled.compact()
    assert killed.exists(), "another writer may be about to commit it"
    os.utime(killed, (0, 0))
    polled.compact()
    assert len(files_of(polled, ".json")) == 1 + 1
    assert [path.suffix for path in files_of(polled, "") if "month=" in path.name] == [""]
    assert len(files_of(polled, ".parquet")) == 1
    assert not files_of(polled, ".merged")
    assert not killed.exists()
    assert len(polled.history("1")) == 6
    assert polled.verify() == 12


def test_a_merged_file_that_was_restored_counts_once(
    polled: td.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = {path: path.read_bytes() for path in files_of(polled, ".*") if path.is_file()}
    polled.compact()
    aged(polled, monkeypatch, 2)
    polled.compact()
    for path, content in backup.items():
        path.write_bytes(content)
    assert len(polled.orders(DAY)) == 2
    assert len(polled.history("1")) == 6
    polled.compact()
    assert len(files_of(polled, ".parquet")) == 1
    assert polled.verify() == 12


def test_a_closed_month_of_many_commits_is_merged_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MANY", 5)
    archive = td.Archive(tmp_path / "books")
    for poll in range(8):
        archive.add(trade_response(trade("1"), at=f"12:{poll:02}"))
    assert len(files_of(archive, ".json")) == 9, "this month is not over"
    month = dt.datetime.now(dt.UTC) + dt.timedelta(40)
    monkeypatch.setattr(archive._store, "_now", lambda: month)
    archive.add(trade_response(trade("1"), trade("2"), at="13:00"))
    logs = [path.parent.name for path in files_of(archive, ".json")[1:]]
    assert logs.count(f"{month:%Y-%m}") == 1
    assert len(logs) == 1 + 8 + 1
    assert numbers(archive.trades(DAY)) == ["1", "2"]
    assert len(archive.files("trades")) == 2


def test_a_later_version_may_add_a_field(tmp_path: Path) -> None:
    """Files without it are read with those that have it, by every engine."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    archive.add(trade_response(trade("2"), at="16:00"))
    first = archive.files("trades")[0]
    content = f"SELECT * EXCLUDE (symbol, series) FROM read_parquet('{first}')"
    duckdb.execute(f"CREATE TEMP TABLE older AS {content}")
    duckdb.execute(f"COPY older TO '{first}' (FORMAT parquet)")
    log = Path(archive.path, "log")
    (path,) = [path for path in log.rglob("*.json") if Path(first).stem in path.name]
    rewritten(path, Path(first))
    archive = td.Archive(Path(archive.path).rename(tmp_path / "older"))
    assert numbers(archive.trades(DAY)) == ["1", "2"]
    found = archive.sql("SELECT count(symbol), count(*) FROM trades")
    assert [*map(tuple, found)] == [(1, 2)]
    archive.compact()
    assert numbers(archive.trades(DAY)) == ["1", "2"]
    assert archive.verify() == 2


def rewritten(log: Path, rows: Path) -> None:
    """Makes a log file of another content, as if these rows had been written with it."""
    import hashlib
    import json

    content = json.loads(log.read_bytes())
    data = rows.read_bytes()
    content["files"][0] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    body = json.dumps(content).encode()
    digest = hashlib.sha256(body).hexdigest()[:32]
    log.rename(log.with_name(f"{log.name.rpartition('-')[0]}-{digest}.json")).write_bytes(body)


def test_responses_that_two_merged_files_have_are_read_once(tmp_path: Path) -> None:
    """Of compactions at once, each merges a response that the other one did not see."""
    base = archive_with(tmp_path / "base", *(trade_response(trade(x), account=x) for x in "AB"))
    for name in "CD":
        shutil.copytree(base.path, tmp_path / name)
        own = td.Archive(tmp_path / name)
        own.add(trade_response(trade(name), account=name))
        own.compact()
    shutil.copytree(tmp_path / "C", tmp_path / "D", dirs_exist_ok=True)
    both = td.Archive(tmp_path / "D")
    assert sorted(numbers(both.trades(DAY))) == ["A", "B", "C", "D"]
    assert both.sql("SELECT count(*) AS n FROM trades", DAY)[0].n == 4
    both.compact()
    assert sorted(numbers(both.trades(DAY))) == ["A", "B", "C", "D"]
