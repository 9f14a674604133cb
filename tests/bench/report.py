"""Goals, whether they were reached, and tables for a terminal and for Markdown."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from .contest import Contest, Result, play

QUIET_LOAD = 0.3
NOT_ON_PAGE = {
    *("least - greatest", "CPU, shared process"),
    *("ours", "best peer", "spread", "beside"),
}
WITHOUT_SERVER = ("decode", "rows", "frames")  # where wall and CPU times are the same
ABOUT_GOALS = (
    "The ratio that decides each goal, the gate (required) and the aim (wanted). `?` marks a goal "
    "on whose gate the rounds disagree, and `rests` one that is not pursued, with the reason."
)
VERSIONS = (
    "tradingdata msgspec orjson pydantic pysimdjson pandas polars pyarrow duckdb "
    "requests httpx aiohttp pycurl"
).split()


@dataclass(frozen=True)
class Goal:
    """`faster`: how many times less than the best of the peers; else how many times more.

    Without peers, the gate and the aim are milliseconds; see `slowness`. `rests` is why a gate that
    is missed does not count; nor does it where `floor`, another entry of it, takes as long.
    """

    what: str
    peers: tuple[str, ...]
    gate: float
    aim: float
    faster: bool = True
    ours: str = "tradingdata"
    metric: str = "cpu"
    ahead_of: str = ""  # the aim also asks to be past this entry
    rests: str = ""
    floor: str = ""


REFERENCE_START = 0.010  # seconds of CPU of `python -c pass` on the machine of all limits in ms
AS_LONG = 1.1  # times a floor: what two runs of one program may differ by


@dataclass(frozen=True)
class Row:
    """A goal and what was reached, fit to be printed."""

    what: str
    ours: str
    peer: str
    ratios: tuple[float, float, float]  # of the medians, the least and the greatest of a round
    gate: float
    aim: float
    faster: bool = False
    beside: str = ""  # the same ratio by another metric, and within one shared process
    reaches_aim: bool = True  # what else the aim asks
    rests: str = ""

    @property
    def verdict(self) -> str:
        """FAILED: nothing was measured, which is neither a gate met nor one missed."""
        if math.isnan(self.ratios[0]):
            return "FAILED"
        if not self._reaches(self.gate):
            return "rests" if self.rests else "MISSED"
        return "aim" if self._reaches(self.aim) and self.reaches_aim else "gate"

    @property
    def shown(self) -> str:
        """The verdict, with a question mark where the rounds disagree about the gate."""
        unsure = self._reaches(self.gate, 1) != self._reaches(self.gate, 2)
        reason = f": {self.rests}" if self.verdict == "rests" else ""
        return self.verdict + ("?" if unsure else "") + reason

    def _reaches(self, bound: float, at: int = 0) -> bool:
        return self.ratios[at] >= bound if self.faster else self.ratios[at] <= bound


def failed(goal: Goal, ours: str = "did not run", peer: str = "") -> Row:
    """The row of a goal of which nothing was measured."""
    return Row(goal.what, ours, peer, (math.nan,) * 3, goal.gate, goal.aim, goal.faster)


def cpu_of_children() -> float:
    """Seconds that all processes took that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def slowness() -> float:
    """How many times longer `python -c pass` takes now than on the machine of the limits; or 1.

    A virtual machine may be two and a half times slower than the same one an hour before.
    """
    starts = []
    for _ in range(9):
        before = cpu_of_children()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        starts.append(cpu_of_children() - before)
    return max(1.0, statistics.median(starts) / REFERENCE_START)


def judge(goal: Goal, results: dict[str, Result], slower: float = 1) -> Row:
    """The row of a goal; it failed where our own entry is missing, or every peer.

    Milliseconds are divided by how much slower the machine is than that of the limits.
    """
    ours = results[goal.ours]
    peers = [results[label] for label in goal.peers if not results[label].missing]
    if ours.missing:
        return failed(goal)
    if goal.peers and not peers:
        return failed(goal, "", "none is installed")
    best = min(peers, key=lambda peer: peer.median(goal.metric), default=None)
    other = "wall" if goal.metric == "cpu" else "cpu"
    beside = [f"{other} {_ratios(goal, ours, best, other, slower)[0]:.2f}"]
    shared = f"shared_{goal.metric}"
    if best is not None and shared in best.times.keys() & ours.times.keys():
        beside.append(f"shared {_ratios(goal, ours, best, shared)[0]:.2f}")
    ahead = True
    if goal.ahead_of and not results[goal.ahead_of].missing:
        past = _ratios(goal, ours, results[goal.ahead_of], goal.metric)[0]
        beside.append(f"{goal.ahead_of} {past:.2f}")
        ahead = past >= 1
    rests = goal.rests
    if goal.floor and not results[goal.floor].missing:
        floor = results[goal.floor].median(goal.metric)
        if ours.median(goal.metric) <= AS_LONG * floor:
            rests = f"{goal.floor} takes {time(floor)}"
    return Row(
        goal.what,
        time(ours.median(goal.metric)),
        "" if best is None else f"{best.entry.label} {time(best.median(goal.metric))}",
        _ratios(goal, ours, best, goal.metric, slower),
        goal.gate,
        goal.aim,
        goal.faster,
        ", ".join(beside),
        ahead,
        rests,
    )


def _ratios(
    goal: Goal, ours: Result, peer: Result | None, metric: str, slower: float = 1
) -> tuple[float, float, float]:
    """The ratio of the medians, and the least and greatest of any one round; or milliseconds."""
    if peer is None:
        times = [seconds * 1e3 / slower for seconds in ours.times[metric]]
        return statistics.median(times), min(times), max(times)
    over, under = (peer, ours) if goal.faster else (ours, peer)
    each = [a / b for a, b in zip(over.times[metric], under.times[metric], strict=True)]
    return over.median(metric) / under.median(metric), min(each), max(each)


def time(seconds: float) -> str:
    """Seconds with a unit that suits them."""
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds * 1e6:.1f} us" if seconds >= 1e-6 else f"{seconds * 1e9:.0f} ns"


@dataclass(frozen=True)
class Table:
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Markdown that reads well in a terminal too; all but the first column to the right."""
        columns = zip(self.headings, *self.rows, strict=True)
        widths = [max(map(len, column)) for column in columns]

        def shown(cells: Sequence[str]) -> str:
            first, *others = (
                cell.rjust(width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            return "| " + " | ".join([first, *others]) + " |"

        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        notes = [line for note in self.notes for line in (note, "")]
        return [*map(shown, (self.headings, rule, *self.rows)), "", *notes]


Made = TypeVar("Made")


@dataclass
class Run:
    """One run of suites: each suite plays its contests with it.

    Attributes:
        results: Those of each contest, by `suite/name`.
        failures: What could not be measured, and why. It costs no other figure.
    """

    rounds: int
    only: str | None  # the only contest to play
    show: Callable[[Table], None]
    suite: str = ""
    rows: list[Row] = field(default_factory=list)
    results: dict[str, dict[str, Result]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def wants(self, contest: str) -> bool:
        return self.only in (None, contest)

    def attempt(self, what: str, work: Callable[[], Made]) -> Made | None:
        """Returns what the work makes; where it fails, notes it and returns None."""
        try:
            return work()
        except Exception as problem:
            self.failures.append(f"{what}: {type(problem).__name__}: {problem}")
            print(self.failures[-1], file=sys.stderr)
            return None

    def play(self, name: str, make: Callable[[], Contest], *goals: Goal) -> None:
        """Plays a contest, made only now since bodies take time; shows it and judges its goals."""
        if not self.wants(name):
            return

        def played() -> list[Row]:
            contest = make()
            results = play(contest, self.rounds)
            self.results[f"{self.suite}/{name}"] = results
            self.show(of_contest(contest, results))
            slower = slowness() if any(not goal.peers for goal in goals) else 1
            return [judge(goal, results, slower) for goal in goals]

        rows = self.attempt(f"{self.suite} {name}", played)
        self.rows += [failed(goal) for goal in goals] if rows is None else rows


def of_contest(contest: Contest, results: dict[str, Result]) -> Table:
    """Every entry's times, as a multiple of the first entry's too."""
    first = next((one for one in results.values() if not one.missing), None)
    rows = []
    for label, one in results.items():
        if one.missing or first is None:
            rows.append([label, "-", "-", "-", "-", "-"])
            continue
        cpu = one.times["cpu"]
        rows.append(
            [
                label + (" (untyped)" if one.fact.get("untyped") else ""),
                time(one.median("cpu")),
                f"{one.median('cpu') / first.median('cpu'):.2f}",
                f"{time(min(cpu))} - {time(max(cpu))}",
                time(one.median("wall")),
                time(one.median("shared_cpu")) if "shared_cpu" in one.times else "-",
            ]
        )
    headings = [contest.title, "CPU", "ratio", "least - greatest", "wall", "CPU, shared process"]
    absent = [f"{label}: left out ({one.missing})" for label, one in results.items() if one.missing]
    return Table(headings, rows, absent)


def of_goals(rows: Sequence[Row]) -> Table:
    headings = ["Goal", "ours", "best peer", "ratio", "spread", "gate", "aim", "reached", "beside"]
    lines = []
    for row in rows:
        ratio, low, high = row.ratios
        ratios = ["-", "-"] if math.isnan(ratio) else [f"{ratio:.2f}", f"{low:.2f} - {high:.2f}"]
        figures = [*ratios, f"{row.gate:g}", f"{row.aim:g}"]
        lines.append([row.what, row.ours, row.peer, *figures, row.shown, row.beside])
    return Table(headings, lines)


def section_of_page(title: str, sentence: str, tables: Sequence[Table]) -> list[str]:
    """Tables without some columns; those with the same columns are joined."""
    left_out = NOT_ON_PAGE | ({"wall"} if title in WITHOUT_SERVER else set())
    joined: list[list[Sequence[str]]] = []
    for table in tables:
        kept = [at for at, heading in enumerate(table.headings) if heading not in left_out]
        headings, *rows = ([row[at] for at in kept] for row in (table.headings, *table.rows))
        if joined and joined[-1][0][1:] == headings[1:]:
            joined[-1] += [[f"**{headings[0]}**", *[""] * (len(kept) - 1)], *rows]
        else:
            joined.append([headings, *rows])
    page = [f"## {title}", "", sentence, ""]
    for first, *more in joined:
        page += Table(first, more).lines()
    return page + [line for table in tables for note in table.notes for line in (note, "")]


def of_machine() -> list[str]:
    """What the figures were taken on, and a warning where it was not idle."""
    load = os.getloadavg()[0]
    lines = [
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, load {load:.2f}.",
        ", ".join(f"{name} {_version(name)}" for name in VERSIONS) + ".",
    ]
    if load > QUIET_LOAD:
        lines.append(f"The machine was busy (load {load:.2f}): ratios may be off by a third.")
    if _is_editable():
        lines.append(
            "tradingdata is an editable installation, which is hardly optimised: measure a wheel."
        )
    return [*lines, ""]


def _is_editable() -> bool:
    try:
        origin = importlib.metadata.distribution("tradingdata").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return False
    return bool(json.loads(origin or "{}").get("dir_info", {}).get("editable"))


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
