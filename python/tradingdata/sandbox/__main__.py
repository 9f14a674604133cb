"""`python -m tradingdata.sandbox`: the simulated service in a process of its own."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

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
    """Runs the sandbox until Ctrl-C or SIGTERM. ``accounts`` is a number, or labels with commas.

    Raises what ``sandbox.start`` raises.
    """
    service = start(
        seed=seed,
        day=day,
        speed=speed,
        accounts=int(accounts) if accounts.isdigit() else accounts.split(","),
        orders=orders,
        port=port,
    )
    # SIGINT too, since a shell starts what it puts in the background with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with service:
            print(_welcome(service), flush=True)
            while True:
                # Not for ever: a signal just before a wait without end would not end it.
                time.sleep(0.5)
    except KeyboardInterrupt:
        print("\nstopped", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tradingdata.sandbox",
        description="A simulated Trading Data Service on this machine, until Ctrl-C.",
    )
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another day's business")
    parser.add_argument("--day", help=f"the trading day, as {DEFAULT_DAY} (the default)")
    parser.add_argument(
        "--speed",
        type=float,
        help="market seconds a second, from 09:15; without it the day is over",
    )
    parser.add_argument(
        "--accounts", default="1", help="how many, or labels with commas between (%(default)s)"
    )
    parser.add_argument(
        "--orders", type=int, default=200, help="orders of an account (%(default)s)"
    )
    return parser


def _welcome(service: Service) -> str:
    moves = "the day unfolds" if service.clock.speed else "the day is over"
    lines = [
        f"tradingdata sandbox at {service.base_url}",
        f"seed {service.seed}, market time {service.now}, {moves}; Ctrl-C ends it",
        "",
        f"export TRADINGDATA_BASE_URL={service.base_url}",
        f"export TRADINGDATA_ACCESS_TOKEN={service.token()}",
    ]
    lines += [f"# {label}: {service.token(label)}" for label in service.accounts[1:]]
    return "\n".join(lines)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
