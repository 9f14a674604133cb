"""An archive of books in one SQLite file: the service clears its order book daily; this keeps it.

Each row of an answer is kept as the JSON that was sent, under a key (account, client, day,
exchange, segment, number, leg or a trade's order, how often it came before in the same answer). A
row that comes again is the same record; where its content differs, that is another state of it, and
all states are kept. Every fetch is logged, failures too, so that "no trades" and "not fetched" are
two things.
"""

from __future__ import annotations

from .archive import Archive
from .coverage import MissingDay
from .fetch_log import ArchiveFetch, Fetched
from .history import OrderState
from .query import QueryResult

__all__ = ["Archive", "ArchiveFetch", "Fetched", "MissingDay", "OrderState", "QueryResult"]
