"""Python client for the Trading Data Service: trade book, order book and stock search.

Start with a client; most other names are types that its methods return::

    import tradingdata as td

    client = td.Client(base_url, access_token=token)
    trades = client.trade_book()                  # an immutable sequence of Trade
    trades.to_pandas()                            # or to_polars(), to_arrow(), to_dicts()
    for stock in client.search("tata"): ...       # pages are prefetched
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from . import errors, types
from ._core import __version__
from ._util.declarations import publish as _publish
from ._util.optional_imports import show_versions
from .books.book import Books, OrderBook, StockList, TradeBook, concat
from .client.client import AsyncClient, Client
from .client.options import RateLimit
from .client.tokens import token_file
from .errors import *  # noqa: F403  # the names of its `__all__`
from .table.rows import Order, Stock, Trade, required

__all__ = [
    "Accounts",
    "Archive",
    "AsyncClient",
    "Books",
    "ChargeRate",
    "Client",
    "Ledger",
    "LotChange",
    "Order",
    "OrderBook",
    "RateLimit",
    "Stock",
    "StockList",
    "Trade",
    "TradeBook",
    "__version__",
    "analysis",
    "charges",
    "concat",
    "daily_pnl",
    "dask",
    "day_pnl",
    "execution_quality",
    "plot",
    "positions",
    "realised_pnl",
    "reconcile",
    "required",
    "sandbox",
    "show_versions",
    "token_file",
    "types",
    "unrealised_pnl",
]
__all__ += errors.__all__
_publish([value for name, value in globals().items() if name in __all__], __name__)

if TYPE_CHECKING:
    from . import analysis, dask, plot, sandbox
    from .accounts import Accounts
    from .analysis import (
        ChargeRate,
        Ledger,
        LotChange,
        charges,
        daily_pnl,
        day_pnl,
        execution_quality,
        positions,
        realised_pnl,
        reconcile,
        unrealised_pnl,
    )
    from .archive import Archive

# Imported on first use, because not every script needs asyncio, analysis or the sandbox.
_LAZY = {
    "accounts": ("Accounts",),
    "analysis": (
        *("ChargeRate", "Ledger", "LotChange", "analysis", "charges", "daily_pnl", "day_pnl"),
        *("execution_quality", "positions", "realised_pnl", "reconcile", "unrealised_pnl"),
    ),
    "plot": ("plot",),
    "archive": ("Archive",),
    "dask": ("dask",),
    "sandbox": ("sandbox",),
}


def __getattr__(name: str) -> object:
    path = next((path for path, names in _LAZY.items() if name in names), None)
    if path is not None:
        import importlib

        module = importlib.import_module(f".{path}", __name__)
        value = module if name == path else getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted(__all__)
