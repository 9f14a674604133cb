"""When to poll: on a grid of steady time, never two polls at once, slower where asked to be."""

from __future__ import annotations

import math

from ..errors import RateLimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import TradingDataError

# Where the service says 429 and not for how long, the wait doubles up to this many seconds.
LONGEST_WAIT = 60.0


class Grid:
    """The next time to poll: ``start + n * interval``, for the first ``n`` that lies ahead.

    So polls do not drift by what they take, and one that takes longer than the interval leaves out
    the ticks that went by. After a 429 the next one lies behind what the service asked for, or a
    wait that doubles from 429 to 429.
    """

    def __init__(self, interval: float, start: float) -> None:
        self._interval = interval
        self._start = start
        self._tick = 0
        self._not_before = start
        self._refusals = 0

    def ended(self, now: float, missed: TradingDataError | None) -> None:
        """Notes how a poll ended, and when."""
        self._not_before = now
        if isinstance(missed, RateLimitError):
            self._refusals += 1
            doubled = self._interval * 2.0 ** min(self._refusals, 30)
            longest = max(self._interval, LONGEST_WAIT)
            wait = missed.retry_after
            self._not_before += min(doubled, longest) if wait is None else wait
        elif missed is None:
            self._refusals = 0

    def next(self, now: float) -> float:
        """When to poll again. Ticks that went by meanwhile are left out; none comes twice."""
        passed = math.floor((now - self._start) / self._interval)
        allowed = math.ceil((self._not_before - self._start) / self._interval)
        self._tick = max(self._tick + 1, passed + 1, allowed)
        return self._start + self._tick * self._interval
