"""A process that measures cases on request: one case, or all cases of a contest.

The cases are its argument, as JSON. It prints a line of facts; then each line `<case> <count>` of
its input prints the CPU and wall seconds of that many runs. The programs in floors/ do the same.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

from .contest import Ready, prepared

WARM_RUNS = 3
WARM_SECONDS = 0.3


def main() -> None:
    # What a library prints goes to stderr; stdout carries the results only.
    responses = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    cases = [_prepare(one) for one in json.loads(sys.argv[1])]
    print(json.dumps([about for _, about in cases]), file=responses)
    for line in sys.stdin:
        index, count = map(int, line.split())
        ready = cases[index][0]
        assert ready is not None
        print(json.dumps(measure(ready, count)), file=responses)
    for ready, _ in cases:
        if ready is not None:
            ready.close()


def _prepare(about: dict[str, Any]) -> tuple[Ready | None, dict[str, Any]]:
    """Makes a case ready and warm. One that cannot run here says why, and is left out."""
    try:
        ready = prepared(about)
        fact = ready.check(ready.run())
    except Exception as problem:
        return None, {"missing": f"{type(problem).__name__}: {problem}"}
    started = time.perf_counter()
    runs = 0
    while runs < WARM_RUNS or time.perf_counter() - started < WARM_SECONDS:
        ready.run()
        runs += 1
    return ready, {"fact": fact, "seconds": (time.perf_counter() - started) / runs}


def measure(ready: Ready, count: int) -> dict[str, list[float]]:
    """Seconds of CPU and of wall time for each of `count` runs, for one operation.

    The result is freed outside of the measured time, and garbage is collected before.
    """
    gc.collect()
    cpu, wall = [], []
    run = ready.run
    for _ in range(count):
        wall_before, cpu_before = time.perf_counter_ns(), time.process_time_ns()
        result = run()
        cpu_after, wall_after = time.process_time_ns(), time.perf_counter_ns()
        del result
        if ready.since is not None:
            wall_before = ready.since()
        cpu.append((cpu_after - cpu_before) / ready.calls / 1e9)
        wall.append((wall_after - wall_before) / ready.calls / 1e9)
    return {"cpu": cpu, "wall": wall}


if __name__ == "__main__":
    main()
