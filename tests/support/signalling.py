"""Signals to this process and to others. Child processes can import it without other helpers."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# A signal that a program may handle as it likes.
if sys.platform == "win32":
    HARMLESS = signal.SIGBREAK
else:
    HARMLESS = signal.SIGUSR1


def send(number: int = signal.SIGINT) -> None:
    """Sends this process a signal, from any thread, as a terminal does.

    Windows runs a handler of C in another thread than Python's main one. `os.kill` would end the
    process there.
    """
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:
        os.kill(os.getpid(), number)


def interrupted(nth: int, code: Collection[CodeType]) -> Callable[..., Any]:
    """A trace function that interrupts once, at the nth line or return of the traced code."""
    seen = itertools.count()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code not in code:
            return None
        if event in ("line", "return") and next(seen) == nth:
            raise KeyboardInterrupt
        return trace

    return trace


def interruptible(*command: str) -> list[str]:
    """Returns the command that runs a program which `interrupt` can reach; it takes a pipe."""
    if sys.platform != "win32":
        return list(command)
    return [sys.executable, str(Path(__file__).with_name("console.py")), *command]


def interrupt(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Presses Ctrl-C in a process that runs an interruptible command."""
    if sys.platform != "win32":
        process.send_signal(signal.SIGINT)
    else:
        assert process.stdin is not None
        os.write(process.stdin.fileno(), b"\n")


def end(process: subprocess.Popen[str]) -> None:
    """Ends a process that runs an interruptible command, if it still runs."""
    if sys.platform == "win32" and process.stdin is not None and not process.stdin.closed:
        with suppress(OSError):
            os.write(process.stdin.fileno(), b"end\n")
            process.wait(10)
    process.kill()


@contextmanager
def sent_after(seconds: float) -> Iterator[None]:
    """Sends Ctrl-C after a number of seconds, unless the block has ended by then."""
    # A shell has what it runs in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


def send_often(ended: threading.Event, number: int = HARMLESS) -> None:
    """Sends a signal every millisecond until the event is set."""
    while not ended.is_set():
        send(number)
        time.sleep(0.001)
