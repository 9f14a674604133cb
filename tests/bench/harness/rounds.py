"""Plays a contest: a process for each case, the rounds going round over all of them."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from .bodies import PYTHONPATH
from .case import Fact, Source
from .facts import disagreements, untyped

ROUND_SECONDS = 0.03  # a short case is run often enough to fill this in each round
MOST_RUNS = 400


@dataclass(frozen=True)
class Entry:
    """A case that takes part; `program` is a compiled one that speaks as the worker does."""

    label: str
    module: str
    case: str
    source: Source
    program: tuple[str, ...] = ()
    alone: bool = False  # it changes its process, and so has none in common with others


@dataclass(frozen=True)
class Contest:
    title: str
    entries: tuple[Entry, ...]
    shared: bool = True  # also play it within one process


@dataclass
class Result:
    """What was measured of an entry: for each round the median of its runs, in seconds."""

    entry: Entry
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    shared_cpu: list[float] = field(default_factory=list)
    shared_wall: list[float] = field(default_factory=list)
    fact: Fact = field(default_factory=dict)
    missing: str = ""

    @property
    def untyped(self) -> bool:
        return bool(untyped(self.entry.source.record, self.fact))

    def rounds(self, metric: str) -> list[float]:
        found: list[float] = getattr(self, metric)
        return found

    def median(self, metric: str) -> float:
        return statistics.median(self.rounds(metric))


class Disagreement(Exception):
    """Two cases of a contest do not give the same result, so their times do not compare."""


class Worker:
    """A process that holds one entry, or several that share it."""

    def __init__(self, results: list[Result]) -> None:
        self.results = results
        entries = [result.entry for result in results]
        command = list(entries[0].program) or [
            sys.executable,
            "-m",
            "bench.harness.worker",
            json.dumps(
                [
                    {"module": one.module, "case": one.case, "source": asdict(one.source)}
                    for one in entries
                ]
            ),
        ]
        environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.counts: list[int] = []
        for result, about in zip(results, self._respond(), strict=True):
            result.fact = about.get("fact", result.fact)
            result.missing = result.missing or about.get("missing", "")
            seconds = about.get("seconds", ROUND_SECONDS)
            self.counts.append(max(1, min(MOST_RUNS, round(ROUND_SECONDS / seconds))))

    def _respond(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            labels = ", ".join(result.entry.label for result in self.results)
            raise RuntimeError(f"the process of {labels} ended with {self.process.wait()}")
        return json.loads(line)

    def measure(self, index: int) -> tuple[float, float]:
        """A round of one entry: the medians of its CPU and wall times."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{index} {self.counts[index]}\n")
        self.process.stdin.flush()
        times = self._respond()
        return statistics.median(times["cpu"]), statistics.median(times["wall"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()  # which ends it
        self.process.stdout.close()
        self.process.wait()


def play(contest: Contest, rounds: int) -> dict[str, Result]:
    """The results by label. Raises Disagreement where the cases give different results."""
    results = [Result(entry) for entry in contest.entries]
    with contextlib.ExitStack() as running:
        workers = [running.enter_context(Worker([result])) for result in results]
        found = disagreements({one.entry.label: one.fact for one in results if not one.missing})
        if found:
            raise Disagreement(f"{contest.title}: " + "; ".join(found))
        for number in range(rounds):
            for at in _turn(len(workers), number):
                if not results[at].missing:
                    cpu, wall = workers[at].measure(0)
                    results[at].cpu.append(cpu)
                    results[at].wall.append(wall)
    if contest.shared:
        _play_shared([one for one in results if not one.missing], rounds)
    return {result.entry.label: result for result in results}


def _play_shared(results: list[Result], rounds: int) -> None:
    """The same within one process; compiled programs keep one of their own."""
    together = [one for one in results if not (one.entry.program or one.entry.alone)]
    groups = [together] if together else []
    groups += [[one] for one in results if one.entry.program or one.entry.alone]
    with contextlib.ExitStack() as running:
        workers = [running.enter_context(Worker(group)) for group in groups]
        turns = [(worker, at) for worker in workers for at in range(len(worker.results))]
        for number in range(rounds):
            for turn in _turn(len(turns), number):
                worker, at = turns[turn]
                if not worker.results[at].missing:
                    cpu, wall = worker.measure(at)
                    worker.results[at].shared_cpu.append(cpu)
                    worker.results[at].shared_wall.append(wall)


def _turn(count: int, number: int) -> list[int]:
    """Another one begins each round, so that none always follows the same neighbour."""
    return [(number + at) % count for at in range(count)]
