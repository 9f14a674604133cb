"""An archive of books in Parquet files, because the service clears its order book daily.

Every response and failure is logged, so that "no trades" and "never fetched" can be distinguished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.declarations import publish
from .._util.optional_imports import require


def _require_duckdb(*_: object, **__: object) -> None:
    require("duckdb", "archive", "an archive")


try:
    _require_duckdb()
except ImportError:
    if not TYPE_CHECKING:
        # Every name can be imported and inspected; making an archive says what to install.
        def __getattr__(name):
            if name not in __all__:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
            doc = "Needs the extra ``archive``: ``pip install 'tradingdata[archive]'``."
            return type(name, (), {"__doc__": doc, "__init__": _require_duckdb})
else:
    from .archive import Archive
    from .coverage import MissingDay
    from .fetching import Fetched
    from .ingest import ArchiveFetch
    from .queries import OrderState, QueryResult

    publish([Archive], "tradingdata")
    publish([ArchiveFetch, Fetched, MissingDay, OrderState, QueryResult], __name__)

__all__ = [
    "Archive",
    "ArchiveFetch",
    "Fetched",
    "MissingDay",
    "OrderState",
    "QueryResult",
]
