"""How code waits: plans of both clients, waits that another thread can end, locks across forks.

Plans are procedures of both clients, written once as generators that never wait themselves. A plan
yields each of its steps, the result of a synchronous call or the awaitable of an asynchronous one,
and is sent the result of the step.

Python handles signals in the main thread only, so a thread that works for it would wait on until
its deadline. Each wait of a call is made of slices instead, and looks here between them.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from .. import _core

Result = TypeVar("Result")
Plan = Generator[Any, Any, Result]


def run(plan: Plan[Result]) -> Result:
    """Runs a plan of synchronous steps, each of which has been done when it is yielded."""
    try:
        step = next(plan)
        while True:
            step = plan.send(step)
    except StopIteration as end:
        result: Result = end.value
        return result


async def run_async(plan: Plan[Result]) -> Result:
    """Runs a plan of asynchronous steps, whose errors are raised in the plan."""
    try:
        step = next(plan)
        while True:
            try:
                done = await step
            except BaseException as error:
                step = plan.throw(error)
            else:
                step = plan.send(done)
    except StopIteration as end:
        result: Result = end.value
        return result


SLICE = 0.05  # seconds between two checks, as in the core


class _Thread(threading.local):
    stop: threading.Event | None = None  # ends the waits of this thread


_thread = _Thread()


class Stopped(BaseException):
    """Raised in a thread whose caller has stopped waiting for its result."""


def stop_on(event: threading.Event) -> None:
    """Has the waits of this thread end with ``Stopped`` once the event is set."""
    _thread.stop = event


def raise_if_stopped() -> None:
    """Raises ``Stopped`` if the caller of this thread has stopped waiting."""
    if (stop := _thread.stop) is not None and stop.is_set():
        raise Stopped


def pause(seconds: float) -> None:
    """Sleeps, or raises ``Stopped``."""
    if (stop := _thread.stop) is None:
        time.sleep(seconds)
    elif stop.wait(seconds):
        raise Stopped


def wait_until(ends: Callable[[float], object], seconds: float = math.inf) -> bool:
    """Waits for a lock or a thread, a slice of time after the other.

    Nothing else would end the wait early on Windows, where Ctrl-C does not, and in a thread that
    works for another one. A lock that gevent replaced may also miss that a thread of its pool
    released it: the next slice finds it free.

    Args:
        ends: Waits for up to the seconds that it is given, and returns whether that was enough.
        seconds: Time limit.

    Returns:
        Whether the wait ended before the time limit.
    """
    until = time.monotonic() + seconds
    while True:
        raise_if_stopped()
        left = until - time.monotonic()
        if ends(max(0.0, min(left, SLICE))):
            return True
        if left <= SLICE:
            return False


class ForkLock:
    """A ``threading.Lock`` that is released in a forked child.

    The child has only the thread that forked, so a lock that another thread held would remain
    locked for ever. The C++ core has its own fork handler.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def holding(
        self, function: Callable[[], Result], seconds: float = threading.TIMEOUT_MAX
    ) -> Result:
        """Returns the result of a function, called while the lock is held.

        An interrupt at any point ends the wait or the function and leaves the lock free. Raises
        TimeoutError if the lock is not free within ``seconds``.
        """
        results: list[Result] = []

        def work() -> None:
            results.append(function())

        if not wait_until(lambda wait: _core.call_holding(self._lock, work, wait), seconds):
            raise TimeoutError("the lock is held")
        return results[0]


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_locks() -> None:
    for lock in list(_locks):
        lock._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
