"""`tradingdata watch`: the order book as it changes, in a live table or in lines, with alerts."""

from __future__ import annotations

import json as json_format
import re
import subprocess
import sys
import tempfile
from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime, time
from itertools import islice
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tradingdata import _core
from tradingdata._util import validate
from tradingdata.books.book import OrderBook
from tradingdata.display.text import (
    KEY_COLUMNS,
    Layout,
    Shown,
    counted,
    field_text,
    group,
    instrument_name,
    printable,
    value_of,
)
from tradingdata.errors import TradingDataError
from tradingdata.watch import time_left

from .errors import UsageError, fitting, for_a_terminal
from .options import (
    Chosen,
    Connection,
    Filter,
    RowChoice,
    chosen_columns,
    command,
    option,
    parsed,
    received,
    retry_text,
    switch,
)
from .output import fitting_table, tone_style, without_common_day
from .terminal import remark, screen, write_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tradingdata.books.diff import OrderChange
    from tradingdata.client.options import Retry
    from tradingdata.table.rows import Order
    from tradingdata.watch import OrderUpdate

_LONGEST = 30.0  # seconds that a command of an alert may take
_MOST_FIELDS = 4
_RECENT = 6  # changes below the live table
_AROUND = 3  # lines of the screen below the headings, for the omitted orders and the cursor
_CALL = re.compile(r"^[A-Z]+ /\S+: ")  # a watch makes one call only: no need to name it
_FRESH = "bold"  # colours are left to the statuses


@dataclass(frozen=True, kw_only=True)
class AlertOptions:
    """Selection of alerts."""

    bell: Annotated[bool, switch("--bell", "Ring the terminal's bell on a change.")] = False
    on_change: Annotated[
        str | None,
        option(
            "Shell command to run on changes; gets them as JSON lines on its standard input.", "CMD"
        ),
    ] = None
    on_error: Annotated[
        str | None,
        option("Shell command to run when polls begin to fail, or an error ends the watch.", "CMD"),
    ] = None


@command(
    "watch",
    """
tradingdata watch
tradingdata watch -i 2 --where symbol=INFY,TCS
tradingdata watch --until 15:30 --json > changes.ndjson
tradingdata watch -w status=Error --on-change ./alert.sh
""",
)
def watch(
    connection: Connection,
    only: Filter,
    alerts: AlertOptions,
    columns: Chosen = None,
    interval: Annotated[float, option("Time between polls.", "SECONDS", "--interval", "-i")] = 5.0,
    until: Annotated[
        str | None, option("End at a time, such as 15:30, on this computer's clock.", "TIME")
    ] = None,
    polls: Annotated[int | None, option("End after N polls.", "N", min=1)] = None,
    json: Annotated[bool, switch("--json", "Write a JSON object for each change.")] = False,
) -> None:
    """Show orders as they change.

    Shows a live table on a terminal, and prints a line for each change in a pipe. A failed poll
    that may succeed later is reported, and the watch goes on; any other error ends it. With
    --where, a change counts if the order matches before or after it.
    """
    wanted = RowChoice("Order", only)
    names = chosen_columns("orders", _core.names_of("Order"), columns) or KEY_COLUMNS["Order"]
    seconds = fitting(lambda: validate.seconds("--interval", interval))
    end = _end(until)
    console = None if json else screen()
    alarm = Alerts(alerts, _ring_stderr if console is None else console.bell)
    live = None if console is None else LiveTable(console, names, seconds, wanted.rows_of)
    on_retry = None if live is None else live.show_retry
    with connection.client(on_retry=on_retry) as client:
        found = fitting(lambda: client.watch_orders(seconds, until=end))
        updates = _each(islice(found, polls))
        if wanted.conditions:
            updates = (_matching(update, wanted) for update in updates)
        try:
            if live is None:
                _write_lines(updates, alarm, json=json)
            else:
                with live:
                    for update in updates:
                        live.show(update, alarm.after(update))
        except TradingDataError as error:
            _remark_problem(alarm.failed(error, datetime.now(UTC)))
            raise


def _matching(update: OrderUpdate, wanted: RowChoice) -> OrderUpdate:
    """Returns the update with the changes of orders that match before or after the change."""

    def matches(order: Order | None) -> bool:
        return order is not None and len(wanted.rows_of(OrderBook([order]))) > 0

    changes = [each for each in update.changes if matches(each.order) or matches(each.previous)]
    return update._replace(changes=tuple(changes))


def _write_lines(updates: Iterator[OrderUpdate], alarm: Alerts, *, json: bool) -> None:
    for update in updates:
        if update.missed is not None:
            line = f"{clock(update)}  missed   {printable(for_a_terminal(update.missed))}"
            lines = [missed_object(update.missed, update.at) if json else line]
        elif json:
            lines = list(change_objects(update.changes, update.at))
        else:
            parts = map(change_parts, update.changes)
            lines = ["  ".join([clock(update), *each]).rstrip() for each in parts]
        write_out("".join(line + "\n" for line in lines).encode())
        _remark_problem(alarm.after(update))


def _remark_problem(text: str) -> None:
    if text:
        remark(text, "red")


def _each(updates: Iterator[OrderUpdate]) -> Iterator[OrderUpdate]:
    """Yields the updates without issuing Python's warnings."""
    while (update := received(lambda: next(updates, None))) is not None:
        yield update


def _end(text: str | None) -> datetime | time | None:
    """Returns the time of --until on this computer's clock."""
    until = None if text is None else parsed("--until", "timestamp", text)
    if not isinstance(until, datetime | time | None):
        raise UsageError(f"--until takes a time such as 15:30, not {text!r}")
    fitting(lambda: time_left(until, "--until"))
    return until


class Alerts:
    """Runs the selected alerts; the orders of the first response are not changes."""

    def __init__(self, options: AlertOptions, ring: Callable[[], object]) -> None:
        self._options = options
        self._ring = ring
        self._begun = False
        self._failing = False

    def after(self, update: OrderUpdate) -> str:
        """Runs the alerts of an update; returns the problem with them, or empty text."""
        if update.missed is not None:
            began, self._failing = not self._failing, True
            return self.failed(update.missed, update.at) if began else ""
        self._failing = False
        begun, self._begun = self._begun, True
        if not (begun and update.changes):
            return ""
        if self._options.bell:
            self._ring()
        return _run(
            "--on-change", self._options.on_change, change_objects(update.changes, update.at)
        )

    def failed(self, error: TradingDataError, at: datetime) -> str:
        """Runs the command for an error; returns the problem with it, or empty text."""
        return _run("--on-error", self._options.on_error, [missed_object(error, at)])


def _ring_stderr() -> None:
    """Rings the bell through standard error, for use if standard output is not a terminal."""
    if sys.stderr.isatty():
        print("\a", end="", file=sys.stderr, flush=True)


def _run(option: str, command: str | None, lines: Iterable[str]) -> str:
    """Runs a command of the user; returns the problem with it, or empty text.

    Its output would disturb the table, so only the last line of a failing command is reported.
    """
    if command is None:
        return ""
    with tempfile.TemporaryFile() as output:
        try:
            code = subprocess.run(
                command,
                shell=True,  # a shell command that the user passed
                input="".join(line + "\n" for line in lines).encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_LONGEST,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return f"{option}: stopped after {_LONGEST:g} s"
        if code == 0:
            return ""
        output.seek(0)
        said = output.read().decode(errors="replace").strip().splitlines()
    return printable(": ".join([f"{option} failed with exit code {code}", *said[-1:]]))


def clock(update: OrderUpdate) -> str:
    """Returns the time of day of an update: in the zone of its rows, or on this machine's clock."""
    book = update[0]
    return f"{update.at.astimezone(None if book is None else book._rows.zone):%H:%M:%S}"


def change_parts(change: OrderChange) -> tuple[str, str]:
    """Returns which order changed, and what changed of it."""
    order = change.order
    words = [f"{change.kind:<7}", order.order_no, instrument_name(order), order.txn_type]
    which = "  ".join(printable(str(word)) for word in words if word)
    if change.kind == "new":
        terms = f"{_value(order, 'quantity')} at {_value(order, 'price').removeprefix('at ')}"
        return which, f"{terms}, {_value(order, 'status')}"
    key_columns = KEY_COLUMNS["Order"]
    fields = sorted(change.fields, key=lambda name: name not in key_columns)
    values = [
        f"{name} {_value(change.previous, name)} -> {_value(order, name)}"
        for name in fields[:_MOST_FIELDS]
    ]
    if len(change.fields) > _MOST_FIELDS:
        values.append(f"+{len(change.fields) - _MOST_FIELDS} more")
    return which, ", ".join(values)


def change_objects(changes: Iterable[OrderChange], at: datetime) -> Iterator[str]:
    """Yields a JSON object for each change, with time, kind, changed fields and the order."""
    for change in changes:
        facts: dict[str, Any] = {"at": at.isoformat(), "kind": change.kind}
        facts["fields"] = list(change.fields)
        order = OrderBook([change.order]).to_json(lines=True, extra=True).strip()
        yield f'{json_format.dumps(facts, ensure_ascii=False)[:-1]}, "order": {order}}}'


def missed_object(error: TradingDataError, at: datetime) -> str:
    """Returns a JSON object about a failed poll."""
    facts = {"at": at.isoformat(), "kind": "missed", "error": type(error).__name__}
    return json_format.dumps({**facts, "message": for_a_terminal(error)}, ensure_ascii=False)


def _value(order: Any, name: str) -> str:
    value = value_of(order, name)
    if value is None:
        return "none"
    return field_text("Order", name, value) or "''"


class LiveTable(Live):
    """The screen of a watch.

    Args:
        console: The terminal.
        names: The columns.
        interval: Seconds between polls.
        wanted: Returns the orders to show.
    """

    def __init__(
        self,
        console: Console,
        names: Sequence[str],
        interval: float,
        wanted: Callable[[OrderBook], OrderBook],
    ) -> None:
        super().__init__(console=console, auto_refresh=False, vertical_overflow="crop")
        self._names = names
        self._interval = interval
        self._wanted = wanted
        self._recent: deque[Text] = deque(maxlen=_RECENT)
        self._orders: OrderBook | None = None
        self._fresh: Sequence[OrderChange] = ()
        self._at = ""  # of the orders
        self._failing_since = ""
        self._misses = 0
        self._status = Text()

    def show(self, update: OrderUpdate, problem: str = "") -> None:
        """Shows an update; ``problem`` is the failure of an alert."""
        at = clock(update)
        self._status = Text()
        if update.missed is None:
            # The first response's orders are all new.
            self._fresh = () if self._orders is None else update.changes
            self._orders = self._wanted(update.orders)
            self._at = at
            self._misses = 0
            self._recent += [self._recent_line(at, change) for change in self._fresh[-_RECENT:]]
        else:
            self._misses += 1
            if self._misses == 1:
                self._failing_since = at
            why = _CALL.sub("", printable(for_a_terminal(update.missed)))
            polls = counted(self._misses, "poll")
            self._status = Text(f"{polls} failed since {self._failing_since}: {why}", "red")
        if problem:
            self._recent.append(Text(f"{at}  {problem}", "red"))
        self._draw()

    def show_retry(self, retry: Retry) -> None:
        """Shows a failed attempt until the call ends, unless an outage is shown."""
        if not self._misses:
            self._status = Text(retry_text(retry), "yellow")
            self._draw()

    def _draw(self) -> None:
        above: list[Any] = [self._title(), self._status]
        below = [Text(""), *self._recent] if self._recent else []
        while len(below) > 2 and self._height(below) > max(1 + _RECENT, self.console.height // 3):
            del below[1]  # the oldest, so that a narrow screen has space for orders
        if self._orders is not None and len(self._orders):
            taken = self._height(above) + max(1 + _RECENT, self._height(below))
            above.append(self._table(self._orders, max(3, self.console.height - taken - _AROUND)))
        self.update(Group(*above, *below), refresh=True)

    def _height(self, parts: Sequence[Any]) -> int:
        return len(self.console.render_lines(Group(*parts), pad=False))

    def _recent_line(self, at: str, change: OrderChange) -> Text:
        """Returns what changed, below its order if the screen is narrow."""
        which, what = change_parts(change)
        line = f"{at}  {which}  {what}".rstrip()
        if what and len(line) > self.console.width:
            indent = " " * (len(at) + 2)
            what = fill(what, self.console.width, initial_indent=indent, subsequent_indent=indent)
            line = f"{at}  {which}\n{what}"
        return Text(line, "dim" if change.kind == "gone" else tone_style(change.order.status))

    def _title(self) -> Text:
        title = Text().append(self._at or "no response yet", "bold")
        if self._orders is not None:
            states = Counter(order.status or "(none)" for order in self._orders).most_common(4)
            title.append(f"  {group(len(self._orders))} orders", "bold")
            for at, (status, count) in enumerate(states):
                title.append(", " if at else ": ")
                title.append(f"{group(count)} {printable(status)}", tone_style(status))
        return title.append(f"   every {self._interval:g} s, Ctrl-C ends", "dim")

    def _table(self, orders: OrderBook, room: int) -> object:
        changed = {change.order for change in self._fresh if change.kind != "gone"}
        top = orders.sort("last_updated_time", reverse=True)[:room]
        shown = Shown(top, self._names, ends=len(top))
        without_common_day(top, shown)
        styles = {row: _FRESH for row, order in enumerate(top) if order in changed}
        table = fitting_table(Layout(shown, self.console.width), shown, styles)
        if len(orders) > room:
            table.add_row(Text(f"… {group(len(orders) - room)} more", style="dim"))
        return table
