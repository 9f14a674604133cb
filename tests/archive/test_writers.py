"""Many writers at once, writers that are killed, a full disk, a fork."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archive_writers import HERE, acknowledged, start_writer
from archiving import DAY, archive_with, clock, order, order_response, response, trade
from calls import at_once
from tradingdata.archive.store import Store
from tradingdata.archive.views import merge


def test_threads_write_at_once(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")

    def write(writer: int) -> None:
        for number in range(3):
            book = response(td.TradeBook, [trade("1")], clock("15:45"))
            archive.add(book, account=f"{writer}-{number}")

    at_once(4, write)
    assert len(archive.trades(DAY)) == 12


@pytest.mark.parametrize("commits", [4, pytest.param(25, marks=pytest.mark.long)])
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_eight_processes_lose_nothing(commits: int, tmp_path: Path) -> None:
    """All create the archive at once; a reader meanwhile sees only whole commits."""
    path = tmp_path / "books"
    writers = [start_writer(path, f"w{number}", commits=commits) for number in range(8)]
    seen = [0]
    running = True
    while running:
        running = any(writer.poll() is None for writer in writers)
        try:
            archive = td.Archive(path, create=False)
            if archive.accounts:
                found = archive.sql("SELECT account, count(*) FROM trades GROUP BY 1", DAY)
                assert all(count == 20 for _, count in found)
                assert len(found) >= seen[-1]
                seen.append(len(found))
        except td.ArchiveError as error:
            if "there is no archive" not in str(error):
                raise
        time.sleep(0.2)
    outputs = [writer.communicate() for writer in writers]
    assert [errors for _, errors in outputs if errors] == []
    done = set().union(*(acknowledged(output) for output, _ in outputs))
    assert len(done) == 8 * commits
    archive = td.Archive(path, create=False)
    assert set(archive.accounts) == done
    assert len(archive.trades(DAY)) == 160 * commits
    assert archive.verify() == 160 * commits
    assert seen[-1] == 8 * commits


@pytest.mark.parametrize("kills", [10, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_writers_lose_nothing_acknowledged(kills: int, tmp_path: Path) -> None:
    """At random points, some while compacting; the archive opens after each.

    A point is some commits after the start and some time more, however slow the machine is.
    """
    path = tmp_path / "books"
    td.Archive(path)
    chance = random.Random(7)
    done: set[str] = set()
    awaited = 0
    for first in range(0, kills, 5):
        writers = [
            start_writer(path, f"k{number}", commits=50, work="compact" if number % 5 == 0 else "")
            for number in range(first, first + 5)
        ]
        for writer in writers:
            assert writer.stdout is not None
            commits = chance.randrange(5)
            awaited += commits
            for _ in range(1 + commits):  # the first line says that it is ready
                done |= acknowledged(writer.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.1))
            writer.kill()
        for writer in writers:
            assert writer.stdout is not None
            done |= acknowledged(writer.stdout.read())
            writer.communicate()
        archive = td.Archive(path, create=False)
        if done:
            found = archive.sql("SELECT account, count(*) FROM trades GROUP BY 1", DAY)
            assert done <= {account for account, _ in found}
            assert all(count == 20 for _, count in found)
    assert len(done) >= awaited > kills
    assert archive.verify() % 20 == 0
    archive.compact()
    assert done <= set(archive.accounts)


def test_a_full_disk_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    """The books come back with the error, and the next write succeeds."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a tmpfs needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        archive = archive_with(disk, response(td.TradeBook, [trade("1")], clock("15:45")))
        filler = disk / "filler"
        filler.write_bytes(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - 8192))
        book = response(td.TradeBook, [trade(str(n)) for n in range(2000)], clock("16:45"))
        with pytest.raises(td.ArchiveError, match="could not be written") as caught:
            archive.add(book)
        assert caught.value.books == (book,)
        assert len(archive.trades(DAY)) == 1
        assert archive.verify() == 1
        with pytest.raises(OSError, match="No space left"):
            archive._store.check_writable()
        filler.unlink()
        archive.add(book)
        assert len(archive.trades(DAY)) == 2000
    finally:
        subprocess.run(["umount", disk], check=True)


_UNPRIVILEGED = """
import os, sys, zoneinfo
sys.path[:0] = [{here!r}, {tests!r}]
import tradingdata as td
from archiving import DAY, clock, response, trade
os.setuid(65534)
archive = td.Archive({path!r}, create=False)
assert len(archive.trades(DAY)) == 1
try:
    archive.fetch(td.Client("http://127.0.0.1:9", access_token="x" * 12))
except td.ArchiveError as error:
    print(error)
"""


def test_a_read_only_folder_is_reported_before_a_request(tmp_path: Path) -> None:
    """And it can still be read."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("becomes another user, which needs root")
    archive = archive_with(tmp_path, response(td.TradeBook, [trade("1")], clock("15:45")))
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    for path in [Path(archive.path), *Path(archive.path).rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    program = _UNPRIVILEGED.format(here=str(HERE), tests=str(HERE.parent), path=archive.path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False
    )
    if "Permission" in done.stderr and "site-packages" in done.stderr:
        pytest.skip("another user cannot use this Python")
    assert "could not be written" in done.stdout, done.stderr
    assert "Permission denied" in done.stdout


_FORK = """
import os, sys
sys.path[:0] = [{here!r}, {tests!r}]
import tradingdata as td
from archiving import DAY, trade, trade_response
archive = td.Archive({path!r})
assert len(archive.trades(DAY)) == 1
child = os.fork()
if not child:
    assert len(archive.trades(DAY)) == 1
    archive.add(trade_response(trade("1"), trade("2"), at="16:00"))
    assert archive.sql("SELECT count(*) AS n FROM trades")[0].n == 2
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(archive.trades(DAY)) == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_reads_and_writes(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, response(td.TradeBook, [trade("1")], clock("15:45")))
    program = _FORK.format(here=str(HERE), tests=str(HERE.parent), path=archive.path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_files_that_are_merged_while_reading_are_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = Store.find

    def reads(work: Callable[[td.Archive], Any], folder: Path) -> Any:
        """What a reader gets if another program compacts after the reader has listed the files."""
        folder.mkdir()
        books = [order_response(order(status=f"at {hour}"), at=f"{hour}:00") for hour in (10, 11)]
        archive = archive_with(folder, *books)
        waiting = [True]

        def found(store: Store, *arguments: Any) -> Any:
            files = find(store, *arguments)
            if files and waiting and waiting.pop():
                Store(store.folder).compact(merge)
            return files

        monkeypatch.setattr(Store, "find", found)
        result = work(archive)
        monkeypatch.setattr(Store, "find", find)
        assert not waiting
        return result

    assert reads(lambda archive: archive.orders(DAY), tmp_path / "1")[0].status == "at 11"
    statuses = reads(lambda archive: archive.sql("SELECT status FROM orders", DAY), tmp_path / "2")
    assert [row.status for row in statuses] == ["at 11"]
    assert len(reads(lambda archive: archive.history("1"), tmp_path / "3")) == 2
