"""The live table of `tradingdata watch`: recently changed orders first, then the latest changes.

Retries and failures are in a line above the table; nothing else may write to the terminal.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tradingdata.display.layout import Layout
from tradingdata.display.plain_table import group
from tradingdata.display.preview import printable, tone_of

from .advice import for_a_terminal
from .change_lines import change_line, clock
from .make_client import retry_text
from .tables import TONE_STYLES, fitting_table, without_common_day

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradingdata.books.book import OrderBook
    from tradingdata.books.diff import OrderChange
    from tradingdata.client.call_log import Retry
    from tradingdata.watch.updates import OrderUpdate

_RECENT = 6  # changes below the table
_AROUND = 8  # lines that are neither orders nor changes
_CALL = re.compile(r"^[A-Z]+ /\S+: ")  # a watch makes one call only: no need to name it
_FRESH = "bold"  # colours are left to the statuses


def _line(text: str, style: str) -> Text:
    return Text(text, style=style, overflow="ellipsis", no_wrap=True)


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
            self._recent += [self._recent_line(at, change) for change in self._fresh]
        else:
            self._misses += 1
            if self._misses == 1:
                self._failing_since = at
            why = _CALL.sub("", printable(for_a_terminal(update.missed)))
            polls = "1 poll" if self._misses == 1 else f"{group(self._misses)} polls"
            self._status = _line(f"{polls} failed since {self._failing_since}: {why}", "red")
        if problem:
            self._recent.append(_line(f"{at}  {problem}", "red"))
        self._draw()

    def show_retry(self, retry: Retry) -> None:
        """Shows a failed attempt until the call ends, unless an outage is shown."""
        if not self._misses:
            self._status = _line(retry_text(retry), "yellow")
            self._draw()

    def _draw(self) -> None:
        parts: list[object] = [self._title(), self._status]
        if self._orders is not None and len(self._orders):
            parts.append(self._table(self._orders))
        elif self._orders is not None:
            notes = [f"no order matches: {note}" for note in self._orders.notes]
            parts += [Text(note, style="yellow") for note in notes]
        if self._recent:
            parts += [Text(""), *self._recent]
        self.update(Group(*parts), refresh=True)  # type: ignore[arg-type]

    def _recent_line(self, at: str, change: OrderChange) -> Text:
        status = TONE_STYLES.get(tone_of(change.order.status), "")
        line = f"{at}  {change_line(change, numbered=False)}"
        return _line(line, "dim" if change.kind == "gone" else status)

    def _title(self) -> Text:
        title = Text(overflow="ellipsis", no_wrap=True)
        title.append(self._at or "no response yet", style="bold")
        if self._orders is not None:
            states = Counter(order.status or "(none)" for order in self._orders).most_common(4)
            title.append(f"  {group(len(self._orders))} orders", style="bold")
            for at, (status, count) in enumerate(states):
                title.append(", " if at else ": ")
                text = f"{group(count)} {printable(status)}"
                title.append(text, style=TONE_STYLES.get(tone_of(status), ""))
        title.append(f"   every {self._interval:g} s, Ctrl-C ends", style="dim")
        return title

    def _table(self, orders: OrderBook) -> object:
        changed = {change.order for change in self._fresh if change.kind != "gone"}
        room = max(3, self.console.height - _AROUND - _RECENT)
        top = orders.sort("last_updated_time", reverse=True)[:room]
        shown = top._shown(self._names, ends=len(top))
        without_common_day(top, shown)
        styles = {row: _FRESH for row, order in enumerate(top) if order in changed}
        table = fitting_table(Layout(shown, self.console.width), shown, styles)
        if len(orders) > room:
            table.add_row(Text(f"… {group(len(orders) - room)} more", style="dim"))
        return table
