"""`tradingdata watch`: the order book as it changes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradingdata import _core
from tradingdata.books.book import OrderBook
from tradingdata.cli.change_lines import (
    change_line,
    change_objects,
    clock,
    missed_line,
    missed_object,
)
from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.filter_args import RowChoice, chosen_columns
from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Chosen, Connection, Filter
from tradingdata.cli.output import remark_notes
from tradingdata.cli.terminal import screen, write_out
from tradingdata.display.preview import KEY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tradingdata.books.diff import OrderChange
    from tradingdata.watch.updates import OrderUpdate

EXAMPLES = """
tradingdata watch
tradingdata watch --interval 2 --where symbol=INFY,TCS
tradingdata watch --json | tee changes.ndjson
"""

Interval = Annotated[
    float, typer.Option("--interval", "-i", metavar="SECONDS", help="From poll to poll.")
]
Polls = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="End after so many polls; at Ctrl-C unless given."),
]
Json = Annotated[
    bool,
    typer.Option("--json", metavar="", help="A JSON object a change, with the whole order."),
]


def watch(
    connection: Connection,
    only: Filter,
    columns: Chosen = None,
    interval: Interval = 5.0,
    polls: Polls = None,
    json: Json = False,
) -> None:
    """Show the orders as they change, until Ctrl-C.

    On a terminal that is a live table, in a pipe a line for each change. The first poll's orders
    are all new. A poll that fails and may pass is told and the watch goes on; any other error ends
    it.
    """
    wanted = RowChoice("Order", only)
    names = chosen_columns("orders", _core.names_of("Order"), columns) or KEY_COLUMNS["Order"]
    if not 0 < interval < float("inf"):
        raise UsageError("--interval is a number of seconds above 0")
    console = screen()
    with connect(connection) as client:
        updates = islice(client.watch_orders(interval), polls)
        if json or console is None:
            _write_lines(updates, wanted, json=json)
        else:
            _show_live(updates, wanted, console, names, interval)


def _write_lines(updates: Iterator[OrderUpdate], wanted: RowChoice, *, json: bool) -> None:
    first = True
    for update in _each(updates):
        if first and update.missed is None:
            remark_notes(wanted.rows_of(update.orders))
            first = False
        changes = _wanted(update.changes, wanted)
        lines = (
            list(change_objects(changes, update.at))
            if json
            else [f"{clock(update.at)}  {change_line(change)}" for change in changes]
        )
        if update.missed is not None:
            missed = missed_object(update.missed, update.at) if json else ""
            lines.append(missed or f"{clock(update.at)}  {missed_line(update.missed)}")
        write_out("".join(line + "\n" for line in lines).encode())


def _show_live(
    updates: Iterator[OrderUpdate],
    wanted: RowChoice,
    console: Any,
    names: list[str],
    interval: float,
) -> None:
    from rich.live import Live

    from tradingdata.cli.live_table import LiveTable

    table = LiveTable(console, names, interval)
    known: OrderBook | None = None
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for update in _each(updates):
            if update.missed is None:
                known = update.orders
            shown = None if known is None else wanted.rows_of(known)
            live.update(table.after(update, shown, _wanted(update.changes, wanted)), refresh=True)


def _each(updates: Iterator[OrderUpdate]) -> Iterator[OrderUpdate]:
    """The updates, without Python's warnings among them."""
    while (update := received(lambda: next(updates, None))) is not None:
        yield update


def _wanted(changes: tuple[OrderChange, ...], wanted: RowChoice) -> list[OrderChange]:
    """The changes of orders that ``--where`` asks for."""
    return [change for change in changes if len(wanted.rows_of(OrderBook([change.order])))]
