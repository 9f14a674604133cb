"""The live table of `tradingdata watch`: the orders that moved last on top, and what happened."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from tradingdata.display.layout import Layout
from tradingdata.display.plain_table import group
from tradingdata.display.preview import printable, tone_of

from .change_lines import change_line, clock, missed_line
from .exportable import BookSource
from .tables import TONE_STYLES, fitting_table, without_common_day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradingdata.books.book import OrderBook
    from tradingdata.books.diff import OrderChange
    from tradingdata.watch.updates import OrderUpdate

_RECENT = 6  # changes below the table
_AROUND = 7  # lines that are neither orders nor changes
_FRESH = "bold"  # colours are left to the statuses


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
            status = TONE_STYLES.get(tone_of(change.order.status), "")
            style = "dim" if change.kind == "gone" else status
            line = change_line(change, numbered=False)
            self._recent.append(Text(f"{clock(update.at)}  {line}", style=style))
        parts: list[object] = [self._title(update, orders)]
        if orders is not None and len(orders):
            parts.append(self._table(orders, fresh))
        elif orders is not None:
            parts += [Text(f"no order matches: {note}", style="yellow") for note in orders.notes]
        if self._recent:
            parts += [Text(""), *self._cut(self._recent)]
        return Group(*parts)  # type: ignore[arg-type]

    def _title(self, update: OrderUpdate, orders: OrderBook | None) -> Text:
        every = f"every {self._interval:g} s, Ctrl-C ends"
        title = Text(overflow="ellipsis", no_wrap=True)
        title.append(clock(update.at), style="bold")
        if orders is not None:
            states = Counter(order.status or "(none)" for order in orders).most_common(4)
            title.append(f"  {group(len(orders))} orders", style="bold")
            for at, (status, count) in enumerate(states):
                title.append(", " if at else ": ")
                text = f"{group(count)} {printable(status)}"
                title.append(text, style=TONE_STYLES.get(tone_of(status), ""))
        title.append(f"   {every}", style="dim")
        if update.missed is not None:
            title.append(f"\n{missed_line(update.missed)}", style="red")
        return title

    def _table(self, orders: OrderBook, fresh: Sequence[OrderChange]) -> object:
        changed = {change.order for change in fresh if change.kind != "gone"}
        room = max(3, self._console.height - _AROUND - _RECENT)
        top = orders.sort("last_updated_time", reverse=True)[:room]
        source = BookSource(top)
        shown = source.shown(self._names, len(top))
        without_common_day(source, shown)
        styles = {row: _FRESH for row, order in enumerate(top) if order in changed}
        table = fitting_table(Layout(shown, self._console.width), shown, styles)
        if len(orders) > room:
            table.add_row(Text(f"… {group(len(orders) - room)} more", style="dim"))
        return table

    def _cut(self, lines: deque[Text]) -> list[Text]:
        for line in lines:
            line.truncate(self._console.width, overflow="ellipsis")
        return list(lines)
