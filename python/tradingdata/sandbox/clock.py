"""The sandbox's own clock: it stands still, or it runs faster than the wall."""

from __future__ import annotations

import threading
import time as wall
from datetime import date, datetime, time, timedelta

from .market import CLOSE, OPEN


class Clock:
    """Market time of one day, naive as the service's own times are.

    With `speed=None` it stands at the closing bell, with 0 at the opening bell; any other speed is
    market seconds a wall second, from the opening bell until the closing bell.
    """

    def __init__(self, day: date, speed: float | None) -> None:
        self.day = day
        self.speed = speed or 0.0
        self._lock = threading.Lock()
        self._at = float(CLOSE if speed is None else 0)
        self._since = wall.monotonic()

    @property
    def second(self) -> int:
        """Whole seconds after the opening bell; negative before it."""
        with self._lock:
            return int(self._now() // 1)

    @property
    def now(self) -> datetime:
        """The market time."""
        return datetime.combine(self.day, time()) + timedelta(seconds=OPEN + self.second)

    def advance_to(self, moment: str | time | datetime) -> datetime:
        """Sets the clock to a time of the day ("10:30", "10:30:15"), and returns it.

        An earlier time takes the day back. A running clock runs on from there.
        Raises ValueError for what is no time, or is a time of another day.
        """
        if isinstance(moment, datetime):
            if moment.date() != self.day or moment.tzinfo is not None:
                raise ValueError(f"{moment} is not a naive time on {self.day}, the sandbox's day")
            moment = moment.time()
        elif isinstance(moment, str):
            try:
                moment = time.fromisoformat(moment)
            except ValueError:
                raise ValueError(f'{moment!r} is not a time of day such as "10:30"') from None
        if moment.tzinfo is not None:
            raise ValueError("market times have no zone: give a naive time")
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second - OPEN
        with self._lock:
            self._set(seconds)
        return self.now

    def advance(self, seconds: float) -> datetime:
        """Moves the clock on by so many market seconds, at most to midnight, and returns it."""
        if not seconds >= 0:
            raise ValueError(f"seconds must be 0 or more, not {seconds!r}")
        with self._lock:
            self._set(min(self._now() + seconds, 24 * 3600 - 1 - OPEN))
        return self.now

    def _now(self) -> float:
        elapsed = (wall.monotonic() - self._since) * self.speed
        return max(self._at, min(self._at + elapsed, CLOSE))

    def _set(self, seconds: float) -> None:
        self._at, self._since = float(seconds), wall.monotonic()
