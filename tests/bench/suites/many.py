"""Many calls at once, and many accounts that are polled in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from functools import partial

from ..cases.async_cases import MANY_AT_ONCE
from ..cases.http_cases import CALLS
from ..cases.polling import ACCOUNTS, PERIOD, POLLERS
from ..harness import report
from ..harness.bodies import PYTHONPATH, book
from ..harness.case import Source
from ..harness.goals import Goal, Row, time
from ..harness.rounds import Contest, Entry
from ..harness.server import serving
from ..harness.suite import Show, Suite, play_all
from .http import FLOOR, floor

TRADES = 5  # 4.5 KB


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    with serving({"small": book("Trade", TRADES)}) as served:
        source = Source("Trade", base_url=f"{served.http}/small")
        rows = play_all(_suite(source), rounds, show, only)
        if only in (None, "accounts"):
            show(*_accounts(source))
    return rows


def _suite(source: Source) -> Suite:
    return Suite(
        contests={str(at_once): partial(_at_once, source, at_once) for at_once in MANY_AT_ONCE},
        goals=tuple(
            Goal(f"{at_once} at once against libcurl, times slower", str(at_once), (FLOOR,),
                 2.5, 2, faster=False)
            for at_once in MANY_AT_ONCE
        ),
    )  # fmt: skip


def _at_once(source: Source, at_once: int) -> Contest:
    peers = {"tradingdata": "tradingdata", "pycurl, multi": "pycurl", "aiohttp": "aiohttp"}
    entries = [
        Entry(label, "async_cases", f"{at_once}:{name}", source) for label, name in peers.items()
    ]
    return Contest(
        f"{at_once} calls of 4.5 KB at once, for each", (*entries, floor(source, CALLS, at_once))
    )


def _accounts(source: Source) -> list[str]:
    title = f"{ACCOUNTS:,} accounts, each polled every {PERIOD} s"
    headings = [title, "CPU a call", "p50", "p99", "memory an account"]
    return report.table(headings, [_polled(label, source) for label in POLLERS])


def _polled(label: str, source: Source) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.cases.polling", label, json.dumps(asdict(source))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    )
    if done.returncode != 0:
        print(f"{label}: left out\n{done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return [label, *["-"] * 4]
    found = json.loads(done.stdout)
    times = [time(found[name]) for name in ("cpu", "p50", "p99")]
    return [label, *times, f"{found['memory'] / 1024:.0f} KiB"]
