"""`tradingdata watch`: the changes of the order book, a line each, with alerts."""

from __future__ import annotations

import json as json_format
import subprocess
from itertools import islice
from pathlib import Path
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
from .parameters import COUNT, PATH, Command, Given, client_of, option, received
from .terminal import (
    UsageError,
    end_with_the_reader,
    fitting,
    for_a_terminal,
    remark,
    write_out,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tradingdata.books.diff import OrderChange
    from tradingdata.table.rows import Order
    from tradingdata.watch.updates import OrderUpdate

_LONGEST = 30.0  # seconds that a command of an alert may take

_ON_CHANGE = (
    "Shell command to run on changes, when the book is cleared, and when polls begin to fail; gets "
    "them as JSON lines on its standard input."
)
_STATE = (
    "Keep the orders that were reported in this file, and go on from them after a restart: the "
    "first poll then reports what has changed since. Its name ends in .json."
)


@click.command(cls=Command)
@parameters.connection
@parameters.where
@option("-i --interval SECONDS", "Time between polls.", float, default=5.0)
@option("--until TIME", "End at a time, such as 15:30, on this computer's clock.")
@option("--polls N", "End after N polls.", COUNT)
@option("--json", "Write a JSON object for each change.")
@option("--on-change CMD", _ON_CHANGE)
@option("--state FILE", _STATE, PATH)
def watch(given: Given) -> None:
    """Show orders as they change.

    Prints a line for each change; in the first poll every order is new, unless --state knows it. A
    failed poll is reported, and the watch goes on, unless the token is refused three times in a
    row. With --where, a change counts if the order matches before or after it.

    Examples:
    tradingdata watch
    tradingdata watch -i 2 --where symbol=INFY,TCS
    tradingdata watch --until 15:30 --json > changes.ndjson
    tradingdata watch -w status=Error --on-change ./alert.sh --state seen.json
    """
    wanted, until, state = RowChoice("Order", given), given["until"], given["state"]
    known = None if state is None else _known_orders(state)
    seconds = fitting(lambda: validate.seconds("--interval", given["interval"]))
    fitting(lambda: time_left(until, "--until"))
    lines = json_lines if given["json"] else text_lines
    begun, failing = known is not None, False
    with client_of(given) as client:
        updates = client.watch_orders(seconds, previous=known, until=until)
        polls = islice(updates, given["polls"])
        while (update := received(lambda: next(polls, None))) is not None:
            if wanted.conditions:
                kept = [change for change in update.changes if len(wanted.apply(_states(change)))]
                update = update._replace(changes=tuple(kept))
            write_out("".join(f"{line}\n" for line in lines(update)).encode())
            end_with_the_reader()
            is_missed = update.missed is not None
            is_changed = bool(update.changes) or update.cleared
            is_news = not failing if is_missed else begun and is_changed
            if is_news and given["on_change"] is not None:
                _run_on_change(given["on_change"], json_lines(update))
            failing, begun = is_missed, begun or not is_missed
            if is_missed:
                continue
            # Only now: what a crash keeps from being reported is reported after a restart. A book
            # that was cleared may come back, and its orders are not new then.
            if state is not None and (len(update.orders) or not state.exists()):
                update.orders.save(state, overwrite=True)


def _known_orders(state: Path) -> OrderBook | None:
    """Returns the orders that an earlier watch has reported, or None if there was none.

    Raises UsageError if the file holds anything else or cannot be written there.
    """
    if state.suffix.lower() != ".json":
        raise UsageError(f"--state takes a file whose name ends in .json, not {str(state)!r}")
    if state.exists():
        return fitting(lambda: OrderBook.load(state))
    if not state.parent.is_dir():
        raise UsageError(f"--state: there is no folder {str(state.parent)!r}: create it")
    return None


def _states(change: OrderChange) -> OrderBook:
    """Returns an order after a change and, if it was known, before it."""
    orders = (order for order in (change.order, change.previous) if order is not None)
    return OrderBook(orders, keep_personal_data=True)


def _run_on_change(command: str, lines: Iterable[str]) -> None:
    """Runs a command of the user, whose output is dropped, and reports if it failed."""
    try:
        code = subprocess.run(
            command,
            shell=True,  # a shell command that the user passed
            input="".join(line + "\n" for line in lines).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_LONGEST,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        remark(f"--on-change: stopped after {_LONGEST:g} s", "red")
        return
    if code != 0:
        remark(f"--on-change failed with exit code {code}", "red")


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
