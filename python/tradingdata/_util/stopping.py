"""Ends the waits of threads that work for a caller who was interrupted.

Python handles signals in the main thread only, so a thread that works for it would wait on until
its deadline. Each wait of a call is made of slices instead, and looks here between them.
"""

from __future__ import annotations

import threading
import time

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
