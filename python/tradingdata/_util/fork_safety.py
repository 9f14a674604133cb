"""Locks that are released in a forked child.

A forked child has only the thread that forked. A lock that another thread held would remain locked
for ever. The C++ core has its own fork handler.
"""

from __future__ import annotations

import os
import threading
import weakref

from .platform import wait_until


class ForkLock:
    """A ``threading.Lock`` that is released in a forked child."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def acquire(self, timeout: float) -> bool:
        """Returns whether the lock was acquired within ``timeout`` seconds. Ctrl-C interrupts."""
        return wait_until(lambda seconds: self._lock.acquire(timeout=seconds), timeout)

    def release(self) -> None:
        """Releases the lock, which a fork may have replaced by a new one."""
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_locks() -> None:
    for lock in list(_locks):
        lock._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
