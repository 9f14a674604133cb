"""`tradingdata watch`: the order book as it changes, in lines and a live table, with alerts."""

from __future__ import annotations

import json as json_format
import subprocess
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tradingdata import _core, display
from tradingdata._util import validate
from tradingdata.books.book import OrderBook
from tradingdata.display import VIEWS, counted, group, printable
from tradingdata.watch.polling import time_left

from . import parameters, terminal
from .output import RowChoice, chosen_columns
from .parameters import COUNT, PATH, Command, Given, client_of, option, received
from .terminal import (
    Screen,
    UsageError,
    end_with_the_reader,
    fitting,
    for_a_terminal,
    remark,
    write_out,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tradingdata.books.diff import OrderChange
    from tradingdata.table.rows import Order
    from tradingdata.watch.updates import OrderUpdate

_LONGEST = 30.0  # seconds that a command of an alert may take
_MOST_FIELDS = 4
_AROUND = 11  # lines of the screen that are not orders: headings, cursor, the latest changes


_ON_CHANGE = (
    "Shell command to run on changes, when the book is cleared, and when polls begin to fail; gets "
    "them as JSON lines on its standard input."
)
_STATE = (
    "Keep the orders that were reported in this file, and go on from them after a restart: the "
    "first poll then reports what has changed since. Its name ends in .json."
)
_UNTIL = "End at a time, such as 15:30, on this computer's clock."


@click.command(cls=Command)
@parameters.connection
@parameters.where
@parameters.columns
@option("-i --interval SECONDS", "Time between polls.", float, default=5.0)
@option("--until TIME", _UNTIL)
@option("--polls N", "End after N polls.", COUNT)
@option("--json", "Write a JSON object for each change.")
@option("--on-change CMD", _ON_CHANGE)
@option("--state FILE", _STATE, PATH)
def watch(given: Given) -> None:
    """Show orders as they change.

    Prints a line for each change, on a terminal above a table of the orders. A failed poll is
    reported, and the watch goes on, unless the token is refused three times in a row. With --where,
    a change counts if the order matches before or after it.

    Examples:
    tradingdata watch
    tradingdata watch -i 2 --where symbol=INFY,TCS
    tradingdata watch --until 15:30 --json > changes.ndjson
    tradingdata watch -w status=Error --on-change ./alert.sh --state seen.json
    """
    until, on_change, state = given["until"], given["on_change"], given["state"]
    known = None if state is None else known_orders(state)
    wanted = RowChoice("Order", given)
    names = chosen_columns("orders", _core.names_of("Order"), given)
    seconds = fitting(lambda: validate.seconds("--interval", given["interval"]))
    fitting(lambda: time_left(until, "--until"))
    screen = None if given["json"] else terminal.screen()
    begun, failing = known is not None, False
    with client_of(given) as client:
        updates = fitting(lambda: client.watch_orders(seconds, previous=known, until=until))
        for update in _selected(islice(updates, given["polls"]), wanted):
            first = not begun and update.missed is None  # in which every order is new
            begun = begun or first
            if screen is None:
                lines = (
                    json_lines(update)
                    if given["json"]
                    else (line for line, _ in text_lines(update))
                )
                write_out("".join(f"{line}\n" for line in lines).encode())
                end_with_the_reader()
            else:
                changes = () if first else text_lines(update)
                screen.show(
                    [screen.paint(part, how) for line, how in changes for part in screen.fit(line)]
                )
                if update.missed is None:
                    screen.replace(live_table(screen, wanted.apply(update.orders), update, names))
            changed = bool(update.changes) or update.cleared
            news = changed if update.missed is None else not failing
            if on_change is not None and news and not first:
                _run_on_change(on_change, json_lines(update))
            failing = update.missed is not None
            # Only now: what a crash keeps from being reported is reported after a restart. A book
            # that was cleared may come back, and its orders are not new then.
            if state is not None and not failing and (len(update.orders) or not state.exists()):
                update.orders.save(state, overwrite=True)


def known_orders(state: Path) -> OrderBook | None:
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


def _selected(updates: Iterator[OrderUpdate], wanted: RowChoice) -> Iterator[OrderUpdate]:
    """Yields the updates with the changes of orders that match before or after the change.

    Issues no warnings of Python.
    """
    while (update := received(lambda: next(updates, None))) is not None:
        if wanted.conditions:
            kept = [change for change in update.changes if len(wanted.apply(states_of(change)))]
            update = update._replace(changes=tuple(kept))
        yield update


def states_of(change: OrderChange) -> OrderBook:
    """Returns an order after a change and, if it was known, before it."""
    orders = (order for order in (change.order, change.previous) if order is not None)
    return OrderBook(orders, keep_personal_data=True)


def _run_on_change(command: str, lines: Iterable[str]) -> None:
    """Runs a command of the user, and reports if it failed.

    Its output, which would disturb the table, is dropped.
    """
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


def text_lines(update: OrderUpdate) -> Iterator[tuple[str, str]]:
    """Yields a line and its style for each change, or about the poll that failed."""
    at = clock(update)
    if update.missed is not None:
        count = f"({update.misses} in a row) " if update.misses > 1 else ""
        yield f"{at}  missed   {count}{printable(for_a_terminal(update.missed))}", "red"
    if update.cleared:
        yield f"{at}  cleared  {counted(len(update.orders), 'order')} left", "dim"
    for change in update.changes:
        style = "dim" if change.kind == "gone" else display.status_style(change.order.status)
        yield "  ".join([at, *change_parts(change)]).rstrip(), style


def change_parts(change: OrderChange) -> tuple[str, str]:
    """Returns which order changed, and what changed of it."""
    order = change.order
    words = [f"{change.kind:<7}", order.order_no, display.instrument_name(order), order.txn_type]
    which = "  ".join(printable(str(word)) for word in words if word)
    if change.kind == "new":
        terms = f"{_shown(order, 'quantity')} at {_shown(order, 'price').removeprefix('at ')}"
        return which, f"{terms}, {_shown(order, 'status')}"
    fields = sorted(change.fields, key=lambda name: name not in VIEWS["Order"].columns)
    values = [
        f"{name} {_shown(change.previous, name)} -> {_shown(order, name)}"
        for name in fields[:_MOST_FIELDS]
    ]
    if len(change.fields) > _MOST_FIELDS:
        values.append(f"+{len(change.fields) - _MOST_FIELDS} more")
    return which, ", ".join(values)


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


def live_table(
    screen: Screen, orders: OrderBook, update: OrderUpdate, names: Sequence[str] | None
) -> list[str]:
    """Returns the orders that fit the screen, the last updated ones first, below their number."""
    states = Counter(order.status or "(none)" for order in orders).most_common(4)
    counts = ", ".join(f"{group(count)} {printable(status)}" for status, count in states)
    title = f"{clock(update)}  {counted(len(orders), 'order')}{counts and ': '}{counts}"
    lines = [screen.paint(display.cut(title, screen.width), "bold")]
    if not len(orders):
        return lines
    top = orders.sort("last_updated_time", reverse=True)[: max(3, screen.height - _AROUND)]
    columns = names or orders._view_of_rows().columns
    shown = display.Shown(top, columns, ends=len(top))
    shown.without_common_day(top)
    changed = {change.order for change in update.changes if change.kind != "gone"}
    fresh = [row for row, order in enumerate(top) if order in changed]
    lines += display.laid_out(shown, screen.width, screen.paint, bold=fresh)[0].splitlines()
    more = f"… {group(len(orders) - len(top))} more"
    return [*lines, screen.paint(more, "dim")] if len(orders) > len(top) else lines
