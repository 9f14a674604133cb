"""F112: a program that is killed while it writes an archive leaves it intact.

At every moment the file can be read, holds each response completely or not at all, and every one
that was acknowledged. The kill comes at a chosen system call, before it, in the middle of its bytes
or after it, or at a random moment.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import tradingdata as td
from killed_writer import NEW_ROWS, RESPONSES, responses

SUPPORT = Path(__file__).parents[1] / "support"
RANDOM = -1


class Outcome(NamedTuple):
    acknowledged: int
    calls: int
    killed: bool


class Writer:
    """The program that is killed, again and again."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, path: Path, number: int = 0, how: int = 0) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\t{number}\t{how}\n")
        self._process.stdin.flush()
        acknowledged, calls, killed = map(int, self._process.stdout.readline().split())
        return Outcome(acknowledged, calls, bool(killed))


@contextmanager
def writer(folder: Path) -> Iterator[Writer]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        pytest.skip("to die at a system call needs Linux and a C compiler")
    shim = folder / "write_killer.so"
    source = SUPPORT / "service/write_killer.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    paths = os.pathsep.join(sys.path)
    environment = os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": paths}
    with subprocess.Popen(
        [sys.executable, SUPPORT / "killed_writer.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        yield Writer(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def check(path: Path, acknowledged: int) -> None:
    """Checks that the archive holds the first responses completely, and accepts the others."""
    archive = td.Archive(path)
    assert archive.sql("PRAGMA integrity_check") == [("ok",)]
    assert archive.sql("PRAGMA foreign_key_check") == []
    kept = len(archive.fetches())
    assert acknowledged <= kept <= acknowledged + 1, "an acknowledged response is lost"
    check_content(archive, kept)
    for book in responses():
        archive.add(book)
    check_content(archive, RESPONSES)


def check_content(archive: td.Archive, kept: int) -> None:
    quantities = {row.trade_no: row.quantity for row in archive.trades()}
    rows = [(f"{number}-{row}", number) for number in range(kept) for row in range(NEW_ROWS)]
    assert quantities == dict([*rows, *([("shared", kept - 1)] if kept else [])])
    seen = archive.sql("SELECT json ->> '$.quantity' FROM states WHERE json LIKE '%\"shared\"%'")
    assert seen == [(number,) for number in range(kept)]


def jobs(times: int, calls: int) -> list[tuple[int, int]]:
    """Which call to die at and how, all of them where there are enough; a third at random moments.

    So many microseconds are about what the program takes.
    """
    generator = random.Random(112)
    at_calls = times * 2 // 3
    chosen = [(call, call % 3) for call in range(1, calls + 1)]
    generator.shuffle(chosen)
    while len(chosen) < at_calls:
        chosen.append((generator.randint(1, calls), generator.randrange(3)))
    moments = [(RANDOM, generator.randrange(60_000)) for _ in range(times - at_calls)]
    return chosen[:at_calls] + moments


def kill(folder: Path, times: int) -> tuple[int, int]:
    """Kills the writer so often; returns how often it died, and at how many system calls."""
    with writer(folder) as program:
        undisturbed = program.run(folder / "killed.sqlite")
        assert undisturbed.acknowledged == RESPONSES
        assert undisturbed.calls > 10 * RESPONSES
        died = 0
        for number, job in enumerate(jobs(times, undisturbed.calls)):
            place = folder / str(number)
            place.mkdir()
            outcome = program.run(place / "killed.sqlite", *job)
            check(place / "killed.sqlite", outcome.acknowledged)
            died += outcome.killed
            shutil.rmtree(place)
    return died, undisturbed.calls


def test_a_killed_writer_leaves_a_whole_archive(tmp_path: Path) -> None:
    died, _ = kill(tmp_path, 12)
    assert died >= 8


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_writer_killed_500_times_leaves_a_whole_archive(tmp_path: Path) -> None:
    died, calls = kill(tmp_path, 500)
    print(f"died {died} times, at {calls} system calls")
    assert died >= 350
