"""The sandbox's market clock, which is stopped or runs at a multiple of real time."""

from __future__ import annotations

import threading
import time as wall
from datetime import date, datetime, time, timedelta

from .market import CLOSE, OPEN


class Clock:
    """Market time of one day, naive like the service's own times.

    With `speed=None` the clock is stopped at the closing bell, with 0 at the opening bell. Any
    other speed is market seconds per second, from the opening to the closing bell.

    Attributes:
        day: The trading day.
        speed: Market seconds per second; 0 for a stopped clock.
    """

    def __init__(self, day: date, speed: float | None) -> None:
        self.day = day
        self.speed = speed or 0.0
        self._lock = threading.Lock()
        self._at = float(CLOSE if speed is None else 0)
        self._since = wall.monotonic()

    @property
    def second(self) -> int:
        """Seconds after the opening bell, rounded down; negative before it."""
        with self._lock:
            return int(self._now() // 1)

    @property
    def now(self) -> datetime:
        """The market time."""
        return datetime.combine(self.day, time()) + timedelta(seconds=OPEN + self.second)

    def advance_to(self, moment: str | time | datetime) -> datetime:
        """Sets the clock; an earlier time moves it back. A running clock continues from there.

        Args:
            moment: A time of day such as "10:30" or "10:30:15", or a naive time on this day.

        Returns:
            The new market time.

        Raises:
            ValueError: The text is not a time, or the time is on another day or has a zone.
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
            raise ValueError("market times have no zone: pass a naive time")
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second - OPEN
        with self._lock:
            self._set(seconds)
        return self.now

    def advance(self, seconds: float) -> datetime:
        """Advances the clock, at most to midnight.

        Args:
            seconds: Market seconds, 0 or more.

        Returns:
            The new market time.

        Raises:
            ValueError: The number is negative.
        """
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
