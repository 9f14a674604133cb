"""An archive of books in one SQLite file, because the service clears its order book daily.

Each row of a response is stored as the JSON that was sent, under a key: account, client, day,
exchange, segment, number, leg (of a trade: its order number), and how often that key occurred
before in the same response. A row with a known key is the same record; if its content differs, it
is another state of that record, and all states are kept. Every fetch is logged, failures included,
so that "no trades" and "not fetched" can be distinguished.
"""

from __future__ import annotations

from .archive import Archive
from .coverage import MissingDay
from .fetch_log import ArchiveFetch, Fetched
from .history import OrderState
from .query import QueryResult

__all__ = ["Archive", "ArchiveFetch", "Fetched", "MissingDay", "OrderState", "QueryResult"]
