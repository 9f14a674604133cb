"""How long the threads of this process waited for a processor: time that no program can shorten.

Limits on elapsed time subtract it, so that other processes cannot make a test fail. Only Linux
reports it; elsewhere it is 0. Importable in child processes without the rest of the helpers.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

_waits: dict[str, int] = {}  # nanoseconds by thread; for an ended one as of its end
_forgotten = 0  # of ended threads whose number another thread has taken over
_untimed = 0.0  # seconds
_run = threading.Thread.run


def starved() -> float:
    """Returns the seconds so far, for all threads including those that have ended.

    An ended thread of C++ counts up to the last call of this function: see ``untimed``.
    """
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            _note(thread, f"/proc/self/task/{thread}/schedstat")
    return (sum(list(_waits.values())) + _forgotten) / 1e9 + _stolen() + _untimed


@contextlib.contextmanager
def untimed() -> Iterator[None]:
    """Leaves the block out of every limit, for one that ends threads of C++, such as a close."""
    global _untimed
    starved()
    started = time.monotonic()
    try:
        yield
    finally:
        _untimed += time.monotonic() - started


def _note(thread: str, file: str) -> None:
    global _forgotten
    with contextlib.suppress(OSError), open(file) as opened:
        waited = int(opened.read().split()[1])
        if waited < (before := _waits.get(thread, 0)):
            _forgotten += before
        _waits[thread] = waited


def _stolen() -> float:
    """Seconds that a hypervisor gave to other machines."""
    with contextlib.suppress(OSError, IndexError, AttributeError), open("/proc/stat") as file:
        return int(file.readline().split()[8]) / float(os.sysconf("SC_CLK_TCK"))
    return 0.0


def _run_and_note(self: threading.Thread, *arguments: Any) -> None:
    try:
        _run(self, *arguments)
    finally:
        _note(str(threading.get_native_id()), "/proc/thread-self/schedstat")


threading.Thread.run = _run_and_note  # type: ignore[method-assign]
