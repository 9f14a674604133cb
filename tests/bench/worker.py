"""A process that measures one way of a row: `python -m bench.worker ROW WAY SIZE`.

It prints what the result holds as a line of JSON, then a figure for each line that it reads: the
median of enough runs, for one operation. What is freed is freed outside of what is measured.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path

from .case import Ready
from .table import ROWS

ROUND_SECONDS, MOST_RUNS = 0.05, 400  # a short run is repeated, to fill a round
WARM_SECONDS = 0.2
RESET_PEAK = "5"  # to /proc/self/clear_refs: see proc(5)


def main() -> None:
    # What a library prints goes to stderr; stdout carries the results only.
    responses = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")  # calculations report what they leave out
    name, way, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    prepare, measure, count = ROWS[name].ways[way], cpu, 1
    if ROWS[name].memory:
        measure = memory
        loaded = prepare(20).run()  # the code, and what it keeps
        ready = prepare(size)
        del loaded
        print("{}", file=responses)
    else:
        ready = prepare(size)
        print(json.dumps(ready.check(ready.run())), file=responses)
        started, runs = time.perf_counter(), 0
        while not runs or time.perf_counter() - started < WARM_SECONDS:
            ready.run()
            runs += 1
        count = round(ROUND_SECONDS * runs / (time.perf_counter() - started))
    for _ in sys.stdin:
        gc.collect()
        figures = [measure(ready) for _ in range(max(1, min(count, MOST_RUNS)))]
        print(statistics.median(figures) / ready.calls, file=responses)
    os._exit(0)  # open clients and loops have no more to do


def cpu(ready: Ready) -> float:
    """Seconds of all threads of the process, and of those that it starts."""
    before = _seconds()
    result = ready.run()
    after = _seconds()
    del result
    return after - before


def _seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def memory(ready: Ready) -> float:
    """By how many bytes the resident set grows at its peak. Linux only."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text(RESET_PEAK, "ascii")
    before = _status("VmRSS")
    result = ready.run()
    peak = _status("VmHWM")
    del result
    return peak - before


def _status(name: str) -> int:
    words = Path("/proc/self/status").read_text("ascii").split()
    return int(words[words.index(f"{name}:") + 1]) * 1024


if __name__ == "__main__":
    main()
