"""Compactions at once, and beside writers, keep each row once; what was stored is on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tradingdata as td
from archive_writers import acknowledged, start_writer
from archiving import DAY, archive_with, order_response, trade, trade_response
from calls import at_once
from tradingdata import sandbox

POLLS = 12


def polled(folder: Path) -> td.Archive:
    """An archive of a growing day, in one commit for each poll."""
    archive = td.Archive(folder / "books")
    for poll in range(1, POLLS + 1):
        records = [trade(str(number)) for number in range(poll)]
        archive.add(trade_response(*records, at=f"12:{poll:02}"))
    return archive


def check(archive: td.Archive) -> None:
    assert len(archive.trades(DAY)) == POLLS
    assert len(archive.fetches()) == POLLS
    assert archive.sql("SELECT count(*) AS n FROM trades")[0].n == POLLS
    assert archive.verify() > 0


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_compact_at_once(threads: int, tmp_path: Path) -> None:
    """They wait for each other, or do the same."""
    archive = polled(tmp_path)
    for _ in range(3):
        at_once(threads, lambda _: td.Archive(archive.path).compact())
        check(td.Archive(archive.path))


_PROGRAM = """
import sys
import tradingdata as td
archive = td.Archive(sys.argv[1], create=False)
print("ready", flush=True)
sys.stdin.readline()
archive.compact()
"""


def test_processes_compact_at_once(tmp_path: Path) -> None:
    archive = polled(tmp_path)
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", _PROGRAM, archive.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0]
    check(archive)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_compactions_beside_writers(tmp_path: Path) -> None:
    """Each acknowledged response is there, each row once."""
    path = tmp_path / "books"
    writers = [start_writer(path, f"w{number}", commits=15, rows=5) for number in range(3)]
    writers += [
        start_writer(path, f"c{number}", commits=6, rows=5, work="compact") for number in range(3)
    ]
    outputs = [writer.communicate() for writer in writers]
    assert [errors for _, errors in outputs if errors] == []
    done = set().union(*(acknowledged(output) for output, _ in outputs))
    assert len(done) == 3 * 15 + 3 * 6
    archive = td.Archive(path, create=False)
    assert set(archive.accounts) == done
    counts = archive.sql("SELECT account, count(*) AS n FROM trades GROUP BY 1", DAY)
    assert {(row.account, row.n) for row in counts} == {(account, 5) for account in done}
    assert archive.verify() == 5 * len(done)


@pytest.mark.skipif(os.name != "posix", reason="folders cannot be opened elsewhere")
def test_what_was_stored_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file and every folder of the archive that a commit made."""
    synced: set[tuple[int, int]] = set()
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        found = os.fstat(descriptor)
        synced.add((found.st_dev, found.st_ino))

    def unsynced(root: Path) -> list[Path]:
        made = [root, root.parent, *root.rglob("*")]
        return [path for path in made if (path.stat().st_dev, path.stat().st_ino) not in synced]

    monkeypatch.setattr(os, "fsync", fsync)
    archive = archive_with(tmp_path, trade_response(trade("1")))
    archive.add(order_response())
    assert unsynced(Path(archive.path)) == []
    with sandbox.start(orders=8) as service:
        td.Archive(tmp_path / "fetched").fetch(service.client())
    assert unsynced(tmp_path / "fetched") == []


@pytest.mark.long
@pytest.mark.timeout(900)
def test_two_minutes_of_writers_compactions_and_readers(tmp_path: Path) -> None:
    """What is acknowledged is there, each row once, at every moment."""
    path = tmp_path / "books"
    works = ("", "", "", "", "compact", "compact")
    writers = [
        start_writer(path, f"w{number}", commits=10**6, rows=5, work=work)
        for number, work in enumerate(works)
    ]
    until, reads, most = time.monotonic() + 120, 0, 0
    while time.monotonic() < until:
        time.sleep(0.5)
        if (path / "archive.json").exists() and td.Archive(path).accounts:
            found = td.Archive(path).sql("SELECT account, count(*) FROM trades GROUP BY 1", DAY)
            assert all(count == 5 for _, count in found)
            assert len(found) >= most
            reads, most = reads + 1, len(found)
    for writer in writers:
        writer.kill()
    outputs = [writer.communicate() for writer in writers]
    assert [errors for _, errors in outputs if errors] == []
    done = set().union(*(acknowledged(output) for output, _ in outputs))
    archive = td.Archive(path, create=False)
    counts = archive.sql("SELECT account, count(*) AS n FROM trades GROUP BY 1", DAY)
    assert done <= {row.account for row in counts}
    assert {row.n for row in counts} == {5}
    assert archive.verify() == 5 * len(counts)
    print(f"{len(done)} acknowledged, {len(counts)} stored, {reads} reads, {most} at the last one")
