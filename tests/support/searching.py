"""A search with either client, read to its end or its error: the tests of paging loop over both."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

import tradingdata as td
from service import Behaviour, Choice, Record, Service, json_reply

ENVELOPE = {"status": "error", "message": "the listing is being rebuilt", "data": []}


@dataclass
class Reading:
    """What a reader of `pages()` came to hold, and how it ended."""

    pager: Any
    pages: list[td.StockList] = field(default_factory=list)
    error: BaseException | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[td.Stock]:
        return [stock for page in self.pages for stock in page]

    @property
    def codes(self) -> list[int | None]:
        return [stock.co_code for stock in self.rows]

    @property
    def failure(self) -> td.TradingDataError:
        assert isinstance(self.error, td.TradingDataError), self.error
        return self.error


def sync_read(url: str, query: str = "tata", *, client: Any = None, **options: Any) -> Reading:
    """Reads a search page by page with a Client made of the options in `client`."""
    with td.Client(url, **(client or {})) as desk, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reading = Reading(desk.search(query, **options))
        try:
            for page in reading.pager.pages():
                reading.pages.append(page)
        except Exception as error:
            reading.error = error
    reading.warnings = [str(warning.message) for warning in caught]
    return reading


def async_read(url: str, query: str = "tata", *, client: Any = None, **options: Any) -> Reading:
    """The same with AsyncClient, on an event loop of its own."""

    async def run() -> Reading:
        async with td.AsyncClient(url, **(client or {})) as desk:
            reading = Reading(desk.search(query, **options))
            try:
                async for page in reading.pager.pages():
                    reading.pages.append(page)
            except Exception as error:
                reading.error = error
            return reading

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reading = asyncio.run(run())
    reading.warnings = [str(warning.message) for warning in caught]
    return reading


Read = Callable[..., Reading]
both = pytest.mark.parametrize("read", [sync_read, async_read], ids=["sync", "async"])


def pages_asked(service: Service) -> list[int]:
    """The page of every request, in the order in which they came."""
    return [int(dict(request.query)["page"]) for request in service.requests]


def codes(rows: Iterable[Record]) -> list[Any]:
    return [row["co_code"] for row in rows]


def listing(*responses: list[Record]) -> Choice:
    """A service that gives these pages whatever size is asked for, and empty ones behind them."""

    def choose(request: Any) -> Behaviour:
        number = int(dict(request.query)["page"])
        return json_reply(responses[number - 1] if number <= len(responses) else [])

    return choose


def replayed(call: Callable[[Any], Any], url: str, kind: str, **options: Any) -> Any:
    """`call(client)` with a Client, or awaited with an AsyncClient."""
    if kind == "sync":
        with td.Client(url, **options) as client:
            return call(client)

    async def run() -> Any:
        async with td.AsyncClient(url, **options) as client:
            return await call(client)

    return asyncio.run(run())


kinds = pytest.mark.parametrize("kind", ["sync", "async"])
