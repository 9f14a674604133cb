"""Types of results that scripts rarely name, for annotations and ``isinstance``.

Clients, books and watches return them; none is constructed by callers.
"""

from .books.diff import OrderChange
from .books.issues import Issue
from .books.response import Response
from .client.base import ClientStats
from .client.options import Retry
from .client.search import AsyncSearchPager, SearchPager, SearchStats
from .watch import OrderUpdate, TradeUpdate

__all__ = [
    "AsyncSearchPager",
    "ClientStats",
    "Issue",
    "OrderChange",
    "OrderUpdate",
    "Response",
    "Retry",
    "SearchPager",
    "SearchStats",
    "TradeUpdate",
]


def __dir__() -> list[str]:
    return sorted(__all__)
