"""A program that writes archives and is killed meanwhile; run with `write_killer.c` preloaded.

It reads a job a line: a path, then either the number of the system call to die at (0: none) and how
(0 before it, 1 half done, 2 after it), or -1 and the microseconds until it is killed from outside.
It prints a line for each: the number of acknowledged responses, that of system calls (0
where it was killed), and whether it was killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

import tradingdata as td
from archiving import clock, trade, trade_response

RESPONSES = 3
NEW_ROWS = 3


def responses() -> list[td.TradeBook]:
    """Responses of which each has rows of its own, and one row that all share and change."""
    return [
        trade_response(
            trade("shared", quantity=number),
            *(trade(f"{number}-{row}", quantity=number) for row in range(NEW_ROWS)),
            at=clock(f"10:{number:02}").strftime("%H:%M"),
        )
        for number in range(RESPONSES)
    ]


def write(path: str, books: list[td.TradeBook], acknowledged: int) -> None:
    archive = td.Archive(path)
    for book in books:
        archive.add(book)
        os.write(acknowledged, b".")


def main() -> None:
    killer = ctypes.CDLL(None)
    books = responses()
    for line in sys.stdin:
        path, number, how = line.rstrip("\n").rsplit("\t", 2)
        reported, tell = os.pipe()
        counted, count = os.pipe()
        child = os.fork()
        if child == 0:
            killer.arm(ctypes.c_long(int(number)), int(how))
            write(path, books, tell)
            os.write(count, b"%d" % killer.calls_seen())
            os._exit(0)
        os.close(tell)
        os.close(count)
        if number == "-1":
            time.sleep(int(how) / 1e6)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or status == 0, status
        acknowledged, calls = (os.read(pipe, 4096) for pipe in (reported, counted))
        os.close(reported)
        os.close(counted)
        print(len(acknowledged), int(calls or 0), int(killed), flush=True)


if __name__ == "__main__":
    main()
