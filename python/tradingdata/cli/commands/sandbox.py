"""`tradingdata sandbox`: the simulated service, in the foreground."""

from __future__ import annotations

import errno
from datetime import date
from typing import Annotated

import typer

from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.options import Debug
from tradingdata.sandbox import DEFAULT_DAY
from tradingdata.sandbox.__main__ import serve

EXAMPLES = """
tradingdata sandbox
tradingdata sandbox --speed 60
tradingdata sandbox --accounts desk1,desk2 --port 0
"""

Port = Annotated[
    int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the random trading day.")]
Day = Annotated[
    str | None,
    typer.Option(metavar="DATE", help=f"The trading day (default: {DEFAULT_DAY})."),
]
Speed = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Market seconds per second, from 09:15. Without it the day is over.",
    ),
]
Accounts = Annotated[
    str,
    typer.Option(
        metavar="N|A,B,...", help="Number of accounts, or their labels separated by commas."
    ),
]
Orders = Annotated[
    int, typer.Option(min=0, metavar="N", help="Number of orders of each account in the day.")
]


def sandbox(
    port: Port = 8765,
    seed: Seed = 0,
    day: Day = None,
    speed: Speed = None,
    accounts: Accounts = "1",
    orders: Orders = 200,
    debug: Debug = False,
) -> None:
    """Run a simulated service on this computer.

    Serves until Ctrl-C. Paste the two commands that it prints for it into another terminal to
    use the others there.
    """
    _check_day(day)
    try:
        serve(port=port, seed=seed, day=day, speed=speed, accounts=accounts, orders=orders)
    except (OverflowError, ValueError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise UsageError(f"--port {port}: {error.strerror}; --port 0 chooses a free one") from None


def _check_day(day: str | None) -> None:
    try:
        date.fromisoformat(str(day or DEFAULT_DAY))
    except ValueError:
        raise UsageError(f"--day is a day such as {DEFAULT_DAY}, not {day!r}") from None
