"""A process that measures cases on request: one case, or all cases of a contest.

It is reported the cases in its argument, as JSON. It responses with a line of facts; then each line
`<case> <count>` prints the CPU and wall seconds of that many runs. C++ programs that
take part speak the same way.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from .case import Ready, Source, find

WARM_RUNS = 3
WARM_SECONDS = 0.3


def main() -> None:
    # What a library prints goes to stderr; stdout carries the results only.
    responses = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def response(value: object) -> None:
        responses.write(json.dumps(value) + "\n")

    cases = [_prepare(one) for one in json.loads(sys.argv[1])]
    response([about for _, about in cases])
    for line in sys.stdin:
        index, count = map(int, line.split())
        ready = cases[index][0]
        assert ready is not None
        response(measure(ready, count))
    for ready, _ in cases:
        if ready is not None:
            ready.close()


def _prepare(reported: dict[str, Any]) -> tuple[Ready | None, dict[str, Any]]:
    """Makes a case ready and warm. One that cannot run here tells why, and is left out."""
    try:
        ready = find(reported["module"], reported["case"])(Source(**reported["source"]))
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
    return timed(ready.run, count, ready.calls, ready.since)


def timed(
    run: Callable[[], Any], count: int, calls: int, since: Callable[[], int] | None = None
) -> dict[str, list[float]]:
    cpu, wall = [], []
    for _ in range(count):
        wall_before, cpu_before = time.perf_counter_ns(), time.process_time_ns()
        result = run()
        cpu_after, wall_after = time.process_time_ns(), time.perf_counter_ns()
        del result
        if since is not None:
            wall_before = since()
        cpu.append((cpu_after - cpu_before) / calls / 1e9)
        wall.append((wall_after - wall_before) / calls / 1e9)
    return {"cpu": cpu, "wall": wall}


if __name__ == "__main__":
    main()
