"""Types of results that scripts rarely name, for annotations and ``isinstance``.

Clients, books and watches return them; none is constructed by callers.
"""

from ._util.declarations import publish
from .books.diff import OrderChange, TradeChange
from .books.issues import Issue
from .books.response import Response
from .client.options import Retry
from .client.search import AsyncSearchPager, SearchPager, SearchStats
from .watch.polling import AsyncWatch, Watch
from .watch.updates import OrderUpdate, TradeUpdate

__all__ = [
    "AsyncSearchPager",
    "AsyncWatch",
    "Issue",
    "OrderChange",
    "OrderUpdate",
    "Response",
    "Retry",
    "SearchPager",
    "SearchStats",
    "TradeChange",
    "TradeUpdate",
    "Watch",
]
publish([globals()[name] for name in __all__], __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
