"""F124: a damaged archive gives the right rows or an ArchiveError, never fewer rows or other ones.

Copies of one archive are damaged at random places: bits flipped, bytes overwritten, ranges and
pages zeroed or exchanged, the file cut. Every way to read a copy must give what the undamaged
archive gives, or raise.
"""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
import traceback
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tradingdata as td
from archiving import (
    DAYS,
    clock,
    content,
    counts,
    order,
    order_response,
    response,
    trade,
    trade_response,
)
from sample_records import PAN

PAGE = 4096
ROWS = 12  # a day and account
ACCOUNTS = ("desk1", "desk2")
SECRET = PAN.encode()

Call = Callable[[td.Archive], Any]
Damage = Callable[[bytearray, random.Random], None]


RECEIVED: dict[tuple[dt.date, str], td.TradeBook] = {}


def fill(path: Path) -> td.Archive:
    """Two accounts over a week, with states, an empty day and a failure."""
    archive = td.Archive(path, keep_personal_data=True)
    for number, day in enumerate(DAYS[:4]):
        for account in ACCOUNTS:
            for at, status in (("10:00", "Pending"), ("15:45", "Success")):
                options = {"status": status, "pan_no": PAN}
                rows = [order(f"{number}-{row}", day, **options) for row in range(ROWS)]
                archive.add(
                    response(td.OrderBook, rows, clock(at, day), account=account, keep=True)
                )
            rows = [trade(f"{number}-{row}", day, quantity=row, pan_no=PAN) for row in range(ROWS)]
            book = response(td.TradeBook, rows, clock("15:45", day), account=account, keep=True)
            RECEIVED[day, account] = book
            archive.add(book)
    for account in ACCOUNTS:
        archive.add(trade_response(account=account))
        archive.add(order_response(account=account))
    archive._writer.log_failure("trades", "desk1", td.DeadlineError("not in time"))
    return archive


READS: dict[str, Call] = {
    "trades": lambda archive: archive.trades(),
    "orders": lambda archive: archive.orders(),
    "a day": lambda archive: archive.trades(DAYS[1], account="desk1"),
    "an empty day": lambda archive: archive.orders(DAYS[4]),
    "days": lambda archive: archive.orders(DAYS[1], DAYS[3]),
    "history": lambda archive: archive.history("2-5"),
    "log": lambda archive: archive.fetches(),
    "accounts": lambda archive: archive.accounts,
    "missing": lambda archive: archive.missing(DAYS[0], DAYS[4]),
    "sums": lambda archive: archive.sql(
        "SELECT day, account, count(*), sum(quantity) FROM trades GROUP BY day, account"
    ),
    "a query": lambda archive: archive.sql(
        "SELECT * FROM orders WHERE account = ? AND day = ?", ["desk2", str(DAYS[2])]
    ),
    "tables": lambda archive: content(archive),
}


def add(archive: td.Archive, book: td.TradeBook) -> tuple[Any, ...]:
    """Adds a book of Tuesday's, and reads that day and another one."""
    entry = archive.add(book, account="desk1")
    return counts(entry), archive.trades(DAYS[1]), archive.trades(DAYS[2]), archive.fetches()[:29]


WRITES: dict[str, Call] = {
    "a replay": lambda archive: add(archive, RECEIVED[DAYS[1], "desk1"]),
    "an add": lambda archive: add(archive, trade_response(trade("new", DAYS[1]), at="16:00")),
}


class Sound(NamedTuple):
    """An undamaged archive, and what each call gives on it."""

    content: bytes
    expected: dict[str, Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    path = tmp_path_factory.mktemp("sound") / "books.sqlite"
    fill(path)
    content = path.read_bytes()
    assert SECRET in content
    archive = td.Archive(path, create=False)
    return Sound(content, {name: call(archive) for name, call in (READS | WRITES).items()})


def flip_a_bit(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def overwrite_some_bytes(data: bytearray, chance: random.Random) -> None:
    start, size = chance.randrange(len(data)), chance.choice([1, 2, 8, 64])
    data[start : start + size] = chance.randbytes(len(data[start : start + size]))


def zero_a_range(data: bytearray, chance: random.Random) -> None:
    start, size = chance.randrange(len(data)), chance.choice([8, 64, 512])
    data[start : start + size] = bytes(len(data[start : start + size]))


def page(data: bytearray, chance: random.Random) -> slice:
    start = chance.randrange(len(data) // PAGE) * PAGE
    return slice(start, start + PAGE)


def zero_a_page(data: bytearray, chance: random.Random) -> None:
    data[page(data, chance)] = bytes(PAGE)


def copy_a_page(data: bytearray, chance: random.Random) -> None:
    data[page(data, chance)] = data[page(data, chance)]


def damage_a_page_head(data: bytearray, chance: random.Random) -> None:
    """Where SQLite keeps how many entries a page has, and where they are."""
    head = page(data, chance).start
    data[head + chance.randrange(32)] = chance.randrange(256)


def damage_a_row_head(data: bytearray, chance: random.Random) -> None:
    """Where SQLite keeps the types and lengths of a record's columns."""
    body = data.find(b'{"', chance.randrange(len(data)))
    data[(body if body > 0 else PAGE) - chance.randrange(1, 120)] = chance.randrange(256)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


DAMAGE = (
    flip_a_bit,
    overwrite_some_bytes,
    zero_a_range,
    zero_a_page,
    copy_a_page,
    damage_a_page_head,
    damage_a_row_head,
    cut,
)


def attempt(work: Callable[[], Any], path: Path) -> Any:
    """The result, or the error that was raised for the damage."""
    try:
        return work()
    except td.ArchiveError as error:
        shown = "".join(traceback.format_exception(error))
        if PAN in shown or error.file != str(path):
            raise
        return error


def check(path: Path, calls: dict[str, tuple[Call, Any]], seed: int) -> bool:
    """Uses a damaged archive in every way; returns whether the damage was noticed."""
    archive = attempt(lambda: td.Archive(path, create=False), path)
    if isinstance(archive, td.ArchiveError):
        return True
    noticed = False
    for name, (call, wanted) in calls.items():
        found = attempt(partial(call, archive), path)
        if isinstance(found, td.ArchiveError):
            noticed = True
        else:
            assert found == wanted, (seed, name)
    return noticed


# What must notice that these rows were changed behind the archive's back.
EVERYTHING = ("sums", "history", "tables")
CHANGES = [
    ("DELETE FROM records WHERE book = 'trades' AND day = '2026-11-17'", ("trades", "a day")),
    ("DELETE FROM states WHERE id = (SELECT max(state) FROM records)", ("trades",)),
    ("UPDATE states SET json = replace(json, 'Success', 'Pending')", ("orders", "days")),
    ("UPDATE states SET json = 'x' || json", ("trades", "orders")),
    ("UPDATE states SET json = CAST(x'ff' || json AS TEXT)", ("trades", "orders")),
    ("UPDATE states SET json = '' WHERE record IN (SELECT id FROM records)", ("trades", "orders")),
    ("UPDATE records SET account = 'desk1'", ("trades", "orders")),
    ("UPDATE records SET time = '2026-11-17 09:00:00' WHERE id % 2", ("trades",)),
    ("UPDATE states SET seen_at = '' WHERE id = 1", ()),
    ("UPDATE records SET state = (SELECT min(id) FROM states WHERE record = records.id)",
     ("orders",)),
    ("DELETE FROM days WHERE day = '2026-11-17'", ("trades", "orders", "a day", "days")),
    ("UPDATE days SET fetched = 0 WHERE day = '2026-11-20'", ("an empty day",)),
    ("UPDATE days SET day = '2026-11-15' WHERE day = '2026-11-20'", ()),
    ("DELETE FROM totals", ("trades", "log")),
    ("DELETE FROM fetches WHERE id = 29", ("log", "accounts", "missing")),
    ("UPDATE fetches SET rows = 11 WHERE id = 1", ("log", "accounts", "missing")),
    ("UPDATE fetches SET account = 'desk3' WHERE id = 1", ("log", "accounts", "missing")),
]  # fmt: skip


@pytest.mark.parametrize(("change", "noticed_by"), CHANGES)
def test_a_change_of_another_program_is_noticed(
    sound: Sound, tmp_path: Path, change: str, noticed_by: tuple[str, ...]
) -> None:
    path = tmp_path / "books.sqlite"
    path.write_bytes(sound.content)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute(f"{change.replace('UPDATE', 'UPDATE OR REPLACE', 1)}")
    archive = td.Archive(path, create=False)
    for name in (*noticed_by, *EVERYTHING):
        found = attempt(partial(READS[name], archive), path)
        assert isinstance(found, td.ArchiveError), name
        assert "is damaged (" in str(found)


def test_nothing_is_added_to_a_damaged_day(sound: Sound, tmp_path: Path) -> None:
    """Its checksum would pass for one of what is left."""
    path = tmp_path / "books.sqlite"
    path.write_bytes(sound.content)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("DELETE FROM records WHERE id = (SELECT max(id) FROM records)")
    archive = td.Archive(path, create=False)
    late = order("late", DAYS[3])
    with pytest.raises(td.ArchiveError, match="11 trades of 2026-11-19 instead of 12"):
        archive.add(trade_response(trade("late", DAYS[3]), at="18:00"), account="desk2")
    assert archive.add(order_response(late, at="18:00"), account="desk2").new == 1
    assert len(archive.orders(DAYS[3], account="desk2")) == ROWS + 1


def damage_and_check(sound: Sound, folder: Path, kind: Damage, seeds: range) -> int:
    """Damages copies of an archive and checks them; returns how often the damage was noticed."""
    noticed = 0
    for seed in seeds:
        data = bytearray(sound.content)
        kind(data, random.Random(f"{kind.__name__} {seed}"))
        path = folder / f"{seed}.sqlite"
        path.write_bytes(data)
        calls = READS | WRITES if seed % 4 == 0 else READS
        noticed += check(path, {name: (calls[name], sound.expected[name]) for name in calls}, seed)
        for left in folder.glob(f"{seed}.sqlite*"):
            left.unlink()
    return noticed


@pytest.mark.parametrize("kind", DAMAGE, ids=lambda kind: kind.__name__)
def test_a_damaged_archive_gives_the_right_rows_or_an_error(
    sound: Sound, tmp_path: Path, kind: Damage
) -> None:
    assert damage_and_check(sound, tmp_path, kind, range(30)) > 0


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", DAMAGE, ids=lambda kind: kind.__name__)
def test_an_archive_that_is_damaged_500_times_gives_the_right_rows_or_an_error(
    sound: Sound, tmp_path: Path, kind: Damage
) -> None:
    print(f"noticed {damage_and_check(sound, tmp_path, kind, range(30, 530))} of 500")
