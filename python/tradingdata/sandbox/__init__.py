"""A simulated Trading Data Service on this machine, to try scripts on without an account::

    from tradingdata import sandbox

    with sandbox.start() as service:
        client = service.client()
        client.trade_book().to_pandas()

A day is made from a seed: the same seed, day and number of orders give the same bytes on every
machine. By default it is the end of that day. The day can also unfold while a script polls it,
or be moved on by the script::

    service = sandbox.start(speed=60)          # a market minute each second, from 09:15
    service = sandbox.start(speed=0)           # stays at 09:15 ...
    service.advance_to("10:30")                # ... until it is moved on

Things that go wrong on a real day can be made to go wrong (`FAULTS` lists them all)::

    service.fail_next("429", retry_after=2)
    service.fail_next("stall", seconds=5, endpoint="order_book")
    service.expire_token()

and `service.requests` tells what was asked. Clients, numbers, prices and most companies are
fictional. Where the service's document says "not shown" - codes, statuses of errors, the meaning
of a field - the sandbox had to choose, and what it chose says nothing about the service.

`python -m tradingdata.sandbox` runs it by itself, for scripts in another process.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from .clock import Clock
from .faults import FAULTS
from .log import Request, RequestLog
from .service import Service

__all__ = ["DEFAULT_DAY", "FAULTS", "Clock", "Request", "RequestLog", "Service", "start"]

DEFAULT_DAY = date(2026, 11, 20)
"""The day when none is asked for. It is fixed, so that results repeat."""


def start(
    *,
    seed: int = 0,
    day: date | str | None = None,
    speed: float | None = None,
    accounts: int | Sequence[str] = 1,
    orders: int = 200,
    port: int = 0,
) -> Service:
    """Starts a simulated service on 127.0.0.1 and returns it, ready to be asked.

    - `seed`: another seed is another day's business.
    - `day`: the trading day, a date or text such as "2026-11-20"; `DEFAULT_DAY` unless given.
    - `speed`: None for the end of the day, 15:30:00; a number to let the day run from 09:15:00
      with so many market seconds a second; 0, and it stands at 09:15:00 until it is advanced.
    - `accounts`: how many ("desk1", "desk2", ...), or their labels; each has its own token and day.
    - `orders`: how many orders each account enters during the day; trades are about half as many
      again.
    - `port`: 0 takes a free one.

    Raises ValueError for arguments that make no day, OSError when the port is taken.
    """
    if isinstance(day, str):
        day = date.fromisoformat(day)
    elif isinstance(day, datetime):
        day = day.date()
    if speed is not None and not 0 <= speed < float("inf"):
        raise ValueError(f"speed must be None or a number of 0 or more, not {speed!r}")
    if orders < 0:
        raise ValueError(f"orders must be 0 or more, not {orders}")
    return Service(
        seed=seed,
        day=DEFAULT_DAY if day is None else day,
        speed=speed,
        accounts=accounts,
        orders=orders,
        port=port,
    )
