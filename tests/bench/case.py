"""What a case is: a way to do some work, made ready in a process of its own."""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

# What a result holds, so that those of different libraries compare: `rows`, the sums of columns by
# name, and whether it is `untyped`: whether values are not of the documented type.
Fact: TypeAlias = dict[str, Any]
OURS, ZLIB = "tradingdata", "tradingdata with zlib"
TIMES = 10  # how much larger the input is with which growth is measured


@dataclass(frozen=True)
class Ready:
    """Work that can be measured: `run` does it, `check` finds out what its result holds."""

    run: Callable[[], Any]
    check: Callable[[Any], Fact] = lambda result: {}
    calls: int = 1  # operations in a run


Way: TypeAlias = Callable[[int], Ready]  # makes the work ready for an input of some size
Ways: TypeAlias = dict[str, Way]


@dataclass(frozen=True)
class Row:
    """A row of the tables: the same work done by this library, the first of `ways`, and by peers.

    Attributes:
        title: What the work is, as a reader would put it; `{size}` is the size of the input.
        ways: The ways to do it, by name.
        size: Of the input: rows, days or clients, as the title says.
        goal: How many times as fast as `peer` it must be, at the least; below 1, it may be slower.
        peer: Whom the goal is about; the fastest if empty.
        why: Half a sentence for a reader who sees that a peer is faster.
        memory: Whether bytes are measured, at the peak, not seconds of CPU.
        grows: Whether the work is also measured at ten times the size.
        rounds: How many to play, if fewer are enough.
    """

    title: str
    ways: Ways
    size: int
    goal: float
    peer: str = ""
    why: str = ""
    memory: bool = False
    grows: bool = True
    rounds: int = 0


def peer(name: str) -> Any:
    """A library that is compared, imported when its case is made ready."""
    return importlib.import_module(name)


@functools.cache
def served() -> Any:
    """The service that the runner has started."""
    return peer("nginx").Served(**json.loads(os.environ["TRADINGDATA_BENCH_SERVICE"]))


def total(values: Any) -> float:
    return math.fsum(value for value in values if value is not None)


def fact_of(*, count: bool = True, **columns: str) -> Callable[[Any], Fact]:
    """A check that counts rows and adds up columns, of a result of ours, a frame or a mapping."""

    def check(result: Any) -> Fact:
        ours = hasattr(result, "issues") and columns
        table = result.to_dict(list(columns.values())) if ours else result
        sums = {name: total(table[column]) for name, column in columns.items()}
        rows = len(next(iter(result.values()))) if isinstance(result, dict) else len(result)
        return sums | ({"rows": rows} if count else {})

    return check


def disagreements(facts: Mapping[str, Fact]) -> list[str]:
    """Where results differ that must be the same: rows, and each sum that both know."""
    (first, reference), *others = facts.items() or [("", {})]
    return [
        f"{what}: {first} {reference[what]}, {name} {fact[what]}"
        for name, fact in others
        for what in reference.keys() & fact.keys() - {"untyped"}
        if not math.isclose(reference[what], fact[what], rel_tol=1e-9)
    ]
