"""Ends the waits of threads that work for a caller who was interrupted.

Python handles signals in the main thread only, so a thread that works for it would wait on until
its deadline. Each wait of a call is made of slices instead, and looks here between them.
"""

from __future__ import annotations

import threading
import time

SLICE = 0.05  # seconds between two checks, as in the core

_thread = threading.local()


class Stopped(BaseException):
    """Raised in a thread whose caller has stopped waiting for its result."""


def stop_on(event: threading.Event) -> None:
    """Has the waits of this thread end with ``Stopped`` once the event is set."""
    _thread.event = event


def may_stop() -> bool:
    """Returns whether the waits of this thread may end early."""
    return hasattr(_thread, "event")


def raise_if_stopped() -> None:
    """Raises ``Stopped`` if the caller of this thread has stopped waiting."""
    if may_stop() and _thread.event.is_set():
        raise Stopped


def pause(seconds: float) -> None:
    """Sleeps, or raises ``Stopped``."""
    if not may_stop():
        time.sleep(seconds)
    elif _thread.event.wait(seconds):
        raise Stopped
