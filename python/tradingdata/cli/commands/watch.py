"""`tradingdata watch`: the order book as it changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from tradingdata import _core
from tradingdata.books.book import OrderBook
from tradingdata.cli.alerts import AlertOptions, Alerts, ring_stderr
from tradingdata.cli.change_lines import (
    change_line,
    change_objects,
    clock,
    missed_line,
    missed_object,
)
from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.filter_args import RowChoice, chosen_columns, parsed_time
from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Chosen, Connection, Filter, switch
from tradingdata.cli.output import remark_notes
from tradingdata.cli.terminal import remark, screen, write_out
from tradingdata.display.preview import KEY_COLUMNS
from tradingdata.errors import TradingDataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tradingdata.books.records import Order
    from tradingdata.watch.updates import OrderUpdate

EXAMPLES = """
tradingdata watch
tradingdata watch -i 2 --where symbol=INFY,TCS
tradingdata watch --until 15:30 --json > changes.ndjson
tradingdata watch -w status=Error --on-change ./alert.sh
"""

Interval = Annotated[
    float, typer.Option("--interval", "-i", metavar="SECONDS", help="Time between polls.")
]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="End at a time, such as 15:30, on this computer's clock."),
]
Polls = Annotated[int | None, typer.Option(min=1, metavar="N", help="End after N polls.")]
Json = Annotated[bool, switch("--json", "Write a JSON object for each change.")]


def watch(
    connection: Connection,
    only: Filter,
    alerts: AlertOptions,
    columns: Chosen = None,
    interval: Interval = 5.0,
    until: Until = None,
    polls: Polls = None,
    json: Json = False,
) -> None:
    """Show orders as they change.

    Shows a live table on a terminal, and prints a line for each change in a pipe. A failed poll
    that may succeed later is reported, and the watch goes on; any other error ends it. With
    --where, a change counts if the order matches before or after it.
    """
    wanted = RowChoice("Order", only)
    names = chosen_columns("orders", _core.names_of("Order"), columns) or KEY_COLUMNS["Order"]
    if not 0 < interval < float("inf"):
        raise UsageError("--interval is a number of seconds above 0")
    end = _end(until)
    console = None if json else screen()
    alarm = Alerts(alerts, ring_stderr if console is None else console.bell)
    if console is None:
        live, on_retry = None, None
    else:
        from tradingdata.cli.live_table import LiveTable

        live = LiveTable(console, names, interval, wanted.rows_of)
        on_retry = live.show_retry
    with connect(connection, on_retry=on_retry) as client:

        def matches(order: Order) -> bool:
            return len(wanted.rows_of(OrderBook([order]))) > 0

        where = matches if wanted.conditions else None
        updates = _each(islice(client.watch_orders(interval, where=where, until=end), polls))
        try:
            if live is None:
                _write_lines(updates, wanted, alarm, json=json)
            else:
                with live:
                    for update in updates:
                        live.show(update, alarm.after(update))
        except TradingDataError as error:
            _remark_problem(alarm.failed(error, datetime.now(UTC)))
            raise


def _write_lines(
    updates: Iterator[OrderUpdate], wanted: RowChoice, alarm: Alerts, *, json: bool
) -> None:
    first = True
    for update in updates:
        if first and update.missed is None:
            remark_notes(wanted.rows_of(update.orders))
            first = False
        lines = (
            list(change_objects(update.changes, update.at))
            if json
            else [f"{clock(update)}  {change_line(change)}" for change in update.changes]
        )
        if update.missed is not None:
            missed = missed_object(update.missed, update.at) if json else ""
            lines.append(missed or f"{clock(update)}  {missed_line(update.missed)}")
        write_out("".join(line + "\n" for line in lines).encode())
        _remark_problem(alarm.after(update))


def _remark_problem(text: str) -> None:
    if text:
        remark(text, "red")


def _each(updates: Iterator[OrderUpdate]) -> Iterator[OrderUpdate]:
    """Yields the updates without issuing Python's warnings."""
    while (update := received(lambda: next(updates, None))) is not None:
        yield update


def _end(text: str | None) -> datetime | None:
    """Returns the time of --until on this computer's clock."""
    if text is None:
        return None
    until: datetime | date | time = parsed_time("--until", text)
    now = datetime.now().astimezone()
    if isinstance(until, time):
        until = datetime.combine(now.date(), until)
    if not isinstance(until, datetime):
        raise UsageError(f"--until takes a time such as 15:30, not {text!r}")
    if until.astimezone() <= now:
        raise UsageError(f"--until {text} has passed: it is {now:%H:%M:%S}")
    return until
