"""Fork safety on the Python side: released locks and completely imported modules in a child.

A forked child has only the thread that forked. A lock that another thread held, or a module that it
was importing, would remain locked for ever. The C++ core has its own fork handler.
"""

from __future__ import annotations

import _frozen_importlib
import _imp
import os
import sys
import threading
import time
import weakref
from typing import Any

from .platform import wait_until

_PACKAGE = __name__.partition(".")[0]
_LONGEST_IMPORT = 5.0  # seconds for which a fork is delayed


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


def _imported_by_others() -> bool:
    """Returns whether another thread is importing this package or the standard library.

    Python keeps the import locks in a private table and does not release them in a child. Other
    packages are ignored, because their import may take arbitrarily long. The lock of the table
    counts too: a thread that holds it is about to take the lock of a module.
    """
    if _imp.lock_held():
        return True
    locks: dict[str, Any] = getattr(_frozen_importlib, "_module_locks", {})
    for name, reference in list(locks.items()):
        package = name.partition(".")[0]
        if package == _PACKAGE or package in sys.stdlib_module_names:
            lock = reference()
            if lock is not None and lock.owner != threading.get_ident():
                return True
    return False


def _wait_for_imports() -> None:
    """Delays a fork while another thread imports a module, as many first calls do."""
    give_up = time.monotonic() + _LONGEST_IMPORT
    while True:
        time.sleep(0)  # lets other threads run now rather than between the check and the fork
        if not _imported_by_others() or time.monotonic() > give_up:
            return


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports, after_in_child=_renew_locks)
