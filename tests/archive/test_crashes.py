"""A kill, a full disk or an error of the disk at each call of a commit and of a compaction."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAY, archive_with, numbers, trade, trade_response
from tradingdata.archive.folder import Disk

CALLS = ("names", "read", "put", "rename", "sync", "remove", "age")
WRITES = ("put", "rename", "sync")


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    """Three states of two trades, in one commit each."""
    books = [
        trade_response(trade("1"), trade("2", quantity=at), at=f"1{at}:00") for at in (1, 2, 3)
    ]
    return archive_with(tmp_path, *books)


def failing(at: int, names: tuple[str, ...], fail: Callable[[str], None]) -> Iterator[Any]:
    """Yields replacements of methods of a folder, of which call number ``at`` fails first."""
    count = 0

    def replaced(name: str) -> Any:
        real = getattr(Disk, name)

        def call(self: Disk, *arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                if name == "put":  # half of a file is there
                    path = self.local(arguments[0])
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    Path(path).write_bytes(b"half")
                fail(name)
            return real(self, *arguments)

        return call

    for name in names:
        yield name, replaced(name)


def add(archive: td.Archive) -> None:
    archive.add(trade_response(trade("1"), trade("2", quantity=4), trade("3"), at="16:00"))


WORK: dict[str, Callable[[td.Archive], object]] = {"add": add, "compact": td.Archive.compact}


def check(path: str, name: str, *, done: bool) -> None:
    """What was acknowledged is there, once; the next commit and the next compaction work."""
    archive = td.Archive(path, create=False)
    found = archive.trades(DAY)
    assert numbers(found) in (["1", "2"], ["1", "2", "3"])
    if name == "compact" or not done:
        assert {row.quantity for row in found.filter(trade_no="2")} <= {3, 4}
    if done and name == "add":
        assert numbers(found) == ["1", "2", "3"]
    archive.add(trade_response(trade("1"), trade("9"), at="17:00"))
    assert set(numbers(archive.trades(DAY))) >= {"1", "2", "9"}
    states = archive.sql("SELECT count(*) AS n FROM trades WHERE trade_no = '2'")
    assert states[0].n == 1
    archive.compact()
    assert archive.verify() >= 8
    assert set(numbers(archive.trades(DAY))) >= {"1", "2", "9"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", WORK)
def test_a_kill_at_each_call(name: str, archive: td.Archive, tmp_path: Path) -> None:
    """Of a process, at each call of its file system."""
    archive.trades(DAY)
    for at in range(1, 200):
        path = shutil.copytree(archive.path, tmp_path / f"{name}{at}")
        child = os.fork()
        if not child:
            mine = td.Archive(path)
            for method, call in failing(at, CALLS, lambda _: os._exit(9)):
                setattr(Disk, method, call)
            WORK[name](mine)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        check(str(path), name, done=code == 0)
        if code == 0:
            break
    assert at > 15, "calls"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", WORK)
def test_a_full_disk_at_each_write(
    name: str, archive: td.Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is an ArchiveError with the books; nothing is lost, and nothing left."""

    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    failure: td.ArchiveError
    for at in range(1, 200):
        path = shutil.copytree(archive.path, tmp_path / f"{name}{at}")
        mine = td.Archive(path)
        done = False
        with monkeypatch.context() as patch:
            for method, call in failing(at, WRITES, full):
                patch.setattr(Disk, method, call)
            try:
                WORK[name](mine)
                done = True
            except td.ArchiveError as error:
                failure = error
        if not done:
            assert "could not be written" in str(failure)
            assert len(failure.books) == (name == "add")
        check(str(path), name, done=done)
        if done and at > 3:
            break
    assert at > 3, "writes"
