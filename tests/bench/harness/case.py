"""A case: something to measure, made ready once and then run many times."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

# What a result holds, in plain values so that the results of different libraries compare.
Fact: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What a case works on: a body in a file, or a service."""

    record: str
    path: str = ""
    base_url: str = ""
    ca_file: str = ""  # whom to trust, of a service with TLS
    clock: str = ""  # of a paced service: see harness/paced_server.py

    def body(self) -> bytes:
        return Path(self.path).read_bytes()


@dataclass(frozen=True)
class Ready:
    """`run` is measured, `check` and `close` are not; `calls` are the operations of a run.

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


def find(module: str, case: str) -> Prepare:
    """The case of that name in `bench.cases.<module>`."""
    cases: dict[str, Prepare] = importlib.import_module(f"bench.cases.{module}").CASES
    return cases[case]
