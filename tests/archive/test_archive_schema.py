"""An archive that the first schema wrote opens with every later one.

`data/archive-schema-1.sqlite` was written by the first version and never changes; a later schema
brings a file of its own.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import tradingdata as td
from archiving import DAYS, clock, order_response, trade_response
from tradingdata.archive import MissingDay, schema

SAMPLES = sorted((Path(__file__).parent / "data").glob("archive-schema-*.sqlite"))


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> td.Archive:
    return td.Archive(shutil.copy(request.param, tmp_path / "books.sqlite"), create=False)


def test_every_schema_has_a_sample() -> None:
    numbers = [int(path.stem.rpartition("-")[2]) for path in SAMPLES]
    assert numbers == list(range(1, len(schema.MIGRATIONS) + 1))


def test_the_books_of_an_old_archive_come_back(archive: td.Archive) -> None:
    trades = archive.trades(DAYS[3], account="desk1")
    assert [(row.trade_no, row.quantity) for row in trades] == [("1", 5), ("2", 7), ("2", 7)]
    assert (trades[0].symbol, trades[0].traded_price) == ("INFY", 1501.05)
    assert trades[1]["fee"] == {"stt": [1.5]}
    assert trades[0].pan_no is not None
    assert "XXXXXX" in trades[0].pan_no
    assert len(trades.issues) == 0
    states = archive.history("11")
    assert [(state.seen_at, state.order.status) for state in states] == [
        (clock("10:00", DAYS[3]), "Pending"),
        (clock("15:45", DAYS[3]), "Success"),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM records WHERE id = 1", "2 trades instead of 3"),
        ("DELETE FROM states WHERE id = 5", "1 records without a state"),
    ],
)
def test_an_old_archive_that_lost_rows_is_not_upgraded(
    tmp_path: Path, change: str, message: str
) -> None:
    """F124: it has no checksums, but its log knows how many records there were."""
    path = Path(shutil.copy(SAMPLES[0], tmp_path / "books.sqlite"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(change)
    for _ in range(2):
        with pytest.raises(td.ArchiveError, match=rf"is damaged \({message}\)"):
            td.Archive(path)


def test_the_log_of_an_old_archive_comes_back(archive: td.Archive) -> None:
    entries = archive.fetches()
    assert [entry.new for entry in entries] == [3, 1, 0, 0, 0]
    assert [entry.error for entry in entries] == [None] * 4 + ["DeadlineError"]
    assert entries[3].days == (DAYS[4],)
    assert archive.missing(DAYS[3], DAYS[4], account="desk1") == [
        MissingDay(DAYS[4], "desk1", ("orders",))
    ]


def test_an_old_archive_is_written_on(archive: td.Archive) -> None:
    assert archive.sql("PRAGMA user_version") == [(len(schema.MIGRATIONS),)]
    assert archive.sql("SELECT sum(quantity) FROM trades") == [(19,)]
    rows = archive.orders().to_dicts()
    assert archive.add(order_response(at="16:00"), account="desk1").days == (DAYS[4],)
    again = archive.add(trade_response(at="16:00"), account="desk1")
    assert (again.rows, again.new) == (0, 0)
    for book in (archive.trades(), archive.orders()):
        assert archive.add(book, account="desk1").new == 0
    assert archive.orders().to_dicts() == rows
