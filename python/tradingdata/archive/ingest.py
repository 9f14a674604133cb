"""Turns responses and failures into lines of an archive's log and the rows that come with them."""

from __future__ import annotations

import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._util.warn import warn_user
from ..books.book import OrderBook, TradeBook
from ..books.issues import decode_issues, warn_of_lost
from ..errors import ArchiveError, DataWarning
from . import views
from .coverage import newest, rank_of
from .databases import connection
from .store import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from .coverage import Index, Line
    from .log import Log
    from .store import Store

    AnyBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
_EARLIEST = date(1990, 1, 1)
_AHEAD = timedelta(366)  # a trade of a later day has a wrong time
_AT = "%Y-%m-%dT%H:%M:%S.%f"


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


class Received(NamedTuple):
    """A response or a failure to store; ``at`` is an aware time, or None if unknown."""

    name: str
    account: str
    source: str
    at: datetime | None
    book: Any = None
    error: Exception | None = None


@dataclass(frozen=True)
class Ingest:
    """Stores what was received."""

    store: Store
    index: Index
    zone: tzinfo
    day_start: time
    keep: bool

    def entry(self, line: Line, *, stored: bool | None = None, withdrawn: bool = False) -> Any:
        """Returns a line of a response or failure as an entry."""
        rows = sum(line["days"].values())
        return ArchiveFetch(
            id=line["id"],
            book=line["book"],
            account=line["account"] or None,
            source=line["source"],
            at=line["at"] and time_of(line["at"]).astimezone(self.zone),
            filed_at=time_of(line["filed"]).astimezone(self.zone),
            complete=line["sha256"] is not None,
            days=tuple(map(date.fromisoformat, line["days"])),
            rows=rows,
            stored=(line["repeats"] is None and rows > 0) if stored is None else stored,
            withdrawn=withdrawn,
            **{name: line[name] for name in ("sha256", "error", "message")},
        )

    def mark(self, source: str, **values: Any) -> None:
        """Writes a line that is no response: the end of an account, or of a response."""
        line = _line(secrets.token_hex(16), "", "", source) | values
        if source == "withdraw":
            line |= {"id": _hash(f"withdraw {line['withdraws']}"), "again": True}
        self.store.commit([line], [])

    def store_all(self, received: Sequence[Received]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries."""
        with self.store.lock:
            log = self.store.log()
            self.index.update(log)
        entries: list[ArchiveFetch] = []
        lines: list[Line] = []
        with connection() as opened:
            contents: dict[tuple[str, str], list[tuple[str, int]]] = {}
            for number, each in enumerate(received):
                line, content = self._line_of(opened, each, f"response_{number}")
                known = log.lines.get(line["id"])
                if known and known["book"] and self.store.is_sound(log, known, whole=True):
                    entries.append(self.entry(known, stored=False))
                    continue  # the same response once more
                if content is not None:
                    self._compare(opened, log, line, f"response_{number}")
                lines.append(line)
                if line["repeats"] is None:
                    for month in sorted({day[:7] for day, rows in line["days"].items() if rows}):
                        of_month = {d: n for d, n in line["days"].items() if d[:7] == month}
                        contents.setdefault((each.name, month), []).append(
                            (f"response_{number}", sum(of_month.values()))
                        )
                entries.append(self.entry(line))
            tables = [
                Rows(
                    book,
                    month,
                    sum(rows for _, rows in parts),
                    views.writer(opened, month, [name for name, _ in parts]),
                )
                for (book, month), parts in sorted(contents.items())
            ]
            if lines:
                self.store.commit(lines, tables)
        return entries

    def _line_of(
        self, connection: Any, received: Received, name: str
    ) -> tuple[Line, _core.Slice | None]:
        """Returns the line of a response or failure, and the rows, which become a view ``name``."""
        book = received.book
        line = _line(secrets.token_hex(16), received.account, received.name, received.source)
        at = received.at
        line["at"] = at and f"{at.astimezone(UTC):{_AT}}"
        clock = (at or datetime.now(UTC)).astimezone(self.zone)
        day = clock.date() - timedelta(clock.time() < self.day_start)
        line["day"] = str(day)
        if book is None:
            # Half of a surrogate pair cannot be written, and the books would be lost with it.
            message = str(received.error).encode(errors="replace").decode()
            line |= {"error": type(received.error).__name__, "message": message}
            line["days"] = {str(day): 0}
            return line, None
        if not self.keep and not book._rows.masked:
            book = book._unpacked(*book._packed(), keep_personal_data=False)
        response = book.response
        body = response.sha256 if response else hashlib.sha256(book._rows.to_json()).hexdigest()
        line["body"] = body
        key = "\n".join((received.account, received.name, line["at"] or "", body))
        line |= {"id": _hash(key), "again": True}
        content, line["lost"] = _content_of(book)
        by_time = received.name == "trades" or at is None
        latest = day + _AHEAD if at else date(2200, 1, 1)
        days, wrong = views.register(
            connection, name, received.name, content, line, by_time, (_EARLIEST, latest)
        )
        if wrong:
            warn_user(
                DataWarning(
                    f"{wrong} of these {received.name} have a time that cannot be right and are "
                    f"stored under {day}: check their times"
                )
            )
        covered = set()
        if response is not None:
            line["sha256"] = body
            if received.name == "trades":
                covered = set(days)
            if at and (received.name == "orders" or day == at.astimezone(self.zone).date()):
                covered.add(str(day))
        line["covered"] = sorted(covered)
        line["days"] = {each: days.get(each, 0) for each in sorted(covered | set(days))}
        if not line["days"]:
            line["days"] = {str(day): 0}
        return line, content

    def _compare(self, connection: Any, log: Log, line: Line, name: str) -> None:
        """Says in a line which response it repeats, or the records of which it has all."""
        lines = self.index.lines.get((line["account"], line["book"]), {})
        rank, rows = rank_of(line), {day: n for day, n in line["days"].items() if n}
        fronts = {day: newest(lines[day], day) for day in {*rows, line["day"]} if day in lines}
        older = {one for front in fronts.values() for one, at in front.items() if at < rank}
        if not rows or not older:
            return
        lasts = {next(reversed(fronts.get(day) or {"": ("", "")})) for day in rows}
        last = log.lines.get(lasts.pop()) if len(lasts) == 1 else None
        if (
            last
            and last["id"] in older
            and (last["body"], last["lost"]) == (line["body"], line["lost"])
        ):
            same = {day: n for day, n in last["days"].items() if n} == rows
            if same and self.store.is_sound(log, last):
                line["repeats"] = last["id"]
                return
        ids = [one for one in older if line["book"] == "trades" or line["day"] in fronts]
        wanted = {(one, day[:7]) for one in ids for day, n in log.lines[one]["days"].items() if n}
        with suppress(ArchiveError, views.Error):  # damage costs a comparison, not the response
            files = self.store.find(log, sorted(wanted))
            line["covers"] = views.covered(connection, line["book"], name, files, ids)


def _line(identity: str, account: str, book: str, source: str) -> Line:
    return {
        "id": identity,
        "account": account,
        "book": book,
        "source": source,
        "at": None,
        "filed": f"{datetime.now(UTC):{_AT}}",
        "day": str(date.today()),
        "days": {},
        "covered": [],
        "body": None,
        "sha256": None,
        "error": None,
        "message": "",
        "covers": [],
        "repeats": None,
        "lost": 0,
        "again": False,  # whether it can be stored again, with the same id
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def time_of(text: str) -> datetime:
    """Returns the time that a line has as text."""
    return datetime.strptime(text, _AT).replace(tzinfo=UTC)


def _content_of(book: AnyBook) -> tuple[_core.Slice, int]:
    """Returns the rows of a book with their unknown fields and values that did not fit.

    Also returns how many rows have values that did not fit.
    """
    book = book.localize(None)
    content = book._selection(extra=True)._exported
    lost = {issue.field for issue in book.issues if issue.lost and issue.raw}
    lost &= set(book.columns)
    if not lost:
        return content, 0
    columns = {name: book._rows.column(name) for name in lost}
    rows = [row for row in range(len(book)) if any(c[row] is None for c in columns.values())]
    texts = book._rows.record_texts()
    values = content.to_dict(_core.names_of(content.row_type))
    found = 0
    for row in rows:
        sent = json.loads(texts[row], parse_float=_Digits, parse_int=_Digits, parse_constant=str)
        kept = [
            f"{json.dumps(name)}: {_spelled(sent[name])}"
            for name in lost
            if sent.get(name) not in (None, "") and columns[name][row] is None
        ]
        if kept:
            found += 1
            own = values["extra"][row]
            values["extra"][row] = (
                "{" + ", ".join([*([own.strip()[1:-1]] if own else []), *kept]) + "}"
            )
    return _core.table_of(content.row_type, list(values.values())), found


class _Digits(str):
    """A number as it was spelled."""


def _spelled(value: Any) -> str:
    return str(value) if isinstance(value, _Digits) else json.dumps(value)


def told(name: str, book: AnyBook, extras: Sequence[tuple[int, str]], *, keep: bool) -> AnyBook:
    """Returns a book with the issues of values that did not fit when they were received.

    Args:
        name: Which book it is.
        book: The book.
        extras: Rows, each with its unknown fields and such values as a JSON object.
        keep: Whether personal values are kept.
    """
    body = f"[{','.join(text for _, text in extras)}]".encode()
    found = decode_issues(_core.decode_list(book._record, body, False, keep))
    lost = [x._replace(row=extras[x.row][0]) for x in found if x.lost and x.raw]
    if not lost:
        return book
    warn_of_lost(lost, book._record)
    whole: AnyBook = KINDS[name]._of(book._rows, issues=(*book.issues, *lost))
    return whole
