"""An archive in many hands: threads, other programs that read while one writes, forks."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tradingdata as td
from archiving import archive_with, trade, trade_response
from calls import PRELUDE, run_child

ROWS = 5
RESPONSES = 12
PATHS = os.pathsep.join(sys.path)  # where the tests' own modules are


def test_threads_may_share_an_archive(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)

    def work(account: str) -> int:
        for number in range(4):
            archive.add(trade_response(trade(str(number)), at=f"10:0{number}", account=account))
            assert len(archive.trades(account=account)) == number + 1
        return len(archive.fetches(account=account))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, ["a", "b", "c", "d"])) == [4] * 4
    assert len(archive.trades()) == 16
    assert archive.accounts == ("a", "b", "c", "d")


def test_threads_may_make_the_same_archive_at_once(tmp_path: Path) -> None:
    def work(number: int) -> int:
        archive = td.Archive(tmp_path / "books.sqlite")
        return archive.add(trade_response(trade(str(number)), at=f"10:0{number}")).new

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) == 6
    assert len(td.Archive(tmp_path / "books.sqlite").trades()) == 6


WRITE = (
    PRELUDE
    + """
from archiving import trade, trade_response
archive = td.Archive(sys.argv[1])
for response in range(int(sys.argv[2])):
    rows = [trade(f"{response}-{row}", quantity=response) for row in range(int(sys.argv[3]))]
    archive.add(trade_response(*rows, at=f"10:{response:02}"))
"""
)


def test_a_reader_sees_complete_responses_only_while_another_program_writes(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    command = [sys.executable, "-c", WRITE, archive.path, str(RESPONSES), str(ROWS)]
    environment = os.environ | {"PYTHONPATH": PATHS}
    seen = [0]
    with subprocess.Popen(command, env=environment) as writer:
        while writer.poll() is None:
            # One query is one state of the file, and so is one call.
            rows, responses = archive.sql(
                "SELECT (SELECT count(*) FROM trades), (SELECT count(*) FROM fetches)"
            )[0]
            assert rows == ROWS * responses
            seen.append(len(archive.trades()))
    assert writer.returncode == 0
    assert all(count % ROWS == 0 for count in seen)
    assert seen == sorted(seen)
    assert len(set(seen)) > 2, "the reader must have met the writer"
    assert len(archive.trades()) == ROWS * RESPONSES


def test_another_program_may_keep_the_file_open(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1"), at="10:00"))
    other = sqlite3.connect(archive.path, isolation_level=None)
    other.execute("BEGIN")
    assert other.execute("SELECT count(*) FROM trades").fetchone() == (1,)
    archive.add(trade_response(trade("1"), trade("2"), at="10:01"))
    assert other.execute("SELECT count(*) FROM trades").fetchone() == (1,)
    other.execute("COMMIT")
    assert other.execute("SELECT count(*) FROM trades").fetchone() == (2,)
    other.close()


FORK = """
import os
from archiving import trade, trade_response
archive = td.Archive(sys.argv[1])
archive.add(trade_response(trade("1"), at="10:00"))
child = os.fork()
if child == 0:
    os._exit(archive.add(trade_response(trade("1"), trade("2"), at="10:01")).new)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(archive.trades()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_an_archive_lives_on_in_a_forked_child(tmp_path: Path) -> None:
    path = str(tmp_path / "books.sqlite")
    assert run_child(FORK, path, environment={"PYTHONPATH": PATHS}).split() == ["1", "2"]
