"""What a process of its own is needed for: the peak of memory, imports, and the command line.

`python -m bench.suites.process CASE SMALL` makes one result and prints by how many bytes memory
grew at the highest: the high-water mark of the resident set, which Linux lets a process reset, less
what was resident before. SMALL is a small body to load code and warm up with.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..bodies import book
from ..contest import Entry, prepared, run_module
from ..report import Row, Run, Table, cpu_of_children, slowness
from ..servers import serving
from . import frames, records

PROCESSES = 5  # the spread is small: a case gives the same within a few pages
RESET_PEAK = "5"  # to /proc/self/clear_refs: see proc(5)
IMPORT_GATE, IMPORT_AIM = 50, 10  # ms
COMMANDS = {"--version": (90, 60), "trades": (130, 100)}  # gate and aim in ms
MODULES = ("tradingdata", "pycurl", "msgspec", "httpx", "requests", "aiohttp", "pandas", "polars")
IMPORT = """
import json, time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
print(json.dumps([(time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3]))
"""


def memory(run: Run) -> None:
    """By how much memory grows at its peak while a body becomes a book or a frame, in bodies."""

    def part(name: str, title: str, make: Callable[[], tuple[Entry, ...]], *bounds: float) -> None:
        if run.wants(name):
            run.attempt(f"memory {name}", lambda: measure(title, make, *bounds))

    def measure(title: str, make: Callable[[], tuple[Entry, ...]], *bounds: float) -> None:
        growths = _growths(make(), min(run.rounds, PROCESSES))
        headings = [f"Peak growth in bodies: {title}", "median", "least - greatest"]
        run.show(Table(headings, [_line(*one) for one in growths.items()]))
        run.rows.append(_judge(title, growths, *bounds))

    def of_200k() -> tuple[Entry, ...]:
        return records.entries(records.trades(200_000), ("tradingdata", *records.PEER))

    def of_10k() -> tuple[Entry, ...]:
        return records.entries(records.trades(), records.DECODERS)

    part("memory-book", "a book of 10,000 trades", of_10k, 2, 1.6)
    part("memory-book-200k", "a book of 200,000 trades", of_200k, 2, 1.6)
    pandas = "a pandas frame of 10,000 trades"
    part("memory-pandas", pandas, lambda: frames.entries("pandas"), 3.5, 2.5)


def _growths(entries: tuple[Entry, ...], processes: int) -> dict[str, list[float]]:
    """Growths in bodies by label, each of a new process; none where a case cannot run."""
    growths: dict[str, list[float]] = {entry.label: [] for entry in entries}
    small = records.trades(100).path
    for entry in entries * processes:
        growth = run_module(entry.label, "process", entry.about, small)
        if growth is not None:
            growths[entry.label].append(growth / Path(entry.source.path).stat().st_size)
    return growths


def _line(label: str, each: list[float]) -> list[str]:
    if not each:
        return [label, "-", "-"]
    return [label, f"{statistics.median(each):.2f}", f"{min(each):.2f} - {max(each):.2f}"]


def _judge(title: str, growths: dict[str, list[float]], gate: float, aim: float) -> Row:
    medians = {label: statistics.median(each) for label, each in growths.items() if each}
    peers = {label: one for label, one in medians.items() if not label.startswith("tradingdata")}
    best = min(peers, key=lambda label: peers[label], default="")
    each = growths["tradingdata"] or [math.nan]
    ratios = (statistics.median(each), min(each), max(each))
    peer = f"{best} {peers[best]:.2f}" if best else ""
    title = f"peak growth in bodies: {title}"
    return Row(title, f"{ratios[0]:.2f}", peer, ratios, gate, aim)


def start(run: Run) -> None:
    """What `import tradingdata`, the imports of its peers, and short commands take."""
    if run.wants("import"):
        run.attempt("start import", partial(_imports, run))
    if run.wants("commands"):
        run.attempt("start commands", partial(_commands, run))


def _imports(run: Run) -> None:
    times: dict[str, list[list[float]]] = {module: [] for module in MODULES}
    for number in range(run.rounds + 1):
        for module, each in times.items():
            command = [sys.executable, "-c", IMPORT.format(module=module)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            # The first one compiles, and reads from the disk. Some may not be installed.
            if number > 0 and done.returncode == 0:
                each.append(json.loads(done.stdout))
    _show_starts(run, "import, ms", {module: each for module, each in times.items() if each})
    _judge_start(run, "import, ms", times["tradingdata"], IMPORT_GATE, IMPORT_AIM)


def _commands(run: Run) -> None:
    """Each command in a process of its own, `trades` with a service on loopback."""
    with serving({"small": book("Trade", 100)}) as served:
        env = {**os.environ, "TRADINGDATA_BASE_URL": f"{served.http}/small"}
        env["TRADINGDATA_ACCESS_TOKEN"] = "bench-token"
        lines = {f"tradingdata {name}": f"-m tradingdata {name}" for name in COMMANDS}
        lines["python -c pass"] = "-c pass"  # the least that a command can take
        times: dict[str, list[list[float]]] = {name: [] for name in lines}
        for number in range(run.rounds + 1):
            for command, each in times.items():
                wall, before = time.perf_counter(), cpu_of_children()
                line = [sys.executable, *lines[command].split()]
                subprocess.run(line, env=env, capture_output=True, check=True)
                if number > 0:
                    cpu = cpu_of_children() - before
                    each.append([(time.perf_counter() - wall) * 1e3, cpu * 1e3])
    _show_starts(run, "command, ms", times)
    for command, (gate, aim) in COMMANDS.items():
        name = f"tradingdata {command}"
        _judge_start(run, f"{name}, ms", times[name], gate, aim)


def _show_starts(run: Run, title: str, times: dict[str, list[list[float]]]) -> None:
    lines = []
    for name, each in times.items():
        wall, cpu = zip(*each, strict=True)
        middle = [f"{statistics.median(one):.1f}" for one in (wall, cpu)]
        lines.append([name, middle[0], f"{min(wall):.1f} - {max(wall):.1f}", middle[1]])
    run.show(Table([title, "wall", "least - greatest", "CPU"], lines))


def _judge_start(run: Run, what: str, times: list[list[float]], gate: float, aim: float) -> None:
    used = [cpu for _, cpu in times] or [math.nan]
    middle, slower = statistics.median(used), slowness()
    ratios = (middle / slower, min(used) / slower, max(used) / slower)
    run.rows.append(Row(what, f"{middle:.1f} ms", "", ratios, gate, aim))


def status(name: str) -> int:
    """A figure of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"{name} is not in /proc/self/status of {os.uname().sysname}")


def main() -> None:
    about, small = map(json.loads, sys.argv[1:])
    warm = prepared({**about, "source": {**about["source"], "path": small}})
    warm.check(warm.run())
    ready = prepared(about)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text(RESET_PEAK, "ascii")
    before = status("VmRSS")
    result = ready.run()
    growth = status("VmHWM") - before
    assert result is not None
    print(growth)


if __name__ == "__main__":
    main()
