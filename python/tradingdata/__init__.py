"""Python client for the Trading Data Service: trade book, order book and stock search.

Start with a client; most other names are types that its methods return::

    import tradingdata as td

    client = td.Client(base_url, access_token=token)
    trades = client.trade_book()                  # an immutable sequence of Trade
    trades.to_pandas()                            # or to_polars(), to_arrow(), to_dicts()
    for stock in client.search("tata"): ...       # pages are prefetched
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import RateLimit, __version__
from ._util.versions import show_versions
from .books.book import OrderBook, StockList, TradeBook, concat
from .books.issues import Issue
from .books.records import Order, Stock, Trade
from .books.required import required
from .books.response import Response
from .client.call_log import Retry
from .client.client import Client
from .client.env_file import load_env
from .client.pager import AsyncSearchPager, SearchPager
from .client.search_state import SearchStats
from .client.stats import ClientStats
from .client.tokens import token_file
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
    "BooksOfAccounts",
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
    "fetch_books",
    "load_env",
    "order_books",
    "plot",
    "positions",
    "realised_pnl",
    "reconcile",
    "required",
    "run_watch",
    "run_watch_async",
    "sandbox",
    "show_versions",
    "token_file",
    "trade_books",
    "unrealised_pnl",
]


if TYPE_CHECKING:
    from . import analysis, dask, sandbox
    from .accounts.fetch import (
        AccountBooks,
        BooksOfAccounts,
        fetch_books,
        order_books,
        trade_books,
    )
    from .analysis import (
        execution_quality,
        plot,
        positions,
        realised_pnl,
        reconcile,
        unrealised_pnl,
    )
    from .archive import Archive
    from .books.diff import OrderChange
    from .client.async_client import AsyncClient
    from .client.snapshot import Books
    from .watch.callbacks import run_watch, run_watch_async
    from .watch.updates import OrderUpdate, TradeUpdate

# Imported on first use, because not every script needs asyncio, SQLite or the sandbox.
_LAZY = {
    "AccountBooks": "accounts.fetch",
    "Archive": "archive",
    "AsyncClient": "client.async_client",
    "Books": "client.snapshot",
    "BooksOfAccounts": "accounts.fetch",
    "OrderChange": "books.diff",
    "OrderUpdate": "watch.updates",
    "TradeUpdate": "watch.updates",
    "analysis": "analysis",
    "dask": "dask",
    "execution_quality": "analysis",
    "fetch_books": "accounts.fetch",
    "order_books": "accounts.fetch",
    "plot": "analysis.plot",
    "positions": "analysis",
    "realised_pnl": "analysis",
    "reconcile": "analysis",
    "run_watch": "watch.callbacks",
    "run_watch_async": "watch.callbacks",
    "sandbox": "sandbox",
    "trade_books": "accounts.fetch",
    "unrealised_pnl": "analysis",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        import importlib

        module = importlib.import_module(f".{_LAZY[name]}", __name__)
        value = module if name == _LAZY[name].rpartition(".")[2] else getattr(module, name)
        globals()[name] = value
        return value
    hint = ""
    if not name.startswith("_"):  # tools probe modules for such names
        from ._util.suggestions import did_you_mean

        hint = did_you_mean(name, __all__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name)


def __dir__() -> list[str]:
    return sorted(__all__)
