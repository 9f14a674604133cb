"""Damage of an archive's files is an ArchiveError, never fewer rows."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import archive_with, clock, order, response, trade
from tradingdata.archive import sql

DAYS = [dt.date(2026, 11, day) for day in (18, 19, 20)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of trades and orders, one commit for each."""
    folder = tmp_path_factory.mktemp("sound")
    books: list[Any] = []
    for day in DAYS:
        for kind, make in ((td.TradeBook, trade), (td.OrderBook, order)):
            records = [make(f"{day.day}{number}", day) for number in range(20)]
            books.append(response(kind, records, clock("15:45", day)))
    return Path(archive_with(folder, *books).path)


def data_files(root: Path) -> list[Path]:
    return sorted(root.glob("*/month=*/*.parquet"))


def log_files(root: Path) -> list[Path]:
    return sorted(root.glob("*/_delta_log/*.json"))


def read_everything(root: Path) -> None:
    """Reads all days in each way; raises unless all 120 rows are there."""
    archive = td.Archive(root, create=False)
    assert len(archive.trades(DAYS[0], DAYS[-1])) == 60
    assert len(archive.orders(DAYS[0], DAYS[-1])) == 60
    assert [*map(tuple, archive.sql("SELECT count(symbol) FROM trades", DAYS[0], DAYS[-1]))] == [
        (60,)
    ]
    assert len(archive.scan("orders", DAYS[0], DAYS[-1]).fetchall()) == 60


def missing(file: Path) -> None:
    file.unlink()


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def garbage(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * (file.stat().st_size // 256 + 1))


@pytest.mark.parametrize("damage", [missing, truncated, garbage])
@pytest.mark.parametrize("number", range(9))
def test_each_data_file(
    damage: Callable[[Path], None], number: int, sound: Path, tmp_path: Path
) -> None:
    """F124: the message names the file and the day."""
    if number % 3 and damage is garbage:
        pytest.skip("one file of each table shows it")
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    files = data_files(root)
    assert len(files) == 12
    file = files[number if number < 6 else number + 3]
    damage(file)
    with pytest.raises(td.ArchiveError) as caught:
        read_everything(root)
    if damage is not garbage:
        assert file.name in str(caught.value)
        assert "2026-11-" in str(caught.value)


def test_each_log_file(sound: Path, tmp_path: Path) -> None:
    """F124: the last line of the log alone looks like a fetch that was never acknowledged."""
    files = [file.relative_to(sound) for file in log_files(sound)]
    assert len(files) >= 13
    for number, file in enumerate(files):
        for damage in (missing, garbage):
            root = tmp_path / f"{number}{damage.__name__}"
            shutil.copytree(sound, root)
            damage(root / file)
            with pytest.raises(td.ArchiveError) as caught:
                read_everything(root)
            assert str(root) in str(caught.value)


def test_the_last_file_of_a_log_is_missed_too(sound: Path, tmp_path: Path) -> None:
    """F124: after a response without news, the log of `fetches` alone has grown."""
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    archive = td.Archive(root)
    archive.add(archive.trades(DAYS[-1]), at=clock("16:00", DAYS[-1]), account="")
    last = sorted(root.glob("fetches/_delta_log/*.json"))[-1]
    last.unlink()
    with pytest.raises(td.ArchiveError, match=r"fetches/_delta_log ends with version 6, but"):
        archive.trades(DAYS[0])


def test_each_flipped_bit_is_found_or_harmless(sound: Path, tmp_path: Path) -> None:
    """F124: `verify` finds a bit that a reader would not notice."""
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    original = td.Archive(root).trades(DAYS[0], DAYS[-1])
    files = data_files(root)
    for file in (files[0], files[-1]):
        content = file.read_bytes()
        # Behind the values come statistics and other metadata, their length, and four letters.
        values = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        found = 0
        places = [*range(4, values, values // 20), *range(values, len(content), 300)]
        for at in places:
            changed = bytearray(content)
            changed[at] ^= 16
            file.write_bytes(changed)
            try:
                td.Archive(root, create=False).verify()
            except td.ArchiveError:
                found += 1
            else:
                assert td.Archive(root).trades(DAYS[0], DAYS[-1]) == original
        file.write_bytes(content)
        assert found >= 10, f"of {len(places)} bits, in {file.name}"
    assert td.Archive(root).verify() == 120


def test_the_checksum_of_rows_is_the_same_in_all_versions(tmp_path: Path) -> None:
    """Otherwise an archive looks damaged after an update of the package."""
    row = td.Trade(
        trade_no="7",
        display_name="more than 12 bytes",
        quantity=-3,
        traded_price=2.5,
        exch_trade_time=dt.datetime(2026, 11, 20, 10),
        expiry_date=dt.date(2026, 11, 26),
    )
    book = td.TradeBook([row])
    archive = td.Archive(tmp_path / "books")
    archive.add(book, at=clock("15:45", DAYS[-1]))
    assert [*map(tuple, archive.sql("SELECT rows, checksum FROM fetches"))] == [
        (1, 236668327691428430)
    ]


def test_files_that_are_merged_are_checked_too(sound: Path, tmp_path: Path) -> None:
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    td.Archive(root).compact()
    read_everything(root)
    merged = Path(td.Archive(root).files("trades")[0])
    merged.unlink()
    with pytest.raises(td.ArchiveError, match="2026-11-18 to 2026-11-20"):
        td.Archive(root).trades(DAYS[0])
    with pytest.raises(td.ArchiveError, match="is missing"):
        td.Archive(root).verify()


def test_damage_that_a_query_meets_is_no_error_of_the_query(sound: Path, tmp_path: Path) -> None:
    """F124: DuckDB raises many kinds of errors for the pages of a file."""
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    query = "SELECT * FROM trades ORDER BY ALL"
    whole = td.Archive(root).sql(query)
    file = Path(td.Archive(root).files("trades")[0])
    content = file.read_bytes()
    values = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    harmless = 0
    for at in range(4, values - 16, values // 16):
        file.write_bytes(content[:at] + b"\xff" * 16 + content[at + 16 :])
        with suppress(td.ArchiveError):
            harmless += td.Archive(root).sql(query) == whole
    assert harmless <= 8


@pytest.mark.parametrize(
    "change", ["'other' AS account", "received_at + INTERVAL 1 DAY AS received_at"]
)
def test_rows_that_say_another_response_are_found(sound: Path, tmp_path: Path, change: str) -> None:
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    store = td.Archive(root)._store
    with closing(sql.connect(private=True)) as connection:
        store.view(connection, "trades")
        moved = f"SELECT * REPLACE ({change}), '2026-11' AS month FROM stored_trades"
        changed = connection.sql(f"{moved} WHERE day = DATE '2026-11-19'").materialize()
        store.delete("trades", "day = DATE '2026-11-19'")
        store.append("trades", changed)
    with pytest.raises(td.ArchiveError, match="2026-11-19"):
        td.Archive(root).verify()


@pytest.mark.parametrize(
    "change",
    ["covered + 1 AS covered", "rows + 1 AS rows", "NULL AS rows_in", "'other' AS account"],
)
@pytest.mark.parametrize("keeps_the_line", [True, False])
def test_a_line_of_the_log_that_was_altered_is_found(
    sound: Path, tmp_path: Path, change: str, keeps_the_line: bool
) -> None:
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    store, day = td.Archive(root)._store, "day = DATE '2026-11-19'"
    with closing(sql.connect(private=True)) as connection:
        store.view(connection, "fetches")
        altered = f"SELECT * REPLACE ({change}), '2026-11' AS month FROM stored_fetches WHERE {day}"
        changed = connection.sql(altered).materialize()
        if not keeps_the_line:
            store.delete("fetches", day)
        store.append("fetches", changed)
    with pytest.raises(td.ArchiveError, match=r"the log of 2026-11-19 .* was altered"):
        td.Archive(root).verify()


def test_a_line_without_its_time_is_an_error(sound: Path, tmp_path: Path) -> None:
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    store = td.Archive(root)._store
    with closing(sql.connect(private=True)) as connection:
        store.view(connection, "fetches")
        altered = "SELECT * REPLACE (NULL AS filed_at), '2026-11' AS month FROM stored_fetches"
        changed = connection.sql(altered).materialize()
        store.delete("fetches", "day IS NOT NULL")
        store.append("fetches", changed)
    with pytest.raises(td.ArchiveError, match="a line of the log was altered"):
        td.Archive(root).fetches()


def test_an_archive_of_another_format_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr("tradingdata.archive.archive._FORMAT", 99)
        td.Archive(tmp_path / "books")
    with pytest.raises(td.ArchiveError, match=r"has format 99, and this version .* reads"):
        td.Archive(tmp_path / "books")


def test_an_archive_outlives_the_clean_up_of_its_log(sound: Path, tmp_path: Path) -> None:
    """Log files older than a day are deleted when a checkpoint has their content."""
    root = tmp_path / "books"
    shutil.copytree(sound, root)
    archive = td.Archive(root)
    log = archive.fetches()
    for minute in range(12):
        archive.add(archive.trades(DAYS[-1]), at=clock(f"16:{minute:02}", DAYS[-1]), account="")
    archive.compact()
    old = log_files(root)
    for file in old:
        os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 3 * 86_400))
    for minute in range(12):
        archive.add(archive.trades(DAYS[0]), at=clock(f"17:{minute:02}", DAYS[0]), account="")
    archive.compact()
    left = [file for file in old if file.exists()]
    assert len(left) < len(old) / 2
    read_everything(root)
    assert td.Archive(root).fetches()[: len(log)] == log
    assert td.Archive(root).verify() == 120
