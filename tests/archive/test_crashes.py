"""A kill or a full disk at each operation on the files of an archive."""

from __future__ import annotations

import errno
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import tradingdata as td
from archive.crashes import WRITES, counted_down, replace
from archive.engines import check_engines
from archiving import DAY, archive_with, numbers, trade, trade_response


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    """Three states of two trades, in one response each."""
    books = [
        trade_response(trade("1"), trade("2", quantity=at), at=f"1{at}:00") for at in (1, 2, 3)
    ]
    return archive_with(tmp_path, *books)


def add(archive: td.Archive) -> None:
    archive.add(trade_response(trade("1"), trade("2", quantity=4), trade("3"), at="16:00"))


def withdraw(archive: td.Archive) -> None:
    archive.withdraw(archive.fetches()[-1].id)


def erase(archive: td.Archive) -> None:
    archive.erase(None)


WORK: dict[str, Callable[[td.Archive], object]] = {
    "add": add,
    "withdraw": withdraw,
    "erase": erase,
}
AFTER = {
    "add": (["1", "2", "3"], {4}),
    "withdraw": (["1", "2"], {2}),
    "erase": ([], set()),
}


def check(path: str, name: str, *, done: bool) -> None:
    """What was acknowledged is there, once; the next response puts everything into its day."""
    archive = td.Archive(path, create=False)
    before = (["1", "2"], {3})
    found = archive.trades(DAY, missing_ok=name == "erase") if archive.fetches() else td.TradeBook()
    state = numbers(found), {row.quantity for row in found.filter(trade_no="2")}
    assert state in ([AFTER[name]] if done else [before, AFTER[name]])
    archive.add(trade_response(trade("1"), trade("9"), at="17:00"))
    assert set(numbers(archive.trades(DAY))) == {"1", "9", *state[0]}
    check_engines(archive)
    assert archive.verify() == len({"1", "9", *state[0]})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
@pytest.mark.parametrize("name", WORK)
def test_f112_a_kill_at_each_operation(name: str, archive: td.Archive, tmp_path: Path) -> None:
    archive.trades(DAY)
    for at in range(1, 200):
        path = shutil.copytree(archive.path, tmp_path / f"{name}{at}")
        child = os.fork()
        if not child:
            mine = td.Archive(path)
            count = 0

            def before(_: str, at: int = at) -> None:
                nonlocal count
                count += 1
                if count == at:
                    os._exit(9)

            replace(pytest.MonkeyPatch(), before)
            WORK[name](mine)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        check(str(path), name, done=code == 0)
        if code == 0:
            break
    assert at > 15, "operations"


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", WORK)
def test_f111_a_full_disk_at_each_write(name: str, archive: td.Archive, tmp_path: Path) -> None:
    """An ArchiveError with the books, or a warning if only the day could not be written."""
    for at in range(1, 200):
        path = shutil.copytree(archive.path, tmp_path / f"{name}{at}")
        mine = td.Archive(path)
        failure = None
        with (
            warnings.catch_warnings(record=True) as warned,
            counted_down(at, full, WRITES, once=True) as count,
        ):
            warnings.simplefilter("always")
            try:
                WORK[name](mine)
            except td.ArchiveError as error:
                failure = error
        done = failure is None
        if failure is not None:
            assert "could not be written" in str(failure)
            assert len(failure.books) == (name == "add")
        elif count[0] >= at:  # storing was done before
            assert any("stored, but not yet in its day" in str(each.message) for each in warned)
        check(str(path), name, done=done)
        if count[0] < at:
            break
    assert at > 3, "writes"
