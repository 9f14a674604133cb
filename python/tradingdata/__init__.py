"""The Python client of the Trading Data Service: trade book, order book and stock search.

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
    AuthenticationError,
    BadRequestError,
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
from .records import Order, Stock, Trade
from .response import Response
from .stats import ClientStats
from .tokens import token_file

__all__ = [
    "AuthenticationError",
    "BadRequestError",
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
    "PaginationError",
    "RateLimit",
    "RateLimitError",
    "Response",
    "Retry",
    "ServerError",
    "ServiceError",
    "StatusError",
    "Stock",
    "StockList",
    "StockNotFoundError",
    "TLSError",
    "Trade",
    "TradeBook",
    "TradingDataError",
    "TransportError",
    "__version__",
    "concat",
    "token_file",
]


def __getattr__(name: str) -> object:
    if name == "sandbox":  # imported when used: a simulated service is not needed at work
        import importlib

        return importlib.import_module(".sandbox", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
