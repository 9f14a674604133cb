"""The Delta Lake tables of an archive; the only module that imports deltalake.

Three tables lie in one folder. Rows are appended and never rewritten, so writers only have to agree
on the next version of a table's log, which delta-rs does by retrying. Local files are read by
DuckDB itself, of which it reads only the columns that a query needs; those in object storage by
delta-rs.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import deltalake
import deltalake.exceptions
import duckdb
from arro3.core import Table

from ..errors import ArchiveError
from .coverage import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import date
    from typing import TypeVar

    Result = TypeVar("Result")

NAMES = ("trades", "orders", "fetches")  # in this order: a folder with fetches is an archive
RETENTION_HOURS = 24  # compact() removes nothing younger, for readers and other writers
_CONFIGURATION = {
    # Statistics of the first columns only, which find the files of some days, accounts or fetches.
    "delta.dataSkippingNumIndexedCols": "6",
    # Opening a table takes 5 ms of processor time with 10 commits since a checkpoint, 25 with 80.
    "delta.checkpointInterval": "10",
    "delta.logRetentionDuration": "interval 1 days",  # checkpoints list all files
    # How long checkpoints also list the files that are no part of the table any more.
    "delta.deletedFileRetentionDuration": f"interval {RETENTION_HOURS} hours",
}
_FOUND_BY = ("day", "account", "since", "until", "book", "fetch_id")  # columns with statistics
_FORMAT = deltalake.WriterProperties(
    compression="ZSTD",
    max_row_group_size=16_384,  # rows; a reader skips the groups of other days and accounts
    # Dictionaries take a third of the time of writing, and halve that of reading.
    default_column_properties=deltalake.ColumnProperties(statistics_enabled="NONE"),
    column_properties={
        name: deltalake.ColumnProperties(statistics_enabled="CHUNK") for name in _FOUND_BY
    },
)
# Commits of the log between merges of its files, each of which takes a reader 1 ms.
_MERGE_INTERVAL = 20
_PAUSE = 0.05  # seconds between two attempts
# Held by the only program that merges, since delta-rs lets two merges of the same files succeed,
# which doubles their rows.
_MERGING = "_merging"
# A local table's newest version. A log that ends earlier has lost its last files, which would
# otherwise look like commits that never were.
_NEWEST = "_newest"
_user: int | None = None  # the process that first used deltalake


def _check_process(root: str) -> None:
    """Raises ArchiveError in a forked child: the threads of deltalake exist in its parent only."""
    global _user
    if _user is None:
        _user = os.getpid()
    elif _user != os.getpid():
        raise ArchiveError(
            f"{root} cannot be used after a fork, because deltalake was used before it: start "
            "processes with multiprocessing.get_context('spawn')",
            file=root,
        )


@contextmanager
def explained(root: str, what: str = "read", days: str = "") -> Iterator[None]:
    """Converts every failure of the tables into an ArchiveError that says what to do."""
    _check_process(root)
    about = f" ({days})" if days else ""
    try:
        yield
    except ArchiveError:
        raise
    except deltalake.exceptions.CommitFailedError as error:
        raise ArchiveError(
            f"{root} is in use by other writers ({_line(error)}): try again later, or pass a "
            "longer `timeout` to Archive",
            file=root,
            retryable=True,
        ) from error
    except BaseException as error:
        # deltalake also raises plain exceptions, and a PanicException of Rust is none at all.
        known = (deltalake.exceptions.DeltaError, duckdb.Error, OSError)
        plain = type(error) is Exception or type(error).__name__ == "PanicException"
        if not (plain or isinstance(error, known)):
            raise
        if what == "read":
            text = f"{root} is damaged or unreadable{about}: restore a backup ({_line(error)})"
        else:
            text = (
                f"{root} could not be written ({_line(error)}): check its disk, quota and "
                "permissions, and try again; what it holds is unchanged"
            )
        raise ArchiveError(text, file=root) from error


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:400]


def quoted(text: str) -> str:
    """Returns a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


class Span(NamedTuple):
    """Some days, inclusive, of one account or all; None where it is open."""

    first: date | None = None
    last: date | None = None
    account: str | None = None

    def __str__(self) -> str:
        if self.first is None or self.last is None:
            return "all days"
        return in_words(self.first, self.last)

    @property
    def rows(self) -> str:
        """SQL that selects the rows."""
        return " AND ".join(["true", *self._parts("day", "day", "account", "account")])

    @property
    def files(self) -> str:
        """SQL that selects the files that may have such rows, by their statistics."""
        parts = self._parts('"min.day"', '"max.day"', '"min.account"', '"max.account"')
        return " AND ".join(["true", *(f"coalesce({part}, true)" for part in parts)])

    def _parts(self, low_day: str, high_day: str, low: str, high: str) -> Iterator[str]:
        if self.first is not None:
            yield f"{high_day} >= DATE '{self.first}'"
        if self.last is not None:
            yield f"{low_day} <= DATE '{self.last}'"
        if self.account is not None:
            yield f"{low} <= {quoted(self.account)}"
            yield f"{high} >= {quoted(self.account)}"


class Store(NamedTuple):
    """Where the tables are and how they are written."""

    root: str
    options: dict[str, str] | None
    timeout: float

    @property
    def is_remote(self) -> bool:
        """Whether the folder is in object storage."""
        return "://" in self.root

    def uri(self, name: str) -> str:
        """Returns the path or address of a table."""
        return f"{self.root.rstrip('/')}/{name}"

    def exists(self) -> bool:
        """Returns whether the archive has been created."""
        with explained(self.root):
            uri = self.uri("fetches")
            return bool(deltalake.DeltaTable.is_deltatable(uri, storage_options=self.options))

    def create(self, tables: Mapping[str, Any], description: str) -> None:
        """Creates the tables unless they exist; several processes may do so at once.

        Args:
            tables: Arrow data without rows that has the columns of each table.
            description: Text to keep with the tables.
        """
        with explained(self.root, "write"):
            if not self.is_remote:
                os.makedirs(os.path.dirname(self.root), exist_ok=True)
                os.makedirs(self.root, mode=0o700, exist_ok=True)
            for name in NAMES:
                make = partial(
                    deltalake.DeltaTable.create,
                    self.uri(name),
                    Table.from_arrow(tables[name]).schema,
                    mode="ignore",
                    partition_by=["month"],
                    description=description,
                    configuration=_CONFIGURATION,
                    storage_options=self.options,
                )
                self._retried(make, deltalake.exceptions.DeltaError)
                self._sync(name, 0, 0)
            if not self.is_remote:
                _sync(os.path.dirname(self.root))

    def description(self) -> str:
        """Returns the text with which the archive was created."""
        return str(self._table("fetches").metadata().description)

    def _table(self, name: str) -> Any:
        """Opens a table. Raises ArchiveError if its log cannot be read or has lost its last files.

        What was noted before the log is read must be there, as others may write meanwhile.
        """
        least = self._newest(name)
        with explained(self.root, days=f"the log of {name}"):
            table = deltalake.DeltaTable(self.uri(name), storage_options=self.options)
            if table.version() < least:
                raise ArchiveError(
                    f"{self.uri(name)}/_delta_log ends with version {table.version()}, but version "
                    f"{least} was written: restore its missing files from a backup",
                    file=self.root,
                )
            return table

    def view(
        self, connection: Any, name: str, span: Span | None = None, also: str = "false"
    ) -> tuple[Any, dict[str, int]]:
        """Makes a view of a table's rows, ``stored_NAME``.

        Args:
            connection: A connection to DuckDB.
            name: The table.
            span: The days and the account; the view may have other rows too.
            also: SQL that selects more files by their statistics.

        Returns:
            The table, for `append`, and the number of rows in each of its files, -1 if unknown.

        Raises:
            ArchiveError: The log is damaged, or a file is missing or has another size than the log
                says.
        """
        span = span or Span()
        table = self._table(name)
        with explained(self.root, days=f"the log of {name}"):
            empty = Table.from_batches([], schema=table.schema().to_arrow())
            connection.register(f"table_{name}", empty)
            connection.register("log_files", table.get_add_actions(flatten=True))
            found = connection.execute(f"""
            SELECT {quoted(self.uri(name))} || '/' || log_files.path AS path, size_bytes,
                coalesce(num_records, -1), "min.day", "max.day"
            FROM log_files WHERE ({span.files}) OR ({also})
            ORDER BY "min.day", modification_time, path
            """).fetchall()
        parts = [f"table_{name}"]
        if found and self.is_remote:
            connection.register(f"remote_{name}", table.to_pyarrow_dataset())
            chosen = span.rows if also == "false" else "true"
            parts.append(f"(FROM remote_{name} WHERE {chosen})")
        elif found:
            for path, size, _, first, last in found:
                _check_file(path, size, f"the {name} of {in_words(first, last)}")
            files = ", ".join(quoted(path) for path, *_ in found)
            options = "union_by_name = true, hive_partitioning = false"
            parts.append(f"read_parquet([{files}], {options})")
        source = " UNION ALL BY NAME FROM ".join(parts)
        with explained(self.root, days=name):
            connection.execute(f"""
            CREATE OR REPLACE TEMP VIEW stored_{name} AS
            SELECT * EXCLUDE month FROM (FROM {source})""")
        return table, {path: rows for path, _, rows, *_ in found}

    def _newest(self, name: str) -> int:
        """Returns the newest version that was written, as far as it is known."""
        with suppress(OSError, ValueError), open(f"{self.uri(name)}/{_NEWEST}", "rb") as file:
            return int(file.read())
        return 0

    def append(self, name: str, rows: Any, table: Any = None) -> None:
        """Commits rows, Arrow data with the column ``month``, which names their partition.

        ``table`` is the one that `view` returned, which need not be opened again.
        """
        content = Table.from_arrow(rows)

        def write(table: Any) -> None:
            known = {field.name for field in table.schema().fields}
            deltalake.write_deltalake(
                table,
                content,
                mode="append",
                schema_mode=None if known == set(content.column_names) else "merge",
                writer_properties=_FORMAT,
                commit_properties=deltalake.CommitProperties(max_commit_retries=200),
            )

        _, version = self._commit(name, write, table)
        if name == "fetches" and version % _MERGE_INTERVAL == 0 and not self.is_remote:
            # The rows are stored, whatever comes of this, and another program may be merging.
            with suppress(ArchiveError), self._alone(wait=False):
                self.merge(name)

    @contextmanager
    def _alone(self, *, wait: bool) -> Iterator[None]:
        """Excludes other merges, of threads and of processes, until the block ends.

        Raises:
            ArchiveError: Another one is running, until the timeout if this waits.
        """
        if self.is_remote:
            raise ArchiveError(
                f"{self.root} is not on a local disk, which alone can exclude other merges: "
                "copy the archive to one to merge its files",
                file=self.root,
            )
        until = time.monotonic() + (self.timeout if wait else 0.0)
        with open(f"{self.root}/{_MERGING}", "ab") as file:
            while not _lock(file):
                if time.monotonic() >= until:
                    raise ArchiveError(
                        f"{self.root} is being merged by another program: try again later",
                        file=self.root,
                        retryable=True,
                    )
                time.sleep(_PAUSE)
            yield  # closing the file releases the lock, as does the end of the process

    def _sync(self, name: str, first: int, last: int) -> None:
        """Makes some versions of a local table, inclusive, outlast a loss of power."""
        if self.is_remote:
            return
        log = f"{self.uri(name)}/_delta_log"
        paths = {log, self.uri(name), self.root}
        for version in range(first, last + 1):
            path = f"{log}/{version:020}.json"
            paths |= {path, f"{log}/{version:020}.checkpoint.parquet", f"{log}/_last_checkpoint"}
            for action in _actions(path):
                if "add" in action:
                    added = f"{self.uri(name)}/{unquote(action['add']['path'])}"
                    paths |= {added, os.path.dirname(added)}
        for path in sorted(paths, key=len, reverse=True):
            with suppress(FileNotFoundError):
                _sync(path)

    def _note(self, name: str, version: int) -> None:
        if not self.is_remote and version > self._newest(name):
            draft = f"{self.uri(name)}/{_NEWEST}.{os.getpid()}.{time.monotonic_ns()}"
            with open(draft, "wb") as file:
                file.write(str(version).encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, f"{self.uri(name)}/{_NEWEST}")

    def _retried(self, work: Callable[[], Result], *errors: type[Exception]) -> Result:
        """Returns the result of work that other writers may disturb, within the timeout."""
        until = time.monotonic() + self.timeout
        while True:
            try:
                return work()
            except errors:
                if time.monotonic() > until:
                    raise
            time.sleep(_PAUSE)

    def check_writable(self) -> None:
        """Raises ArchiveError if the folder cannot be written, before anything is requested."""
        if self.is_remote:
            return
        probe = os.path.join(self.root, "fetches", f".probe-{os.getpid()}-{time.monotonic_ns()}")
        with explained(self.root, "write"):
            try:
                with open(probe, "wb") as file:
                    file.write(bytes(65_536))
            finally:
                if os.path.lexists(probe):
                    os.remove(probe)

    def delete(self, name: str, predicate: str) -> None:
        """Removes the rows that a predicate in SQL selects."""
        with self._alone(wait=True):
            self._commit(name, lambda table: table.delete(predicate, writer_properties=_FORMAT))

    def merge(self, name: str) -> int:
        """Merges the files of each month; returns how many files that saved.

        The caller excludes other merges. That the merged files had the rows of those that replace
        them is checked afterwards, since a program of an earlier version excludes nobody.
        """
        before = self._table(name)
        first = int(before.version()) + 1
        done, last = self._commit(
            name, lambda table: table.optimize.compact(writer_properties=_FORMAT), before
        )
        merged: dict[str, int] = {}
        for version in range(first, last + 1):
            for action in _actions(f"{self.uri(name)}/_delta_log/{version:020}.json"):
                if "remove" in action:
                    path = action["remove"]["path"]
                    merged[path] = merged.get(path, 0) + 1
        if twice := [path for path, times in merged.items() if times > 1]:
            raise ArchiveError(
                f"{self.uri(name)} was merged by two programs at once, which doubled the rows of "
                f"{len(twice)} files: restore a backup",
                file=self.root,
            )
        return int(done["numFilesRemoved"]) - int(done["numFilesAdded"])

    def compact(self, name: str) -> int:
        """Merges the files of each month, as `merge` does, and removes those that were merged."""
        with self._alone(wait=True), explained(self.root, "write"):
            saved = self.merge(name)
            table = self._table(name)
            table.create_checkpoint()
            table.cleanup_metadata()
            # All files that are in no version, also those that a killed writer left.
            table.vacuum(dry_run=False, full=True)
        return saved

    def _commit(
        self, name: str, work: Callable[[Any], Result], table: Any = None
    ) -> tuple[Result, int]:
        """Returns the result of work that commits to a table, and the version.

        If another writer commits meanwhile, that takes precedence, and the work is repeated.
        """
        opened = [table] if table else []

        def attempt() -> tuple[Result, int]:
            table = opened.pop() if opened else self._table(name)
            return work(table), int(table.version())

        with explained(self.root, "write"):
            done, version = self._retried(attempt, deltalake.exceptions.CommitFailedError)
            self._note(name, version)
            self._sync(name, version, version)
            return done, version


def _actions(path: str) -> list[dict[str, Any]]:
    """Returns the actions of a commit, a file that has been written completely."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _sync(path: str) -> None:
    """Writes a file or the names in a folder to the disk."""
    if os.name != "posix" and os.path.isdir(path):
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(file: Any) -> bool:
    """Locks a file that no other file object has locked; returns whether that succeeded."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _check_file(path: str, size: int, content: str) -> None:
    try:
        problem = "" if os.stat(path).st_size == size else "was truncated"
    except FileNotFoundError:
        problem = "is missing"
    if problem:
        raise ArchiveError(f"{path} {problem}, which has {content}: restore a backup", file=path)
