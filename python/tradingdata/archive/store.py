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
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..errors import ArchiveError
from .coverage import in_words
from .folder import Disk, Objects
from .log import Log, Lost, months_of

Json = dict[str, Any]
Merge = Callable[[str, str, list[tuple[str, str]], int], "Rows"]

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
    source: bytes | Callable[[str], None]


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
            new["seal"] = _seal(new)
            self.folder.create("archive.json", json.dumps(new, indent=2).encode())
        found: Any = None
        try:
            found = json.loads(self.folder.read("archive.json"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError:
            pass
        if not isinstance(found, dict) or found.pop("seal", None) != _seal(found):
            path = f"{self.root}/archive.json"
            raise ArchiveError(f"{path} is damaged: restore a backup of it", file=path)
        return found

    def log(self) -> Log:
        """Returns the log with everything that was written before the call; hold the lock."""
        for _ in range(5):
            folders = [f"log/{month}" for month in self.folder.names("log")]
            names = [(folder, name) for folder in folders for name in self.folder.names(folder)]
            damaged: dict[str, str] = {}
            contents: dict[str, Json] = {}
            try:
                for folder, name in names:
                    path = f"{folder}/{name}"
                    if path in self._log.commits:
                        contents[path] = self._log.commits[path]
                    elif name.endswith(".json"):
                        content = self.folder.read(path)
                        digest = name.rpartition("-")[2].removesuffix(".json")
                        if hashlib.sha256(content).hexdigest()[: len(digest)] == digest:
                            contents[path] = json.loads(content)
                        else:
                            damaged[path] = f"{path} is not as it was written"
            except FileNotFoundError:  # merged, and deleted since
                continue
            self._log = self._log.update(contents)
            self._log.damaged = damaged
            self._log.drafts = {_commit_of(name) for _, name in names if name.endswith(_DRAFT)}
            return self._log
        raise ArchiveError(f"{self.root} is changing all the time: try again later", file=self.root)

    def commit(self, lines: Sequence[Json], tables: Sequence[Rows]) -> None:
        """Stores lines and rows; when it returns, they outlast a loss of power.

        Each line lacks only ``commit``, the name of the commit, which is added to it.
        """
        with self.lock:
            heads = self.log().heads()
        name = _name(self._now())
        for line in lines:
            line["commit"] = name
        self._write(name, {"commits": [name], "saw": heads, "lines": lines}, tables)

    def _write(self, name: str, content: Json, tables: Sequence[Rows]) -> None:
        folder, drafts = self.folder, self.folder.renames
        month = f"log/{name[:4]}-{name[4:6]}"
        renamed: list[tuple[str, str]] = []
        files: list[Json] = []
        written: list[str] = []  # in the order in which a failure removes it
        begun = f"{month}/.{name}-begun{_DRAFT}"
        try:
            if not drafts:
                written.insert(0, begun)
                folder.put(begun, b"")
            for table in tables:
                path = f"{table.book}/month={table.month}/{name}.parquet"
                draft = f"{table.book}/month={table.month}/.{name}{_DRAFT}" if drafts else path
                written.insert(0, draft)
                size, digest = folder.put(draft, table.source)
                facts = {"book": table.book, "month": table.month, "rows": table.rows}
                files.append(facts | {"path": path, "bytes": size, "sha256": digest})
                renamed.append((draft, path))
            body = json.dumps(content | {"files": files}, separators=(",", ":")).encode()
            log = f"{month}/{name}-{hashlib.sha256(body).hexdigest()[:32]}.json"
            draft = f"{month}/.{log.rpartition('/')[2]}{_DRAFT}" if drafts else log
            written.insert(0, draft)
            folder.put(draft, body)
            if drafts:
                if renamed:  # a row file has a log file, or a draft of one, at every moment
                    folder.sync(month)
                for old, new in renamed:
                    written.insert(0, new)
                    folder.rename(old, new)
                for parent in {new.rpartition("/")[0] for _, new in renamed}:
                    folder.sync(parent)
                folder.rename(draft, log)
        except BaseException:
            for path in written:  # row files before what says that they were begun
                with suppress(OSError):
                    folder.remove(path)
            raise
        if drafts:
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
        found = []
        for identity, month in wanted:
            files = log.files.get((identity, month), [])
            file = next((x for x in reversed(files) if self._place(x, names)), None)
            if file is None:
                raise self._damaged(log.lines[identity], month, files)
            found.append(file | {"place": self.folder.local(self._place(file, names) or "")})
        return found

    def _place(self, file: Json, names: dict[str, set[str]]) -> str | None:
        """Returns where a row file is, or None; fills the names of folders."""
        parent, _, name = file["path"].rpartition("/")
        if parent not in names:
            names[parent] = self.folder.names(parent)
        suffix = next((each for each in ("", _MERGED) if name + each in names[parent]), None)
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
        return all(any(map(is_there, each)) for each in files)

    def lost(self, log: Log, months: Collection[str] | None = None) -> list[Lost]:
        """Returns the commits whose log file is damaged or missing, with row files in the months.

        Args:
            log: The log.
            months: Where to look for row files; everywhere if None.
        """
        absent: set[str] | None = None
        for wait in (0, 0.02, 0):
            orphans = self._orphans(log, months)
            damaged = {_commit_of(path): problem for path, problem in log.damaged.items()}
            here = (log.saw.keys() | orphans.keys()) - log.drafts - log.known
            # Others may begin commits, and rename files, while folders are listed.
            absent = here if absent is None else here & absent
            if not absent - damaged.keys():
                break
            time.sleep(wait)
            log = self.log()
        found = []
        for name in sorted((damaged.keys() | (absent or set())) - log.known):
            day = f"{name[:4]}-{name[4:6]}-{name[6:8]}"
            saw = log.saw.get(name, {"days": (day, day), "ids": None})
            ids = None if saw["ids"] is None else frozenset(saw["ids"])
            problem = damaged.get(name) or f"the log file of the commit {name} is missing"
            files = tuple(map(self.folder.local, orphans.get(name, ())))
            found.append(Lost(name, problem, tuple(saw["days"]), ids, files))
        return found

    def _orphans(self, log: Log, months: Collection[str] | None) -> dict[str, list[str]]:
        """Returns row files that no log file names, by their commit."""
        found: dict[str, list[str]] = {}
        for book in BOOKS:
            for folder in self.folder.names(book):
                if months is None or folder.removeprefix("month=") in months:
                    for name in self.folder.names(f"{book}/{folder}"):
                        path = f"{book}/{folder}/{name}"
                        if name.endswith(".parquet") and path not in log.contents:
                            found.setdefault(_commit_of(name), []).append(path)
        return {name: paths for name, paths in found.items() if name not in log.drafts}

    def compact(self, merge: Merge) -> int:
        """Merges the commits of each month into one, and deletes what was merged a day ago.

        Any number of compactions may run at once, beside readers and writers.

        Args:
            merge: What merges rows of a book and a month: those of responses, each with its file.

        Returns:
            By how many the number of log files and row files that are read decreased.
        """
        own = Store(self.folder, self._now)  # whose log no reader waits for
        log = own.log()
        if lost := own.lost(log):
            raise ArchiveError(
                f"{self.root} is damaged ({lost[0].problem}): restore a backup, or add the "
                "response again, before it is compacted",
                file=self.root,
            )
        before = _count(log)
        own._merge(log, {path.split("/")[1] for path in log.commits}, merge)
        return before - _count(own.log())

    def compact_closed(self, merge: Merge) -> None:
        """Merges the commits of earlier months that have many."""
        with self.lock:
            counts = Counter(path.split("/")[1] for path in self._log.commits)
        this = f"{self._now():%Y-%m}"
        due = {month for month, count in counts.items() if count > _MANY and month < this}
        own = Store(self.folder, self._now)
        if due and not own.lost(log := own.log()):
            own._merge(log, due, merge)

    def _merge(self, log: Log, months: Collection[str], merge: Merge) -> None:
        for month in sorted(months):
            merged = log.merged()
            paths = [x for x in sorted(log.commits) if x.split("/")[1] == month and x not in merged]
            if len(paths) > 1:
                self._merge_month(log, month, paths, merge)
        self._sweep(self.log())

    def _merge_month(self, log: Log, month: str, paths: list[str], merge: Merge) -> None:
        inputs = [log.commits[path] for path in paths]
        lines = {line["id"]: log.lines[line["id"]] for each in inputs for line in each["lines"]}
        commits = sorted({name for each in inputs for name in each["commits"]})
        last = datetime.strptime(_commit_of(paths[-1])[:21], _TIME).replace(tzinfo=UTC)
        name = _name(max(self._now(), last + timedelta(microseconds=1)))
        # The name stays in its month, whatever the clock says now.
        if f"{name[:4]}-{name[4:6]}" != month:
            name = _name(last + timedelta(microseconds=1))
        seen = {saw["commit"] for each in inputs for saw in each["saw"]}
        saw = [log.saw[each] for each in sorted(seen.difference(commits))]
        wanted: dict[tuple[str, str], list[str]] = {}
        for line in lines.values():
            for each in months_of(line):
                wanted.setdefault((line["book"], each), []).append(line["id"])
        tables = []
        for (book, each), ids in sorted(wanted.items()):
            files = [x["place"] for x in self.find(log, [(one, each) for one in ids])]
            days = [day for one in ids for day in lines[one]["days"].items()]
            rows = sum(count for day, count in days if day.startswith(each))
            tables.append(merge(book, each, [*zip(files, ids, strict=True)], rows))
        content = {"commits": [*commits, name], "saw": saw, "lines": [*lines.values()]}
        self._write(name, content, tables)

    def _sweep(self, log: Log) -> None:
        """Hides the row files that were merged, and deletes what was merged a day ago."""
        folder, before, limit = self.folder, _name(self._now() - _RETENTION), _RETENTION
        merged = log.merged()
        kept = {
            f["path"] for path, c in log.commits.items() if path not in merged for f in c["files"]
        }
        old = []
        for path, other in sorted(merged.items()):
            if not all(map(self.is_intact, log.commits[other]["files"])):
                continue  # what replaces it cannot be read
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
        left = []  # what killed programs left: first rows, then the log
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
        intact: dict[str, bool] = {}
        for (identity, month), files in log.files.items():
            for file in files:
                if file["path"] not in intact:
                    intact[file["path"]] = self.is_intact(file)
            if not any(intact[file["path"]] for file in files):
                raise self._damaged(log.lines[identity], month, files)
        return log


_FORMAT = 4
_STORES: dict[str, Store] = {}  # what was read of a log serves all of a process
_MOST_STORES = 16


def store_of(root: str, options: dict[str, Any] | None) -> Store:
    """Returns the store of a folder, the same one in a process, or of an address."""
    if "://" in root:
        return Store(Objects(root, options))
    key = f"{os.getpid()} {root}"
    if key not in _STORES:
        while len(_STORES) >= _MOST_STORES:
            _STORES.pop(next(iter(_STORES)))
        _STORES[key] = Store(Disk(root))
    return _STORES[key]


def settled(store: Store, given: Json, *, create: bool) -> Json:
    """Returns the settings of an archive, which is created with these if there is none.

    Raises:
        ArchiveError: There is no archive, or one with other settings.
    """
    root = store.root
    known = store.settings()
    if known is None:
        _check_new(root, create=create)
        default: Json = {"tradingdata": _FORMAT, "tz": "Asia/Kolkata", "day_start": "06:00"}
        default["calendar"] = None
        known = store.settings(default | {x: given[x] for x in given if given[x] is not None})
    found = known and known.get("tradingdata")
    problem = "is not an archive of tradingdata: choose another path"
    if known and found == _FORMAT:
        fixed = {name: value for name, value in given.items() if name != "calendar"}
        changed = [x for x in fixed if fixed[x] not in (None, known[x])]
        if not changed:
            return known
        problem = (
            f"was created with {changed[0]}={known[changed[0]]!r}, which cannot change: pass that, "
            "or use another path"
        )
    elif found is not None:
        problem = (
            f"has format {found}, and this version of tradingdata reads {_FORMAT}: choose another "
            "path"
        )
    raise ArchiveError(f"{root} {problem}", file=root)


def _check_new(root: str, *, create: bool) -> None:
    """Raises ArchiveError unless the folder may become an archive."""
    found = sorted(os.listdir(root)) if os.path.isdir(root) else []
    strange = [name for name in found if not name.startswith(".archive.json-")]
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
    kept = {name: value for name, value in settings.items() if name != "seal"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _name(at: datetime) -> str:
    return f"{at.astimezone(UTC):{_TIME}}-{secrets.token_hex(6)}"


def _commit_of(path: str) -> str:
    """Returns the commit of a row file or log file, or of a draft of one."""
    return "-".join(path.rpartition("/")[2].lstrip(".").split(".")[0].split("-")[:2])
