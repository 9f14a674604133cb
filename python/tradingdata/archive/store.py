"""The files of an archive; the only module that knows where they are.

Every file is written once, under a name that nobody else chooses, and never changed. The archive is
the union of responses by their id. So no writer can conflict with another, or with a compaction.

    archive.json                        the settings
    log/2026-11/<commit>-<hash>.json    a commit; the hash is that of its content
    trades/month=2026-11/<commit>.parquet, orders/month=2026-11/<commit>.parquet

A commit writes drafts of its row files and of its log file, renames the row files, and then the log
file, which is the commit. A row file that neither a log file nor a draft of one names has lost it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import ArchiveError
from . import views
from .coverage import Json, Log, in_words, months_of
from .folder import Disk, Objects, Source

# What writes the rows of responses, each in a file: the book, the month, the files and the number.
Merge = Callable[[str, str, list[tuple[str, str]], int], Source]

BOOKS = ("orders", "trades")
_RETENTION = timedelta(days=1)  # how long merged files stay, for readers that listed them before
_MANY = 500  # log files of a closed month, which are then merged
_MERGED = ".merged"  # the suffix of row files that were merged, which no engine then reads
_DRAFT = ".draft"
_TIME = "%Y%m%dT%H%M%S%f"


class Rows(NamedTuple):
    """A row file to write: the book, the month of its days, how many rows, and what writes it."""

    book: str
    month: str
    rows: int
    source: Source


class Store:
    """Commits and reads; may be used by any number of threads and processes at once.

    Args:
        folder: Where the files are.
        now: What returns the time, an aware one.
    """

    def __init__(self, folder: Disk | Objects, now: Callable[[], datetime] | None = None) -> None:
        self.folder = folder
        self._now = now or (lambda: datetime.now(UTC))
        self._renew()

    def _renew(self) -> None:
        self._log = Log()
        self._names: dict[str, set[str]] = {}  # by folder of the log, of which `_log` was made
        self._lock = threading.RLock()
        self._process = os.getpid()

    @property
    def lock(self) -> threading.RLock:
        """What is held while the log is used, of this process."""
        if self._process != os.getpid():  # another thread may have held it when this was forked
            self._renew()
        return self._lock

    @property
    def root(self) -> str:
        """The folder or address."""
        return self.folder.root

    def check_writable(self) -> None:
        """Raises OSError if nothing can be written."""
        probe = f"log/.{secrets.token_hex(8)}{_DRAFT}"
        try:
            self.folder.put(probe, bytes(65_536))
        finally:
            with suppress(FileNotFoundError):
                self.folder.remove(probe)

    def settings(self, new: Json | None = None) -> Json | None:
        """Returns the settings, which these become if the archive is a new one."""
        if new is not None:
            content = json.dumps(new | {"seal": _seal(new)}, indent=2)
            self.folder.create("archive.json", content.encode())
        with suppress(ValueError, LookupError, AttributeError, TypeError):  # damaged
            try:
                settings: Json = json.loads(self.folder.read("archive.json"))
            except (FileNotFoundError, NotADirectoryError):
                return None
            if settings.pop("seal") == _seal(settings):
                return settings
        path = f"{self.root}/archive.json"
        raise ArchiveError(f"{path} is damaged: restore a backup of it", file=path)

    def log(self) -> Log:
        """Returns the log with everything that was written before the call; hold the lock."""
        for _ in range(5):
            folders = [f"log/{month}" for month in self.folder.names("log")]
            names = {folder: self.folder.names(folder) for folder in folders}
            if names == self._names and not self._log.damaged:  # files never change
                return self._log
            paths = {f"{folder}/{name}" for folder in names for name in names[folder]}
            damaged: dict[str, str] = {}
            contents: dict[str, Json] = {}
            try:
                for path in paths - self._log.commits.keys():
                    if path.endswith(".json"):
                        content = self.folder.read(path)
                        digest = path.rpartition("-")[2].removesuffix(".json")
                        if hashlib.sha256(content).hexdigest()[: len(digest)] == digest:
                            contents[path] = json.loads(content)
                        else:
                            damaged[_commit_of(path)] = f"{path} is not as it was written"
            except FileNotFoundError:  # it was merged and deleted meanwhile
                continue
            self._log = self._log.update(contents, paths)
            self._log.damaged = damaged
            self._log.drafts = {_commit_of(path) for path in paths if path.endswith(_DRAFT)}
            self._names = names
            return self._log
        raise ArchiveError(f"{self.root} is changing all the time: try again later", file=self.root)

    def commit(self, lines: Sequence[Json], tables: Sequence[Rows]) -> None:
        """Stores lines and rows; when it returns, they outlast a loss of power.

        Each line lacks only ``commit``, the name of the commit, which is added to it.
        """
        with self.lock:
            heads = self.log().heads()
        name = _commit_name(self._now())
        for line in lines:
            line["commit"] = name
        self._write(name, {"commits": [name], "saw": heads, "lines": lines}, tables)

    def _write(self, name: str, content: Json, tables: Sequence[Rows]) -> None:
        folder, month = self.folder, f"log/{name[:4]}-{name[4:6]}"
        begun = f"{month}/.{name}-begun{_DRAFT}"
        files: list[Json] = []
        written: list[tuple[str, str]] = []  # drafts and final names, the latest first

        def put(path: str, source: Source) -> tuple[int, str]:
            parent, _, last = path.rpartition("/")
            draft = f"{parent}/.{last}{_DRAFT}" if folder.renames else path
            written.insert(0, (draft, path))
            return folder.put(draft, source)

        try:
            if not folder.renames:
                put(begun, b"")
            for table in tables:
                path = f"{table.book}/month={table.month}/{name}.parquet"
                size, digest = put(path, table.source)
                facts = {"book": table.book, "month": table.month, "rows": table.rows}
                files.append(facts | {"path": path, "bytes": size, "sha256": digest})
            body = json.dumps(content | {"files": files}, separators=(",", ":")).encode()
            log = f"{month}/{name}-{hashlib.sha256(body).hexdigest()[:32]}.json"
            if not folder.renames:
                folder.age(begun)  # raises if a sweep has removed it as abandoned
            put(log, body)
            if not folder.renames:
                # Others may rely on the commit now, so it is taken back only if rows are gone.
                try:
                    folder.age(begun)
                except FileNotFoundError:
                    for file in files:
                        folder.age(file["path"])
            else:
                if tables:  # a row file has a log file, or a draft of one, at every moment
                    folder.sync(month)
                for draft, path in reversed(written[1:]):
                    folder.rename(draft, path)
                for parent in {file["path"].rpartition("/")[0] for file in files}:
                    folder.sync(parent)
                folder.rename(*written[0])
        except BaseException:
            # Remove row files before the draft that announces them.
            for path in (path for place in (1, 0) for path in (x[place] for x in written)):
                with suppress(OSError):
                    folder.remove(path)
            raise
        if folder.renames:
            folder.sync(month)
        else:
            with suppress(OSError):
                folder.remove(begun)

    def find(self, log: Log, wanted: Iterable[tuple[str, str]]) -> list[Json]:
        """Returns a row file that is there for each response and month of its rows.

        Raises:
            ArchiveError: A row file is missing.
        """
        names: dict[str, set[str]] = {}
        placed = []
        for identity, month in wanted:
            files = log.files.get((identity, month), [])
            file = next((x for x in reversed(files) if self._place(x, names)), None)
            if file is None:
                raise self._damaged(log.lines[identity], month, files)
            placed.append(file | {"place": self.folder.local(self._place(file, names) or "")})
        return placed

    def _place(self, file: Json, names: dict[str, set[str]]) -> str | None:
        """Returns where a row file is, or None; fills the names of folders."""
        parent, _, name = file["path"].rpartition("/")
        if parent not in names:
            names[parent] = self.folder.names(parent)
        suffix = next((suffix for suffix in ("", _MERGED) if name + suffix in names[parent]), None)
        return None if suffix is None else f"{file['path']}{suffix}"

    def _damaged(self, line: Json, month: str, files: Sequence[Json]) -> ArchiveError:
        path = files[-1]["path"] if files else f"{line['book']}/month={month}"
        path = f"{self.root}/{path}"
        days = in_words(min(line["days"]), max(line["days"]))
        error = ArchiveError(
            f"{path} is missing or not as it was written, which has the {line['book']} of {days}: "
            "restore a backup, or add the response again",
            file=path,
        )
        error.__cause__ = FileNotFoundError(path)  # or it was merged meanwhile
        return error

    def is_intact(self, file: Json) -> bool:
        """Returns whether each byte of a row file is as it was written."""
        with suppress(OSError):
            place = self._place(file, {}) or file["path"]
            return bool(hashlib.sha256(self.folder.read(place)).hexdigest() == file["sha256"])
        return False

    def is_sound(self, log: Log, line: Json, *, intact: bool = False) -> bool:
        """Returns whether the rows of a line are there; if ``intact``, as they were written."""
        is_there = self.is_intact if intact else lambda file: self._place(file, {}) is not None
        files = [log.files.get((line["id"], month), []) for month in months_of(line)]
        return all(any(map(is_there, copies)) for copies in files)

    def lost(
        self, log: Log, months: Collection[str] | None = None
    ) -> list[tuple[str, Sequence[str]]]:
        """Returns what of commits whose log file is damaged or missing was not stored again.

        Args:
            log: The log.
            months: Where to look for row files; everywhere if None.

        Returns:
            What is wrong with each, in words, and its days as far as they are known.
        """
        absent: set[str] | None = None
        for wait in (0, 0.02, 0):
            rows: dict[str, list[str]] = {}  # files that no log file names, by commit
            for folder in (f"{book}/{x}" for book in BOOKS for x in self.folder.names(book)):
                if months is None or folder.partition("=")[2] in months:
                    for name in self.folder.names(folder):
                        if name.endswith(".parquet") and f"{folder}/{name}" not in log.contents:
                            rows.setdefault(_commit_of(name), []).append(f"{folder}/{name}")
            here = (log.saw.keys() | rows.keys()) - log.drafts - log.known
            # Others may begin commits, and rename files, while folders are listed.
            absent = here if absent is None else here & absent
            if not absent - log.damaged.keys():
                break
            time.sleep(wait)
            log = self.log()
        problems = []
        for name in sorted((log.damaged.keys() | (absent or set())) - log.known):
            problem = log.damaged.get(name) or f"the log file of the commit {name} is missing"
            if days := self._days_lost(log, name, rows.get(name, [])):
                problems.append((problem, days))
        return problems

    def _days_lost(self, log: Log, name: str, files: Sequence[str]) -> Sequence[str]:
        """Returns the days of a lost commit of which something was not stored again."""
        day = f"{name[:4]}-{name[4:6]}-{name[6:8]}"
        days: Sequence[str] = log.saw[name]["days"] if name in log.saw else [day]
        try:
            rows = views.days_in([self.folder.local(path) for path in files])
        except views.Error:
            return days
        if rows:
            return [day for identity, day in rows if identity not in log.lines]
        if name in log.saw:
            return [] if log.lines.keys() >= set(log.saw[name]["ids"]) else days
        # It is the newest commit, which no other names, and it has no rows.
        later = [x for x in log.lines.values() if x["commit"] > name and x["sha256"]]
        return [] if any(day in line["days"] for line in later) else days

    def compact(self, merge: Merge, *, many: bool = False) -> int:
        """Merges the commits of each month into one, and deletes what was merged a day ago.

        Any number of compactions may run at once, beside readers and writers.

        Args:
            merge: What writes the rows of a month.
            many: Whether to merge earlier months alone, and those that have many commits.

        Returns:
            By how many the number of log files and row files that are read decreased.
        """
        with self.lock:
            months = [folder.split("/")[1] for folder, x in self._names.items() if len(x) > _MANY]
        due = {month for month in months if month < f"{self._now():%Y-%m}"}
        if many and not due:
            return 0
        own = Store(self.folder, self._now)  # with its own lock, so that readers need not wait
        log = own.log()
        if lost := own.lost(log):
            raise ArchiveError(
                f"{self.root} is damaged ({lost[0][0]}): restore a backup, or add the "
                "response again, before it is compacted",
                file=self.root,
            )
        before = _count(log)
        paths_of: dict[str, list[str]] = {}
        for path in sorted(log.commits.keys() - log.merged().keys()):
            paths_of.setdefault(path.split("/")[1], []).append(path)
        for month, paths in paths_of.items():
            if len(paths) > 1 and (not many or month in due):
                own._merge(log, month, paths, merge)
        own._sweep(own.log())
        return before - _count(own.log())

    def _merge(self, log: Log, month: str, paths: list[str], merge: Merge) -> None:
        inputs = [log.commits[path] for path in paths]
        lines = {line["id"]: log.lines[line["id"]] for commit in inputs for line in commit["lines"]}
        commits = sorted({name for commit in inputs for name in commit["commits"]})
        last = datetime.strptime(_commit_of(paths[-1])[:21], _TIME).replace(tzinfo=UTC)
        name = _commit_name(max(self._now(), last + timedelta(microseconds=1)))
        # The name stays in its month, whatever the clock says now.
        if f"{name[:4]}-{name[4:6]}" != month:
            name = _commit_name(last + timedelta(microseconds=1))
        seen = {saw["commit"] for commit in inputs for saw in commit["saw"]}
        saw = [log.saw[name] for name in sorted(seen.difference(commits))]
        wanted: dict[tuple[str, str], list[str]] = {}
        for line in lines.values():
            for part in months_of(line):
                wanted.setdefault((line["book"], part), []).append(line["id"])
        tables = []
        for (book, part), ids in sorted(wanted.items()):
            files = [x["place"] for x in self.find(log, [(one, part) for one in ids])]
            days = [day for one in ids for day in lines[one]["days"].items()]
            rows = sum(count for day, count in days if day.startswith(part))
            source = merge(book, part, [*zip(files, ids, strict=True)], rows)
            tables.append(Rows(book, part, rows, source))
        content = {"commits": [*commits, name], "saw": saw, "lines": [*lines.values()]}
        self._write(name, content, tables)

    def _sweep(self, log: Log) -> None:
        """Hides the row files that were merged, and deletes what was merged a day ago."""
        folder, before, limit = self.folder, _commit_name(self._now() - _RETENTION), _RETENTION
        merged = log.merged()
        kept = {
            f["path"] for path, c in log.commits.items() if path not in merged for f in c["files"]
        }
        old = []
        for path, other in sorted(merged.items()):
            if not all(map(self.is_intact, log.commits[other]["files"])):
                continue  # its replacement cannot be read
            for file in log.commits[path]["files"]:
                if folder.renames and file["path"] not in kept:
                    with suppress(FileNotFoundError):
                        folder.rename(file["path"], file["path"] + _MERGED)
            if _commit_of(other) < before and folder.age(other) > limit.total_seconds():
                old.append(path)
        self._remove(old)
        files = [file["path"] for path in old for file in log.commits[path]["files"]]
        self._remove([path + suffix for path in files for suffix in ("", _MERGED)])
        known = {*log.contents, *log.commits}
        left = []  # abandoned by killed programs: row files first, then log files
        for parent in (*BOOKS, "log"):
            for below in self.folder.names(parent):
                for name in folder.names(f"{parent}/{below}"):
                    path = f"{parent}/{below}/{name}"
                    is_left = name.endswith((_DRAFT, _MERGED)) or _commit_of(name) in log.drafts
                    with suppress(FileNotFoundError):
                        is_left = is_left and path.removesuffix(_MERGED) not in known
                        if is_left and folder.age(path) > limit.total_seconds():
                            left.append(path)
        self._remove(left)

    def _remove(self, paths: Sequence[str]) -> None:
        """Removes files that may be gone, those of one folder before those of the next."""
        for parent in dict.fromkeys(path.rpartition("/")[0] for path in paths):
            for path in paths:
                if path.rpartition("/")[0] == parent:
                    with suppress(FileNotFoundError):
                        self.folder.remove(path)
            self.folder.sync(parent)

    def verify(self) -> Log:
        """Reads every byte that is part of the archive; returns its log.

        Raises:
            ArchiveError: A file is missing or not as it was written.
        """
        log = self.log()
        files = {file["path"]: file for files in log.files.values() for file in files}
        intact = {path for path, file in files.items() if self.is_intact(file)}
        for (identity, month), copies in log.files.items():
            if not any(file["path"] in intact for file in copies):
                raise self._damaged(log.lines[identity], month, copies)
        return log


_FORMAT = 4


@lru_cache(16)  # all archives of a process share the log that was read
def _of_disk(root: str, process: int) -> Store:
    return Store(Disk(root))


def store_of(root: str, options: dict[str, Any] | None) -> Store:
    """Returns the store of a folder, the same one in a process, or of an address."""
    return Store(Objects(root, options)) if "://" in root else _of_disk(root, os.getpid())


def settled(store: Store, wanted: Json, *, create: bool) -> Json:
    """Returns the settings of an archive, which is created with these if there is none.

    Raises:
        ArchiveError: There is no archive, or one with other settings.
    """
    root, known = store.root, store.settings()
    if known is None:
        _check_new(root, create=create)
        default: Json = {"tradingdata": _FORMAT, "tz": "Asia/Kolkata", "day_start": "06:00"}
        default["calendar"] = None
        default |= {name: value for name, value in wanted.items() if value is not None}
        known = store.settings(default) or {}
    fixed = {name: value for name, value in wanted.items() if name != "calendar"}
    changed = [x for x in fixed if fixed[x] not in (None, known.get(x))]
    if (version := known.get("tradingdata")) != _FORMAT:
        problem = f"has format {version}, and this version of tradingdata reads {_FORMAT}: choose "
        problem += "another path"
    elif changed:
        problem = f"was created with {changed[0]}={known[changed[0]]!r}, which cannot change: pass "
        problem += "that, or use another path"
    else:
        return known
    raise ArchiveError(f"{root} {problem}", file=root)


def _check_new(root: str, *, create: bool) -> None:
    """Raises ArchiveError unless the folder may become an archive."""
    names = sorted(os.listdir(root)) if os.path.isdir(root) else []
    strange = [name for name in names if not name.startswith(".archive.json-")]
    if strange or (os.path.lexists(root) and not os.path.isdir(root)):
        kind = f"a folder with other files ({strange[0]})" if strange else "a file"
        problem = f"{root} is {kind}, not an archive of this format: choose another path"
    elif not create:
        problem = (
            f"there is no archive at {root}: check the path, restore a backup, or create one "
            "with `create=True` or `tradingdata archive fetch`"
        )
    else:
        return
    raise ArchiveError(problem, file=root)


def _count(log: Log) -> int:
    merged = log.merged()
    return sum(1 + len(each["files"]) for path, each in log.commits.items() if path not in merged)


def _seal(settings: Json) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _commit_name(at: datetime) -> str:
    return f"{at.astimezone(UTC):{_TIME}}-{secrets.token_hex(6)}"


def _commit_of(path: str) -> str:
    """Returns the commit of a row file or log file, or of a draft of one."""
    return "-".join(path.rpartition("/")[2].lstrip(".").split(".")[0].split("-")[:2])
