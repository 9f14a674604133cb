"""Base of the synchronous and the asynchronous client: options, token, label and display.

What waits for the service is a plan here (see ``plans``), which ``client`` runs and
``async_client`` awaits.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from .. import _core
from .._util.validate import count, flag, hook, seconds, text, zone
from ..books.book import OrderBook, TradeBook
from ..books.response import response_of
from ..errors import (
    ClientClosedError,
    ConfigurationError,
    StockNotFoundError,
    TradingDataError,
)
from .ca_roots import find_ca_file
from .call_log import log_end, log_retry
from .stats import ClientStats
from .tokens import REFUSALS, Held, Source, held, late

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime, tzinfo
    from datetime import time as clock_time
    from typing import Self

    from .._util.plans import Plan
    from ..books.book import StockList
    from ..books.records import Stock
    from .call_log import Retry
    from .snapshot import Books

BASE_URL_VARIABLE = "TRADINGDATA_BASE_URL"
_MOST_ATTEMPTS = 2**31 - 1

Token = TypeVar("Token")
"""The type of ``access_token``: text, or the kinds of function that the client can call."""
Tokens = TypeVar("Tokens", bound=Source)
Book = TypeVar("Book", TradeBook, OrderBook)
Watch = TypeVar("Watch")


class ClientBase(Generic[Token, Tokens]):
    """Options, token and label of a client; converts responses to books.

    ``Client`` documents the options.
    """

    _token_source: ClassVar[type[Source]]
    _tokens: Tokens
    _book: Callable[..., Any]
    _send: Callable[[str, float], Any]

    def __init__(
        self,
        base_url: str | None = None,
        *,
        access_token: Token | None = None,
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
        tz: str | tzinfo | None = None,
    ) -> None:
        # Drop the token from this frame before anything can raise: error reporters print the local
        # variables of a traceback.
        token = held(access_token)
        del access_token
        self._account = None if account is None else text("account", account)
        self._timeout = seconds("timeout", timeout)
        self._on_retry = hook("on_retry", on_retry)
        self._zone: tzinfo | None = zone("tz", tz)
        url = os.environ.get(BASE_URL_VARIABLE, "") if base_url is None else base_url
        if not text("base_url", url):
            raise ConfigurationError(
                f"no base URL: pass it as the first argument or set {BASE_URL_VARIABLE}; "
                "to try the package without an account, run `python -m tradingdata demo`"
            )
        if rate_limit is not None and not isinstance(rate_limit, _core.RateLimit):
            raise TypeError(f"rate_limit must be a tradingdata.RateLimit, not {rate_limit!r}")
        secure = not url.lower().startswith("http:")
        self._core = _core.Client(
            base_url=url,
            timeout=self._timeout,
            connect_timeout=seconds("connect_timeout", connect_timeout),
            attempts=min(count("attempts", attempts), _MOST_ATTEMPTS),
            rate_limit=rate_limit,
            proxy=None if proxy is None else text("proxy", proxy),
            trust_env=flag("trust_env", trust_env),
            ca_file=find_ca_file(ca_file, trust_env=trust_env) if secure else "",
            max_body=count("max_body", max_body),
            strict=flag("strict", strict),
            keep_personal_data=flag("keep_personal_data", keep_personal_data),
        )
        self._tokens = cast("Tokens", self._token_source(self._core, token))
        self._opened()

    def _opened(self) -> None:
        """Called once the options have been accepted."""

    @classmethod
    def from_profile(cls, name: str | None = None, **options: Any) -> Self:
        """Creates a client from a profile.

        Profiles are tables in ``~/.config/tradingdata/profiles.toml``, or in the file that the
        environment variable ``TRADINGDATA_PROFILES`` names. Their keys are the options of this
        class; ``access_token_file`` names a file that contains the token. Only its owner may have
        access to the profile file. ``account`` defaults to the profile's name.

        Args:
            name: Name of the profile; else the environment variable ``TRADINGDATA_PROFILE``.
            **options: Options that take precedence over the profile's.

        Returns:
            A new client.

        Raises:
            ConfigurationError: No profile is named, or the profile is missing, malformed or
                readable by other users.
        """
        from .profiles import load_profile, with_token_hidden

        options = with_token_hidden(options)
        return cls(**{**load_profile(name), **options})

    @property
    def base_url(self) -> str:
        """URL of the service."""
        return self._core.base_url

    @property
    def account(self) -> str | None:
        """Label of the account; never sent."""
        return self._account

    @property
    def tz(self) -> tzinfo | None:
        """Time zone of the times in the books; ``None`` if they are naive."""
        return self._zone

    @property
    def access_token(self) -> Token:
        """The access token, write-only. An assigned token applies to all later calls."""
        raise AttributeError("access_token can be assigned, not read: tokens are never shown")

    @access_token.setter
    def access_token(self, token: Token) -> None:
        replacement = Held(token)
        del token
        self._tokens.assign(replacement)

    @property
    def stats(self) -> ClientStats:
        """Counts of calls, attempts, connections and bytes since the client was created."""
        return ClientStats(**self._core.stats())

    @property
    def closed(self) -> bool:
        """Whether the client has been closed."""
        return self._core.closed

    def __repr__(self) -> str:
        name = type(self).__name__
        if not hasattr(self, "_tokens"):
            return f"<{name}, not initialised>"  # in a traceback, while __init__ fails
        account = f", account={self._account!r}" if self._account is not None else ""
        token = "with a token" if self._tokens.known else "without a token"
        return f"<{name} {self.base_url}{account}, {'closed' if self.closed else token}>"

    def __reduce__(self) -> Any:
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be copied or pickled: its token must not leave it")

    def _watch(
        self,
        run: Callable[..., Watch],
        kind: type[Any],
        state: Any,
        interval: float,
        until: datetime | clock_time | None,
        timeout: float | None,
    ) -> Watch:
        """Returns the generator of a watch; validates its arguments before the first request."""
        from ..watch.schedule import time_left

        poll = partial(self._book, kind, None if timeout is None else seconds("timeout", timeout))
        return run(poll, state, seconds("interval", interval), time_left(until))

    # -- the plans that both clients run --

    def _response(self, what: str, timeout: float | None) -> Plan[tuple[Any, ...]]:
        """Makes a call; if the service refuses the token, once more with a new one."""
        deadline = time.monotonic() + self._budget(timeout)
        try:
            if self.closed:  # before a token function is called to no purpose
                raise ClientClosedError("the client is closed: make a new one")
            generation = yield from self._tokens.ready(deadline)
            try:
                return (yield from self._request(what, deadline))
            except REFUSALS:
                if not (yield from self._tokens.refresh(generation, deadline)):
                    raise
            return (yield from self._request(what, deadline))
        except TradingDataError as error:
            error.account = self._account
            raise

    def _request(self, what: str, deadline: float) -> Plan[tuple[Any, ...]]:
        """Sends one request with the current token and logs how it ended."""
        started = time.monotonic()
        try:
            if started >= deadline:
                raise late()
            response: tuple[Any, ...] = yield self._send(what, deadline - started)
        except TradingDataError as error:
            log_end(what, self._account, time.monotonic() - started, error=error)
            raise
        log_end(what, self._account, time.monotonic() - started, status=response[1])
        return response

    def _snapshot(self, timeout: float | None, pause: Callable[[float], Any]) -> Plan[Books]:
        from .snapshot import Snapshot

        snapshot = Snapshot(self._budget(timeout), self._account)
        for step in snapshot:
            yield pause(step.wait)
            snapshot.take((yield self._book(step.kind, step.time_left)))
        return snapshot.books

    def _lookup(
        self, identifier: str | Iterable[str], timeout: float | None
    ) -> Plan[Stock | StockList]:
        from .stock_lookup import StockLookup, StockLookups

        client: Any = self
        if not isinstance(identifier, str):
            lookups = StockLookups(identifier)
            for one in lookups:
                try:
                    lookups.add(one, (yield client.stock(one, timeout=timeout)))
                except StockNotFoundError as error:
                    lookups.add_error(one, error)
            return lookups.result()
        lookup = StockLookup(identifier, self._account)
        budget = self._budget(timeout)
        found: Stock | None = yield client.search(lookup.wanted, prefetch=0)._find(lookup, budget)
        if found is None:
            raise lookup.not_found()
        return found

    def _budget(self, timeout: float | None) -> float:
        """Seconds that a call may take."""
        return self._timeout if timeout is None else seconds("timeout", timeout)

    def _retry_hook(self, what: str) -> Callable[[int, str, float], None]:
        return log_retry(what, self._account, self._on_retry)

    def _received(self, kind: type[Book], response: tuple[Any, ...]) -> Book:
        """Converts a response to a book; warnings point at the caller of the public method."""
        book = kind._received(response[0], response_of(response, self._account), stacklevel=4)
        return book.localize(self._zone)
