"""An archive of books in Parquet files, because the service clears its order book daily.

Every response and failure is logged, so that "no trades" and "never fetched" can be distinguished.
"""

from __future__ import annotations

from .archive import Archive, OrderState
from .arrivals import Fetched
from .coverage import MissingDay
from .ingest import ArchiveFetch
from .views import QueryResult

__all__ = [
    "Archive",
    "ArchiveFetch",
    "Fetched",
    "MissingDay",
    "OrderState",
    "QueryResult",
]
