"""Measures the ways of a row in turn, each in a process of its own, and keeps what it finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pyperf

from nginx import Served

from .case import OURS, TIMES, ZLIB, disagreements
from .table import ROWS

PATIENCE = 300  # seconds until a process that says nothing is ended
TESTS = Path(__file__).parents[1]
GROWN = f"{OURS} at {TIMES} times the size"


class Worker:
    """A process that measures one way."""

    def __init__(self, job: tuple[str, str, int], served: Served, site: Path | None) -> None:
        pipe, command = subprocess.PIPE, [sys.executable, "-m", "bench.worker", *map(str, job)]
        paths = [str(path) for path in (site, TESTS, TESTS / "support") if path]
        service = {"TRADINGDATA_BENCH_SERVICE": json.dumps(asdict(served))}
        env = {**os.environ, **service, "PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)

    def response(self) -> Any:
        """The next line; None if the process has ended, or had to be ended, instead."""
        assert self._process.stdout is not None
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        line = self._process.stdout.readline()
        patience.cancel()
        return json.loads(line) if line else None

    def figure(self) -> float | None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            print(file=self._process.stdin, flush=True)
        figure: float | None = self.response()
        return figure

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def measured(name: str, served: Served, zlib: Path | None, rounds: int) -> pyperf.BenchmarkSuite:
    """A benchmark for each way of a row, and for ours at ten times the size.

    Raises ValueError where the ways do not give the same result: their figures do not compare.
    """
    row, load, facts = ROWS[name], load_of_others(), {}
    jobs = {way: (name, way, row.size) for way in row.ways if way != ZLIB or zlib}
    jobs |= {GROWN: (name, OURS, row.size * TIMES)} if row.grows else {}
    figures: dict[str, list[float]] = {label: [] for label in jobs}

    with ExitStack() as running:

        def start(label: str) -> Worker:
            worker = Worker(jobs[label], served, zlib if label == ZLIB else None)
            running.callback(worker.end)
            return worker

        workers = {label: start(label) for label in jobs if not row.memory}
        facts = {x: worker.response() or {} for x, worker in workers.items()}
        if found := disagreements({x: fact for x, fact in facts.items() if x != GROWN}):
            raise ValueError("; ".join(found))
        for at in range(row.rounds or rounds):
            # Another one begins each round, so that none always follows the same neighbour.
            for label in (list(jobs) * 2)[at % len(jobs) : at % len(jobs) + len(jobs)]:
                worker = workers.get(label) or start(label)  # a new process for each peak
                if label not in workers:
                    worker.response()
                if (figure := worker.figure()) is not None:
                    figures[label].append(figure)
        others = round(load(), 2)
    if not figures[OURS]:
        raise RuntimeError(f"{OURS} did not run")
    if left_out := [label for label in jobs if not figures[label]]:
        print(f"{name}: without {', '.join(left_out)}", file=sys.stderr)
    unit = "byte" if row.memory else "second"
    about = {"unit": unit, "load": others, "date": time.strftime("%Y-%m-%d")}
    benchmarks = []
    for label in (label for label in jobs if figures[label]):
        about |= {"name": f"{name}: {label}", "untyped": str(facts.get(label, {}).get("untyped"))}
        run = pyperf.Run(figures[label], metadata=about, collect_metadata=False)
        benchmarks.append(pyperf.Benchmark([run]))
    return pyperf.BenchmarkSuite(benchmarks)


def load_of_others() -> Callable[[], float]:
    """Begins to watch how many processors all but this process and its children keep busy."""

    def seconds() -> tuple[float, float]:
        total, this = psutil.cpu_times(), psutil.Process()
        idle = total.idle + total.iowait + total.guest + total.guest_nice
        ours = sum(sum(each.cpu_times()[:4]) for each in (this, *this.children(recursive=True)))
        return time.monotonic(), sum(total) - idle - ours

    began = seconds()
    return lambda: max(seconds()[1] - began[1], 0) / (seconds()[0] - began[0])


class Results:
    """A folder with a file for each row that is finished, in pyperf's format."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, name: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{name.replace('/', '-')}.json"

    def of(self, name: str) -> dict[str, pyperf.Benchmark]:
        """The benchmarks of a row by way; none if it was not measured."""
        path = self.path(name)
        suite = pyperf.BenchmarkSuite.load(str(path)) if path.exists() else ()
        return {each.get_name().partition(": ")[2]: each for each in suite}

    def load(self, name: str) -> float:
        return max(float(each.get_metadata()["load"]) for each in self.of(name).values())
