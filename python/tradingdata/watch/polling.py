"""When a watch polls and what ends it; its iterators, sync and async.

What the updates contain is in ``updates``.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from datetime import time as clock_time
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self

from .._util.platform import suspend_aware_clock
from .._util.validate import NoNewAttributes, NotCopied, shown
from .._util.waiting import Plan, run, run_async
from ..errors import (
    AuthenticationError,
    ConfigurationError,
    RateLimitError,
    ServiceError,
    TradingDataError,
)
from ..table.conditions import moment_of
from .updates import KnownOrders, KnownTrades, Update

if TYPE_CHECKING:
    import asyncio


LONGEST_PAUSE = 60.0  # seconds after a refusal, before the jitter
_JITTER = 0.25  # of a pause, at most, added to it
_SLICE = 1.0  # seconds between two looks at the clock, which may jump while a computer sleeps
_MOST_REFUSED = 3  # polls in a row with a refused token, of which the last raises
_CONFIRM_AFTER = 1.0  # seconds, at most, until a book that lost records is requested again


class Schedule:
    """Computes when to poll: at the multiples of an interval, and later after a refusal.

    The time that a poll takes causes no drift, and multiples that pass during a slow poll or a slow
    reader are skipped. After a refusal the service gets a pause: as long as it requires, otherwise
    twice the interval and then twice as long each time; at most a minute, or the interval if that
    is longer. Up to a quarter is added at random, and the multiples start anew, so that watches
    that were refused together do not poll together again.
    """

    def __init__(self, interval: float, random: Callable[[], float] = random.random) -> None:
        self._interval = interval
        self._random = random
        self._start: float | None = None
        self._number = 0
        self._not_before = -math.inf
        self._due: float | None = None
        self._refusals = 0
        self._begins_last = self._is_over = False

    def due(self, now: float, end: float) -> float | None:
        """Returns when to poll next, or None if there is no further poll.

        The last poll is at ``end``, so that nothing before it goes unreported.
        """
        if self._is_over:
            return None
        if self._due is None:
            self._due = self._next(now)
        if self._due < end:
            return self._due
        return end if self._not_before <= end else None

    def begin(self, now: float, end: float) -> None:
        """Records that a poll begins; one that an interrupt ends is made again."""
        if self._start is None:
            self._start = now
        self._begins_last = now >= end
        self._due = None

    def ended(self, now: float, error: TradingDataError | None) -> None:
        """Records that a poll ended, and with which error."""
        self._is_over = self._begins_last
        if error is None or not _is_refusal(error):
            self._refusals = 0 if error is None else self._refusals
            return
        self._refusals += 1
        pause = error.retry_after
        if pause is None:
            pause = self._interval * 2.0 ** min(self._refusals, 30)
        pause = max(min(pause, LONGEST_PAUSE), self._interval)
        self._not_before = now + pause * (1 + _JITTER * self._random())
        self._start, self._number = self._not_before, -1

    def _next(self, now: float) -> float:
        if self._start is None:
            return now
        passed = math.floor((now - self._start) / self._interval)
        self._number = max(self._number + 1, passed + 1)
        return self._start + self._number * self._interval


def _is_refusal(error: TradingDataError) -> bool:
    """Returns whether the service is there, but refuses for now."""
    refusals = (RateLimitError, AuthenticationError, ServiceError)
    return error.retry_after is not None or isinstance(error, refusals)


class Rules(NamedTuple):
    """What a watch does, apart from what its updates contain.

    Attributes:
        interval: Seconds between polls.
        left: Returns the seconds left until the end.
        is_closed: Returns whether the client is closed.
    """

    interval: float
    left: Callable[[], float]
    is_closed: Callable[[], bool]


class _Watching(NoNewAttributes, NotCopied, Generic[Update]):
    """The procedure of both iterators, as plans; see ``_util.waiting``."""

    _not_copied = "start another one, with `previous=` what this one knows"

    _poll: Callable[[], object]
    _sleep: Callable[[float], object]
    _clock: Callable[[], float]

    def __init__(self, state: KnownOrders | KnownTrades, rules: Rules) -> None:
        self._state: KnownOrders | KnownTrades | None = state
        self._rules = rules
        self._schedule = Schedule(rules.interval)
        self._refused = 0
        self._is_polling = False

    def _not_assignable(self, name: str) -> str:
        return f"a watch cannot be changed ({name}): pass its options when you start it"

    def _next(self, state: KnownOrders | KnownTrades) -> Plan[Any]:
        """The plan of the next update; its result is None at the end.

        The update counts as undelivered until the iterator, in its last step, takes it.
        """
        if state.kept.undelivered is not None:
            return state.kept.undelivered
        if not (yield from self._waited()):
            self._state = None
            return None
        self._is_polling = True
        try:
            update = state.received((yield self._poll()), confirmed=False)
            if update is None:  # a record is missing, which may be so in this response only
                yield self._sleep(min(_CONFIRM_AFTER, self._rules.interval))
                if self._state is None:
                    return None
                update = state.received((yield self._poll()))
        except TradingDataError as error:
            self._ended(error)
            if self._ends(error):
                if self._refused:
                    error.add_note(f"refused in {self._refused} polls in a row")
                    error.add_note(
                        "the same watch continues once `client.access_token` is assigned a new one"
                    )
                raise
            # A list of updates would otherwise keep the frames of every failed poll alive.
            return state.missed(error.with_traceback(None))
        self._ended(None)
        return update

    def _waited(self) -> Plan[bool]:
        """The plan of the wait for the next poll; returns False if there is none."""
        while not self._is_polling and self._state is not None:
            now = self._clock()
            end = now + self._rules.left()
            due = self._schedule.due(now, end)
            if due is None:
                return False
            if due <= now or self._rules.is_closed():
                self._schedule.begin(now, end)
                return True
            yield self._sleep(min(due - now, _SLICE))
        return self._state is not None

    def _ended(self, error: TradingDataError | None) -> None:
        self._is_polling = False
        self._schedule.ended(self._clock(), error)
        is_refused = isinstance(error, AuthenticationError) and not error.passing
        self._refused = self._refused + 1 if is_refused else 0

    def _ends(self, error: TradingDataError) -> bool:
        """Returns whether no later poll is likely to succeed."""
        given_up = self._refused >= _MOST_REFUSED
        return isinstance(error, ConfigurationError) or given_up or self._rules.is_closed()

    def __repr__(self) -> str:
        state = "ended" if self._state is None else f"every {self._rules.interval:g} s"
        return f"<{type(self).__name__}, {state}>"


class Watch(_Watching[Update], Iterator[Update]):
    """An iterator over the updates of a watch: ``for update in client.watch_orders(): ...``.

    An exception does not end it: ``next()`` then waits for the next poll. ``close()`` or the end of
    a ``with`` block does.
    """

    def __init__(
        self,
        poll: Callable[[], object],
        state: KnownOrders | KnownTrades,
        rules: Rules,
        *,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(state, rules)
        self._poll, self._sleep = poll, sleep
        self._clock = suspend_aware_clock() if clock is None else clock
        self._turn = threading.Lock()

    def __next__(self) -> Update:
        state = self._state
        if state is None:
            raise StopIteration
        has_turn = True  # also if an interrupt hides what acquire() returns
        try:
            has_turn = self._turn.acquire(blocking=False)
            if not has_turn:
                raise RuntimeError(
                    "this watch is already waiting in another thread: use one for each"
                )
            self._is_polling = False  # an interrupted poll has no result to wait for
            update: Update | None = run(self._next(state))
        finally:
            if has_turn:
                self._turn.release()
        if update is None:
            raise StopIteration
        state.kept = state.kept._replace(undelivered=None)
        return update

    def close(self) -> None:
        """Ends the watch, also one that waits in another thread. Safe to call more than once."""
        self._state = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncWatch(_Watching[Update], AsyncIterator[Update]):
    """An asynchronous iterator over the updates of a watch, for ``async for``.

    Neither an exception nor a cancelled ``anext()`` ends it: the next one waits for the same poll,
    or makes the next. ``aclose()`` or the end of an ``async with`` block does.
    """

    def __init__(
        self,
        poll: Callable[[], Awaitable[object]],
        state: KnownOrders | KnownTrades,
        rules: Rules,
        *,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[object]] | None = None,
    ) -> None:
        import asyncio

        super().__init__(state, rules)
        self._request = poll
        self._sleep = asyncio.sleep if sleep is None else sleep
        self._clock = suspend_aware_clock() if clock is None else clock
        self._pending: asyncio.Future[object] | None = None
        self._is_waiting = False

    async def __anext__(self) -> Update:
        if self._is_waiting:
            raise RuntimeError("this watch is already waiting in another task: use one for each")
        state = self._state
        if state is None:
            raise StopAsyncIteration
        self._is_waiting = True
        try:
            self._is_polling = self._pending is not None
            update: Update | None = await run_async(self._next(state))
        except _Closed:
            update = None
        finally:
            self._is_waiting = False
        if update is None:
            raise StopAsyncIteration
        state.kept = state.kept._replace(undelivered=None)
        return update

    async def _poll(self) -> object:
        """Makes a request, or waits for that of an ``anext()`` that was cancelled."""
        import asyncio

        if self._pending is None:
            self._pending = asyncio.ensure_future(self._request())
            self._pending.add_done_callback(_retrieve)
        pending = self._pending
        if not pending.done():
            await asyncio.wait([pending])  # neither cancels the other
        self._pending = None
        if pending.cancelled() and self._state is None:
            raise _Closed
        return pending.result()

    async def aclose(self) -> None:
        """Ends the watch and its request. Safe to call more than once."""
        self._state = None
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


class _Closed(Exception):
    """The watch was closed during its request."""


def _retrieve(pending: asyncio.Future[object]) -> None:
    """Takes the error of a request that nobody may wait for; asyncio would log it."""
    if not pending.cancelled():
        pending.exception()


def time_left(
    until: datetime | clock_time | str | None, name: str = "until="
) -> Callable[[], float]:
    """Returns a function that returns the seconds left until a time.

    It reads the system clock each time, which unlike the monotonic clock goes on while a computer
    sleeps.

    Args:
        until: A time of today or a datetime, also as ISO text, on this computer's clock unless it
            has a time zone.
        name: How a message names it.

    Raises:
        TypeError: ``until`` is neither.
        ValueError: ``until`` has passed, or the text is not a time.
    """
    if until is None:
        return lambda: math.inf
    problem = f"{name} takes a time such as '15:30' or '2026-11-20 15:30', not {shown(until)}"
    moment: object = until
    if isinstance(until, str):
        with suppress(ValueError):
            moment = moment_of(until)
    if not isinstance(moment, (datetime, clock_time)):
        raise (ValueError if isinstance(until, str) else TypeError)(problem)
    until = moment
    if isinstance(until, clock_time):
        until = datetime.combine(datetime.now(until.tzinfo), until)
    # An hour that clocks show twice, as summer time ends, is the one that is still to come.
    first, second = (until.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    end = first if first > datetime.now(UTC) else second

    def left() -> float:
        return (end - datetime.now(UTC)).total_seconds()

    if left() <= 0:
        now = datetime.now(until.tzinfo)
        raise ValueError(f"{name} has passed: {until:%Y-%m-%d %H:%M:%S}; it is {now:%H:%M:%S}")
    return left
