"""`tradingdata watch`: the changes of the order book, a line each."""

from __future__ import annotations

import json as json_format
from itertools import islice
from typing import TYPE_CHECKING

import click

from tradingdata import display
from tradingdata._core import printable
from tradingdata._util import validate
from tradingdata.books.book import OrderBook
from tradingdata.display import counted
from tradingdata.watch.polling import time_left

from . import parameters
from .output import RowChoice
from .parameters import COUNT, Command, Given, client_of, option, received
from .terminal import end_with_the_reader, fitting, for_a_terminal, write_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tradingdata.books.diff import OrderChange
    from tradingdata.table.rows import Order
    from tradingdata.watch.updates import OrderUpdate


@click.command(cls=Command)
@parameters.connection
@parameters.where
@option("-i --interval SECONDS", "Time between polls.", float, default=5.0)
@option("--until TIME", "End at a time, such as 15:30, on this computer's clock.")
@option("--polls N", "End after N polls.", COUNT)
@option("--json", "Write a JSON object for each change.")
def watch(given: Given) -> None:
    """Show orders as they change.

    Prints a line for each change; in the first poll every order is new. A failed poll is reported,
    and the watch goes on, unless the token is refused three times in a row. With --where, a change
    counts if the order matches before or after it.

    Examples:
    tradingdata watch
    tradingdata watch -i 2 --where symbol=INFY,TCS
    tradingdata watch --until 15:30 --json > changes.ndjson
    """
    wanted, until = RowChoice("Order", given), given["until"]
    seconds = fitting(lambda: validate.seconds("--interval", given["interval"]))
    fitting(lambda: time_left(until, "--until"))
    lines = json_lines if given["json"] else text_lines
    with client_of(given) as client:
        updates = islice(client.watch_orders(seconds, until=until), given["polls"])
        while (update := received(lambda: next(updates, None))) is not None:
            changes = [change for change in update.changes if len(wanted.apply(_states(change)))]
            update = update._replace(changes=tuple(changes))
            write_out("".join(f"{line}\n" for line in lines(update)).encode())
            end_with_the_reader()


def _states(change: OrderChange) -> OrderBook:
    """Returns an order after a change and, if it was known, before it."""
    orders = (order for order in (change.order, change.previous) if order is not None)
    return OrderBook(orders, keep_personal_data=True)


def clock(update: OrderUpdate) -> str:
    """Returns the time of day of an update: in the zone of its rows, or on this machine's clock."""
    book = update[0]
    return f"{update.at.astimezone(None if book is None else book._rows.zone):%H:%M:%S}"


def text_lines(update: OrderUpdate) -> Iterator[str]:
    """Yields a line for each change, or about the poll that failed."""
    at = clock(update)
    if update.missed is not None:
        count = f"({update.misses} in a row) " if update.misses > 1 else ""
        yield f"{at}  missed   {count}{printable(for_a_terminal(update.missed))}"
    if update.cleared:
        yield f"{at}  cleared  {counted(len(update.orders), 'order')} left"
    for change in update.changes:
        order = change.order
        names = (order.order_no, display.instrument_name(order), order.txn_type)
        which = [printable(str(name)) for name in names if name]
        if change.kind == "new":
            price = _shown(order, "price").removeprefix("at ")
            what = [f"{_shown(order, 'quantity')} at {price}", _shown(order, "status")]
        else:
            what = [
                f"{name} {_shown(change.previous, name)} -> {_shown(order, name)}"
                for name in change.fields
            ]
        yield "  ".join([at, f"{change.kind:<7}", *which, ", ".join(what)]).rstrip()


def json_lines(update: OrderUpdate) -> Iterator[str]:
    """Yields a JSON object for each change, or about the poll that failed."""
    if update.missed is not None:
        error = update.missed
        missed = {"at": update.at.isoformat(), "kind": "missed", "error": type(error).__name__}
        said = {**missed, "misses": update.misses, "message": for_a_terminal(error)}
        yield json_format.dumps(said, ensure_ascii=False)
    if update.cleared:
        yield json_format.dumps({"at": update.at.isoformat(), "kind": "cleared"})
    for change in update.changes:
        at, fields = update.at.isoformat(), list(change.fields)
        row = OrderBook([change.order], keep_personal_data=True).to_json(lines=True, extra=True)
        facts = {"at": at, "kind": change.kind, "fields": fields, "order": json_format.loads(row)}
        yield json_format.dumps(facts, ensure_ascii=False)


def _shown(order: Order | None, name: str) -> str:
    value = display.value_of(order, name)
    if value is None:
        return "none"
    return display.field_text("Order", name, value) or "''"
