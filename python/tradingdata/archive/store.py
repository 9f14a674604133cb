"""Stores responses, folds them into days, and finds what a reader needs.

Storing needs no lock: a response that is placed is stored. Folding does, and whoever holds the lock
folds everything that is missing, whoever placed it. A reader locks and writes nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from .._core import Slice
from ..errors import ArchiveError
from . import databases, days
from .coverage import Span
from .days import BOOKS, Damaged, Day, Decoder, Note
from .folder import RESPONSES, Folder, Json, Signature, signature_of
from .responses import Entry, Log, Responses

PATIENCE = 30.0  # seconds that a writer waits for others before it leaves the day to them
_NEWEST = 3  # days in which a client of another label is looked for
_ROUNDS = 8  # times that a writer looks for what others placed meanwhile


class Found(NamedTuple):
    """The days of a book that a reader asked for.

    Attributes:
        files: The files to read, with what they were when they were listed.
        rows: Days that are in memory, because their files lack something.
        lost: Whether values did not fit.
        replaced: Paths of files that were replaced meanwhile; then this is to be found again.
        query: A query of all rows, on the connection that reads them.
    """

    files: dict[str, Signature]
    rows: list[tuple[str, Slice]]
    lost: bool
    replaced: list[str]
    query: str = ""


class _File(NamedTuple):
    """The file of a day, which may be absent."""

    book: str
    day: str
    path: str
    signature: Signature | None
    note: Note | None  # of a sound file


class Store:
    """The files of an archive; used by any number of threads at once.

    Args:
        root: The folder.
    """

    decoder: Decoder  # that of the archive's settings

    def __init__(self, root: str) -> None:
        self.folder = Folder(root)
        self.responses = Responses(self.folder)
        self._lock, self._process = threading.RLock(), os.getpid()
        self._notes: dict[str, tuple[Signature, Note | None]] = {}

    @property
    def root(self) -> str:
        """The folder."""
        return self.folder.root

    @property
    def lock(self) -> threading.RLock:
        """What is held while the log is used, of this process."""
        if self._process != os.getpid():  # another thread may have held it when this was forked
            self.__init__(self.root)  # type: ignore[misc]
        return self._lock

    def log(self) -> Log:
        """Returns the log with everything that was stored before the call; hold the lock."""
        return self.responses.refresh()

    def known_log(self) -> Log:
        """Returns the log, or an empty one if only the settings are lost: storing needs none."""
        try:
            return self.log()
        except ArchiveError:
            if not self.folder.responses():
                raise
            return Log()

    # -- writing --

    def settle(
        self,
        remarks: list[str],
        decide: Callable[[Json], Json] | None = None,
        *,
        required: bool = False,
    ) -> None:
        """Makes a decision, if there is one, and folds the responses that no day has yet.

        What keeps it from folding is a remark, or raised if it is required. Without the lock,
        nothing is decided, which is raised.

        Args:
            remarks: What users are warned of is appended.
            decide: What makes new decisions of those that there are.
            required: Whether the days must be folded too.
        """
        try:
            with self.folder.locked(PATIENCE, remarks) as is_held:
                if is_held:
                    with self.lock:
                        is_narrow = self._check_schema()
                        if decide:
                            known = self.folder.known_settings()
                            self.folder.write_settings(known | decide(known))
                            decide = None
                        self._settle(remarks, is_narrow=is_narrow)
                    return
            problem = f"other programs have held {self.root}/archive.lock for {PATIENCE:.0f} s"
        except (OSError, databases.Error, ArchiveError) as error:
            if decide or required:
                raise
            problem = databases.shortened(error)
        finally:
            self.responses.fresh = {}
        if decide or required:
            raise ArchiveError(f"{problem}: try again", file=self.root)
        remarks.append(
            f"stored, but not yet in its day ({problem}): the next `fetch` or `add` puts it there"
        )

    def _settle(self, remarks: list[str], *, is_narrow: bool) -> None:
        for _ in range(_ROUNDS):
            log = self.log()
            listed = set(log.files)
            for book in BOOKS:
                for file in self._days(book, self.folder.days(book)):
                    if (day := self._unfolded(file, remarks, always=is_narrow)) is not None:
                        self._put(day)
            if is_narrow:
                is_narrow = False
                settings = self.folder.known_settings()
                self.folder.write_settings(settings | {"schema": schema_of()})
            if self.log().files.keys() == listed:
                break
        self.responses.erase()
        self.responses.join(datetime.now(UTC))
        self.folder.sweep()

    def _put(self, day: Day) -> None:
        name = f"{day.note.day}.parquet"
        self.folder.put(lambda draft: days.write(draft, day), day.note.book, name)

    def _check_schema(self) -> bool:
        """Returns whether days may lack fields; raises if they may have unknown ones."""
        known, schema = self.folder.known_settings()["schema"], schema_of()
        if any(set(known[book]) - set(schema[book]) for book in BOOKS):
            raise ArchiveError(
                f"{self.root} has fields that this version of tradingdata lacks: install the "
                "version that wrote it, or a newer one",
                file=self.root,
            )
        return bool(known != schema)

    # -- days --

    def _days(self, book: str, files: dict[str, tuple[str, Signature]]) -> list[_File]:
        """Returns the days that have a file or a response."""
        log = self.responses.log
        missing = log.days_of(book) - files.keys()
        self._read_notes(files.values())
        absent = {day: (self.folder.path(book, f"{day}.parquet"), None) for day in missing}
        listed = sorted({**files, **absent}.items())
        return [_File(book, day, *file, self._note(book, day, *file)) for day, file in listed]

    def _unfolded(self, file: _File, remarks: list[str], *, always: bool = False) -> Day | None:
        """Returns a day as it is to be, or None if its file is that, unless it is always wanted.

        What is wrong is a remark.
        """
        log, old = self.responses.log, None
        note = file.note
        if note is None and file.signature:
            known = self._notes[file.path][1]
            wrong = f"the file of the {known.book} of {known.day}" if known else "damaged"
            remarks.append(f"{file.path} is {wrong}: it was folded again from its responses")
        if note is not None:
            if note.is_current(log) and not always:
                return None
            try:
                old = days.read(file.path, note)
            except Damaged as error:
                remarks.append(f"{error}: it was folded again from its responses")
        bodies = self.responses.bodies
        day, orphans, unread = days.folded(file.book, file.day, old, log, self.decoder, bodies)
        if orphans:
            remarks.append(
                f"{file.path} has {orphans} rows of responses that {self.root}/{RESPONSES} lacks "
                "or that are damaged there: they are kept; restore a backup of that folder"
            )
        elif unread:
            remarks.append(
                f"{file.path} lacks the rows of {unread} responses, whose bodies are lost or "
                f"damaged: restore a backup of {self.root}/{RESPONSES}"
            )
        return day

    def _note(self, book: str, day: str, path: str, signature: Signature | None) -> Note | None:
        """Returns the note of a day's file, or None without a sound one."""
        read, note = self._notes.get(path, (None, None))
        is_its = note is not None and read == signature and (note.book, note.day) == (book, day)
        return note if is_its else None

    def _read_notes(self, files: Iterable[tuple[str, Signature]]) -> None:
        fresh = {path: new for path, new in files if self._notes.get(path, (None,))[0] != new}
        if fresh:
            notes, _ = databases.read_each(fresh, days.notes_of)
            self._notes.update((path, (fresh[path], notes.get(path))) for path in fresh)

    def distrust(self, paths: Iterable[str]) -> bool:
        """Returns whether some files are damaged, whose days are folded again from now on."""
        damaged = []
        for path in paths:
            signature, note = self._notes[path]
            try:
                if note is not None:
                    days.read(path, note)
            except Damaged:
                self._notes[path] = signature, None
                damaged.append(path)
        return bool(damaged)

    # -- reading --

    def find(self, book: str, span: Span, remarks: list[str], *, in_memory: bool = False) -> Found:
        """Returns the days of a book that are read, with all that is stored; hold the lock.

        Args:
            book: The book.
            span: The days.
            remarks: What is wrong is appended.
            in_memory: Whether all days are read into memory, as those are that lack fields.
        """
        files = {day: file for day, file in self.folder.days(book).items() if span.has(day)}
        self.log()  # after the files, so that it has everything that these have
        is_narrow = self.folder.known_settings()["schema"] != schema_of()
        in_place: dict[str, Signature] = {}
        rows: list[tuple[str, Slice]] = []
        lost = False
        listed = [file for file in self._days(book, files) if span.has(file.day)]
        for file in listed:
            day = self._unfolded(file, remarks, always=in_memory or is_narrow)
            note = day.note if day else file.note
            if day:
                rows.append((file.day, day.rows))
            elif note and note.rows and file.signature:
                in_place[file.path] = file.signature
            lost = lost or bool(note and note.lost)
        remarks += self.damaged()
        return Found(in_place, rows, lost, replaced(dict(files.values())))

    def labels_of(self, book: str, clients: Collection[str]) -> set[str]:
        """Returns the labels under which clients have rows in the newest days."""
        files = sorted(self.folder.days(book).items())[-_NEWEST:]
        return _values(files, "coalesce(account, '')", "list_contains($1, client_id)", [*clients])

    def ids_of(self, account: str) -> set[str]:
        """Returns the ids of all of an account, also of what only days have; hold the lock."""
        log, where = self.log(), "coalesce(account, '') = $1"
        ids = {entry.id for entry in log.entries.values() if entry.account == account}
        for book in BOOKS:
            ids |= _values(self.folder.days(book).items(), "fetch_id", where, account)
        return ids

    def damaged(self) -> list[str]:
        """Returns what is wrong with files of responses that cannot be read."""
        return [
            f"{self.root}/{path} is damaged: restore a backup of it ({problem})"
            for path, problem in self.responses.log.damaged.items()
        ]

    def lacks_body(self, entry: Entry) -> str:
        """Returns what is wrong if a response has no sound body."""
        places = self.responses.log.places
        path = places.get(entry.repeats or entry.id, places[entry.id])[0]
        return (
            f"{self.root}/{path} lacks the body of a response of {entry.day}, or has another one: "
            "restore a backup of it"
        )

    # -- everything --

    def verify(self) -> tuple[int, list[str]]:
        """Reads everything; returns the number of rows of days, and what is wrong."""
        log, rows = self.log(), 0
        problems = self.damaged()
        bodied = [x for x in log.entries.values() if x.sha256 and not log.is_erased(x)]
        for entry, body in self.responses.bodies(bodied):
            if body is None:
                problems.append(self.lacks_body(entry))
        for book in BOOKS:
            problems += [
                f"{path} is no file of this archive, but other engines read it: move it elsewhere "
                "(it may be a copy of a day that a sync program made)"
                for path in self.folder.strange(book)
            ]
            for file in self._days(book, self.folder.days(book)):
                note = file.note
                try:
                    if note is None and file.signature:
                        raise Damaged(f"{file.path} is damaged or of another day")
                    if note is not None:
                        rows += len(days.read(file.path, note).rows)
                except Damaged as error:
                    problems.append(
                        f"{error}: delete it, and the next fetch makes it again from its responses"
                    )
                    continue
                if note is None or not note.is_current(log):
                    lacks = "is missing" if note is None else "lacks responses"
                    problems.append(
                        f"{file.path} {lacks}: the next `fetch` or `add` makes it again"
                    )
        return rows, problems

    def copy_to(self, copy: Store, remarks: list[str]) -> None:
        """Copies everything into another folder, where what is missing is then folded.

        The settings are the last: a folder in which not everything has arrived is no archive.
        """
        self.folder.known_settings()
        if copy.folder.settings() is not None:
            problem = "is an archive already: copy to a folder that is new or empty"
            raise ArchiveError(f"{copy.root} {problem}", file=copy.root)
        copy.folder.check_new(create=True)
        copy.decoder = self.decoder
        with self._lock:
            # Days first, so that the responses have everything that these have.
            for book in BOOKS:
                for path, _ in self.folder.days(book).values():
                    copy.folder.put(_content(path), book, os.path.basename(path))
            copied: set[str] = set()
            while new := self.folder.responses() - copied:
                for path in sorted(new):
                    with suppress(FileNotFoundError):  # it was joined meanwhile
                        copy.folder.put(_content(self.folder.path(path)), path)
                copied |= new
        copy.folder.create(self.folder.known_settings())
        copy.settle(remarks, required=True)


def _values(
    files: Iterable[tuple[str, tuple[str, Signature]]], column: str, where: str, value: object
) -> set[str]:
    """Returns the values of a column in the files that can be read, in the rows that are meant."""
    values: set[str] = set()
    for _, (path, _) in files:
        with suppress(*databases.UNREADABLE), databases.connection() as opened:
            query = f"SELECT DISTINCT {column} FROM {databases.parquet([path])} WHERE {where}"
            values.update(x for (x,) in opened.execute(query, [value]).fetchall())
    return values


def replaced(files: Mapping[str, Signature]) -> list[str]:
    """Returns the paths of files that are not what they were when they were listed."""
    return [path for path, known in files.items() if signature_of(path) != known]


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def schema_of() -> dict[str, list[str]]:
    """Returns the columns of the files of this version."""
    return {book: list(days.COLUMNS[book]) for book in BOOKS}


@lru_cache(16)  # all archives of a process share the log that was read
def store_of(root: str, process: int) -> Store:
    """Returns the store of a folder, the same one in a process."""
    return Store(root)
