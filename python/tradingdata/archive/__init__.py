"""An archive of books in Delta Lake tables, because the service clears its order book daily.

Every response and failure is logged, so that "no trades" and "never fetched" can be distinguished.
"""

from __future__ import annotations

from .._util.optional_imports import require

for _library in ("deltalake", "duckdb"):
    require(_library, "archive", "an archive")

from .archive import Archive, Fetched, FetchedAccounts  # noqa: E402
from .coverage import MissingDay  # noqa: E402
from .ingest import ArchiveFetch  # noqa: E402
from .reading import OrderState  # noqa: E402
from .sql import QueryResult  # noqa: E402

__all__ = [
    "Archive",
    "ArchiveFetch",
    "Fetched",
    "FetchedAccounts",
    "MissingDay",
    "OrderState",
    "QueryResult",
]
