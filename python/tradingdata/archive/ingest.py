"""Makes entries of the log of responses and failures, and has them stored and folded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from .._util.time_zones import zone_as_text
from ..display import counted
from ..errors import ArchiveError, ConfigurationError
from . import days
from .databases import explained
from .days import StoredBook
from .folder import Json
from .responses import Entry, Log, new_id
from .store import Store

_CLOCKS_AGREE = timedelta(minutes=2)
_LIKELY = range(2026, 2100)  # years in which a service's clock is believed
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFetch:
    """One entry of an archive's log: a stored response, or a failed fetch.

    Attributes:
        id: The entry's id, which rows have as ``fetch_id``.
        book: ``"trades"`` or ``"orders"``.
        account: The label of the account, or ``None``.
        source: ``"fetch"``, or ``"add"`` for a saved book.
        at: When the response was received or the fetch failed, in the archive's time zone; ``None``
            if unknown, as for a saved book without a time.
        filed_at: When the entry was written, in the archive's time zone.
        complete: Whether the book was one complete response.
        days: The days that it covers or has rows of.
        rows: Number of rows in the book.
        stored: Whether rows were stored, because the body differs from the one received before.
        withdrawn: Whether it was withdrawn.
        sha256: SHA-256 digest of the response's body in hex; ``None`` without a complete one.
        error: Name of the error's class, or ``None``.
        message: The error's message; ``""`` without an error.
    """

    id: str
    book: str
    account: str | None
    source: str
    at: datetime | None
    filed_at: datetime
    complete: bool
    days: tuple[date, ...]
    rows: int
    stored: bool
    withdrawn: bool
    sha256: str | None
    error: str | None
    message: str

    @property
    def ok(self) -> bool:
        """Whether the fetch succeeded."""
        return self.error is None

    def summary(self) -> str:
        """Returns the entry in a few words."""
        name = f"{self.book} of {self.account}" if self.account else self.book
        ends = sorted({min(self.days), max(self.days)}) if self.days else ()
        parts = [name, counted(self.rows, "row"), " to ".join(map(str, ends)), self.error]
        return ", ".join(filter(None, parts)) + ", withdrawn" * self.withdrawn

    def __repr__(self) -> str:
        return f"<ArchiveFetch: {self.summary()}>"


class Received(NamedTuple):
    """A response or a failure to store; ``at`` is an aware time, or None if unknown."""

    name: str
    account: str
    source: str
    at: datetime | None
    book: StoredBook | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class Ingest:
    """Stores what was received."""

    files: Store
    day_start: time

    def entry(
        self, entry: Entry, *, stored: bool | None = None, withdrawn: bool = False
    ) -> ArchiveFetch:
        """Returns an entry of a response or failure as users see it."""
        by_day = entry.rows
        rows = sum(by_day.values())
        return ArchiveFetch(
            account=entry.account or None,
            at=self.time(entry.received_at),
            filed_at=self.time(entry.filed_at),
            complete=entry.is_complete,
            days=tuple(map(date.fromisoformat, sorted(by_day))),
            rows=rows,
            stored=(entry.repeats is None and rows > 0) if stored is None else stored,
            withdrawn=withdrawn,
            sha256=entry.sha256 if entry.is_complete else None,
            **{name: getattr(entry, name) for name in ("id", "book", "source", "error", "message")},
        )

    def time(self, at: int | None) -> Any:
        """Returns a time of an entry in the archive's zone."""
        return (
            None if at is None else (_EPOCH + at * _MICROSECOND).astimezone(self.files.decoder.zone)
        )

    def day_at(self, at: datetime) -> date:
        """Returns the day of a time, which begins at ``day_start``."""
        clock = at.astimezone(self.files.decoder.zone)
        return clock.date() - timedelta(clock.time() < self.day_start)

    def check_label(self, unlabelled: bool, problem: str) -> None:
        """Raises ConfigurationError for records without a label beside others with one."""
        with explained(self.files.root), self.files.lock:
            known = sorted(self.files.known_log().since)
        if unlabelled and known and "" not in known:
            raise ConfigurationError(
                f"{problem}, but other accounts in this archive have one ({', '.join(known[:3])}): "
                "pass `account`, otherwise records may be duplicated"
            )

    def store(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses and failures, and returns their entries, in this order.

        What a caller is to be warned of is appended to ``remarks``: a warning that is an error must
        not keep a response from being stored.

        Raises:
            ArchiveError: They are not stored; the error has the books.
        """
        root = self.files.root
        try:
            with explained(root, "write"):
                entries, known = self._place(received, remarks)
        except Exception as error:
            failure = ArchiveError(f"{root} was not written: {error}", file=root)
            failure = error if isinstance(error, ArchiveError) else failure
            failure.books = tuple(one.book for one in received if one.book is not None)
            raise failure from error.__cause__ or error
        self.files.settle(remarks)
        self._check_clients(received, known, remarks)
        return entries

    def _place(
        self, received: Sequence[Received], remarks: list[str]
    ) -> tuple[list[ArchiveFetch], set[str]]:
        """Places responses and failures in one file; also returns the labels that were known."""
        shown: list[ArchiveFetch] = []
        new: dict[str, tuple[Entry, Json]] = {}
        newest: dict[tuple[str, str, str], Entry] = {}
        with self.files.lock:
            log = self.files.known_log()
            labels = set(log.since)
            for arrival in received:
                entry, more = self._entry_of(arrival, remarks)
                if arrival.book is not None:
                    whole = more
                    key = entry.account, entry.book, entry.day
                    last = newest.get(key) or _newest(log, entry)
                    root = last and (last.repeats or last.id)
                    # A body whose row is lost is stored again.
                    if last and _repeats(entry, last) and (root in log.entries or root in new):
                        more = {}
                        entry = self._with_days(entry._replace(repeats=root), last.rows)
                    else:
                        entry = self._with_days(entry, self._days(entry, more["body"], remarks))
                    known = log.find(entry)
                    responses, check = self.files.responses, known is not None
                    if damaged := responses.damaged_root(known or entry, check=check):
                        new[damaged.id] = damaged, whole  # this response brings the lost body
                    if known:
                        gone = log.is_withdrawn(known)
                        shown.append(self.entry(known, stored=False, withdrawn=gone))
                        if gone:
                            remarks.append(
                                f"a response of {entry.day} was withdrawn and stays so: add its "
                                "book with another time (`at`) to have its records again"
                            )
                        continue
                    newest[key] = entry
                new[entry.id] = entry, more
                shown.append(self.entry(entry))
            self.files.responses.place(list(new.values()))
        return shown, labels

    def _entry_of(self, received: Received, remarks: list[str]) -> tuple[Entry, Json]:
        """Returns the entry of a response or failure, and the rest of its row."""
        book, at = received.book, received.at
        response = None if book is None else book.response
        call: Any = received.error or response
        # The service's clock does not correct a time that the caller passed.
        served = response.served_at if response and response.received_at == at else None
        if (refused := getattr(received.error, "_served_at", None)) is not None:
            served = refused
            # The clock of a proxy that responds in place of the service may be days off.
            if at and at.year in _LIKELY and abs(at - served) > timedelta(days=2):
                served = None
        # The service's clock is that of the response's start, and attempts before it took a while.
        elapsed = timedelta(seconds=getattr(call, "elapsed", 0))
        agrees = not served or not at or -_CLOCKS_AGREE < at - served < _CLOCKS_AGREE + elapsed
        if at and served and not agrees and served.year in _LIKELY:
            remarks.append(
                f"the local clock says {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} and the service's "
                f"{served:%Y-%m-%d %H:%M:%S} (UTC), which decides the day of its {received.name}: "
                "set the local clock"
            )
            at = served
        entry = Entry(
            new_id(),
            book=received.name,
            account=received.account,
            source=received.source,
            received_at=None if at is None else _micros(at),
            filed_at=_micros(datetime.now(UTC)),
            served_at=None if served is None else _micros(served),
            day=str(self.day_at(at or datetime.now(UTC))),
        )
        if book is None:
            # A lone surrogate cannot be written, and would prevent the commit of the books.
            message = str(received.error).encode(errors="replace").decode()
            error = type(received.error).__name__
            days_of_failure = json.dumps({entry.day: 0})
            return entry._replace(error=error, message=message, days=days_of_failure), {}
        return self._with_body(entry, book, remarks)

    def _with_body(self, entry: Entry, book: StoredBook, remarks: list[str]) -> tuple[Entry, Json]:
        """Returns the entry of a response with its body and its issues."""
        if not self.files.decoder.keep and not book._rows.masked:
            book = book._unpacked(*book._packed(), keep_personal_data=False)
        zone = book._rows.zone
        if zone is not None and str(zone) != str(self.files.decoder.zone):
            entry = entry._replace(zone=zone_as_text(zone))
        more: Json = {}
        if book.response is not None:
            body = book.response.content
        else:
            texts = book._rows.with_zone(None).record_texts()
            body = f"[{','.join(texts)}]".encode()
            more["issues"] = json.dumps([list(issue) for issue in book.issues])
        entry = entry._replace(sha256=sha256(body).hexdigest(), written=book.response is None)
        return entry, more | {"body": body}

    def _days(self, entry: Entry, body: bytes, remarks: list[str]) -> dict[str, int]:
        """Returns the number of rows of each day."""
        table = self.files.decoder.table(entry, body)
        has_time = entry.received_at is not None
        _, rows, wrong = days.days_of(entry.book, table, entry.day, has_time=has_time)
        if wrong:
            remarks.append(
                f"{wrong} of these {entry.book} have a time that cannot be right and are stored "
                f"under {entry.day}: check their times"
            )
        return rows

    def _with_days(self, entry: Entry, rows: dict[str, int]) -> Entry:
        """Returns the entry of a response with its days."""
        shown = {day for day in rows if rows[day]}
        covered = self._covered(entry, shown)
        names = sorted(covered | shown) or [entry.day]
        return entry._replace(
            days=json.dumps({name: rows.get(name, 0) for name in names}),
            covered=" ".join(sorted(covered)),
        )

    def _covered(self, entry: Entry, days_of_rows: set[str]) -> set[str]:
        """Returns the days of which a response has everything that there is."""
        if not entry.is_complete:
            return set()
        covered = days_of_rows.copy() if entry.book == "trades" else set()
        at = self.time(entry.received_at)
        if at and (entry.book == "orders" or entry.day == str(at.date())):
            covered.add(entry.day)
        return covered

    def _check_clients(
        self, received: Sequence[Received], known: set[str], remarks: list[str]
    ) -> None:
        """Remarks that the clients of labels that are new have another label too."""
        for arrival in received:
            if arrival.book is None or arrival.account in known:
                continue
            clients = {client for client in arrival.book._rows.distinct("client_id") if client}
            others = self.files.labels_of(arrival.name, clients) - {arrival.account}
            if clients and others:
                label, *known_as = (
                    repr(name) if name else "no label"
                    for name in (arrival.account, *sorted(others))
                )
                names = ", ".join(known_as)
                remarks.append(
                    f"the client of {label} has {arrival.name} under {names} too, so that they "
                    "are in the archive twice: give an account one label, and `withdraw` or `erase`"
                )


def _newest(log: Log, entry: Entry) -> Entry | None:
    known = log.ordered(entry.book, entry.day, entry.account)
    return known[-1] if known else None


def _repeats(entry: Entry, last: Entry) -> bool:
    """Returns whether a response says the same as the one before it."""
    same = (entry.sha256, entry.day, entry.zone) == (last.sha256, last.day, last.zone)
    return same and entry.order > last.order and any(last.rows.values())


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND
