"""The folder of an archive: names, drafts, modes, settings, and the one lock.

    README.md, archive.json          what is here; the settings, and what was decided later
    trades/<day>.parquet             the trades of a day; orders/ likewise
    responses/<month>/*.parquet      what was received, as it was received
    drafts/                          files that are not finished
    archive.lock                     held by whoever changes days

Every file is written in ``drafts``, synced, and renamed; so a reader sees all of it or nothing.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .._util.platform import copy_mode, file_lock, flush_folder, make_private
from ..errors import ArchiveError

Json = dict[str, Any]
Source = bytes | Callable[[str], object]  # the content of a file, or what writes it
Signature = tuple[int, int, int]  # inode, time of change and size of a file

FORMAT = 7
# Decisions about what was received: the ids of withdrawn and of erased responses, and for each
# retired account when it was retired and its last day.
DECISIONS: Json = {"withdrawn": [], "erased": [], "retired": {}}
_FIXED = ("tz", "day_start", "keep_personal_data")
_SETTINGS, _LOCK, DRAFTS, RESPONSES = "archive.json", "archive.lock", "drafts", "responses"
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)\.parquet")
_RESPONSES = re.compile(r"\d{4}-\d\d-\d\d(T\d{6}Z)?-[0-9a-f]{12}\.parquet")
_MONTH = re.compile(r"\d{4}-\d\d")
_ABANDONED = 86_400.0  # seconds after which a draft is removed
_RENAMING = 1.0  # seconds for which a file may be open in another program (Windows)
_PROBE = 65_536  # bytes that must fit before anything is fetched
_CANNOT = {
    getattr(errno, name, 0)
    for name in "EINVAL ENOTSUP EOPNOTSUPP ENOSYS EPERM EACCES EBADF EISDIR".split()
}

_README = """\
# An archive of tradingdata

`trades/` and `orders/` have one Parquet file for each day: each trade once, each order (each leg)
once, in the newest state that was received, of all accounts. Any engine reads them:

    pandas.read_parquet("trades")
    polars.read_parquet("trades/*.parquet")
    duckdb.sql("SELECT day, account, sum(trade_value) FROM 'trades/*.parquet' GROUP BY ALL")

`received_at` is when that state was received, `last_seen` when a complete response last showed the
record (unchanged responses are not counted). Trades that the service took back later:

    FROM (FROM 'trades/*.parquet' SELECT *, max(last_seen) OVER (PARTITION BY day, account) AS last)
    WHERE last_seen < last

`responses/` has what was received and each failed request, with the bodies: the evidence, and the
log. A day is made of it again if its file is lost or damaged. `archive.json` has the settings, and
what was withdrawn, erased or retired. `drafts/` has files that are not finished, `archive.lock`
the name of the process that is writing.

Copy the whole folder as a backup, at any time. Change it with tradingdata only.
"""


class Folder:
    """The files of an archive in a folder of a local or shared disk."""

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, *parts: str) -> str:
        """Returns the path of a file, of which a part may have several names."""
        return os.path.join(self.root, *"/".join(parts).split("/"))

    # -- reading --

    def days(self, book: str) -> dict[str, tuple[str, Signature]]:
        """Returns the path and the signature of each day's file, by day."""
        return {
            match[1]: (entry.path, signature(entry.stat()))
            for entry in _scan(self.path(book))
            if (match := _DAY.fullmatch(entry.name))
        }

    def strange(self, book: str) -> list[str]:
        """Returns the paths of Parquet files beside those of days, and of folders."""
        return sorted(
            entry.path
            for entry in _scan(self.path(book))
            if not _DAY.fullmatch(entry.name)
            and (entry.name.endswith(".parquet") or entry.is_dir())
            and not entry.name.startswith(".")
        )

    def responses(self, known: Collection[str] = ()) -> set[str]:
        """Returns the paths of the files of responses, below the folder.

        A folder is listed until two listings agree: one that was taken while files were joined may
        lack both the old and the new ones.

        Args:
            known: What an earlier listing returned, which counts unless it is empty.
        """
        previous = known or None
        while True:
            paths = {
                f"{RESPONSES}/{month}/{name}"
                for month in self._names(_MONTH, RESPONSES)
                for name in self._names(_RESPONSES, RESPONSES, month)
            }
            if paths == previous:
                return paths
            previous = paths

    def _names(self, pattern: re.Pattern[str], *parts: str) -> list[str]:
        names = [entry.name for entry in _scan(self.path(*parts))]
        return [name for name in names if pattern.fullmatch(name)]

    # -- writing --

    def check_writable(self) -> None:
        """Raises OSError if nothing can be written."""
        with self._draft() as path:
            _write(path, bytes(_PROBE))

    def put(self, source: Source, *parts: str) -> None:
        """Writes a file, which outlasts a loss of power when this returns."""
        target = self.path(*parts)
        try:
            self._put(source, target)
        except FileNotFoundError:  # `erase` of another program has removed the draft
            self._put(source, target)
        sync(os.path.dirname(target))

    def _put(self, source: Source, target: str) -> None:
        with self._draft() as path:
            _write(path, source)
            with suppress(OSError):
                copy_mode(path, self.root, 0o666)
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
            self._make(os.path.dirname(target))
            _rename(path, target)

    def remove(self, *parts: str) -> None:
        """Removes a file, if it is there."""
        path = self.path(*parts)
        with suppress(FileNotFoundError):
            os.remove(path)
        sync(os.path.dirname(path))

    def sweep(self, *, every: bool = False) -> None:
        """Removes drafts that a program left a day ago, or all: `put` then writes its own again."""
        for entry in _scan(self.path(DRAFTS)):
            with suppress(OSError):
                if every or time.time() - entry.stat().st_mtime > _ABANDONED:
                    os.remove(entry.path)

    @contextmanager
    def _draft(self) -> Iterator[str]:
        self._make(self.path(DRAFTS))
        path = self.path(DRAFTS, secrets.token_hex(16))
        try:
            yield path
        finally:
            with suppress(FileNotFoundError):  # it has its name
                os.remove(path)

    def _make(self, folder: str) -> None:
        """Makes a folder, and those above it, with the mode of the archive's."""
        if os.path.isdir(folder):
            return
        above = os.path.dirname(folder)
        is_inside = folder.startswith(os.path.join(self.root, ""))
        if folder != above:
            self._make(above)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            with suppress(OSError):
                if is_inside:
                    copy_mode(folder, self.root)
                else:
                    make_private(folder)
        sync(above)

    @contextmanager
    def locked(self, patience: float, remarks: list[str]) -> Iterator[bool]:
        """Holds the archive's lock, or yields False if others hold it for longer."""
        self._make(self.root)
        path = self.path(_LOCK)
        with file_lock(path, patience) as (is_held, problem):
            if problem:
                remarks.append(f"{path}: {problem}")
            with suppress(OSError):
                copy_mode(path, self.root, 0o666)
            yield is_held

    # -- settings --

    def settings(self) -> Json | None:
        """Returns the settings, or None if there is no archive."""
        path = self.path(_SETTINGS)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        with suppress(ValueError, LookupError, AttributeError, TypeError):  # damaged
            settings: Json = json.loads(content)
            if settings.pop("seal") == _seal(settings):
                return settings
        raise ArchiveError(f"{path} is damaged: restore a backup of it", file=path)

    def known_settings(self) -> Json:
        """Returns the settings of an archive that exists. Raises ArchiveError if they are gone."""
        if (known := self.settings()) is None:
            raise self._lacks_settings()
        return known

    def _lacks_settings(self) -> ArchiveError:
        path = self.path(_SETTINGS)
        return ArchiveError(f"{path} is missing: restore a backup of it", file=path)

    def decisions(self) -> Json:
        """Returns the decisions about what was received."""
        known = self.known_settings()
        return {name: known[name] for name in DECISIONS}

    def write_settings(self, settings: Json) -> None:
        """Writes the settings; hold the lock."""
        content = json.dumps(settings | {"seal": _seal(settings)}, indent=2)
        self.put(content.encode() + b"\n", _SETTINGS)

    def create(self, settings: Json) -> None:
        """Makes the folder an archive."""
        self.put(_README.encode(), "README.md")
        self.write_settings(settings)

    def settled(self, wanted: Json, *, create: bool, patience: float) -> Json:
        """Returns the settings of the archive, which is created with these if there is none.

        Raises:
            ArchiveError: There is no archive, or one with other settings.
        """
        known = self.settings()
        if known is None:
            self.check_new(create=create)
            with self.locked(patience, []) as held:
                known = self.settings()  # another program may have made it meanwhile
                if known is None and held:
                    known = {"tradingdata": FORMAT, "tz": "Asia/Kolkata", "day_start": "06:00"}
                    known |= {"calendar": None} | DECISIONS
                    known |= {name: value for name, value in wanted.items() if value is not None}
                    self.create(known)
            if known is None:
                raise ArchiveError(
                    f"{self.root} is being created by another program: try again", file=self.root
                )
        changed = [name for name in _FIXED if wanted[name] not in (None, known.get(name))]
        if (version := known.get("tradingdata")) != FORMAT:
            problem = (
                f"has format {version}, and this version of tradingdata reads {FORMAT}: choose "
                "another path"
            )
        elif changed:
            problem = (
                f"was created with {changed[0]}={known[changed[0]]!r}, which cannot change: pass "
                "that, or use another path"
            )
        else:
            return known
        raise ArchiveError(f"{self.root} {problem}", file=self.root)

    def check_new(self, *, create: bool) -> None:
        """Raises ArchiveError unless the folder may become an archive."""
        root = self.root
        names = sorted(os.listdir(root)) if os.path.isdir(root) else []
        ours = ("README.md", _LOCK, DRAFTS, "lost+found")  # of a program that was killed
        strange = [name for name in names if not name.startswith(".") and name not in ours]
        if self.responses():
            raise self._lacks_settings()
        if strange or (os.path.lexists(root) and not os.path.isdir(root)):
            kind = f"a folder with other files ({strange[0]})" if strange else "a file"
            problem = f"{root} is {kind}, not an archive of this format: choose another path"
        elif not create:
            problem = (
                f"there is no archive at {root}: check the path, mount its disk, restore a backup, "
                "or create one with `create=True` or `tradingdata archive fetch`"
            )
        else:
            return
        raise ArchiveError(problem, file=root)


def signature(status: os.stat_result) -> Signature:
    """Returns what changes when a file is replaced."""
    return status.st_ino, status.st_mtime_ns, status.st_size


def signature_of(path: str) -> Signature | None:
    """Returns the signature of a file, or None if it is not there."""
    with suppress(FileNotFoundError):
        return signature(os.stat(path))
    return None


def sync(folder: str) -> None:
    """Makes the names in a folder outlast a loss of power, where the file system can."""
    try:
        flush_folder(folder)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise


def _scan(folder: str) -> list[os.DirEntry[str]]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _write(path: str, source: Source) -> None:
    if not isinstance(source, bytes):
        source(path)
        return
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(source)


def _rename(old: str, new: str) -> None:
    """Renames a file; on Windows one that is open must be closed first, so this waits."""
    until = time.monotonic() + _RENAMING
    while True:
        try:
            os.replace(old, new)
        except PermissionError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _seal(settings: Json) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
