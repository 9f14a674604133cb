"""Many writers at once, writers that are killed, a full disk, a fork."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archive.engines import ENGINES, beside_writers, check_engines, of_duckdb
from archive.writers import HERE, acknowledged, start_writer
from archiving import DAY, DAYS, archive_with, clock, numbers, response, trade, trade_response
from calls import at_once
from tradingdata._util import platform
from tradingdata._util.platform import file_lock
from tradingdata.archive import store


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


@pytest.mark.parametrize("kills", [12, pytest.param(45, marks=pytest.mark.long)])
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_f142_killed_writers_lose_nothing_acknowledged(kills: int, tmp_path: Path) -> None:
    """F142, F183: beside a reader of ours and one of DuckDB, each row is there once.

    A kill comes some responses after the start and some time more, however slow the machine is.
    """
    path = tmp_path / "books"
    archive = td.Archive(path)
    chance = random.Random(7)
    done: set[str] = set()
    awaited = 0
    for first in range(0, kills, 6):
        writers = [
            start_writer(path, f"k{number}", commits=50, work="withdraw" if number % 3 else "")
            for number in range(first, first + 6)
        ]
        for writer in writers:
            assert writer.stdout is not None
            commits = chance.randrange(4)
            awaited += commits
            for _ in range(1 + commits):  # the first line says that it is ready
                done |= acknowledged(writer.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.1))
            if done:
                known = set(done)
                found = archive.sql("SELECT account, count(*) FROM trades GROUP BY 1", DAY)
                assert known <= {account for account, _ in found}
                assert all(count == 20 for _, count in found)
                assert set(beside_writers(of_duckdb, str(path)).values()) == {1}
            writer.kill()
        for writer in writers:
            assert writer.stdout is not None
            done |= acknowledged(writer.stdout.read())
            writer.communicate()
        store.store_of.cache_clear()
        again = td.Archive(path, create=False)
        found = again.sql("SELECT account, count(*) FROM trades GROUP BY 1", DAY)
        assert done <= {account for account, _ in found}
        assert all(count == 20 for _, count in found)
    assert len(done) >= awaited > kills // 2
    archive.add(response(td.TradeBook, [], clock("20:00"), account="last"))
    check_engines(archive)
    assert archive.verify() % 20 == 0
    assert done <= set(archive.accounts)


@pytest.mark.parametrize("engine", ["DuckDB", "polars"])
def test_f183_an_engine_reads_beside_a_writer(engine: str, tmp_path: Path) -> None:
    """The days that are over are always whole; the day that is replaced has each row once."""
    earlier = response(td.TradeBook, [trade("0", DAYS[0])], clock("15:45", DAYS[0]), account="a")
    archive = archive_with(tmp_path, earlier)
    counts: list[int] = []
    errors: list[Exception] = []

    def work(worker: int) -> None:
        if worker:
            for number in range(8):
                rows = [trade(str(row)) for row in range(number + 1)]
                at = clock(f"1{number}:00")
                archive.add(response(td.TradeBook, rows, at, account="a"))
            counts.append(0)
            return
        while 0 not in counts:
            try:
                found = ENGINES[engine](archive.path, "trades")
            except Exception as error:  # it opened a file at the moment in which it was replaced
                errors.append(error)
                continue
            assert set(found.values()) == {1}
            counts.append(len(found))

    at_once(2, work)
    assert sorted(set(counts) - {0})[0] >= 1
    assert len(errors) < len(counts), "reading again is enough"
    assert sum(ENGINES[engine](archive.path, "trades").values()) == 9


def test_f111_a_lock_that_others_hold_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response is stored, readers have it, and the next writer puts it into its day."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with file_lock(str(Path(archive.path, "archive.lock")), 0.0) as (is_held, problem):
        assert (is_held, problem) == (True, "")
        with pytest.warns(td.DataWarning, match="stored, but not yet in its day .*archive.lock"):
            archive.add(trade_response(trade("2"), at="16:00"))
        assert len(archive.trades(DAY)) == 2
        assert len(of_duckdb(archive.path, "trades")) == 1
        with pytest.raises(td.ArchiveError, match=r"have held .*: try again"):
            archive.withdraw(archive.fetches()[0].id)
    assert Path(archive.path, "archive.lock").read_bytes() == b""
    archive.add(trade_response(trade("3"), at="17:00"))
    check_engines(archive)
    assert numbers(archive.trades(DAY)) == ["1", "2", "3"], "nothing was withdrawn"


def test_a_lock_of_another_machine_or_none_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")))
    lock = Path(archive.path, "archive.lock")
    lock.write_text("other-machine 77\n")
    with pytest.warns(td.DataWarning, match="process 77 on other-machine has not released it"):
        archive.add(trade_response(trade("2"), at="16:00"))

    def unsupported(*_: object) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(platform, "_is_locked", unsupported)
    with pytest.warns(td.DataWarning, match="has no locks: run one writer at a time"):
        archive.add(trade_response(trade("3"), at="17:00"))
    check_engines(archive)
    assert len(archive.trades(DAY)) == 3


_CONTENDER = """
import sys
from tradingdata._util.platform import file_lock
with file_lock(sys.argv[1], 0.0) as (is_held, _):
    print(is_held)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_neither_has_nor_frees_the_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")

    def is_free() -> str:
        command = [sys.executable, "-c", _CONTENDER, path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with file_lock(path, 0.0) as (is_held, _):
        assert is_held
        ended, writes = os.pipe()
        child = os.fork()
        if not child:
            os.close(writes)
            os.read(ended, 1)  # until its parent closes the pipe
            os._exit(0)
        assert is_free() == "False"
    assert is_free() == "True", "while the child runs"
    os.close(writes)
    os.waitpid(child, 0)
    os.close(ended)


@pytest.mark.timeout(300)
def test_fifty_writers_at_once(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")

    def write(writer: int) -> None:
        mine = td.Archive(archive.path)
        mine.add(response(td.TradeBook, [trade("1")], clock("15:45"), account=f"desk{writer}"))

    at_once(50, write)
    assert len(archive.trades(DAY)) == 50
    check_engines(archive)


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
            archive._store.folder.check_writable()
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


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the third time into memory, where others cannot replace it."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    find = store.Store.find
    turns = iter(range(9))

    def found(*arguments: Any, **options: Any) -> Any:
        result = find(*arguments, **options)
        turn = next(turns)
        book = trade_response(trade("1", quantity=turn), at=f"16:0{turn}")
        monkeypatch.setattr(store.Store, "find", find)
        archive.add(book)
        monkeypatch.setattr(store.Store, "find", found)
        return result

    monkeypatch.setattr(store.Store, "find", found)
    assert [row.quantity for row in archive.trades(DAY)] == [1]
    query = "SELECT quantity FROM trades"
    assert [*map(tuple, archive.sql(query, DAY))] == [(4,)]
    assert next(turns) == 6
