"""Turns responses and failures into lines of an archive's log and the rows that come with them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..display.text import counted
from ..errors import ArchiveError, ConfigurationError
from ..table.rows import on_clock, row_type
from . import views
from .coverage import newest, rank_of
from .databases import connection, cursor, explained
from .log import Line, Log, months_of
from .store import Rows, Store

StoredBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
_EARLIEST = date(1990, 1, 1)
_LATEST = date(2200, 1, 1)
_CLOCKS_AGREE = timedelta(minutes=2)
_LIKELY = range(2026, 2100)  # years that a clock may show which decides a day
_AHEAD = timedelta(366)  # a trade of a later day has a wrong time


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
    book: Any = None
    error: Exception | None = None


@dataclass(frozen=True)
class Ingest:
    """Stores what was received."""

    files: Store
    zone: tzinfo
    day_start: time
    keep: bool

    def entry(self, line: Line, *, stored: bool | None = None, withdrawn: bool = False) -> Any:
        """Returns a line of a response or failure as an entry."""
        rows = sum(line["days"].values())
        return ArchiveFetch(
            account=line["account"] or None,
            at=line["at"] and time_of(line["at"]).astimezone(self.zone),
            filed_at=time_of(line["filed"]).astimezone(self.zone),
            complete=line["sha256"] is not None,
            days=tuple(map(date.fromisoformat, line["days"])),
            rows=rows,
            stored=(line["repeats"] is None and rows > 0) if stored is None else stored,
            withdrawn=withdrawn,
            **{x: line[x] for x in ("id", "book", "source", "sha256", "error", "message")},
        )

    def mark(self, source: str, *lines: dict[str, Any]) -> None:
        """Writes lines that are no responses: the end of an account, or of responses."""
        self.files.commit([_line(source) | line for line in lines], [])

    def check_label(self, unlabelled: bool, problem: str) -> None:
        """Raises ConfigurationError for records without a label beside others with one."""
        with self.files.lock:
            known = sorted(self.files.log().since)
        if unlabelled and known and "" not in known:
            raise ConfigurationError(
                f"{problem}, but other accounts in this archive have one ({', '.join(known[:3])}): "
                "pass `account`, otherwise records may be duplicated"
            )

    def store(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses; the ArchiveError of a failure has their books."""
        root = self.files.root
        try:
            with explained(root, "write"):
                entries = self.store_all(received, remarks)
        except Exception as error:
            failure = ArchiveError(f"{root} was not written: {error}", file=root)
            failure = error if isinstance(error, ArchiveError) else failure
            failure.books = tuple(one.book for one in received if one.book is not None)
            raise failure from error.__cause__ or error
        with suppress(ArchiveError), explained(root, "write"):  # the responses are stored
            self.files.compact_closed(merge)
        return entries

    def compact(self) -> int:
        """Merges the files of each month; returns by how many their number decreased."""
        with explained(self.files.root, "write"):
            return self.files.compact(merge)

    def store_all(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries.

        What a caller is to be warned of is appended to ``remarks``: a warning that is an error must
        not keep a response from being stored.
        """
        entries: list[ArchiveFetch] = []
        lines: list[Line] = []
        contents: dict[tuple[str, str], list[views.Content]] = {}
        with connection() as opened:
            with self.files.lock:  # so that no other thread changes the log meanwhile
                log = self.files.log()
                for each in received:
                    line = self._line_of(each, remarks)
                    known = log.lines.get(line["id"])
                    if known and self.files.is_sound(log, known, intact=True):
                        gone = line["id"] in log.withdrawn
                        entries.append(self.entry(known, stored=False, withdrawn=gone))
                        if gone:
                            remarks.append(
                                f"a response of {line['day']} was withdrawn and stays so: add its "
                                "book with another time (`at`) to have its records again"
                            )
                        continue  # the same response once more
                    if each.book is not None and not self._repeats(log, line):
                        content = self._content_of(each, line, remarks)
                        self._compare(opened, log, content)
                        for month in months_of(line):
                            contents.setdefault((each.name, month), []).append(content)
                    lines.append(line)
                    entries.append(self.entry(line))
            if lines:
                tables = [_rows_of(opened, *each) for each in sorted(contents.items())]
                self.files.commit(lines, tables)
        return entries

    def _line_of(self, received: Received, remarks: list[str]) -> Line:
        """Returns the line of a response or failure, without its days."""
        book, at = received.book, received.at
        line = _line(received.source) | {"account": received.account, "book": received.name}
        line["at"] = line["local"] = at and _text_of(at)
        response = None if book is None else book.response
        # A time that a caller gave needs no other.
        served = response.served_at if response and response.received_at == at else None
        # The service's clock is that of the response's start, and attempts before it took a while.
        elapsed = timedelta(seconds=response.elapsed if response else 0)
        agrees = not served or not at or -_CLOCKS_AGREE < at - served < _CLOCKS_AGREE + elapsed
        if at and served and not agrees and served.year in _LIKELY:
            remarks.append(
                f"the local clock says {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} and the service's "
                f"{served:%Y-%m-%d %H:%M:%S} (UTC), which decides the day of its {received.name}: "
                "set the local clock"
            )
            at, line["at"] = served, _text_of(served)
        clock = (at or datetime.now(UTC)).astimezone(self.zone)
        line["day"] = str(clock.date() - timedelta(clock.time() < self.day_start))
        if book is None:
            # Half of a surrogate pair cannot be written, and the books would be lost with it.
            message = str(received.error).encode(errors="replace").decode()
            error = type(received.error).__name__
            return line | {"error": error, "message": message, "days": {line["day"]: 0}}
        body = response.sha256 if response else hashlib.sha256(book._rows.to_json()).hexdigest()
        key = (received.account, received.name, line["local"] or "", body)
        sha256 = body if response else None
        return line | {"id": _id(*key), "again": True, "body": body, "sha256": sha256}

    def since(self, begin: time) -> Callable[[str, Line], bool]:
        """Returns what says whether a response was received at a time of a day or later."""

        def counts(day: str, line: Line) -> bool:
            due = datetime.combine(date.fromisoformat(day), begin, self.zone)
            return line["at"] is not None and time_of(line["at"]) >= due.astimezone(UTC)

        return counts

    def _repeats(self, log: Log, line: Line) -> bool:
        """Says in a line which response it repeats, the newest one of its days; returns whether."""
        known = log.days.get((line["account"], line["book"]), {})
        known = {day: [x for x in lines if not x["error"]] for day, lines in known.items()}
        received = log.received.get((line["account"], line["book"], line["day"]), [])
        last = max(received, key=rank_of, default=None)
        if last is None or last["body"] != line["body"]:
            return False
        root = log.lines[last["repeats"] or last["id"]]
        rows = {day: count for day, count in root["days"].items() if count}
        lasts = [max(known.get(day, [root]), key=rank_of) for day in rows]
        is_newest = all(x["body"] == line["body"] and rank_of(x) < rank_of(line) for x in lasts)
        if not rows or not is_newest or not self.files.is_sound(log, root):
            return False
        line |= {"repeats": root["id"], "lost": root["lost"]}
        self._cover(line, rows)
        return True

    def _cover(self, line: Line, rows: dict[str, int]) -> None:
        """Sets the days of a line, of which these have rows, and those that it covers."""
        covered = set()
        if line["sha256"] is not None:
            if line["book"] == "trades":
                covered = set(rows)
            at = line["at"] and time_of(line["at"]).astimezone(self.zone)
            if at and (line["book"] == "orders" or line["day"] == str(at.date())):
                covered.add(line["day"])
        line["covered"] = sorted(covered)
        days = sorted(covered | rows.keys()) or [line["day"]]
        line["days"] = {day: rows.get(day, 0) for day in days}

    def _content_of(self, received: Received, line: Line, remarks: list[str]) -> views.Content:
        """Returns the rows of a response, and sets the days of its line."""
        book = received.book
        if not self.keep and not book._rows.masked:
            book = book._unpacked(*book._packed(), keep_personal_data=False)
        sent = _sent(book)
        line["lost"] = sent is not None
        if book._rows.zone is not None and str(book._rows.zone) != str(self.zone):
            book = book._of(on_clock(book._rows, self.zone), issues=book.issues)
        book = book.localize(None)
        if sent is None:
            book = book.sort(*views.SORTED[received.name])
        day = date.fromisoformat(line["day"])
        limits = (_EARLIEST, day + _AHEAD if received.at else _LATEST)
        by_time = received.name == "trades" or received.at is None
        rows = book._selection(extra=True)._exported
        content = views.Content(received.name, rows, sent, line, limits if by_time else None)
        days, wrong = content.count_days()
        self._cover(line, days)
        if wrong:
            remarks.append(
                f"{wrong} of these {received.name} have a time that cannot be right and are "
                f"stored under {day}: check their times"
            )
        return content

    def _compare(self, connection: Any, log: Log, content: views.Content) -> None:
        """Says in a line of which earlier responses it has all records."""
        line = content.line
        lines = log.days.get((line["account"], line["book"]), {})
        rank, days = rank_of(line), {*line["days"], line["day"]}
        fronts = [newest(lines[day], day) for day in days if day in lines]
        older = {one for front in fronts for one, at in front.items() if at < rank}
        if not older or not len(content.rows):
            return
        wanted = [(one, month) for one in sorted(older) for month in months_of(log.lines[one])]
        with suppress(ArchiveError, views.Error):  # damage costs a comparison, not the response
            files = self.files.find(log, wanted)
            pairs = [(file["place"], one) for file, (one, _) in zip(files, wanted, strict=True)]
            whole = all(log.contents[file["path"]] <= older for file in files)
            line["covers"] = views.covered(connection, content, pairs, whole=whole)


def _rows_of(connection: Any, key: tuple[str, str], contents: Sequence[views.Content]) -> Rows:
    book, month = key
    days = [day for content in contents for day in content.line["days"].items()]
    rows = sum(count for day, count in days if day[:7] == month)
    # Several files of a commit would share the names of registered rows.
    return Rows(
        book, month, rows, lambda path: views.written(connection, month, contents, rows)(path)
    )


def merge(book: str, month: str, files: list[tuple[str, str]], rows: int) -> Rows:
    """Returns the rows of responses, each in a file, as those of one file."""
    opened = cursor()  # until the rows are written
    write = views.merged(opened, book, month, files, rows)

    def written(path: str) -> None:
        with closing(opened):
            write(path)

    return Rows(book, month, rows, written)


def _sent(book: StoredBook) -> _core.Slice | None:
    """Returns the text of each row, as it was sent, that may have values that did not fit."""
    lost = {issue.field for issue in book.issues if issue.lost and issue.raw}
    columns = [book._rows.column(name) for name in lost & set(book.columns)]
    if not columns:
        return None
    texts = book._rows.record_texts()
    kept = [text if None in row else None for text, *row in zip(texts, *columns, strict=True)]
    return _core.table_of(row_type("Sent", [("sent", "text", "")]), [kept])


def _line(source: str) -> Line:
    return {
        "id": secrets.token_hex(16),
        **dict.fromkeys(("account", "book", "message"), ""),
        "source": source,
        "at": None,
        "local": None,  # the same by the local clock
        "filed": _text_of(datetime.now(UTC)),
        "day": str(date.today()),
        "days": {},
        "covered": [],
        **dict.fromkeys(("body", "sha256", "error", "repeats")),
        "covers": [],
        "lost": False,
        "again": False,  # whether it can be stored again, with the same id
    }


def withdrawal(line: Line) -> Line:
    """Returns what the line of a withdrawal has."""
    kept = {name: line[name] for name in ("account", "book", "day")}
    return kept | {"id": _id("withdraw", line["id"]), "withdraws": line["id"], "again": True}


def _id(*facts: str) -> str:
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _text_of(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def time_of(text: str) -> datetime:
    """Returns the time that a line has as text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
