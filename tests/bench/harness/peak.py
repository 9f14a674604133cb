"""A process that makes one result and tells by how much its memory grew at the highest.

Its argument is a case on two sources, as JSON: a small body to load code and warm up with, and the
one to measure on. It prints the growth in bytes: the high-water mark of the resident set, which
Linux lets a process reset, less what was resident before.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
from pathlib import Path

from .case import Source, find

RESET_PEAK = "5"  # to /proc/self/clear_refs: see proc(5)


def main() -> None:
    reported = json.loads(sys.argv[1])
    prepare = find(reported["module"], reported["case"])
    small = prepare(Source(**reported["small"]))
    small.check(small.run())
    ready = prepare(Source(**reported["source"]))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text(RESET_PEAK, "ascii")
    before = status("VmRSS")
    result = ready.run()
    growth = status("VmHWM") - before
    assert result is not None
    print(growth)


def status(name: str) -> int:
    """A figure of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"{name} is not in /proc/self/status of {os.uname().sysname}")


if __name__ == "__main__":
    main()
