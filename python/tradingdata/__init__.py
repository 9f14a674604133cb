"""The Python client of the Trading Data Service: trade book, order book and stock search.

Begin with a client; every other name is what its calls give::

    import tradingdata as td

    client = td.Client(base_url, access_token=token)
    trades = client.trade_book()                  # an immutable sequence of Trade
    trades.to_pandas()                            # or to_polars(), to_arrow(), to_dicts()
    for stock in client.search("tata"): ...       # pages are fetched ahead
"""

from __future__ import annotations

from ._core import RateLimit, __version__
from .books import OrderBook, StockList, TradeBook, concat
from .call_log import Retry
from .client import Client
from .errors import (
    ArchiveError,
    AuthenticationError,
    BadRequestError,
    BooksDisagreeError,
    CallCancelledError,
    ClientClosedError,
    ConfigurationError,
    ConnectError,
    DataWarning,
    DeadlineError,
    DecodeError,
    NotFoundError,
    PaginationError,
    RateLimitError,
    ServerError,
    ServiceError,
    StatusError,
    StockNotFoundError,
    TLSError,
    TradingDataError,
    TransportError,
)
from .issues import Issue
from .pager import AsyncSearchPager, SearchPager
from .records import Order, Stock, Trade
from .response import Response
from .search_pass import SearchStats
from .stats import ClientStats
from .tokens import token_file
from .versions import show_versions

__all__ = [
    "AccountBooks",
    "Archive",
    "ArchiveError",
    "AsyncClient",
    "AsyncSearchPager",
    "AuthenticationError",
    "BadRequestError",
    "Books",
    "BooksDisagreeError",
    "CallCancelledError",
    "Client",
    "ClientClosedError",
    "ClientStats",
    "ConfigurationError",
    "ConnectError",
    "DataWarning",
    "DeadlineError",
    "DecodeError",
    "Issue",
    "NotFoundError",
    "Order",
    "OrderBook",
    "OrderChange",
    "OrderUpdate",
    "PaginationError",
    "RateLimit",
    "RateLimitError",
    "Response",
    "Retry",
    "SearchPager",
    "SearchStats",
    "ServerError",
    "ServiceError",
    "StatusError",
    "Stock",
    "StockList",
    "StockNotFoundError",
    "TLSError",
    "Trade",
    "TradeBook",
    "TradeUpdate",
    "TradingDataError",
    "TransportError",
    "__version__",
    "analysis",
    "concat",
    "dask",
    "execution_quality",
    "order_books",
    "positions",
    "realised_pnl",
    "reconcile",
    "sandbox",
    "show_versions",
    "token_file",
    "trade_books",
]


TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import analysis, dask, sandbox
    from .accounts import AccountBooks, order_books, trade_books
    from .aio import AsyncClient
    from .analysis import execution_quality, positions, realised_pnl, reconcile
    from .archive import Archive
    from .changes import OrderChange, OrderUpdate, TradeUpdate
    from .together import Books

# Imported when first used: asyncio, SQLite and a simulated service are not needed by every script.
_LAZY = {
    "AccountBooks": "accounts",
    "Archive": "archive",
    "AsyncClient": "aio",
    "Books": "together",
    "OrderChange": "changes",
    "OrderUpdate": "changes",
    "TradeUpdate": "changes",
    "analysis": "analysis",
    "dask": "dask",
    "execution_quality": "analysis",
    "order_books": "accounts",
    "positions": "analysis",
    "realised_pnl": "analysis",
    "reconcile": "analysis",
    "sandbox": "sandbox",
    "trade_books": "accounts",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        import importlib

        module = importlib.import_module(f".{_LAZY[name]}", __name__)
        value = module if name == _LAZY[name] else getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
