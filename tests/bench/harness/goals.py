"""What must be reached: a ratio of two entries of a contest, or a figure by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .rounds import Result


@dataclass(frozen=True)
class Goal:
    """`faster`: how many times less than the best of the peers; else how many times more."""

    what: str
    contest: str
    peers: tuple[str, ...]
    gate: float
    aim: float
    faster: bool = True
    ours: str = "tradingdata"
    metric: str = "cpu"
    ahead_of: str = ""  # the aim also asks to be past this entry


@dataclass(frozen=True)
class Row:
    """A goal and what was reached, fit to be printed."""

    what: str
    ours: str
    peer: str
    ratio: float
    low: float
    high: float
    gate: float
    aim: float
    faster: bool
    beside: str = ""  # the same ratio by another metric, and within one shared process
    reaches_aim: bool = True  # what else the aim asks

    @property
    def verdict(self) -> str:
        if math.isnan(self.ratio) or not self._reaches(self.gate):
            return "MISSED"
        return "aim" if self._reaches(self.aim) and self.reaches_aim else "gate"

    @property
    def shown(self) -> str:
        """The verdict, with a question mark where the rounds disagree about the gate."""
        unsure = self._reaches(self.gate, self.low) != self._reaches(self.gate, self.high)
        return self.verdict + ("?" if unsure else "")

    def _reaches(self, bound: float, value: float | None = None) -> bool:
        reached = self.ratio if value is None else value
        return reached >= bound if self.faster else reached <= bound


def judge(goal: Goal, results: dict[str, Result]) -> Row:
    """The row of a goal. Where our own entry is missing, or every peer, the goal is missed."""
    ours = results[goal.ours]
    peers = [results[label] for label in goal.peers if not results[label].missing]
    if ours.missing or not peers:
        absent = ("did not run", "") if ours.missing else ("", "none is installed")
        return _row(goal, *absent, (math.nan,) * 3)
    best = min(peers, key=lambda peer: peer.median(goal.metric))
    other = "wall" if goal.metric == "cpu" else "cpu"
    beside = [f"{other} {_ratio(goal, ours, best, other)[0]:.2f}"]
    if best.shared_cpu and ours.shared_cpu:
        beside.append(f"shared {_ratio(goal, ours, best, f'shared_{goal.metric}')[0]:.2f}")
    ahead = True
    if goal.ahead_of and not results[goal.ahead_of].missing:
        past = _ratio(goal, ours, results[goal.ahead_of], goal.metric)[0]
        beside.append(f"{goal.ahead_of} {past:.2f}")
        ahead = past >= 1
    figure, against = (time(one.median(goal.metric)) for one in (ours, best))
    peer = f"{best.entry.label} {against}"
    return _row(goal, figure, peer, _ratio(goal, ours, best, goal.metric), beside, ahead)


def _row(
    goal: Goal,
    ours: str,
    peer: str,
    ratios: tuple[float, ...],
    beside: list[str] | None = None,
    ahead: bool = True,
) -> Row:
    ratio, low, high = ratios
    bounds = (goal.gate, goal.aim, goal.faster)
    return Row(goal.what, ours, peer, ratio, low, high, *bounds, ", ".join(beside or ()), ahead)


def _ratio(goal: Goal, ours: Result, peer: Result, metric: str) -> tuple[float, float, float]:
    """The ratio of the medians, and the least and greatest of any one round."""
    over, under = (peer, ours) if goal.faster else (ours, peer)
    each = [a / b for a, b in zip(over.rounds(metric), under.rounds(metric), strict=True)]
    return over.median(metric) / under.median(metric), min(each), max(each)


def time(seconds: float) -> str:
    """Seconds with a unit that suits them."""
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds * 1e6:.1f} us"
