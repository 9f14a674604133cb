"""Damage of an archive's files is an ArchiveError, never fewer rows."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import archive_with, clock, order, response, trade

DAYS = [dt.date(2026, 11, day) for day in (18, 19, 20)]


def books() -> list[Any]:
    """Three days of trades and orders, as they are received."""
    found: list[Any] = []
    for day in DAYS:
        for kind, make in ((td.TradeBook, trade), (td.OrderBook, order)):
            records = [make(f"{day.day}{number}", day) for number in range(20)]
            found.append(response(kind, records, clock("15:45", day)))
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of trades and orders, one commit for each."""
    return Path(archive_with(tmp_path_factory.mktemp("sound"), *books()).path)


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "books"))


def data_files(root: Path) -> list[Path]:
    return sorted(root.glob("*/month=*/*.parquet"))


def log_files(root: Path) -> list[Path]:
    return sorted(root.glob("log/*/*.json"))


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


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def garbage(file: Path) -> None:
    file.write_bytes((bytes(range(256)) * (file.stat().st_size // 256 + 1))[: file.stat().st_size])


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\n")


DAMAGES = [missing, emptied, truncated, zeros, garbage, longer]
# Each damage to a file of trades and to one of orders, each file with two damages.
CASES = [(damage, (at + shift) % 6) for shift in (0, 3) for at, damage in enumerate(DAMAGES)]
each_file = pytest.mark.parametrize(("damage", "number"), CASES)


@each_file
def test_each_data_file(damage: Callable[[Path], None], number: int, root: Path) -> None:
    """The message names the day; the same response once more makes it readable."""
    files = data_files(root)
    assert len(files) == 6
    damage(files[number])
    day = DAYS[number % 3]
    with pytest.raises(td.ArchiveError, match=str(day)):
        read_everything(root)
    with pytest.raises(td.ArchiveError, match=str(day)):
        td.Archive(root).verify()
    archive = td.Archive(root)
    other = DAYS[(number + 1) % 3]
    assert len(archive.trades(other)) == len(archive.orders(other)) == 20
    for book in books():
        archive.add(book)
    read_everything(root)
    assert archive.verify() == 120
    assert len(archive.fetches()) == 6


@each_file
def test_each_log_file(damage: Callable[[Path], None], number: int, root: Path) -> None:
    """New commits are possible, and the same response once more makes all readable."""
    file = log_files(root)[number]
    damage(file)
    day = DAYS[number // 2]
    with pytest.raises(td.ArchiveError, match=str(day)) as caught:
        read_everything(root)
    assert str(root) in str(caught.value)
    with pytest.raises(td.ArchiveError, match=str(day)):
        td.Archive(root).verify()
    with pytest.raises(td.ArchiveError, match="before it is compacted"):
        td.Archive(root).compact()
    archive = td.Archive(root)
    assert len(archive.trades(DAYS[(number // 2 + 1) % 3])) == 20
    monday = dt.date(2026, 11, 23)
    archive.add(response(td.TradeBook, [trade("1", monday)], clock("15:45", monday)))
    assert len(archive.trades(monday)) == 1
    for book in books():
        archive.add(book)
    read_everything(root)
    assert archive.verify() == 121
    archive.compact()
    read_everything(root)


def test_a_log_file_that_was_restored_is_read_again(root: Path) -> None:
    archive = td.Archive(root)
    file = log_files(root)[2]  # the trades of the second day
    content = file.read_bytes()
    file.write_bytes(b"")
    with pytest.raises(td.ArchiveError, match="2026-11-19"):
        archive.trades(DAYS[1])
    file.write_bytes(content)
    assert len(archive.trades(DAYS[1])) == 20


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_log_of_an_unchanged_response(damage: Callable[[Path], None], root: Path) -> None:
    """Which has no rows; the last one alone is a fetch that nobody saw."""
    archive = td.Archive(root)
    for at in ("16:00", "16:30"):
        book = books()[-2]
        archive.add(book, at=clock(at, DAYS[-1]))
    first = log_files(root)[-2]
    damage(first)
    root = root.rename(root.parent / "elsewhere")  # this process has read the former
    archive = td.Archive(root)
    for call in (lambda: archive.trades(DAYS[-1]), archive.verify):
        with pytest.raises(td.ArchiveError, match="2026-11-20"):
            call()
    assert len(archive.trades(DAYS[0])) == 20
    archive.add(books()[-2], at=clock("16:00", DAYS[-1]))
    assert len(archive.trades(DAYS[-1])) == 20
    archive.add(books()[-2], at=clock("17:00", DAYS[-1]))
    if damage is not missing:  # the newest commit of all, of which nobody knows
        damage(log_files(root)[-1])
        with pytest.raises(td.ArchiveError, match=str(dt.datetime.now(dt.UTC).date())):
            archive.verify()


def test_a_commit_of_which_nothing_is_left_is_missed(root: Path) -> None:
    """By the commit after it, which says of which days it was."""
    archive = td.Archive(root)
    number = 2  # the trades of the second day
    log = log_files(root)[number]
    for file in json.loads(log.read_bytes())["files"]:
        Path(root, file["path"]).unlink()
    log.unlink()
    with pytest.raises(td.ArchiveError, match="2026-11-19"):
        archive.trades(DAYS[1], missing_ok=True)
    assert len(archive.trades(DAYS[2])) == 20
    archive.add(books()[number])
    read_everything(root)


def test_each_flipped_bit_is_found_or_harmless(root: Path) -> None:
    """`verify` finds a bit that a reader would not notice."""
    files = data_files(root)
    for file in (files[0], files[-1], *log_files(root)[:1], root / "archive.json"):
        content = file.read_bytes()
        for at in range(0, len(content), max(len(content) // 25, 1)):
            changed = bytearray(content)
            changed[at] ^= 16
            file.write_bytes(changed)
            with pytest.raises(td.ArchiveError):
                td.Archive(root, create=False).verify()
        file.write_bytes(content)
    assert td.Archive(root).verify() == 120


def test_files_that_are_merged_are_checked_too(root: Path) -> None:
    td.Archive(root).compact()
    read_everything(root)
    merged = Path(td.Archive(root).files("trades")[0])
    merged.unlink()
    read_everything(root)  # those that were merged are still there
    assert td.Archive(root).verify() == 120
    for file in root.rglob("*.merged"):
        file.unlink()
    with pytest.raises(td.ArchiveError, match="2026-11-18"):
        td.Archive(root).trades(DAYS[0])
    with pytest.raises(td.ArchiveError, match="is missing"):
        td.Archive(root).verify()


def test_damage_that_a_query_meets_is_no_error_of_the_query(root: Path) -> None:
    """DuckDB raises many kinds of errors for the pages of a file."""
    query = "SELECT * FROM trades ORDER BY ALL"
    file = Path(td.Archive(root).files("trades")[0])
    content = file.read_bytes()
    values = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    noticed = 0
    for at in range(4, values - 16, values // 16):
        file.write_bytes(content[:at] + b"\xff" * 16 + content[at + 16 :])
        try:
            td.Archive(root).sql(query)
        except td.ArchiveError:
            noticed += 1
        else:
            with pytest.raises(td.ArchiveError):  # which finds what a reader does not notice
                td.Archive(root).verify()
    assert noticed >= 8


def test_an_archive_of_another_format_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr("tradingdata.archive.store._FORMAT", 99)
        td.Archive(tmp_path / "books")
    with pytest.raises(td.ArchiveError, match=r"has format 99, and this version .* reads"):
        td.Archive(tmp_path / "books")
    (tmp_path / "former/fetches/_delta_log").mkdir(parents=True)
    for create in (True, False):
        with pytest.raises(td.ArchiveError, match="not an archive of this format"):
            td.Archive(tmp_path / "former", create=create)
