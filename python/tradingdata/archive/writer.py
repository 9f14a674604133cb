"""Writes to an archive: each call is one transaction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from .._util.validate import text
from . import database, fetch_log, ingest

if TYPE_CHECKING:
    from datetime import tzinfo

    from .record_key import AnyBook


class Writer(NamedTuple):
    """What it takes to write to an archive.

    Attributes:
        path: The file.
        zone: The zone that determines the day of an empty response.
        keep: Whether personal values are kept rather than masked.
        timeout: Seconds to wait for another program that writes.
    """

    path: str
    zone: tzinfo
    keep: bool
    timeout: float

    def known_accounts(self) -> tuple[str | None, ...]:
        """Returns the account labels in the log; ``None`` is for fetches without one."""
        with database.reading(self.path) as connection:
            return fetch_log.read_accounts(connection)

    def file(
        self, book: AnyBook, account: str | None, source: str, received: datetime | None
    ) -> fetch_log.ArchiveFetch:
        """Stores a book and returns its log entry; see `ingest.file`."""
        kept = book if self.keep else ingest.masked(book)
        label = text("account", account or "")
        sight = ingest.Sight(kept, label, source, received, datetime.now(UTC))
        with database.writing(self.path, self.timeout) as connection:
            return ingest.file(connection, sight, self.zone)

    def log_failure(self, book: str, account: str | None, error: Exception) -> None:
        """Logs that a book could not be fetched."""
        label = text("account", account or "")
        with database.writing(self.path, self.timeout) as connection:
            fetch_log.write_failure(connection, book, label, error, datetime.now(UTC))
