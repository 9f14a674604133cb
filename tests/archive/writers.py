"""Processes that write to an archive, for the tests of many writers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "support"

_PROGRAM = """
import sys, time
sys.path[:0] = [{here!r}, {tests!r}]
import tradingdata as td
from archiving import clock, response, trade
archive = td.Archive({path!r})
writer, commits, rows, work = {writer!r}, {commits}, {rows}, {work!r}
print("ready", flush=True)
for number in range(commits):
    records = [trade(f"{{writer}}-{{number}}-{{row}}") for row in range(rows)]
    book = response(td.TradeBook, records, clock("15:45"), account=f"{{writer}}-{{number}}")
    archive.add(book)
    print(f"{{writer}}-{{number}}", flush=True)
    if work == "withdraw" and number % 3 == 2:
        archive.withdraw(archive.add(response(td.TradeBook, [trade("0")], clock("9:00"),
            account=f"{{writer}}-{{number}}")).id)
"""


def start_writer(
    path: Path, writer: str, *, commits: int, rows: int = 20, work: str = ""
) -> subprocess.Popen[str]:
    """Starts a process that commits books of accounts of its own and prints each afterwards."""
    program = _PROGRAM.format(
        here=str(HERE),
        tests=str(HERE.parent),
        path=str(path),
        writer=writer,
        commits=commits,
        rows=rows,
        work=work,
    )
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def acknowledged(output: str) -> set[str]:
    """The accounts that a writer printed."""
    return {line for line in output.split() if "-" in line}
