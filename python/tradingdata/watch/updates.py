"""The updates of a watch, and the records that it knows, from which it computes them.

Nothing here polls or waits; that is ``polling``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..books.diff import (
    Comparison,
    OrderChange,
    TradeChange,
    changes_of,
    checked_ignore,
    compare,
    copies,
)
from ..books.pairing import distinct
from ..display.text import counted
from ..errors import TradingDataError
from ..table.rows import Trade

WatchedBook = TypeVar("WatchedBook", OrderBook, TradeBook)

# How long an absent record is remembered: longer than a session. An order of the day before that
# the service still returns is in the book, so it is not absent.
_REMEMBERED = timedelta(hours=24)


class _OrderUpdateFields(NamedTuple):
    orders: OrderBook | None
    changes: tuple[OrderChange, ...]
    cleared: bool
    missed: TradingDataError | None
    misses: int
    at: datetime


class _TradeUpdateFields(NamedTuple):
    trades: TradeBook | None
    fills: tuple[Trade, ...]
    changes: tuple[TradeChange, ...]
    cleared: bool
    missed: TradingDataError | None
    misses: int
    at: datetime


def _without_book(update: OrderUpdate | TradeUpdate) -> TradingDataError:
    assert update.missed is not None
    # Each access would otherwise extend the traceback and keep more frames alive.
    return update.missed.with_traceback(None)


def _update_text(update: OrderUpdate | TradeUpdate) -> str:
    book, noun = update[0], update._fields[0]
    zone = None if book is None else book._rows.zone
    local = update.at.astimezone(zone).isoformat(timespec="seconds").partition("T")[2]
    fills = [counted(len(update.fills), "fill")] if isinstance(update, TradeUpdate) else []
    changes = [counted(len(update.changes), "change")] if update.changes or not fills else []
    missed = update.missed
    parts = [
        f"{update.at:%H:%M:%S}Z" if zone is None else local,
        f"{noun} unknown" if book is None else book._heading(),
        *fills,
        *changes,
        *(["cleared"] if update.cleared else []),
        *([f"missed: {type(missed).__name__}"] if missed is not None else []),
        *([f"{update.misses} in a row"] if update.misses > 1 else []),
    ]
    return f"<{type(update).__name__} {', '.join(parts)}>"


class OrderUpdate(_OrderUpdateFields):
    """The result of one poll of the order book.

    Attributes:
        orders: The current orders; after a miss, those of the last good response. Raises the error
            of the miss if there was no good response yet: that is not an empty book.
        changes: The changes since the previous update, each an ``OrderChange``.
        cleared: Whether most orders, at least two or all of them, left the book at once, as they do
            after the session. They are not in ``changes``; one that comes back is ``"returned"``.
        missed: The error of a failed poll; ``None`` after a good response.
        misses: Number of failed polls in a row, 0 after a good response.
        at: When the response arrived or the poll failed, in UTC (aware).
    """

    __slots__ = ()

    @property
    def orders(self) -> OrderBook:
        """The current book; see the class."""
        if self[0] is None:
            raise _without_book(self)
        return self[0]

    __repr__ = _update_text


class TradeUpdate(_TradeUpdateFields):
    """The result of one poll of the trade book.

    Attributes:
        trades: The current trade book; after a miss, that of the last good response. Raises the
            error of the miss if there was no good response yet.
        fills: The trades not reported before; they own their storage.
        changes: What has happened to trades that were reported, each a ``TradeChange``.
        cleared: Whether most trades, at least two or all of them, left the book at once. They are
            neither busted nor, if they come back, reported again.
        missed: The error of a failed poll; ``None`` after a good response.
        misses: Number of failed polls in a row, 0 after a good response.
        at: When the response arrived or the poll failed, in UTC (aware).
    """

    __slots__ = ()

    @property
    def trades(self) -> TradeBook:
        """The current book; see the class."""
        if self[0] is None:
            raise _without_book(self)
        return self[0]

    __repr__ = _update_text


def _checked_previous(previous: object, kind: type[WatchedBook]) -> WatchedBook | None:
    if previous is not None and not isinstance(previous, kind):
        raise TypeError(f"previous= takes type {kind.__name__}, not {type(previous).__name__}")
    return previous


def _at(book: OrderBook | TradeBook) -> datetime:
    at = None if book.response is None else book.response.received_at
    return datetime.now(UTC) if at is None else at


class _Absence(NamedTuple):
    since: datetime
    was_cleared: bool  # whether most other records left the book at the same time


class _Kept(NamedTuple):
    """What is kept from one poll to the next.

    Attributes:
        book: The last good response, or None.
        rows: Its records.
        absent: The records that were in an earlier response only.
        absences: One for each of these.
        misses: Number of failed polls in a row.
        undelivered: The update of the last poll until the reader has it, which an interrupt delays.
    """

    book: Any
    rows: _core.Slice | None
    absent: _core.Slice | None = None
    absences: tuple[_Absence, ...] = ()
    misses: int = 0
    undelivered: Any = None


class _KnownRecords(Generic[WatchedBook]):
    """The records of the last good response, and those that were in an earlier one.

    Attributes:
        kept: These and the update that reports them. It is replaced as a whole, so that no
            interrupt leaves records that are known but not reported.
    """

    _update: Callable[..., Any]
    _nothing: tuple[tuple[()], ...]  # what an update without changes reports

    def __init__(self, previous: WatchedBook | None) -> None:
        self.kept = _Kept(previous, None if previous is None else previous._rows)

    def missed(self, error: TradingDataError) -> Any:
        """Returns the update for a failed poll."""
        misses, at = self.kept.misses + 1, datetime.now(UTC)
        update = self._update(self.kept.book, *self._nothing, False, error, misses, at)
        self.kept = self.kept._replace(misses=misses, undelivered=update)
        return update

    @property
    def _present(self) -> int:
        return 0 if self.kept.rows is None else len(self.kept.rows)

    def _known(self, like: _core.Slice) -> _core.Slice:
        """Returns the records of the last book, then the absent ones, in the zone of others."""
        parts = [
            part for part in (self.kept.rows, self.kept.absent) if part is not None and len(part)
        ]
        # A book passed as ``previous`` may have another zone; its clock times are the same.
        parts = [part if part.zone == like.zone else part.with_zone(like.zone) for part in parts]
        return _core.join(parts) if len(parts) > 1 else parts[0] if parts else like[:0]

    def _vanished(self, compared: Comparison) -> tuple[list[int], bool]:
        """Returns the rows of the last book that are no longer there, and whether that clears it.

        A single record that is missing is a record, unless it was the only one.
        """
        rows = [row for row in compared.left if row < self._present]
        cleared = len(rows) == self._present or (len(rows) > 1 and 2 * len(rows) >= self._present)
        return rows, bool(rows) and cleared

    def _after(
        self,
        book: WatchedBook,
        records: _core.Slice,
        known: _core.Slice,
        absences: dict[int, _Absence],
    ) -> _Kept:
        """Returns a book, its records, and those absent from it, given by their rows."""
        oldest = _at(book) - _REMEMBERED
        absences = {row: absence for row, absence in absences.items() if absence.since > oldest}
        absent = known.take(list(absences)) if absences else None
        return _Kept(book, records, absent, tuple(absences.values()))


class KnownOrders(_KnownRecords[OrderBook]):
    """The orders known after each poll."""

    _update, _nothing = OrderUpdate, ((),)

    def __init__(self, ignore: Iterable[str], previous: OrderBook | None) -> None:
        super().__init__(_checked_previous(previous, OrderBook))
        self._ignore = checked_ignore(ignore)

    def received(self, response: OrderBook, *, confirmed: bool = True) -> OrderUpdate | None:
        """Returns the update for a successful poll.

        Args:
            response: The book.
            confirmed: Whether an order may be missing; otherwise the result is then None.
        """
        at, present = _at(response), self._present
        changes: tuple[OrderChange, ...] = ()
        cleared = False
        kept = self.kept._replace(book=response, rows=response._rows)  # equal, but later
        if self.kept.book is None or response != self.kept.book:  # in C++, far cheaper than below
            known = self._known(response._rows)
            compared = compare(response._rows, known, self._ignore)
            vanished, cleared = self._vanished(compared)
            if vanished and not confirmed:
                return None
            changes = changes_of(response._rows, known, compared, present=present)
            if cleared:
                changes = tuple(change for change in changes if change.kind != "gone")
            absence = _Absence(at, cleared)
            absences = {
                row: absence if row < present else self.kept.absences[row - present]
                for row in compared.left
            }
            kept = self._after(response, response._rows, known, absences)
        update = OrderUpdate(response, changes, cleared, None, 0, at)
        self.kept = kept._replace(misses=0, undelivered=update)
        return update


class KnownTrades(_KnownRecords[TradeBook]):
    """The trades known after each poll, all of which have been reported."""

    _update, _nothing = TradeUpdate, ((), ())

    def __init__(self, previous: TradeBook | None) -> None:
        super().__init__(_checked_previous(previous, TradeBook))
        if previous is not None:
            self.kept = self.kept._replace(rows=distinct(previous._rows))

    def received(self, response: TradeBook, *, confirmed: bool = True) -> TradeUpdate | None:
        """Returns the update for a successful poll.

        Args:
            response: The book.
            confirmed: Whether a trade may be missing; otherwise the result is then None.
        """
        at = _at(response)
        fills: tuple[Trade, ...] = ()
        changes: tuple[TradeChange, ...] = ()
        cleared = False
        kept = self.kept._replace(book=response)  # equal, but later
        if self.kept.book is None or response != self.kept.book:
            trades = distinct(response._rows)
            known = self._known(trades)
            compared = compare(trades, known)
            vanished, cleared = self._vanished(compared)
            if vanished and not confirmed:
                return None
            new = [row for row, old in enumerate(compared.matches) if old is None]
            fills = tuple(copies(trades, new))
            absences = self._absences_after(compared, _Absence(at, cleared))
            changes = self._changes(trades, known, compared, absences)
            kept = self._after(response, trades, known, absences)
        update = TradeUpdate(response, fills, changes, cleared, None, 0, at)
        self.kept = kept._replace(misses=0, undelivered=update)
        return update

    def _absences_after(self, compared: Comparison, absence: _Absence) -> dict[int, _Absence]:
        """Returns the absences by row, of which some are only now known not to be of a clearing.

        Once most trades of a cleared book are back, the others have gone for good.
        """
        present = self._present
        absences = {
            row: absence if row < present else self.kept.absences[row - present]
            for row in compared.left
        }
        away = sum(absence.was_cleared for absence in self.kept.absences)
        still = [row for row in absences if row >= present and absences[row].was_cleared]
        if still and 2 * len(still) <= away:
            absences.update({row: absences[row]._replace(was_cleared=False) for row in still})
        return absences

    def _changes(
        self,
        trades: _core.Slice,
        known: _core.Slice,
        compared: Comparison,
        absences: dict[int, _Absence],
    ) -> tuple[TradeChange, ...]:
        """Returns the changes in the order of ``trades``, then what is busted."""
        present = self._present

        def was_busted(row: int | None) -> bool:
            return row is not None and row >= present and not was_cleared(row)

        def was_cleared(row: int) -> bool:
            return row >= present and self.kept.absences[row - present].was_cleared

        back = [row for row, old in enumerate(compared.matches) if was_busted(old)]
        corrected = [
            (row, old)
            for row, old in enumerate(compared.matches)
            if old is not None and row in compared.fields and not was_busted(old)
        ]
        busted = [
            row
            for row, absence in absences.items()
            if not absence.was_cleared and (row < present or was_cleared(row))
        ]
        now = copies(trades, [row for row, _ in corrected])
        was = copies(known, [old for _, old in corrected])
        corrections = [
            TradeChange("corrected", trade, previous, tuple(compared.fields[row]))
            for trade, previous, (row, _) in zip(now, was, corrected, strict=True)
        ]
        returned = [TradeChange("returned", trade, None, ()) for trade in copies(trades, back)]
        lost = [TradeChange("busted", None, trade, ()) for trade in copies(known, busted)]
        return (*corrections, *returned, *lost)
