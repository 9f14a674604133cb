"""A suite: contests to play, and the goals they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from . import report
from .case import Source
from .goals import Goal, Row, judge
from .rounds import Contest, Entry, play

Show: TypeAlias = Callable[..., None]  # prints lines
# Every module of suites/ has one: takes the rounds, where to print, and the only contest to play.
Run: TypeAlias = Callable[[int, Show, str | None], list[Row]]


@dataclass(frozen=True)
class Suite:
    contests: Mapping[str, Callable[[], Contest]]  # made when played, since bodies take time
    goals: tuple[Goal, ...] = ()


def play_all(suite: Suite, rounds: int, show: Show, only: str | None) -> list[Row]:
    """Plays the contests, shows each, and judges the goals."""
    rows = []
    for name, make in suite.contests.items():
        if only in (None, name):
            contest = make()
            results = play(contest, rounds)
            show(*report.of_contest(contest, results))
            rows += [judge(goal, results) for goal in suite.goals if goal.contest == name]
    return rows


def entries(
    module: str,
    source: Source,
    labels: Mapping[str, str],
    names: Iterable[str] | None = None,
    prefix: str = "",
) -> tuple[Entry, ...]:
    """An entry for each case, all of them working on the same source."""
    chosen = labels if names is None else names
    return tuple(Entry(labels[name], module, prefix + name, source) for name in chosen)
