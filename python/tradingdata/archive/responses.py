"""What was received: a row of a Parquet file for each response or failed request.

A file has what one `fetch` or `add` brought, or all of a day of filing. It is never changed, but
replaced when an account is erased. The rows are the log; with their bodies, they are the evidence.
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from ..table.rows import row_type
from . import databases
from .folder import DECISIONS, RESPONSES, Folder, Json

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_BODIES = 16  # in memory at a time
_FILES = 100  # read at a time

# The columns of a file; the first ones are those of `Entry`.
COLUMNS = {
    "id": "VARCHAR",  # random
    "book": "VARCHAR",
    "account": "VARCHAR",
    "source": "VARCHAR",  # fetch or add
    "received_at": "TIMESTAMPTZ",  # by the clock that is believed
    "filed_at": "TIMESTAMPTZ",
    "served_at": "TIMESTAMPTZ",  # the service's Date
    "day": "VARCHAR",  # of receipt
    "days": "VARCHAR",  # JSON: the number of rows of each day that it belongs to
    "covered": "VARCHAR",  # the days of which it has everything, with spaces between
    "error": "VARCHAR",
    "message": "VARCHAR",
    "sha256": "VARCHAR",  # of the body
    "written": "BOOLEAN",  # whether the body is of this package, of a book without a body
    "repeats": "VARCHAR",  # the id of the response with the same body, which has it
    "zone": "VARCHAR",  # of its times, where it is not the archive's
    "issues": "VARCHAR",  # JSON: those of a book without a body
    "body": "BLOB",
    "digest": "VARCHAR",  # of the other columns but the body, which has its own
}


class Entry(NamedTuple):
    """A row of the log; times are microseconds since 1970, in UTC."""

    id: str
    book: str = ""
    account: str = ""
    source: str = "fetch"
    received_at: int | None = None
    filed_at: int = 0
    served_at: int | None = None
    day: str = ""
    days: str = "{}"
    covered: str = ""
    error: str | None = None
    message: str = ""
    sha256: str | None = None
    written: bool = False
    repeats: str | None = None
    zone: str | None = None

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each day that it belongs to."""
        return _parsed(self.days)

    @property
    def belongs_to(self) -> set[str]:
        """The days of its rows, and that of its receipt."""
        return {*self.rows, *(() if self.received_at is None else (self.day,))}

    @property
    def is_complete(self) -> bool:
        """Whether it is one complete response."""
        return self.error is None and not self.written

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Its place among the responses of a day; one without a time comes first.

        The service's clock has whole seconds, within which the order of filing decides. Of other
        responses of one moment the same one is always the last.
        """
        at = -1 if self.received_at is None else self.received_at
        filed = self.filed_at if self.received_at == self.served_at else 0
        return at, filed, self.sha256 or "", self.id


_NUMBERS = {"TIMESTAMPTZ": "epoch_us({0})", "BOOLEAN": "{0}::BIGINT"}
_VALUES = {name: _NUMBERS.get(kind, "{0}").format(name) for name, kind in COLUMNS.items()}
_DIGESTED = [f"coalesce({_VALUES[name]}::VARCHAR, '-')" for name in (*Entry._fields, "issues")]
_DIGEST = f"md5(concat_ws(chr(10), {', '.join(_DIGESTED)}))"
_SELECTED = ", ".join(f"{_VALUES[name]} AS {name}" for name in Entry._fields)
_ENTRIES = row_type(
    "Entry",
    [(name, "integer" if COLUMNS[name] in _NUMBERS else "text", "") for name in Entry._fields]
    + [("filename", "text", ""), ("is_sound", "integer", "")],
)


@lru_cache(1024)  # of the responses of one day, many have the same text
def _parsed(days: str) -> dict[str, int]:
    rows: dict[str, int] = json.loads(days)
    return rows


Folded = tuple[int, str]  # the number of some responses, and a digest of their ids


def folded_of(entries: Sequence[Entry]) -> Folded:
    """Returns what names some responses."""
    ids = "\n".join(entry.id for entry in entries)
    return len(entries), sha256(ids.encode()).hexdigest()[:32]


def new_id() -> str:
    """Returns an id, of which nothing but chance is known."""
    return secrets.token_hex(12)


class Log:
    """The entries of an archive as they were listed, by id, and by book, day and account."""

    def __init__(self) -> None:
        self.files: dict[str, list[Entry]] = {}
        self.damaged: dict[str, str] = {}  # what is wrong with files that cannot be read
        self.decisions = DECISIONS
        self.withdrawn: set[str] = set()
        self.erased: set[str] = set()
        self._clear()

    def _clear(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.places: dict[str, tuple[str, ...]] = {}  # the files of each id
        self.since: dict[str, str] = {}  # the day of the first response or failure, by account
        self.days: dict[tuple[str, str], dict[str, list[Entry]]] = {}  # by book and day
        self._folded: dict[tuple[str, str], dict[str, Folded]] = {}

    def update(self, listed: set[str], loaded: dict[str, list[Entry]], decisions: Json) -> None:
        """Takes the files that are listed now, those with new names as they were loaded.

        Args:
            listed: Their paths.
            loaded: The entries of the new ones.
            decisions: What was decided of responses.
        """
        # Without files until all is in its place: after an interrupt, all is read and placed again.
        known, self.files = self.files, {}
        files = {x: known[x] for x in known if x in listed} | loaded
        if not known or known.keys() - listed or self.decisions != decisions:
            self._clear()
            loaded = files
        self.decisions = decisions
        self.withdrawn, self.erased = {*decisions["withdrawn"]}, {*decisions["erased"]}
        for path, entries in loaded.items():
            where = (path,)
            for entry in entries:
                self.places[entry.id] = self.places.get(entry.id, ()) + where
                if entry.id not in self.entries:  # it is in two files once its body was restored
                    self.entries[entry.id] = entry
                    self._add(entry)
        self.files = files

    def _add(self, entry: Entry) -> None:
        if self.is_erased(entry):
            return
        account = entry.account
        for key in [(entry.book, day) for day in entry.belongs_to]:
            self.days.setdefault(key, {}).setdefault(account, []).append(entry)
            self._folded.pop(key, None)
        if not self.is_withdrawn(entry):
            last = max(entry.rows)
            self.since[account] = min(self.since.get(account, last), last)

    def is_withdrawn(self, entry: Entry) -> bool:
        """Returns whether a response was withdrawn, or repeats one that was."""
        return entry.id in self.withdrawn or entry.repeats in self.withdrawn

    def is_erased(self, entry: Entry) -> bool:
        """Returns whether a response was erased, or repeats one that was while it was stored."""
        return entry.id in self.erased or entry.repeats in self.erased

    def fetches(self) -> list[Entry]:
        """Returns the responses and failures in the order in which they were filed."""
        visible = [entry for entry in self.entries.values() if not self.is_erased(entry)]
        return sorted(visible, key=lambda x: (x.filed_at, x.account, x.book, x.id))

    def ordered(self, book: str, day: str, account: str) -> list[Entry]:
        """Returns the responses of a day that count, in their order."""
        entries = self.days.get((book, day), {}).get(account, ())
        counting = (x for x in entries if x.error is None and not self.is_withdrawn(x))
        return sorted(counting, key=lambda entry: entry.order)

    def days_of(self, book: str) -> set[str]:
        """Returns the days that a response covers or has rows of."""
        return {
            day
            for (name, day), accounts in self.days.items()
            if name == book
            and any(x.error is None and day in x.rows for known in accounts.values() for x in known)
        }

    def effective(self, book: str, day: str, account: str, *, repeats: bool = False) -> list[Entry]:
        """Returns the responses of which an account's day is the fold, in their order.

        One without rows changes nothing and is left out. So is one with the body of the one before
        it, unless repeats are wanted, between which others were lost.
        """
        chosen: list[Entry] = []
        for entry in self.ordered(book, day, account):
            is_repeat = chosen and (entry.sha256, entry.day) == (chosen[-1].sha256, chosen[-1].day)
            if any(entry.rows.values()) and (repeats or not is_repeat):
                chosen.append(entry)
        return chosen

    def folded(self, book: str, day: str, repeats: Collection[str] = ()) -> dict[str, Folded]:
        """Returns what names the responses of which a day is the fold, by account.

        Args:
            book: The book.
            day: The day.
            repeats: The accounts whose repeated responses count.
        """

        def named(accounts: Collection[str], *, repeats: bool) -> dict[str, Folded]:
            known = {x: self.effective(book, day, x, repeats=repeats) for x in accounts}
            return {label: folded_of(entries) for label, entries in known.items() if entries}

        key = book, day
        if key not in self._folded:
            self._folded[key] = named(self.days.get(key, ()), repeats=False)
        return self._folded[key] | named(repeats, repeats=True)

    def is_lost(self, identity: str) -> bool:
        """Returns whether a response is not there, although it was not removed."""
        return not any(identity in x for x in (self.entries, self.withdrawn, self.erased))

    def find(self, entry: Entry) -> Entry | None:
        """Returns the stored entry of the same response, also if it was withdrawn."""
        for day in entry.rows:
            for known in self.days.get((entry.book, day), {}).get(entry.account, ()):
                same = known.received_at == entry.received_at and known.sha256 == entry.sha256
                if same and known.error is None:
                    return known
        return None


class Responses:
    """The files of responses of an archive.

    Args:
        folder: The archive's files.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.log = Log()
        # Those just placed, until they are in their days: a tenth of storing a growing book.
        self.fresh: dict[str, bytes] = {}
        self.unread: set[str] = set()  # responses whose bodies were found to be damaged

    def refresh(self) -> Log:
        """Returns the log with everything that was stored before the call."""
        while True:
            listed = self.folder.responses(self.log.files.keys())
            decisions = self.folder.decisions()
            if listed == self.log.files.keys() and self.log.decisions == decisions:
                self.log.damaged = {}
                return self.log
            new = sorted(listed - self.log.files.keys())
            loaded, self.log.damaged = databases.read_each(new, self._read)
            self.log.update(listed, loaded, decisions)
            # Otherwise files were joined meanwhile.
            if not self.log.damaged or self.log.damaged.keys() <= self.folder.responses():
                return self.log

    def _read(self, connection: Connection, paths: Collection[str]) -> dict[str, list[Entry]]:
        entries: dict[str, list[Entry]] = {path: [] for path in paths}
        by_place = {self.folder.path(path): entries[path] for path in paths}
        places = list(by_place)
        for start in range(0, len(places), _FILES):
            files = databases.parquet(places[start : start + _FILES], ", filename = true")
            # The core makes one object of a text that many rows have.
            query = f"SELECT {_SELECTED}, filename, (digest = {_DIGEST})::BIGINT AS is_sound"
            table = _core.from_arrow(_ENTRIES, connection.sql(f"{query} FROM {files}"), True)
            if not all(table.column("is_sound")):
                raise ValueError("a row is not as it was written")
            *values, owners = (table.column(name) for name in (*Entry._fields, "filename"))
            for place, entry in zip(owners, map(Entry, *values), strict=True):
                by_place[place].append(entry)
        return entries

    def place(self, rows: Sequence[tuple[Entry, Json]]) -> None:
        """Stores entries, each with its ``issues`` and its ``body``, in one file; hold the lock.

        When it returns, they outlast a loss of power, whatever happens to the days.
        """
        if not rows:
            return
        content = [entry._asdict() | more for entry, more in rows]
        columns = [
            f"make_timestamp(unnest(${at}::BIGINT[]))::TIMESTAMPTZ AS {name}"
            if kind == "TIMESTAMPTZ"
            else f"unnest(${at}::{kind}[]) AS {name}"
            for at, (name, kind) in enumerate(list(COLUMNS.items())[:-1], 1)
        ]
        values = [[row.get(name) for row in content] for name in list(COLUMNS)[:-1]]
        query = f"SELECT *, {_DIGEST} AS digest FROM (SELECT {', '.join(columns)})"
        path = self._write(query, datetime.now(UTC), values)
        self.fresh |= {entry.id: more["body"] for entry, more in rows if "body" in more}
        loaded = {path: [entry for entry, _ in rows]}
        self.log.update(self.log.files.keys() | {path}, loaded, self.log.decisions)

    def _write(
        self, query: str, at: datetime, values: Sequence[object] = (), kind: str = "single"
    ) -> str:
        name = f"{at:%Y-%m-%dT%H%M%SZ}" if kind == "single" else f"{at:%Y-%m-%d}"
        path = f"{RESPONSES}/{at:%Y-%m}/{name}-{secrets.token_hex(6)}.parquet"
        with databases.connection() as opened:
            self.folder.put(lambda draft: databases.write(opened, query, draft, values), path)
        return path

    def bodies(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Yields responses with their bodies, in order; None for one that is lost or damaged."""
        pending = list(entries)
        with databases.connection() as opened:
            for start in range(0, len(pending), _BODIES):
                some = pending[start : start + _BODIES]
                roots = {entry.repeats or entry.id for entry in some}
                known = self._contents(opened, roots)
                if missing := roots - known.keys():
                    self.refresh()  # their files may have been joined meanwhile
                    known |= self._contents(opened, missing)
                for entry in some:
                    root = entry.repeats or entry.id
                    (self.unread.discard if root in known else self.unread.add)(root)
                    yield entry, known.get(root)

    def damaged_root(self, entry: Entry, *, check: bool) -> Entry | None:
        """Returns the response that has the body of one, if that is known to be damaged.

        Args:
            entry: The response.
            check: Whether the body is read.
        """
        if check:
            list(self.bodies([entry]))
        root = entry.repeats or entry.id
        return self.log.entries.get(root) if root in self.unread else None

    def _contents(self, connection: Connection, ids: Iterable[str]) -> dict[str, bytes]:
        """Returns the sound bodies of responses, by id."""
        by_path: dict[str, list[str]] = defaultdict(list)
        contents = {x: self.fresh[x] for x in ids if x in self.fresh}
        for identity in ids:
            if identity not in contents:
                for path in self.log.places.get(identity, ()):
                    by_path[path].append(identity)
        for path, some in by_path.items():
            file = databases.parquet([self.folder.path(path)])
            sound = "list_contains($1, id) AND sha256(body) = sha256"
            query = f"SELECT id, body FROM {file} WHERE {sound}"
            with suppress(*databases.UNREADABLE):
                contents.update(connection.execute(query, [some]).fetchall())
        return contents

    def join(self, before: datetime) -> None:
        """Joins the files of each day of filing that is over, if all are sound; hold the lock."""
        singles: dict[str, list[str]] = defaultdict(list)
        today = f"{before:%Y-%m-%d}"
        for path in self.log.files:
            name = path.rpartition("/")[2]
            if name[10] == "T" and name[:10] < today:
                singles[name[:10]].append(path)
        for day, paths in sorted(singles.items()):
            if len(paths) > 1:
                files = [self.folder.path(path) for path in sorted(paths)]
                query = f"FROM {databases.parquet(files)}"
                at = datetime.fromisoformat(day)
                with suppress(*databases.UNREADABLE):
                    self._write(query, at, kind="day")
                    for path in paths:
                        self.folder.remove(path)

    def erase(self) -> None:
        """Removes the rows of erased responses from every file; hold the lock."""
        for path, entries in list(self.log.files.items()):
            if erased := [entry.id for entry in entries if self.log.is_erased(entry)]:
                name = path.rpartition("/")[2]
                file = databases.parquet([self.folder.path(path)])
                if len(erased) < len(entries):
                    at = datetime.fromisoformat(name[:10])
                    query = f"FROM {file} WHERE NOT list_contains($1, id)"
                    self._write(query, at, [erased], kind="day")
                self.folder.remove(path)
