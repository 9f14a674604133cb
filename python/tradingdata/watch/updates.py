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
    distinct,
)
from ..display import counted
from ..errors import TradingDataError
from ..table.rows import Trade

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


WatchedBook = TypeVar("WatchedBook", OrderBook, TradeBook)
Update = TypeVar("Update", OrderUpdate, TradeUpdate)


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


class _Poll(NamedTuple):
    """A response that is not as the last one, beside what is known.

    Attributes:
        records: Those of the response.
        known: Those of the last book, then the absent ones.
        compared: How the two compare.
        absences: By their rows, the known records that the response lacks.
        cleared: Whether most of the last book are among these.
    """

    records: _core.Slice
    known: _core.Slice
    compared: Comparison
    absences: dict[int, _Absence]
    cleared: bool


class _KnownRecords(Generic[WatchedBook, Update]):
    """The records of the last good response, and those that were in an earlier one.

    Attributes:
        kept: These and the update that reports them. It is replaced as a whole, so that no
            interrupt leaves records that are known but not reported.
    """

    _update: Callable[..., Update]
    _nothing: tuple[tuple[object, ...], ...]  # what an update without changes reports
    _ignore: Iterable[str] = ()

    def __init__(self, kind: type[WatchedBook], previous: WatchedBook | None) -> None:
        if previous is not None and not isinstance(previous, kind):
            raise TypeError(f"previous= takes type {kind.__name__}, not {type(previous).__name__}")
        self.kept = _Kept(previous, None if previous is None else self._records_of(previous))

    def missed(self, error: TradingDataError) -> Update:
        """Returns the update for a failed poll."""
        misses, at = self.kept.misses + 1, datetime.now(UTC)
        update = self._update(self.kept.book, *self._nothing, False, error, misses, at)
        self.kept = self.kept._replace(misses=misses, undelivered=update)
        return update

    def received(self, response: WatchedBook, *, confirmed: bool = True) -> Update | None:
        """Returns the update for a successful poll.

        Args:
            response: The book.
            confirmed: Whether a record may be missing; otherwise the result is then None.
        """
        at, reported, cleared = _at(response), self._nothing, False
        kept = self.kept._replace(book=response)  # equal, but later
        if self.kept.book is None or response != self.kept.book:  # in C++, far cheaper than below
            records, present = self._records_of(response), self._present
            known = self._known(records)
            compared = compare(records, known, self._ignore)
            vanished = sum(row < present for row in compared.left)
            if vanished and not confirmed:
                return None
            # A single record that is missing is a record, unless it was the only one.
            cleared = vanished > 0 and (vanished == present or 2 * vanished >= max(present, 4))
            absences = {
                row: _Absence(at, cleared) if row < present else self.kept.absences[row - present]
                for row in compared.left
            }
            reported = self._reported(_Poll(records, known, compared, absences, cleared))
            recent = {row: one for row, one in absences.items() if one.since > at - _REMEMBERED}
            absent = known.take(list(recent)) if recent else None
            kept = _Kept(response, records, absent, tuple(recent.values()))
        update = self._update(response, *reported, cleared, None, 0, at)
        self.kept = kept._replace(misses=0, undelivered=update)
        return update

    def _records_of(self, book: WatchedBook) -> _core.Slice:
        return book._rows

    def _reported(self, poll: _Poll) -> tuple[tuple[object, ...], ...]:
        """Returns what an update reports, besides the book, of records that are not as known."""
        raise NotImplementedError

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


class KnownOrders(_KnownRecords[OrderBook, OrderUpdate]):
    """The orders known after each poll."""

    _update, _nothing = OrderUpdate, ((),)

    def __init__(self, ignore: Iterable[str], previous: OrderBook | None) -> None:
        super().__init__(OrderBook, previous)
        self._ignore = checked_ignore(ignore)

    def _reported(self, poll: _Poll) -> tuple[tuple[OrderChange, ...]]:
        changes = changes_of(poll.records, poll.known, poll.compared, present=self._present)
        return (tuple(change for change in changes if not poll.cleared or change.kind != "gone"),)


class KnownTrades(_KnownRecords[TradeBook, TradeUpdate]):
    """The trades known after each poll, all of which have been reported."""

    _update, _nothing = TradeUpdate, ((), ())

    def __init__(self, previous: TradeBook | None) -> None:
        super().__init__(TradeBook, previous)

    def _records_of(self, book: TradeBook) -> _core.Slice:
        return distinct(book._rows)

    def _reported(self, poll: _Poll) -> tuple[tuple[Trade, ...], tuple[TradeChange, ...]]:
        """Returns the fills; and the changes in the order of the records, then what is busted."""
        records, known, compared, absences, _ = poll
        present, cleared_before, busted_before = self._present, set[int](), set[int]()
        for row, absence in enumerate(self.kept.absences, present):
            (cleared_before if absence.was_cleared else busted_before).add(row)
        # Once most trades of a cleared book are back, the others have gone for good.
        still = cleared_before & absences.keys()
        if 2 * len(still) <= len(cleared_before):
            absences.update({row: absences[row]._replace(was_cleared=False) for row in still})
        busted = [
            row
            for row, absence in absences.items()
            if not absence.was_cleared and row not in busted_before
        ]
        matches = list(enumerate(compared.matches))
        new = [row for row, old in matches if old is None]
        back = [row for row, old in matches if old in busted_before]
        corrected = [
            (row, old)
            for row, old in matches
            if old is not None and row in compared.fields and old not in busted_before
        ]
        now = copies(records, [row for row, _ in corrected])
        was = copies(known, [old for _, old in corrected])
        corrections = [
            TradeChange("corrected", trade, previous, tuple(compared.fields[row]))
            for trade, previous, (row, _) in zip(now, was, corrected, strict=True)
        ]
        returned = [TradeChange("returned", trade, None, ()) for trade in copies(records, back)]
        lost = [TradeChange("busted", None, trade, ()) for trade in copies(known, busted)]
        return tuple(copies(records, new)), (*corrections, *returned, *lost)
