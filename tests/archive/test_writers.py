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
from archiving import DAY, DAYS, archive_with, clock, numbers, response, trade, trade_response
from calls import PRELUDE, at_once, run_child
from systems import needs, posix
from tradingdata._util import platform
from tradingdata._util.platform import file_lock
from tradingdata.archive import store

_WRITER = f"""{PRELUDE}
from archiving import clock, response, trade
path, writer, commits, work = sys.argv[1:]
archive = td.Archive(path)
print("ready", flush=True)
for number in range(int(commits)):
    account = f"{{writer}}-{{number}}"
    records = [trade(f"{{account}}-{{row}}") for row in range(20)]
    archive.add(response(td.TradeBook, records, clock("15:45"), account=account))
    print(account, flush=True)
    if work == "withdraw" and number % 3 == 2:
        wrong = response(td.TradeBook, [trade("0")], clock("9:00"), account=account)
        archive.withdraw(archive.add(wrong).id)
"""


def start_writer(path: Path, writer: str, commits: int, work: str) -> subprocess.Popen[str]:
    """A process that commits books of accounts of its own and prints each afterwards."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _WRITER, str(path), writer, str(commits), work],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def acknowledged(output: str) -> set[str]:
    """The accounts that a writer printed."""
    return {line for line in output.split() if "-" in line}


@pytest.mark.parametrize("rounds", [2, pytest.param(8, marks=pytest.mark.long)])
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_f142_killed_writers_lose_nothing_acknowledged(rounds: int, tmp_path: Path) -> None:
    """F142, F183: beside a reader of ours and one of DuckDB, each row is there once.

    All create the archive at once. A kill comes some responses after the start and some time more,
    however slow the machine is; the last writer of a round is left alone and ends without error.
    """
    path = tmp_path / "books"
    chance = random.Random(7)
    done: set[str] = set()

    def check_accounts() -> None:
        known = set(done)
        found = td.Archive(path, create=False).sql(
            "SELECT account, count(*) FROM trades GROUP BY 1", DAY
        )
        assert known <= {account for account, _ in found}
        assert all(count == 20 for _, count in found)

    awaited = 0
    for turn in range(rounds):
        *killed, last = [
            start_writer(path, f"k{turn}{at}", 50 if at < 6 else 5, "withdraw" if at % 3 else "")
            for at in range(7)
        ]
        for writer in killed:
            assert writer.stdout is not None
            commits = chance.randrange(4)
            awaited += commits
            for _ in range(1 + commits):  # the first line says that it is ready
                done |= acknowledged(writer.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.1))
            if done:
                check_accounts()
                assert set(beside_writers(of_duckdb, str(path)).values()) == {1}
            writer.kill()
        for writer in killed:
            assert writer.stdout is not None
            done |= acknowledged(writer.stdout.read())
            writer.communicate()
        output, errors = last.communicate()
        assert (errors, len(acknowledged(output))) == ("", 5)
        done |= acknowledged(output)
        store.store_of.cache_clear()
        check_accounts()
    assert len(done) >= awaited + 5 * rounds > 7 * rounds
    archive = td.Archive(path)
    archive.add(response(td.TradeBook, [], clock("20:00"), account="last"))
    check_engines(archive)
    assert archive.verify() % 20 == 0
    assert done <= set(archive.accounts)


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


@needs("fork")
def test_a_forked_child_neither_has_nor_frees_the_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")

    def is_free() -> str:
        code = "from tradingdata._util.platform import file_lock\n"
        code += "with file_lock(sys.argv[1], 0.0) as (is_held, _): print(is_held)"
        return run_child(code, path).strip()

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
@pytest.mark.parametrize("engine", ["DuckDB", "polars"])
def test_f183_fifty_writers_at_once_beside_an_engine(engine: str, tmp_path: Path) -> None:
    """The engine may open a file as it is replaced, and reads again."""
    earlier = response(
        td.TradeBook, [trade("0", DAYS[0])], clock("15:45", DAYS[0]), account="desk1"
    )
    archive = archive_with(tmp_path, earlier)
    counts: list[int] = []

    def work(worker: int) -> None:
        if worker:
            book = trade_response(trade("1"), account=f"desk{worker}")
            td.Archive(archive.path).add(book)
            return
        for _ in range(20):
            found = beside_writers(ENGINES[engine], archive.path)
            assert set(found.values()) == {1}
            counts.append(len(found))

    at_once(51, work)
    assert len(archive.trades(DAY)) == 50
    assert sorted(counts) == counts
    check_engines(archive)


def test_a_write_that_fails_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    """The books come back with the error, and the next write succeeds."""
    resource = posix("resource")
    archive = archive_with(tmp_path, trade_response(trade("1")))
    book = trade_response(*(trade(str(n)) for n in range(2000)), at="16:45")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        with pytest.raises(td.ArchiveError, match="could not be written") as caught:
            archive.add(book)
        with pytest.raises(OSError, match="File too large"):
            archive._store.folder.check_writable()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.books == (book,)
    assert len(archive.trades(DAY)) == archive.verify() == 1
    archive.add(book)
    assert len(archive.trades(DAY)) == 2000


def test_a_read_only_folder_is_reported_before_a_request(tmp_path: Path) -> None:
    """And it can still be read."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("becomes another user, which needs root")
    archive = archive_with(tmp_path, trade_response(trade("1")))
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    for path in [Path(archive.path), *Path(archive.path).rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    store.store_of.cache_clear()
    os.seteuid(65534)
    try:
        archive = td.Archive(archive.path, create=False)
        assert len(archive.trades(DAY)) == 1
        with pytest.raises(td.ArchiveError, match=r"could not be written.*Permission denied"):
            archive.fetch(td.Client("http://127.0.0.1:9", access_token="x" * 12))
    finally:
        os.seteuid(0)


@needs("fork")
def test_a_forked_child_reads_and_writes(tmp_path: Path) -> None:
    run_child(
        """
import warnings
from pathlib import Path
from archiving import DAY, archive_with, trade, trade_response
warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
archive = archive_with(Path(sys.argv[1]), trade_response(trade("1")))
assert len(archive.trades(DAY)) == 1
child = os.fork()
if not child:
    assert len(archive.trades(DAY)) == 1
    archive.add(trade_response(trade("1"), trade("2"), at="16:00"))
    assert archive.sql("SELECT count(*) AS n FROM trades")[0].n == 2
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(archive.trades(DAY)) == 2
""",
        str(tmp_path),
    )


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


@pytest.mark.skipif(os.name != "posix", reason="Windows syncs no folders")
def test_f143_what_is_stored_outlasts_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has its content on the disk before its name, and its folder the name in the end."""
    on_disk: set[int] = set()
    folders: set[int] = set()
    fsync, replace, mkdir = os.fsync, os.replace, os.mkdir

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        on_disk.add(os.fstat(descriptor).st_ino)

    def named(path: str) -> None:
        folder = os.stat(os.path.dirname(path)).st_ino
        folders.add(folder)
        on_disk.discard(folder)

    def renamed(old: str, new: str) -> None:
        assert os.stat(old).st_ino in on_disk, f"{new} has its name before its content"
        replace(old, new)
        named(new)

    def made(path: str, *mode: int) -> None:
        mkdir(path, *mode)
        named(path)

    for name, seen in {"fsync": synced, "replace": renamed, "mkdir": made}.items():
        monkeypatch.setattr(os, name, seen)
    archive = td.Archive(tmp_path / "books")
    for number in "12":
        archive.add(trade_response(trade(number), at=f"1{number}:00", account=f"desk{number}"))
        assert folders <= on_disk
    archive.erase("desk1")
    assert folders <= on_disk
