"""Stores responses, folds them into days, and finds what a reader needs.

Storing needs no lock: a response that is placed is stored. Folding does, and whoever holds the lock
folds everything that is missing, whoever placed it. A reader locks and writes nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from ..errors import ArchiveError
from . import databases, days
from .coverage import Span
from .days import BOOKS, Damaged, Day, Decoder, Note
from .folder import RESPONSES, Folder, Signature, signature_of
from .responses import Log, Responses

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
    """

    files: dict[str, Signature]
    rows: list[tuple[str, days.Rows]]
    lost: bool
    replaced: list[str]


class Store:
    """The files of an archive; used by any number of threads at once.

    Args:
        root: The folder.
    """

    def __init__(self, root: str) -> None:
        self.folder = Folder(root)
        self.responses = Responses(self.folder)
        self._lock, self._process = threading.RLock(), os.getpid()
        self._notes: dict[str, tuple[Signature, Note | None]] = {}
        self._settled: dict[tuple[str, str], tuple[Signature, object]] = {}

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

    # -- writing --

    def settle(self, decoder: Decoder, remarks: list[str], *, required: bool = False) -> None:
        """Folds all responses that are not in their days yet.

        What keeps it from doing so is a remark, or raised if it is required.
        """
        stored = "" if required else "stored, but not yet in its day"
        try:
            with self.folder.locked(PATIENCE, remarks) as is_held:
                if is_held:
                    with self.lock:
                        self._settle(decoder, remarks)
                    return
            problem = f"other programs have held {self.root}/archive.lock for {PATIENCE:.0f} s"
        except (OSError, databases.Error, ArchiveError) as error:
            if required:
                raise
            problem = " ".join(databases.redacted(error).split())[:400]
        if required:
            raise ArchiveError(f"{problem}: try again", file=self.root)
        remarks.append(f"{stored} ({problem}): the next `fetch` or `add` puts it there")

    def _settle(self, decoder: Decoder, remarks: list[str]) -> None:
        self._widen()
        for _ in range(_ROUNDS):
            log = self.log()
            if log.erased:
                self.responses.erase()
                log = self.log()
            listed = log.files.keys() | set()
            for book in BOOKS:
                files = self.folder.days(book)
                self._read_notes(files.values())
                for day in sorted(files.keys() | self._days(book)):
                    path, signature = files.get(
                        day, (self.folder.path(book, f"{day}.parquet"), None)
                    )
                    wanted = log.effective(book, day)
                    known = self._settled.get((book, day))
                    if known is None or known[0] != signature or known[1] is not wanted:
                        self._fold(book, day, path, signature, decoder, remarks)
                        if current := signature_of(path):
                            self._settled[book, day] = current, wanted
            if self.log().files.keys() == listed:
                break
        self.responses.join(datetime.now(UTC))
        self.folder.sweep()

    def _days(self, book: str) -> set[str]:
        """Returns the days of which there is a response."""
        log = self.responses.log
        return {
            day
            for (name, day), accounts in log.days.items()
            if name == book
            and any(x.error is None for entries in accounts.values() for x in entries)
        }

    def _fold(
        self,
        book: str,
        day: str,
        path: str,
        signature: Signature | None,
        decoder: Decoder,
        remarks: list[str],
    ) -> None:
        log = self.responses.log
        note = self._note(book, day, path, signature, remarks) if signature else None
        if note is None or not note.has(log.effective(book, day), len(log.erased)):
            self._put(self._folded(book, day, path, note, decoder, remarks))

    def _put(self, day: Day) -> None:
        name = f"{day.note.day}.parquet"
        self.folder.put(lambda draft: days.write(draft, day), day.note.book, name)

    def _folded(
        self,
        book: str,
        day: str,
        path: str,
        note: Note | None,
        decoder: Decoder,
        remarks: list[str],
    ) -> Day:
        """Returns a day as it is to be; what is wrong is a remark."""
        old, log = None, self.responses.log
        if note is not None:
            try:
                old = days.read(path, note)
            except Damaged as error:
                remarks.append(f"{error}: it was folded again from its responses")
        day_now, orphans, unread = days.folded(
            book,
            day,
            old,
            log.effective(book, day),
            lambda identity: identity in log.entries or identity in log.erased,
            len(log.erased),
            self.responses.bodies,
            decoder,
        )
        if orphans:
            remarks.append(
                f"{path} has {orphans} rows of responses that {self.root}/{RESPONSES} lacks or "
                "that are damaged there: they are kept; restore a backup of that folder"
            )
        elif unread:
            remarks.append(
                f"{path} lacks the rows of {unread} responses, whose bodies are lost or damaged: "
                f"restore a backup of {self.root}/{RESPONSES}"
            )
        return day_now

    def _note(
        self, book: str, day: str, path: str, signature: Signature, remarks: list[str]
    ) -> Note | None:
        """Returns the note of a file, or None with a remark if it is damaged."""
        self._read_notes([(path, signature)])
        note = self._notes[path][1]
        if note is None or (note.book, note.day) != (book, day):
            wrong = "damaged" if note is None else f"the file of the {note.book} of {note.day}"
            remarks.append(f"{path} is {wrong}: it was folded again from its responses")
            return None
        return note

    def _read_notes(self, files: Iterable[tuple[str, Signature]]) -> None:
        fresh = [
            (path, signature)
            for path, signature in files
            if self._notes.get(path, (None,))[0] != signature
        ]
        if not fresh:
            return
        with databases.connection() as opened:
            for some in (fresh, *([one] for one in fresh)):
                try:
                    found = days.notes_of(opened, [path for path, _ in some])
                except (databases.Error, OSError, Damaged, ValueError):
                    found = {}
                for path, signature in some:
                    self._notes[path] = signature, found.get(path)
                if all(self._notes[path][1] is not None for path, _ in fresh):
                    break

    def distrust(self, paths: Iterable[str]) -> bool:
        """Returns whether some files are damaged, whose days are folded again from now on."""
        is_any = False
        for path in paths:
            signature, note = self._notes[path]
            if note is not None:
                try:
                    days.read(path, note)
                except Damaged:
                    self._notes[path] = signature, None
                    is_any = True
        return is_any

    def _widen(self) -> None:
        """Rewrites the days of a version with fewer fields, before one is written with more."""
        settings, schema = self.folder.settings() or {}, schema_of()
        known = settings.get("schema", schema)
        if known == schema:
            return
        if any(set(known[book]) - set(schema[book]) for book in BOOKS):
            raise ArchiveError(
                f"{self.root} has fields that this version of tradingdata lacks: install the "
                "version that wrote it, or a newer one",
                file=self.root,
            )
        for book in BOOKS:
            for path, signature in self.folder.days(book).values():
                self._read_notes([(path, signature)])
                if note := self._notes[path][1]:
                    with suppress(Damaged):
                        day = days.read(path, note)
                        self._put(day)
        self.folder.write_settings(settings | {"schema": schema})

    def is_narrow(self) -> bool:
        """Returns whether files of days may lack columns, until a writer of this version comes."""
        return bool((self.folder.settings() or {}).get("schema") != schema_of())

    # -- reading --

    def labels_of(self, book: str, clients: Collection[str]) -> set[str]:
        """Returns the labels under which clients have rows in the newest days."""
        files = sorted(self.folder.days(book).items())[-_NEWEST:]
        labels: set[str] = set()
        with databases.unless_damaged(), databases.connection() as opened:
            for _, (path, _) in files:
                query = f"""SELECT DISTINCT coalesce(account, '')
                    FROM {databases.parquet([path])} WHERE list_contains($1, client_id)"""
                labels.update(x for (x,) in opened.execute(query, [[*clients]]).fetchall())
        return labels

    def find(
        self,
        book: str,
        span: Span,
        decoder: Decoder,
        remarks: list[str],
        volatile: Collection[str] = (),
    ) -> Found:
        """Returns the days of a book that are read, with all that is stored; hold the lock.

        Args:
            book: The book.
            span: The days.
            decoder: What decodes bodies.
            remarks: What is wrong is appended.
            volatile: Paths of files that others replace all the time, which are read into memory.
        """
        files = {day: file for day, file in self.folder.days(book).items() if span.has(day)}
        log = self.log()  # after the files, so that it has everything that these have
        self._read_notes(files.values())
        in_place: dict[str, Signature] = {}
        rows: list[tuple[str, days.Rows]] = []
        lost = False
        for day in sorted(files.keys() | {day for day in self._days(book) if span.has(day)}):
            path, signature = files.get(day, ("", None))
            note = self._note(book, day, path, signature, remarks) if signature else None
            if (
                note is not None
                and signature
                and path not in volatile
                and note.has(log.effective(book, day), len(log.erased))
            ):
                if note.rows:
                    in_place[path] = signature
            else:
                made = self._folded(book, day, path, note, decoder, remarks)
                note = made.note
                rows.append((day, days.Rows(book, made.rows)))
            lost = lost or note.lost
        for path, problem in log.damaged.items():
            remarks.append(f"{self.root}/{path} is damaged: restore a backup of it ({problem})")
        return Found(in_place, rows, lost, replaced(dict(files.values())))

    # -- everything --

    def verify(self) -> tuple[int, list[str]]:
        """Reads everything; returns the number of rows of days, and what is wrong."""
        log, rows = self.log(), 0
        problems = [f"{self.root}/{path} is damaged: {log.damaged[path]}" for path in log.damaged]
        bodied = [x for x in log.entries.values() if x.sha256 and x.id not in log.erased]
        for entry, body in self.responses.bodies(bodied):
            if body is None:
                problems.append(
                    f"{self.root}/{log.place[entry.id]} lacks the body of a response of "
                    f"{entry.day}, or has another one: restore a backup of it"
                )
        for book in BOOKS:
            problems += [
                f"{path} is no file of this archive, but other engines read it: move it elsewhere "
                "(it may be a copy of a day that a sync program made)"
                for path in self.folder.strange(book)
            ]
            for day, (path, signature) in sorted(self.folder.days(book).items()):
                self._read_notes([(path, signature)])
                note = self._notes[path][1]
                try:
                    if note is None or (note.book, note.day) != (book, day):
                        raise Damaged(f"{path} is damaged or of another day")
                    rows += len(days.read(path, note).rows.facts)
                except Damaged as error:
                    problems.append(
                        f"{error}: delete it, and the next fetch makes it again from its responses"
                    )
        return rows, problems

    def ids_of(self, account: str) -> set[str]:
        """Returns the ids of all of an account, also of what only days have; hold the lock."""
        log = self.log()
        ids = {x.id for x in log.entries.values() if x.account == account and x.source != "erase"}
        ids = {x for x in ids if log.entries[x].book or log.entries[x].source == "retire"}
        for book in BOOKS:
            for _, (path, _) in sorted(self.folder.days(book).items()):
                with databases.unless_damaged(), databases.connection() as opened:
                    query = f"""SELECT DISTINCT fetch_id FROM {databases.parquet([path])}
                        WHERE coalesce(account, '') = $1"""
                    ids.update(x for (x,) in opened.execute(query, [account]).fetchall())
        return ids - log.erased

    def copy_to(self, copy: Store, decoder: Decoder, remarks: list[str]) -> None:
        """Copies everything into another folder, where what is missing is then folded."""
        settings = self.folder.settings() or {}
        copy.folder.settled(settings, create=True, patience=PATIENCE)
        with self._lock:
            # Days first, so that the responses have everything that these have.
            for book in BOOKS:
                for path, _ in self.folder.days(book).values():
                    copy.folder.put(_content(path), book, os.path.basename(path))
            for path in sorted(self.log().files):
                parts = path.split("/")
                copy.folder.put(_content(self.folder.path(*parts)), *parts)
        copy.settle(decoder, remarks, required=True)


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
