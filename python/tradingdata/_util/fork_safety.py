"""What a forked child needs of Python: free locks, and modules that are imported completely.

A child has only the thread that forked. Whatever another thread held or was importing at that
moment stays so for ever. The core has a fork handler of its own.
"""

from __future__ import annotations

import _frozen_importlib
import _imp
import os
import sys
import threading
import time
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_PACKAGE = __name__.partition(".")[0]
_LONGEST_IMPORT = 5.0  # seconds for which a fork is delayed


class ForkLock:
    """``threading.Lock``, released in a forked child.

    The child has only the thread that forked: a lock that another thread held would never be
    released there.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def acquire(self, timeout: float = -1) -> bool:
        """Returns whether the lock was acquired within ``timeout`` seconds; -1 waits for ever."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Releases the lock, which may be a new one since a fork."""
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_locks() -> None:
    for lock in list(_locks):
        lock._lock = threading.Lock()


def _imported_by_others() -> bool:
    """Whether another thread holds the lock of a module: ours, or of the standard library.

    Python keeps these locks in a private table, and does not release them in a child. Other
    packages are left out: their import may take any time. The table has a lock too: who holds it is
    about to take a module's, and Python's own fork handler would let that happen.
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
    """Delays a fork while another thread imports a module, as the first use of many things does."""
    give_up = time.monotonic() + _LONGEST_IMPORT
    while True:
        time.sleep(0)  # the other threads run now, and not between the look and the fork
        if not _imported_by_others() or time.monotonic() > give_up:
            return


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports, after_in_child=_renew_locks)
