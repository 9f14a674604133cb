"""What `import tradingdata` takes, and what the import of its peers takes."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys

from ..harness import report
from ..harness.goals import Row
from ..harness.suite import Show

GATE, AIM = 50, 10  # ms
MODULES = ("tradingdata", "pycurl", "msgspec", "httpx", "requests", "aiohttp", "pandas", "polars")
SCRIPT = """
import json, time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
print(json.dumps([(time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3]))
"""


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    if only not in (None, "import"):
        return []
    times: dict[str, list[list[float]]] = {module: [] for module in MODULES}
    for number in range(rounds + 1):
        for module in MODULES:
            took = _import(module)
            if number > 0:  # the first one compiles, and reads from the disk
                times[module] += took
    lines = []
    for module, each in times.items():
        if each:
            wall, cpu = ([one[at] for one in each] for at in (0, 1))
            spread = f"{min(wall):.1f} - {max(wall):.1f}"
            middle = [f"{statistics.median(one):.1f}" for one in (wall, cpu)]
            lines.append([module, middle[0], spread, middle[1]])
    show(*report.table(["import, ms", "wall", "least - greatest", "CPU"], lines))
    walls = [wall for wall, _ in times["tradingdata"]] or [math.nan]
    ours = statistics.median(walls)
    bounds = (min(walls), max(walls), GATE, AIM)
    return [Row("import, ms", f"{ours:.1f} ms", "", ours, *bounds, faster=False)]


def _import(module: str) -> list[list[float]]:
    """The wall and CPU times of an import in a new process; none where it is not installed."""
    command = [sys.executable, "-c", SCRIPT.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(done.stdout)] if done.returncode == 0 else []
