"""The asynchronous client: the same names, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import os
import weakref

from .. import _core
from .._util.validate import hook, seconds, text
from ..books.book import UNCOUNTED, OrderBook, StockList, TradeBook
from ..books.response import response_of
from ..errors import ClientClosedError, TradingDataError
from .async_tokens import AsyncTokenSource
from .asyncio_bridge import LoopPort, LoopPorts
from .call_log import log_end, log_retry
from .options import check_open, make_core
from .pager import AsyncSearchPager
from .stats import ClientStats
from .tokens import REFUSALS, Held, held, late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
    from types import TracebackType
    from typing import Any, Self, TypeVar

    from ..books.records import Stock
    from ..watch.updates import OrderUpdate, TradeUpdate
    from .call_log import Retry
    from .snapshot import Books

    Book = TypeVar("Book", TradeBook, OrderBook)
    AnyToken = str | Callable[[], str] | Callable[[], Awaitable[str]]


class AsyncClient:
    """The service's books and its stock search, for one account, for asyncio.

    It takes what ``Client`` takes and has its methods, awaited; ``access_token`` may also be an
    async function. Answers are received and decoded off the event loop. A call that is cancelled is
    given up at once. One client may serve several event loops, each on connections of its own.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        access_token: AnyToken | None = None,
        account: str | None = None,
        timeout: float = 30,
        connect_timeout: float = 5,
        attempts: int = 4,
        rate_limit: _core.RateLimit | None = None,
        proxy: str | None = None,
        trust_env: bool = True,
        ca_file: str | os.PathLike[str] | None = None,
        max_body: int = 256 * 2**20,
        strict: bool = False,
        keep_personal_data: bool = False,
        on_retry: Callable[[Retry], object] | None = None,
    ) -> None:
        token = held(access_token)
        del access_token
        self._account = None if account is None else text("account", account)
        self._timeout = seconds("timeout", timeout)
        self._on_retry = hook("on_retry", on_retry)
        self._core = make_core(
            base_url,
            timeout=timeout,
            connect_timeout=connect_timeout,
            attempts=attempts,
            rate_limit=rate_limit,
            proxy=proxy,
            trust_env=trust_env,
            ca_file=ca_file,
            max_body=max_body,
            strict=strict,
            keep_personal_data=keep_personal_data,
        )
        self._tokens = AsyncTokenSource(self._core, token)
        self._ports = LoopPorts(self._core)
        # A client that is dropped without aclose() leaves no thread behind.
        weakref.finalize(self, self._ports.close, None).atexit = False

    @classmethod
    def from_profile(cls, name: str, **options: Any) -> Self:
        """A client of the options that a profile holds; see ``Client.from_profile``."""
        from .profiles import load_profile, with_token_hidden

        options = with_token_hidden(options)
        return cls(**{**load_profile(name), **options})

    # -- the service --

    async def trade_book(self, *, timeout: float | None = None) -> TradeBook:
        """The account's executed trades; see ``Client.trade_book``."""
        return await self._book(TradeBook, timeout)

    async def order_book(self, *, timeout: float | None = None) -> OrderBook:
        """The orders of the current day; see ``Client.order_book``."""
        return await self._book(OrderBook, timeout)

    async def books(self, *, timeout: float | None = None) -> Books:
        """Orders and trades that belong together; see ``Client.books``."""
        from .snapshot import Together

        budget = self._timeout if timeout is None else seconds("timeout", timeout)
        asking = Together(budget, self._account)
        for step in asking:
            await asyncio.sleep(step.wait)
            asking.take(await self._book(step.kind, step.time_left))
        return asking.books

    def search(
        self,
        query: str,
        *,
        page_size: int | None = None,
        start_page: int = 1,
        max_items: int | None = None,
        prefetch: int = 1,
        progress: bool = False,
        on_page: Callable[[StockList], object] | None = None,
        timeout: float | None = None,
    ) -> AsyncSearchPager:
        """Stocks by name, symbol or code, for ``async for``; see ``Client.search``."""
        return AsyncSearchPager(
            self,
            query,
            page_size=page_size,
            start_page=start_page,
            max_items=max_items,
            prefetch=prefetch,
            progress=progress,
            on_page=on_page,
            timeout=timeout,
        )

    async def stock(self, identifier: str, *, timeout: float | None = None) -> Stock:
        """The stock of exactly that NSE symbol, BSE code or ISIN; see ``Client.stock``."""
        from .stock_lookup import StockLookup

        lookup = StockLookup(identifier, self._account)
        budget = self._timeout if timeout is None else seconds("timeout", timeout)
        pages = self.search(lookup.wanted, prefetch=0)._pages_within(budget)
        async with contextlib.aclosing(pages):
            async for page in pages:
                if (found := lookup.look_at(page)) is not None:
                    return found
        raise lookup.not_found()

    # -- the books as they change --

    def watch_orders(
        self,
        interval: float = 5.0,
        *,
        ignore: Iterable[str] = UNCOUNTED,
        previous: OrderBook | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[OrderUpdate, None]:
        """Order updates for ``async for``, one a poll; see ``Client.watch_orders``."""
        from ..watch.polling import watch_async
        from ..watch.state import OrderState

        poll = self._poll(OrderBook, timeout)
        return watch_async(poll, OrderState(ignore, previous), seconds("interval", interval))

    def watch_trades(
        self,
        interval: float = 5.0,
        *,
        previous: TradeBook | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[TradeUpdate, None]:
        """Each fill once, for ``async for``; see ``Client.watch_trades``."""
        from ..watch.polling import watch_async
        from ..watch.state import TradeState

        poll = self._poll(TradeBook, timeout)
        return watch_async(poll, TradeState(previous), seconds("interval", interval))

    # -- the client itself --

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return self._core.base_url

    @property
    def account(self) -> str | None:
        """The label of the account; never sent."""
        return self._account

    @property
    def access_token(self) -> str:
        """Can be assigned, never read; ``client.access_token = new`` counts from the next call."""
        raise AttributeError("access_token can be assigned, not read: tokens are never shown")

    @access_token.setter
    def access_token(self, token: AnyToken) -> None:
        replacement = Held(token)
        del token
        self._tokens.assign(replacement)

    @property
    def stats(self) -> ClientStats:
        """What the client has done so far, in calls, attempts, connections and bytes."""
        return ClientStats(**self._core.stats())

    @property
    def closed(self) -> bool:
        """Whether ``aclose`` was called."""
        return self._core.closed

    async def aclose(self) -> None:
        """Closes the connections; calls that wait end with ClientClosedError. Twice is once."""
        self._core.close()
        self._ports.close(ClientClosedError("the client was closed while the call was under way"))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        if not hasattr(self, "_tokens"):
            return "<AsyncClient, not made>"  # what a traceback's locals show while __init__ fails
        account = f", account={self._account!r}" if self._account is not None else ""
        token = "with a token" if self._tokens.known else "without a token"
        state = "closed" if self.closed else token
        return f"<AsyncClient {self.base_url}{account}, {state}>"

    def __reduce__(self) -> Any:
        raise TypeError("an AsyncClient cannot be copied or pickled: its token stays where it is")

    # -- how a call is made --

    async def _book(self, kind: type[Book], timeout: float | None) -> Book:
        what = kind._record
        loop = asyncio.get_running_loop()
        budget = self._timeout if timeout is None else seconds("timeout", timeout)
        deadline = loop.time() + budget
        refused = False
        try:
            check_open(self._core)
            generation = await self._tokens.ready(deadline)
            try:
                answer = await self._answer(what, deadline, loop)
            except REFUSALS:
                if not await self._tokens.refresh(generation, deadline):
                    raise
                refused = True
            if refused:
                answer = await self._answer(what, deadline, loop)
        except TradingDataError as error:
            error.account = self._account
            raise
        return kind._received(answer[0], response_of(answer, self._account), stacklevel=3)

    def _poll(self, kind: type[Book], timeout: float | None) -> Callable[[], Awaitable[Book]]:
        """Returns the call that a watch repeats; validates ``timeout`` before the first one."""
        from functools import partial

        return partial(self._book, kind, None if timeout is None else seconds("timeout", timeout))

    async def _answer(
        self, what: str, deadline: float, loop: asyncio.AbstractEventLoop
    ) -> tuple[Any, ...]:
        """One call with the token of the moment, and its line in the log."""
        started = loop.time()
        try:
            if started >= deadline:
                raise late()
            port = self._ports.of(loop)
            call = port.worker.submit_book(what, deadline - started)
            hook = log_retry(what, self._account, self._on_retry)
            answer = (await port.outcome(call, hook)).result()
        except TradingDataError as error:
            log_end(what, self._account, loop.time() - started, error=error)
            raise
        log_end(what, self._account, loop.time() - started, status=answer[1])
        return answer

    def _port(self) -> LoopPort:
        return self._ports.of(asyncio.get_running_loop())
