"""The live table of `tradingdata watch`: the orders that moved last on top, and what happened."""

from __future__ import annotations

from collections import Counter, deque
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from tradingdata.books.book import OrderBook
from tradingdata.display.plain_table import group
from tradingdata.display.preview import printable

from .change_lines import change_line, clock, missed_line
from .exportable import BookSource
from .tables import fitting_table, without_common_day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradingdata.books.diff import OrderChange
    from tradingdata.watch.updates import OrderUpdate

_RECENT = 6  # changes below the table
_AROUND = 7  # lines that are neither orders nor changes
_STYLES = {"new": "green", "changed": "yellow", "gone": "magenta"}


class LiveTable:
    """What the screen shows after each update."""

    def __init__(self, console: Console, names: Sequence[str], interval: float) -> None:
        self._console = console
        self._names = names
        self._interval = interval
        self._recent: deque[Text] = deque(maxlen=_RECENT)
        self._begun = False

    def after(
        self, update: OrderUpdate, orders: OrderBook | None, changes: Sequence[OrderChange]
    ) -> Group:
        """The screen after an update: ``orders`` and ``changes`` are those to be shown."""
        fresh = changes if self._begun else ()  # the first answer's orders are all new
        self._begun = self._begun or update.missed is None
        for change in fresh:
            text = Text(f"{clock(update.at)}  {change_line(change)}", style=_STYLES[change.kind])
            self._recent.append(text)
        parts: list[object] = [self._title(update, orders)]
        if orders is not None and len(orders):
            parts.append(self._table(orders, fresh))
        if self._recent:
            parts += [Text(""), *self._cut(self._recent)]
        return Group(*parts)  # type: ignore[arg-type]

    def _title(self, update: OrderUpdate, orders: OrderBook | None) -> Text:
        every = f"every {self._interval:g} s, Ctrl-C ends"
        title = Text(overflow="ellipsis", no_wrap=True)
        title.append(clock(update.at), style="bold")
        if orders is not None:
            states = Counter(printable(order.status or "(none)") for order in orders).most_common(4)
            counts = ", ".join(f"{group(count)} {status}" for status, count in states)
            title.append(f"  {group(len(orders))} orders: {counts}", style="bold")
        title.append(f"   {every}", style="dim")
        if update.missed is not None:
            title.append(f"\n{missed_line(update.missed)}", style="red")
        return title

    def _table(self, orders: OrderBook, fresh: Sequence[OrderChange]) -> object:
        kinds = {change.order: change.kind for change in fresh if change.kind != "gone"}
        room = max(3, self._console.height - _AROUND - _RECENT)
        moved = sorted(
            orders, key=lambda order: order.last_updated_time or datetime.min, reverse=True
        )
        top = OrderBook(moved[:room])
        source = BookSource(top)
        shown = source.shown(self._names, len(top))
        without_common_day(source, shown)
        styles = {row: _STYLES[kinds[order]] for row, order in enumerate(top) if order in kinds}
        table, _ = fitting_table(shown, self._console.width, styles)
        if len(orders) > room:
            table.add_row(Text(f"… {group(len(orders) - room)} more", style="dim"))
        return table

    def _cut(self, lines: deque[Text]) -> list[Text]:
        for line in lines:
            line.truncate(self._console.width, overflow="ellipsis")
        return list(lines)
