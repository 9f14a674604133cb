"""A simulated Trading Data Service on this machine, for trying scripts without an account.

Example::

    from tradingdata import sandbox

    with sandbox.start() as service:
        client = service.client()
        client.trade_book().to_pandas()

A trading day is generated from a seed: the same seed, day and number of orders give the same bytes
on every machine. By default the day is over. It can also run while a script polls it, or advance
under the control of the script::

    service = sandbox.start(speed=60)          # one market minute per second, from 09:15
    service = sandbox.start(speed=0)           # stays at 09:15 ...
    service.advance_to("10:30")                # ... until it is advanced

A book of the sandbox was received at its market time, in Indian time, on whichever day it is
fetched. So an archive has each simulated day under its own date::

    for day in ("2026-11-19", "2026-11-20"):
        with sandbox.start(day=day) as service:
            archive.fetch(service.client())
    archive.trades("2026-11-19")

Failures of a real day can be triggered on demand (`FAULTS` lists them all)::

    service.fail_next(429, retry_after=2)
    service.fail_next(200, body="<html>Sign in</html>")
    service.fail_next("stall", seconds=5, endpoint="order_book")
    service.expire_token()

and `service.requests` lists the requests received. Clients, numbers, prices and most companies are
fictional. Where the service document says "not shown" (codes, HTTP statuses of errors, the meaning
of a field), the sandbox had to choose a value, which says nothing about the real service.

A day of 40 orders or more has rejected and cancelled ones, after-market orders, a bracket and a
cover order with their legs, a purchase on NSE that is sold on BSE, an intraday purchase that is
converted and sold as delivery, and an option that expires within the week.

`tradingdata sandbox` runs the sandbox in its own process, for other programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from .._util import validate
from .._util.declarations import publish
from .day import labels_of
from .faults import FAULTS
from .market import Market
from .service import Request, Service

__all__ = ["DEFAULT_DAY", "FAULTS", "Request", "Service", "start"]
publish([Request, Service], __name__)

DEFAULT_DAY = date(2026, 11, 20)
"""The default trading day. It is fixed, so that results are reproducible."""


def start(
    *,
    seed: int = 0,
    day: date | str | None = None,
    speed: float | None = None,
    accounts: int | Sequence[str] = 1,
    orders: int = 200,
    port: int = 0,
) -> Service:
    """Starts a simulated service on 127.0.0.1, which accepts requests when this returns.

    Args:
        seed: Seed of the random generator; another seed gives other orders and prices.
        day: Trading day, a date or text such as "2026-11-20"; `DEFAULT_DAY` if None.
        speed: Market seconds per second, starting at 09:15:00; with 0, the clock stays at 09:15:00
            until it is advanced. None sets it to the end of the day, 15:30:00.
        accounts: Number of accounts (labelled "desk1", "desk2", ...), or their labels. Each account
            has its own token, orders and trades.
        orders: Number of orders that each account enters during the day. There are about 1.5 times
            as many trades.
        port: Port to listen on; 0 chooses a free one.

    Returns:
        The running service. Use it as a context manager, or call `stop()`.

    Raises:
        ValueError: An argument is out of range.
        OSError: The port is in use.

    Example:
        >>> with sandbox.start(seed=7) as service:
        ...     print(len(service.client().trade_book()))
    """
    if not isinstance(speed, (int, float, type(None))):
        raise TypeError(f"speed must be a number or None, not {validate.shown(speed)}")
    if speed is not None and not 0 <= speed < float("inf"):
        raise ValueError(f"speed must be None or a number of 0 or more, not {speed!r}")
    for name, number in {"seed": seed, "orders": orders, "port": port}.items():
        validate.count(name, number, least=-(2**63))
    if not 0 <= port <= 65535:
        raise ValueError(f"port must be from 0 to 65535, not {port}")
    if orders < 0:
        raise ValueError(f"orders must be 0 or more, not {orders}")
    market = Market(seed, DEFAULT_DAY if day is None else validate.day("day", day))
    return Service(market, labels_of(accounts), orders, speed, port)


def __dir__() -> list[str]:
    return sorted(__all__)
