"""Contests: cases in processes of their own, measured in turn, whose results are the same."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias

ROUND_SECONDS = 0.03  # a short case is run often enough to fill this in each round
MOST_RUNS = 400
PATIENCE = 300  # seconds until a process that says nothing is ended
TESTS = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), str(TESTS / "support")))}

# What a result holds, in plain values so that the results of different libraries compare: `rows`
# or `bytes`, `sums` of the numeric columns, and `untyped`, the columns not of the documented kind.
Fact: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What a case works on: a body in a file, or a service."""

    record: str
    path: str = ""
    base_url: str = ""
    ca_file: str = ""  # whom to trust, of a service with TLS
    clock: str = ""  # of a paced service: see servers.py

    def body(self) -> bytes:
        return Path(self.path).read_bytes()


@dataclass(frozen=True)
class Ready:
    """A case made ready: `run` is measured, the rest is not; `calls` are the operations of a run.

    `since` returns the `time.perf_counter_ns()` from which the wall time of the last run counts,
    where that is not the start of the run.
    """

    run: Callable[[], Any]
    check: Callable[[Any], Fact]
    calls: int = 1
    close: Callable[[], object] = lambda: None
    since: Callable[[], int] | None = None


Prepare: TypeAlias = Callable[[Source], Ready]


def peer(module: str) -> Any:
    """A library that may be absent, imported by the case that needs it and by no other."""
    return importlib.import_module(module)


def prepared(about: dict[str, Any]) -> Ready:
    """Makes a case ready in a process of its own, from what `Entry.about` passed to it."""
    cases: dict[str, Prepare] = importlib.import_module(f"bench.suites.{about['module']}").CASES
    return cases[about["case"]](Source(**about["source"]))


@dataclass(frozen=True)
class Entry:
    """A case that takes part; `program` is a compiled one that speaks as the worker does."""

    label: str
    module: str
    case: str
    source: Source
    program: tuple[str, ...] = ()

    @property
    def about(self) -> dict[str, Any]:
        return {"module": self.module, "case": self.case, "source": asdict(self.source)}


@dataclass(frozen=True)
class Contest:
    title: str
    entries: tuple[Entry, ...]
    shared: bool = True  # also play it within one process


@dataclass
class Result:
    """What was measured of an entry: for each round the median of its runs, in seconds.

    The metrics are cpu, wall, and those of a process shared by all cases: shared_cpu, shared_wall.
    """

    entry: Entry
    times: dict[str, list[float]] = field(default_factory=dict)
    fact: Fact = field(default_factory=dict)
    missing: str = ""

    def median(self, metric: str) -> float:
        return statistics.median(self.times[metric])


class Disagreement(Exception):
    """Two cases of a contest do not give the same result, so their times do not compare."""


class Worker:
    """A process that holds one entry, or several that share it.

    Attributes:
        ended: How the process ended too early; empty if it did not.
        absent: Why a case cannot run in it, by its position.
    """

    def __init__(self, results: list[Result]) -> None:
        self.results = results
        self.ended = ""
        cases = json.dumps([result.entry.about for result in results])
        command = results[0].entry.program or (sys.executable, "-m", "bench.worker", cases)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, env=ENVIRONMENT
        )
        found = self._response() or [{} for _ in results]
        self.absent = {at: about["missing"] for at, about in enumerate(found) if "missing" in about}
        self.counts: list[int] = []
        for result, about in zip(results, found, strict=True):
            result.fact = about.get("fact", result.fact)
            seconds = about.get("seconds", ROUND_SECONDS)
            self.counts.append(max(1, min(MOST_RUNS, round(ROUND_SECONDS / seconds))))

    def _response(self) -> Any:
        """The next line of the process; None if it ended, or had to be ended, instead."""
        assert self.process.stdout is not None
        patience = threading.Timer(PATIENCE, self.process.kill)
        patience.start()
        line = self.process.stdout.readline()
        patience.cancel()
        if line:
            return json.loads(line)
        self.ended = f"its process ended with {self.process.wait()}"
        return None

    def measure(self, index: int, prefix: str) -> None:
        """A round of one entry: the medians of its CPU and wall times."""
        if self.ended or index in self.absent:
            return
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{index} {self.counts[index]}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the response says so
        for metric, times in (self._response() or {}).items():
            rounds = self.results[index].times.setdefault(f"{prefix}{metric}", [])
            rounds.append(statistics.median(times))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()  # closes its input, which ends it


def play(contest: Contest, rounds: int) -> dict[str, Result]:
    """The results by label. Raises Disagreement where the cases give different results."""
    results = [Result(entry) for entry in contest.entries]
    _play(contest, [[one] for one in results], rounds, "")
    if contest.shared:
        present = [one for one in results if not one.missing]
        apart = [one for one in present if one.entry.program]
        together = [one for one in present if one not in apart]
        groups = [together] if together else []
        _play(contest, [*groups, *([one] for one in apart)], rounds, "shared_")
    return {result.entry.label: result for result in results}


def _play(contest: Contest, groups: list[list[Result]], rounds: int, prefix: str) -> None:
    with contextlib.ExitStack() as running:
        workers = [running.enter_context(Worker(group)) for group in groups]
        _leave_out(workers, prefix)
        present = [one for each in groups for one in each if not one.missing]
        if found := disagreements({one.entry.label: one.fact for one in present}):
            raise Disagreement(f"{contest.title}: " + "; ".join(found))
        turns = [(worker, at) for worker in workers for at in range(len(worker.results))]
        for number in range(rounds):
            # Another one begins each round, so that none always follows the same neighbour.
            for at in range(len(turns)):
                worker, index = turns[(number + at) % len(turns)]
                worker.measure(index, prefix)
        _leave_out(workers, prefix)


def _leave_out(workers: list[Worker], prefix: str) -> None:
    """Marks the cases that did not run; what was measured of them in another process remains."""
    for worker in workers:
        for at, result in enumerate(worker.results):
            reason = worker.absent.get(at, worker.ended)
            if reason and prefix:
                for metric in ("cpu", "wall"):
                    result.times.pop(f"{prefix}{metric}", None)
            elif reason:
                result.missing = reason


def disagreements(facts: dict[str, Fact]) -> list[str]:
    """Where results differ that must be the same: rows, bytes, and each sum that both know."""
    found: list[str] = []
    (first, reference), *others = facts.items() or [("", {})]
    for label, fact in others:
        for what in fact.keys() & reference.keys() & {"rows", "bytes"}:
            if fact[what] != reference[what]:
                found.append(f"{what}: {first} {reference[what]}, {label} {fact[what]}")
        mine, theirs = reference.get("sums", {}), fact.get("sums", {})
        for name in mine.keys() & theirs.keys():
            if not math.isclose(mine[name], theirs[name], rel_tol=1e-9):
                found.append(f"sum of {name}: {first} {mine[name]}, {label} {theirs[name]}")
    return found


def run_module(label: str, module: str, *arguments: object) -> Any:
    """What a module printed as JSON in a process of its own; None, with a note, where it failed."""
    command = [sys.executable, "-m", f"bench.suites.{module}", *map(json.dumps, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if done.returncode == 0:
        return json.loads(done.stdout)
    print(f"{label}: left out\n{done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return None
