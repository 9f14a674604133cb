"""Importing the package costs next to nothing and does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

# Heavy, or not needed before the first use.
NOT_YET = {
    "asyncio", "concurrent.futures", "dataclasses", "difflib", "email", "hashlib", "http",
    "importlib.metadata", "inspect", "json", "logging", "matplotlib", "numpy",
    "pandas", "pathlib", "pickle", "polars", "pyarrow", "socket", "sqlite3", "ssl",
    "click", "rich", "subprocess", "tempfile", "tomllib", "typer", "urllib", "zoneinfo",
}  # fmt: skip

SCRIPT = """
import sys
before = set(sys.modules)
import tradingdata
new = sorted(set(sys.modules) - before)
import json
print(json.dumps(new))
"""


def fresh(script: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_nothing_heavy_is_imported() -> None:
    assert NOT_YET & set(fresh(SCRIPT)) == set()


def test_no_thread_is_started_and_no_file_stays_open() -> None:
    script = """
import json, os
def state():
    fds = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    tasks = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    return [fds, tasks]
before = state()
import tradingdata
print(json.dumps([before, state()]))
"""
    before, after = fresh(script)
    assert before == after
