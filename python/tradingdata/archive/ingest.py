"""Turns responses and failures into lines of an archive's log and the rows that come with them."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

from .. import _core
from .._util.declarations import RECORDS
from .._util.warn import warn_user
from ..books.book import OrderBook, TradeBook
from ..books.issues import decode_issues, warn_of_lost
from ..errors import ArchiveError, DataWarning
from ..table.rows import on_clock
from . import views
from .coverage import Index, Line, newest, rank_of
from .databases import connection
from .log import Log
from .store import Rows, Store

AnyBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
_EARLIEST = date(1990, 1, 1)
_LATEST = date(2200, 1, 1)
_CLOCKS_AGREE = timedelta(minutes=2)
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

    def store_all(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries.

        What a caller is to be warned of is appended to ``remarks``: a warning that is an error must
        not keep a response from being stored.
        """
        entries: list[ArchiveFetch] = []
        lines: list[Line] = []
        contents: dict[tuple[str, str], list[views.Content]] = {}
        with connection() as opened:
            with self.store.lock:  # so that no other thread changes the index meanwhile
                log = self.store.log()
                self.index.update(log)
                for each in received:
                    line = self._line_of(each, remarks)
                    known = log.lines.get(line["id"])
                    if known and self.store.is_sound(log, known, whole=True):
                        gone = line["id"] in self.index.withdrawn
                        entries.append(self.entry(known, stored=False, withdrawn=gone))
                        if gone:
                            remarks.append(
                                f"a response of {line['day']} was withdrawn and stays so: add its "
                                "book with another time (`at`) to have its records again"
                            )
                        continue  # the same response once more
                    if each.book is not None and not self._repeats(log, line, each):
                        content = self._content_of(each, line, remarks)
                        self._compare(opened, log, content)
                        for month in sorted(
                            {day[:7] for day, rows in line["days"].items() if rows}
                        ):
                            contents.setdefault((each.name, month), []).append(content)
                    lines.append(line)
                    entries.append(self.entry(line))
            if lines:
                self.store.commit(lines, [_rows_of(opened, *each) for each in contents.items()])
        return entries

    def _line_of(self, received: Received, remarks: list[str]) -> Line:
        """Returns the line of a response or failure, without its days."""
        book = received.book
        line = _line(secrets.token_hex(16), received.account, received.name, received.source)
        at = received.at
        line["at"] = line["local"] = at and f"{at.astimezone(UTC):{_AT}}"
        served = _service_clock(received)
        if at and served:
            remarks.append(
                f"the local clock says {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} and the service's "
                f"{served:%Y-%m-%d %H:%M:%S} (UTC), which decides the day of its {received.name}: "
                "set the local clock"
            )
            at = served
            line["at"] = f"{at.astimezone(UTC):{_AT}}"
        clock = (at or datetime.now(UTC)).astimezone(self.zone)
        line["day"] = str(clock.date() - timedelta(clock.time() < self.day_start))
        if book is None:
            # Half of a surrogate pair cannot be written, and the books would be lost with it.
            message = str(received.error).encode(errors="replace").decode()
            error = type(received.error).__name__
            return line | {"error": error, "message": message, "days": {line["day"]: 0}}
        response = book.response
        body = response.sha256 if response else hashlib.sha256(book._rows.to_json()).hexdigest()
        key = "\n".join((received.account, received.name, line["local"] or "", body))
        line |= {"id": _hash(key), "again": True, "body": body}
        if response is not None:
            line["sha256"] = body
        return line

    def _repeats(self, log: Log, line: Line, received: Received) -> bool:
        """Says in a line which response it repeats, the newest one of its day; returns whether."""
        lines = self.index.lines.get((line["account"], line["book"]), {}).get(line["day"], [])
        same = [x for x in lines if x["body"] == line["body"] and x["day"] == line["day"]]
        if same:
            one = max(same, key=rank_of)  # they are in the order in which they were stored
            root = log.lines[one["repeats"] or one["id"]]
            rows = {day: count for day, count in root["days"].items() if count}
            fronts = [
                newest(self.index.lines[line["account"], line["book"]][day], day) for day in rows
            ]
            lasts = [[*front.items()][-1] for front in fronts if front]
            if (
                rows
                and {last for last, _ in lasts} == {root["id"]}
                and rank_of(line) > max(rank for _, rank in lasts)
                and self.store.is_sound(log, root)
            ):
                line |= {"repeats": root["id"], "lost": root["lost"]}
                self._cover(line, received, rows)
                return True
        return False

    def _cover(self, line: Line, received: Received, rows: dict[str, int]) -> None:
        """Sets the days of a line, of which these have rows, and those that it covers."""
        covered = set()
        if line["sha256"] is not None:
            if line["book"] == "trades":
                covered = set(rows)
            at = line["at"] and time_of(line["at"])
            if at and (
                line["book"] == "orders" or line["day"] == str(at.astimezone(self.zone).date())
            ):
                covered.add(line["day"])
        line["covered"] = sorted(covered)
        days = sorted(covered | rows.keys()) or [line["day"]]
        line["days"] = {day: rows.get(day, 0) for day in days}

    def _content_of(self, received: Received, line: Line, remarks: list[str]) -> views.Content:
        """Returns the rows of a response, and sets the days of its line."""
        book = received.book
        if not self.keep and not book._rows.masked:
            book = book._unpacked(*book._packed(), keep_personal_data=False)
        rows, line["lost"] = _stored(book, self.zone)
        day = date.fromisoformat(line["day"])
        limits = (_EARLIEST, day + _AHEAD if received.at else _LATEST)
        by_time = received.name == "trades" or received.at is None
        content = views.Content(received.name, rows, line, by_time, limits)
        days, wrong = content.count_days()
        self._cover(line, received, days)
        if wrong:
            remarks.append(
                f"{wrong} of these {received.name} have a time that cannot be right and are "
                f"stored under {day}: check their times"
            )
        return content

    def _compare(self, connection: Any, log: Log, content: views.Content) -> None:
        """Says in a line of which earlier responses it has all records."""
        line = content.line
        lines = self.index.lines.get((line["account"], line["book"]), {})
        rank, days = rank_of(line), {*line["days"], line["day"]}
        fronts = [newest(lines[day], day) for day in days if day in lines]
        older = {one for front in fronts for one, at in front.items() if at < rank}
        if not older or not len(content.rows):
            return
        wanted = {(one, day[:7]) for one in older for day, n in log.lines[one]["days"].items() if n}
        with suppress(ArchiveError, views.Error):  # damage costs a comparison, not the response
            files = self.store.find(log, sorted(wanted))
            line["covers"] = views.covered(connection, content, files, sorted(older))


def _rows_of(connection: Any, key: tuple[str, str], contents: Sequence[views.Content]) -> Rows:
    book, month = key
    days = [day for content in contents for day in content.line["days"].items()]
    rows = sum(count for day, count in days if day[:7] == month)
    # Several files of a commit would share the names of registered rows.
    return Rows(book, month, rows, lambda path: views.writer(connection, month, contents)(path))


def _service_clock(received: Received) -> datetime | None:
    """Returns the time of the service's clock, if the local one differs from it too much."""
    response = getattr(received.book, "response", None)
    if response is None or response.served_at is None or received.at != response.received_at:
        return None  # the time is one that a caller gave
    differs = abs(received.at - response.served_at) > _CLOCKS_AGREE
    return response.served_at if differs else None


def _line(identity: str, account: str, book: str, source: str) -> Line:
    return {
        "id": identity,
        "account": account,
        "book": book,
        "source": source,
        "at": None,
        "local": None,  # the same by the local clock
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


def warn_of(remarks: Iterable[str]) -> None:
    """Warns the caller of what was found while storing."""
    for remark in remarks:
        warn_user(DataWarning(remark))


def _stored(book: AnyBook, zone: tzinfo) -> tuple[_core.Slice, int]:
    """Returns the rows of a book with their unknown fields and values that did not fit.

    Also returns how many rows have values that did not fit. The times of a book with another zone
    are put on the clock of the archive's.
    """
    lost = {issue.field for issue in book.issues if issue.lost and issue.raw}
    texts = book._rows.record_texts() if lost else []
    if book._rows.zone is not None and str(book._rows.zone) != str(zone):
        book = book._of(on_clock(book._rows, zone), issues=book.issues)
    book = book.localize(None)
    lost &= set(book.columns)
    if not lost:  # sorted, since sorting again, when they are read, is fast
        book = book.sort(views.TIMES[RECORDS[book._record]["noun"][1]][0], "row_no")
    content = book._selection(extra=True)._exported
    if not lost:
        return content, 0
    columns = {name: book._rows.column(name) for name in lost}
    rows = [row for row in range(len(book)) if any(c[row] is None for c in columns.values())]
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


def with_lost_values(
    name: str, book: AnyBook, extras: Sequence[tuple[int, str]], *, keep: bool
) -> AnyBook:
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
