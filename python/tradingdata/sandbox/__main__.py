"""Command line of `python -m tradingdata.sandbox`: runs the sandbox in its own process.

Uses argparse, because the base installation has no typer; `tradingdata sandbox` calls `serve`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from .._util.platform import ending_signals, set_variable
from . import DEFAULT_DAY, Service, start


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the sandbox until Ctrl-C or SIGTERM; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        serve(**vars(options))
    except (OSError, OverflowError, ValueError) as error:
        print(f"tradingdata.sandbox: {error}", file=sys.stderr)
        return 2
    return 0


def serve(
    *, port: int, seed: int, day: str | None, speed: float | None, accounts: str, orders: int
) -> None:
    """Runs the sandbox until Ctrl-C or SIGTERM.

    ``accounts`` is a number or comma-separated labels. Raises the errors of ``sandbox.start``.
    """
    service = start(
        seed=seed,
        day=day,
        speed=speed,
        accounts=int(accounts) if accounts.isdigit() else accounts.split(","),
        orders=orders,
        port=port,
    )
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


OPTIONS: dict[str, tuple[type, Any, str, str]] = {
    "port": (int, 8765, "N", "Port to listen on; 0 picks a free one."),
    "seed": (int, 0, "N", "Seed of the random trading day."),
    "day": (str, str(DEFAULT_DAY), "DATE", "The trading day."),
    "speed": (float, None, "N", "Market seconds per second from 09:15 (default: the day is over)."),
    "accounts": (str, "1", "N|A,B,...", "Number of accounts, or their labels separated by commas."),
    "orders": (int, 200, "N", "Number of orders of each account in the day."),
}
"""The type, default, placeholder and meaning of each option, also of `tradingdata sandbox`."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tradingdata.sandbox",
        description="Run a simulated Trading Data Service on this machine until Ctrl-C.",
    )
    for name, (kind, default, placeholder, meaning) in OPTIONS.items():
        if default is not None:
            meaning += " (default %(default)s)"
        parser.add_argument(
            f"--{name}", type=kind, default=default, metavar=placeholder, help=meaning
        )
    return parser


def _welcome(service: Service) -> str:
    moves = "the day is running" if service.clock.speed else "the day is over"
    lines = [
        f"tradingdata sandbox at {service.base_url}",
        f"seed {service.seed}, market time {service.now}, {moves}; press Ctrl-C to stop",
        "",
        set_variable("TRADINGDATA_BASE_URL", service.base_url),
        set_variable("TRADINGDATA_ACCESS_TOKEN", service.token()),
    ]
    lines += [f"# {label}: {service.token(label)}" for label in service.accounts[1:]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
