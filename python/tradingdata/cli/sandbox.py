"""The commands that need no account: `tradingdata demo` and `tradingdata sandbox`."""

from __future__ import annotations

import errno
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from tradingdata._util.platform import ending_signals, set_variable
from tradingdata.sandbox import DEFAULT_DAY, start
from tradingdata.sandbox.demo import show as show_demo

from .errors import UsageError, fitting
from .options import command, option

if TYPE_CHECKING:
    from tradingdata.sandbox import Service

_MOST_DIGITS = 4  # of a number of accounts


@command("demo", "tradingdata demo")
def demo() -> None:
    """Show the calls on a simulated trading day.

    Needs no account and no network.
    """
    show_demo(sys.stdout)


@dataclass(frozen=True, kw_only=True)
class SandboxOptions:
    """The options of the simulated service, those of `tradingdata.sandbox.start`."""

    port: Annotated[int, option("Port to listen on; 0 picks a free one.", "N")] = 8765
    seed: Annotated[int, option("Seed of the random trading day.", "N")] = 0
    day: Annotated[str, option("The trading day.", "DATE")] = str(DEFAULT_DAY)
    speed: Annotated[
        float | None,
        option("Market seconds per second from 09:15 (default: the day is over).", "N"),
    ] = None
    accounts: Annotated[
        str, option("Number of accounts, or their labels separated by commas.", "N|A,B,...")
    ] = "1"
    orders: Annotated[int, option("Number of orders of each account in the day.", "N")] = 200

    def start(self) -> Service:
        """Starts the service."""
        labels = self.accounts
        if labels.isdigit() and len(labels) > _MOST_DIGITS:
            raise UsageError("--accounts takes a number below 10,000, or labels")
        accounts = int(labels) if labels.isdigit() else labels.split(",")
        return start(**{**vars(self), "accounts": accounts})


@command(
    "sandbox",
    """
tradingdata sandbox
tradingdata sandbox --speed 60
tradingdata sandbox --accounts desk1,desk2 --port 0
""",
)
def sandbox(options: SandboxOptions) -> None:
    """Run a simulated service on this computer.

    Runs until Ctrl-C. Paste the two lines that it prints into another terminal to use it there.
    """
    try:
        service = fitting(options.start)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise UsageError(f"--port: {error.strerror}; --port 0 chooses a free one") from None
    # SIGINT too, because shells start background processes with SIGINT ignored.
    for number in ending_signals():
        signal.signal(number, signal.default_int_handler)
    try:
        with service:
            print(_welcome(service), flush=True)
            while True:
                # Short waits: a signal that arrives just before a wait would not interrupt it.
                time.sleep(0.5)
    except KeyboardInterrupt:
        print("\nstopped", flush=True)


def _welcome(service: Service) -> str:
    moves = "the day is running" if service.speed else "the day is over"
    lines = [
        f"tradingdata sandbox at {service.base_url}",
        f"seed {service.seed}, market time {service.now}, {moves}; press Ctrl-C to stop",
        "",
        set_variable("TRADINGDATA_BASE_URL", service.base_url),
        set_variable("TRADINGDATA_ACCESS_TOKEN", service.token()),
    ]
    lines += [f"# {label}: {service.token(label)}" for label in service.accounts[1:]]
    return "\n".join(lines)
