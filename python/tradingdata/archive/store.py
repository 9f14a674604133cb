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
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ArchiveError
from .coverage import in_words
from .log import Found, Log, Lost, extent_of, months_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from .folder import Folder

    Json = dict[str, Any]
    Merge = Callable[[str, str, list["Found"], int], "Rows"]

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

    def __init__(self, folder: Folder, now: Callable[[], datetime] | None = None) -> None:
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

    @property
    def local_root(self) -> str:
        """The folder of all paths that `find` returns."""
        return self.folder.local("")

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
        for content in (None, new):
            if content is not None:
                content["seal"] = _seal(content)
                self.folder.create("archive.json", json.dumps(content, indent=2).encode())
            with suppress(FileNotFoundError, NotADirectoryError):
                found = self._settings(self.folder.read("archive.json"))
                if found.pop("seal", None) == _seal(found):
                    return found
                path = f"{self.root}/archive.json"
                raise ArchiveError(f"{path} is damaged: restore a backup of it", file=path)
        return None

    def _settings(self, content: bytes) -> Json:
        with suppress(ValueError):
            if isinstance(found := json.loads(content), dict):
                return found
        return {}

    def log(self) -> Log:
        """Returns the log with everything that was written before the call; hold the lock."""
        log = self._log
        for _ in range(5):
            paths, log.drafts = self._log_paths()
            if log.commits.keys() - paths:
                log.rebuild(paths)
            log.damaged = {}
            try:
                for path in sorted(paths - log.commits.keys()):
                    log.read(path, self.folder.read(path))
            except FileNotFoundError:  # merged, and deleted since
                continue
            return log
        raise ArchiveError(f"{self.root} is changing all the time: try again later", file=self.root)

    def _log_paths(self) -> tuple[set[str], set[str]]:
        found: set[str] = set()
        drafts: set[str] = set()
        for month in self.folder.names("log"):
            for name in self.folder.names(f"log/{month}"):
                if name.endswith(".json"):
                    found.add(f"log/{month}/{name}")
                elif name.endswith(_DRAFT):
                    drafts.add(_commit_of(name))
        return found, drafts

    def commit(self, lines: Sequence[Json], tables: Sequence[Rows]) -> None:
        """Stores lines and rows; when it returns, they outlast a loss of power.

        Each line lacks only ``commit``, the name of the commit, which is added to it.
        """
        with self.lock:
            heads = [*self.log().heads.values()]
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
                parent = f"{table.book}/month={table.month}"
                path = f"{parent}/{name}.parquet"
                draft = f"{parent}/.{name}{_DRAFT}" if drafts else path
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

    def find(self, log: Log, wanted: Iterable[tuple[str, str]]) -> list[Found]:
        """Returns the row files that have some responses, each response in one of them.

        Args:
            log: The log.
            wanted: The ids of lines, each with a month of its rows.

        Raises:
            ArchiveError: A row file is missing or has another size than it had.
        """
        found: dict[tuple[str, str], list[str]] = {}
        places: dict[str, str | None] = {}
        sizes: dict[str, Mapping[str, int]] = {}
        for identity, month in wanted:
            candidates = log.files.get((identity, month), [])
            for file in reversed(candidates):
                path = file["path"]
                if path not in places:
                    places[path] = self._place(file, sizes)
                if (place := places[path]) is not None:
                    found.setdefault((place, path), []).append(identity)
                    break
            else:
                line = log.lines[identity]
                first, last = min(line["days"]), max(line["days"])
                path = candidates[-1]["path"] if candidates else f"{line['book']}/month={month}"
                raise ArchiveError(
                    f"{self.root}/{path} is missing or was truncated, which has the "
                    f"{line['book']} of {in_words(first, last)}: restore a backup, or add the "
                    "response again",
                    file=f"{self.root}/{path}",
                ) from FileNotFoundError(path)
        return [
            Found(self.folder.local(place), ids, len(ids) == len(log.contents[path]))
            for (place, path), ids in sorted(found.items())
        ]

    def _place(self, file: Json, sizes: dict[str, Mapping[str, int]]) -> str | None:
        """Returns where a row file is, or None unless it is there and has its size."""
        parent = file["path"].rpartition("/")[0]
        if parent not in sizes:
            sizes[parent] = self.folder.names(parent)
        for path in (file["path"], file["path"] + _MERGED):
            if sizes[parent].get(path.rpartition("/")[2]) == file["bytes"]:
                return str(path)
        return None

    def is_sound(self, log: Log, line: Json, *, whole: bool = False) -> bool:
        """Returns whether the rows of a line can be read; if ``whole``, of which each byte."""
        files = [log.files.get((line["id"], month), []) for month in months_of(line)]
        for candidates in files:
            places = [(self._place(file, {}), file) for file in reversed(candidates)]
            good = [(place, file) for place, file in places if place is not None]
            if whole:
                good = [each for each in good if self._digest(each[0]) == each[1]["sha256"]]
            if not good:
                return False
        return True

    def _digest(self, path: str) -> str:
        with suppress(OSError):
            return hashlib.sha256(self.folder.read(path)).hexdigest()
        return ""

    def lost(self, log: Log, months: Collection[str] | None = None) -> list[Lost]:
        """Returns the commits whose log file is damaged or missing, with row files in the months.

        Args:
            log: The log.
            months: Where to look for row files; everywhere if None.
        """
        orphans = self._orphans(log, months)
        damaged = {_commit_of(path): problem for path, problem in log.damaged.items()}
        absent = (log.saw.keys() | orphans.keys()) - log.known - damaged.keys()
        names = damaged.keys() - log.known | {name for name in absent if name not in log.drafts}
        found = []
        for name in sorted(names):
            problem = damaged.get(name) or f"the log file of the commit {name} is missing"
            at = name[:8]
            day = f"{at[:4]}-{at[4:6]}-{at[6:]}"
            saw = log.saw.get(name)
            days = tuple(saw["days"]) if saw else (day, day)
            ids = frozenset(saw["ids"]) if saw else None
            files = tuple(map(self.folder.local, orphans.get(name, ())))
            found.append(Lost(name, problem, days, ids, files))
        return found

    def _orphans(self, log: Log, months: Collection[str] | None) -> dict[str, list[str]]:
        """Returns row files that no log file names, by their commit."""
        for attempt in range(3):
            found: dict[str, list[str]] = {}
            for book in BOOKS:
                wanted = months
                if months is None:
                    wanted = [name.removeprefix("month=") for name in self.folder.names(book)]
                for month in wanted or ():
                    for name in self.folder.names(f"{book}/month={month}"):
                        path = f"{book}/month={month}/{name}"
                        if name.endswith(".parquet") and path not in log.contents:
                            found.setdefault(_commit_of(name), []).append(path)
            new = found.keys() - {_commit_of(path) for path in log.damaged}
            if not new - log.drafts or attempt == 2:
                break
            time.sleep(0.02 * attempt)  # a file that is renamed while a folder is listed
            log = self.log()
        return {name: paths for name, paths in found.items() if name not in log.drafts}

    def compact(self, merge: Merge) -> int:
        """Merges the commits of each month into one, and deletes what was merged a day ago.

        Any number of compactions may run at once, beside readers and writers.

        Args:
            merge: What merges the rows of a book and a month from some row files.

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
        before = own._count(log)
        for month in sorted({path.split("/")[1] for path in log.commits}):
            own._merge_month(log, month, merge)
        own._sweep(own.log())
        return before - own._count(own.log())

    def compact_closed(self, merge: Merge) -> None:
        """Merges the commits of earlier months that have many."""
        with self.lock:
            paths = [*self._log.commits]
        counts = Counter(path.split("/")[1] for path in paths)
        this = f"{self._now():%Y-%m}"
        due = [month for month, count in counts.items() if count > _MANY and month < this]
        if due:
            own = Store(self.folder, self._now)
            log = own.log()
            if not own.lost(log):
                for month in due:
                    own._merge_month(log, month, merge)
                own._sweep(own.log())

    def _count(self, log: Log) -> int:
        merged = log.merged()
        return sum(
            1 + len(found["files"]) for path, found in log.commits.items() if path not in merged
        )

    def _merge_month(self, log: Log, month: str, merge: Merge) -> None:
        merged = log.merged()
        paths = [p for p in sorted(log.commits) if p.split("/")[1] == month and p not in merged]
        if len(paths) < 2:
            return
        inputs = [log.commits[path] for path in paths]
        lines = {line["id"]: log.lines[line["id"]] for each in inputs for line in each["lines"]}
        commits = sorted({name for each in inputs for name in each["commits"]})
        last = datetime.strptime(max(map(_commit_of, paths))[:21], _TIME).replace(tzinfo=UTC)
        name = _name(max(self._now(), last + timedelta(microseconds=1)))
        # The name stays in its month, whatever the clock says now.
        if f"{name[:4]}-{name[4:6]}" != month:
            name = _name(last + timedelta(microseconds=1))
        seen = {saw["commit"] for each in inputs for saw in each["saw"]}
        saw = [log.saw[each] for each in sorted(seen.difference(commits))]
        wanted: dict[tuple[str, str], list[str]] = {}
        for line in lines.values():
            if line["repeats"] is None:
                for each in months_of(line):
                    wanted.setdefault((line["book"], each), []).append(line["id"])
        tables = []
        for (book, each), ids in sorted(wanted.items()):
            files = self.find(log, [(one, each) for one in ids])
            days = [day for one in ids for day in lines[one]["days"].items()]
            rows = sum(count for day, count in days if day.startswith(each))
            tables.append(merge(book, each, files, rows))
        content = {"commits": [*commits, name], "saw": saw, "lines": [*lines.values()]}
        self._write(name, content, tables)

    def _sweep(self, log: Log) -> None:
        """Hides the row files that were merged, and deletes what was merged a day ago."""
        folder, before = self.folder, _name(self._now() - _RETENTION)
        merged = log.merged()
        kept = {
            f["path"] for path, c in log.commits.items() if path not in merged for f in c["files"]
        }
        old = []
        for path, other in sorted(merged.items()):
            files = log.commits[other]["files"]
            if any(self._digest(self._place(file, {}) or "") != file["sha256"] for file in files):
                continue  # what replaces it cannot be read
            for file in log.commits[path]["files"]:
                if folder.renames and file["path"] not in kept:
                    with suppress(FileNotFoundError):
                        folder.rename(file["path"], file["path"] + _MERGED)
            if _commit_of(other) < before and folder.age(other) > _RETENTION.total_seconds():
                old.append(path)
        for path in old:
            with suppress(FileNotFoundError):
                folder.remove(path)
        for parent in {path.rpartition("/")[0] for path in old}:
            folder.sync(parent)
        for path in old:
            for file in log.commits[path]["files"]:
                for name in (file["path"], file["path"] + _MERGED):
                    with suppress(FileNotFoundError):
                        folder.remove(name)
        known = {*log.contents, *log.commits}
        for parent in self._folders():  # what killed programs left: first rows, then the log
            removed = False
            for name in folder.names(parent):
                path = f"{parent}/{name}"
                left = name.endswith((_DRAFT, _MERGED)) or _commit_of(name) in log.drafts
                with suppress(FileNotFoundError):
                    if (
                        left
                        and path.removesuffix(_MERGED) not in known
                        and folder.age(path) > _RETENTION.total_seconds()
                    ):
                        folder.remove(path)
                        removed = True
            if removed:
                folder.sync(parent)

    def _folders(self) -> Iterator[str]:
        for parent in (*BOOKS, "log"):
            for name in self.folder.names(parent):
                yield f"{parent}/{name}"

    def verify(self) -> Log:
        """Reads every byte that is part of the archive; returns its log.

        Raises:
            ArchiveError: A file is missing or not as it was written.
        """
        log = self.log()
        merged = log.merged()
        for path, content in sorted(log.commits.items()):
            for file in content["files"]:
                place = self._place(file, {})
                if place is not None and self._digest(place) == file["sha256"]:
                    continue
                if path not in merged and not self._elsewhere(log, content, file):
                    first, last = extent_of(content["lines"])
                    problem = "is missing" if place is None else "is not as it was written"
                    raise ArchiveError(
                        f"{self.root}/{file['path']} {problem}, which has the {file['book']} of "
                        f"{in_words(first, last)}: restore a backup, or add the response again",
                        file=f"{self.root}/{file['path']}",
                    )
        return log

    def _elsewhere(self, log: Log, content: Json, file: Json) -> bool:
        """Returns whether all rows of a file are in another one that is as it was written."""
        lines = [x for x in content["lines"] if x["book"] == file["book"] and x["repeats"] is None]
        for line in lines:
            if file["month"] in months_of(line):
                others = log.files[line["id"], file["month"]]
                places = [(self._place(each, {}), each) for each in others if each is not file]
                if not any(p and self._digest(p) == each["sha256"] for p, each in places):
                    return False
        return True


def _seal(settings: Json) -> str:
    kept = {name: value for name, value in settings.items() if name != "seal"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _name(at: datetime) -> str:
    return f"{at.astimezone(UTC):{_TIME}}-{secrets.token_hex(6)}"


def _commit_of(path: str) -> str:
    """Returns the commit of a row file or log file, or of a draft of one."""
    return "-".join(path.rpartition("/")[2].lstrip(".").split(".")[0].split("-")[:2])
