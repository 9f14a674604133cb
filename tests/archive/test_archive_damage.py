"""F124: a damaged archive gives the right rows or an ArchiveError, never fewer rows or other ones.

Copies of one archive are damaged at random places: bits flipped, bytes overwritten, ranges and
pages zeroed or exchanged, the file cut. Every way to read a copy must give what the undamaged
archive gives, or raise.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAYS, answer, clock, content, order, order_answer, trade, trade_answer
from sample_records import PAN

PAGE = 4096
ROWS = 12  # a day and account
ACCOUNTS = ("desk1", "desk2")
SECRET = PAN.encode()

Read = Callable[[td.Archive], Any]


def fill(path: Path) -> td.Archive:
    """Two accounts over a week, with states, an empty day and a failure."""
    archive = td.Archive(path, keep_personal_data=True)
    for number, day in enumerate(DAYS[:4]):
        for account in ACCOUNTS:
            for at, status in (("10:00", "Pending"), ("15:45", "Success")):
                options = {"status": status, "pan_no": PAN}
                rows = [order(f"{number}-{row}", day, **options) for row in range(ROWS)]
                archive.add(answer(td.OrderBook, rows, clock(at, day), account=account, keep=True))
            rows = [trade(f"{number}-{row}", day, quantity=row, pan_no=PAN) for row in range(ROWS)]
            archive.add(answer(td.TradeBook, rows, clock("15:45", day), account=account, keep=True))
    for account in ACCOUNTS:
        archive.add(trade_answer(account=account))
        archive.add(order_answer(account=account))
    archive._log_failure("trades", "desk1", td.DeadlineError("not in time"))
    return archive


READS: dict[str, Read] = {
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


def expected(path: Path) -> dict[str, Any]:
    return {name: read(td.Archive(path, create=False)) for name, read in READS.items()}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "books.sqlite"
    fill(path)
    return path


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


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


DAMAGE = (
    flip_a_bit,
    overwrite_some_bytes,
    zero_a_range,
    zero_a_page,
    copy_a_page,
    damage_a_page_head,
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


def check(path: Path, wanted: dict[str, Any], what: str) -> bool:
    """Reads a damaged archive in every way; returns whether the damage was noticed."""
    archive = attempt(lambda: td.Archive(path, create=False), path)
    if isinstance(archive, td.ArchiveError):
        return True
    noticed = False
    for name, read in READS.items():
        found = attempt(partial(read, archive), path)
        if isinstance(found, td.ArchiveError):
            noticed = True
        else:
            assert found == wanted[name], (what, name)
    return noticed


def damage_and_check(sound: Path, folder: Path, times: int, seed: int) -> int:
    wanted = expected(sound)
    whole = sound.read_bytes()
    assert SECRET in whole
    found = 0
    for number in range(times):
        chance = random.Random(f"{seed}-{number}")
        kind = DAMAGE[number % len(DAMAGE)]
        data = bytearray(whole)
        kind(data, chance)
        path = folder / f"{number}.sqlite"
        path.write_bytes(data)
        found += check(path, wanted, f"{kind.__name__} {number}")
        for left in folder.glob(f"{number}.sqlite*"):
            left.unlink()
    return found


def test_a_damaged_archive_gives_the_right_rows_or_an_error(sound: Path, tmp_path: Path) -> None:
    assert damage_and_check(sound, tmp_path, 210, seed=124) > 100


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_archives_damaged_3500_times_give_the_right_rows_or_an_error(
    sound: Path, tmp_path: Path
) -> None:
    print(f"noticed {damage_and_check(sound, tmp_path, 3500, seed=125)} of 3500")
