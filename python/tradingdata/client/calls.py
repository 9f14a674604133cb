"""What both clients share: how a call is made, its token, label and log; and their display.

What waits for the service is a plan here (see ``waiting``), which ``Client`` runs and
``AsyncClient`` awaits. Lines of the log, in the logger ``tradingdata``, never contain a token, a
query or a response body.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, tzinfo
from datetime import time as clock_time
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from .. import _core
from .._util.declarations import CALL_OF
from .._util.validate import NoNewAttributes, NotCopied, did_you_mean, seconds
from .._util.waiting import SLICE, Plan, raise_if_stopped
from ..books.book import AnyBook
from ..books.response import Received, Response
from ..errors import (
    ClientClosedError,
    ConfigurationError,
    DecodeError,
    ServiceError,
    StatusError,
    TradingDataError,
)
from ..watch.polling import Rules, time_left
from ..watch.updates import KnownOrders, KnownTrades
from .options import (
    CHECKS,
    ClientOptions,
    Retry,
    RetryHook,
    Token,
    check_names,
    find_roots,
    hidden,
    pem_of,
)
from .tokens import REFUSALS, Held, Source, late

if TYPE_CHECKING:
    from logging import Logger

_DEBUG, _INFO = 10, 20  # levels of the logging module
# Seconds of a sleep that gevent and eventlet replace, so that other greenlets have their turn. With
# 0, gevent would run callbacks only, and neither timers nor sockets.
_TURN = 1e-6


@cache
def _logger() -> Logger:
    import logging

    return logging.getLogger("tradingdata")


class LocalFlights:
    """Requests in flight, carried by the thread that waits for them."""

    def __init__(self, core: _core.Client, on_retry: RetryHook) -> None:
        self.port = _core.LocalPort(core)
        self._on_retry = on_retry
        self._ended: dict[int, _core.Outcome] = {}

    def search(self, query: str, page: int, limit: int, timeout: float, *, ahead: bool) -> int:
        """Requests a page of a search and returns its flight."""
        return self.port.submit_search(query, page, limit, timeout, ahead)

    def has_ended(self, flight: int) -> bool:
        """Whether the outcome of a flight is known."""
        return flight in self._ended

    def result(self, flight: int) -> Received:
        """Returns the result of a flight that has ended, once, or raises its error."""
        return self._ended.pop(flight).result()

    def wait(self, flight: int) -> None:
        """Waits until a flight has ended, or for a slice.

        Signal handlers, ``on_retry`` and other greenlets run between slices and never beneath the
        core. In a thread that works for an interrupted caller, this raises ``Stopped``.
        """
        self.poll(SLICE)
        if not self.has_ended(flight):
            time.sleep(_TURN)

    def poll(self, patience: float = 0.0) -> None:
        """Moves on what is in flight."""
        raise_if_stopped()
        for _, attempt, reason, delay in self.port.wait(patience, self._ended):
            self._on_retry(attempt, reason, delay)

    def close(self) -> None:
        """Cancels all requests in flight.

        While another thread waits for them, this does nothing: that thread closes what it uses.
        """
        with suppress(ConfigurationError):
            self.port.close()


_INSTEAD = {
    "trade_book()": "trades get_trades tradebook fills get_trade_book",
    "order_book()": "orders get_orders orderbook get_order_book",
    "stock(identifier)": "get_stock instrument symbol",
    "trade_book().filter(order_no=...)": "order_trades trades_of_order",
    "order_book().filter(order_no=...), or watch_orders() for its changes": (
        "order_history order_status get_order"
    ),
    "search(query)": "stocks search_stock search_stocks instruments",
    "watch_orders() or watch_trades()": "watch subscribe stream",
    "td.positions(trades) with the trades of trade_book()": "positions net_positions",
    "td.day_pnl(trades) with the trades of trade_book()": "pnl profit",
    "await client.aclose()": "close",  # on an AsyncClient
}


def _no_attribute(kind: type, name: str) -> str:
    """Returns the message for a client of which something else is expected."""
    if name == "access_token":
        return "access_token can be assigned, not read: tokens are never shown"
    if name in CHECKS:
        call = ", or to a call" if name == "timeout" else ""
        return f"{name} is set when a client is created: pass it to {kind.__name__}{call}"
    if name.startswith(("place", "modify", "cancel", "exit", "buy", "sell")):
        return f"{kind.__name__} has no {name!r}: the service only reads; it places no orders"
    public = [known for known in dir(kind) if not known.startswith("_")]
    hint = did_you_mean(name, [*public, *CHECKS], _INSTEAD)
    if not hint and not name.startswith("_"):
        hint = ": the service has the trade book, the order book and the search"
    return f"{kind.__name__} has no {name!r}{hint}"


class BaseClient(NoNewAttributes, NotCopied, ClientOptions[Token]):
    """Options, token, label and display of a client."""

    _not_copied = "its token must not leave it"
    _token_source: ClassVar[type[Source]]
    # Makes a call of at most some seconds: its result, or what to await.
    _send: Callable[[str, float], Received | Awaitable[Received]]
    # What carries the requests of a search of a record.
    _flights: Callable[[str], Any]
    _book: Callable[..., Any]

    def _open(self, token: Held, options: dict[str, Any]) -> None:
        self._account: str | None = options.pop("account")
        self._zone: tzinfo | None = options.pop("tz")
        self._on_retry: Callable[[Retry], object] | None = options.pop("on_retry")
        base_url, proxy, ca_file = (options.pop(name) for name in ("base_url", "proxy", "ca_file"))
        roots = folders = ""
        if not base_url.value.lower().startswith("http:"):
            roots, folders = find_roots(ca_file, trust_env=options["trust_env"])
        self._timeout = options["timeout"]
        self._core = _core.Client(
            base_url=base_url.value,
            proxy=proxy.value,
            ca_file=roots,
            ca_pem=pem_of(roots),
            ca_folders=folders,
            **options,
        )
        self._tokens = self._token_source(self._core, token)

    @classmethod
    def from_profile(cls, name: str | None = None, **options: Any) -> Self:
        """Creates a client from a profile.

        Profiles are tables in ``~/.config/tradingdata/profiles.toml``, or in the file that the
        environment variable ``TRADINGDATA_PROFILES`` names. Their keys are the options of this
        class; ``access_token_file`` names a file that contains the token. Only their owner may have
        access to the two files. ``account`` defaults to the profile's name.

        Args:
            name: Name of the profile; else the environment variable ``TRADINGDATA_PROFILE``.
            **options: Options that take precedence over the profile's.

        Returns:
            A new client.

        Raises:
            ConfigurationError: No profile is named, or the profile is missing, malformed or
                readable by other users.
        """
        from .profiles import load_profile

        options = hidden(options)
        check_names(cls.__name__, options)
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
        raise AttributeError  # __getattr__ supplies the message

    @access_token.setter
    def access_token(self, token: Token) -> None:
        replacement = Held(token)
        token = cast("Token", None)  # error reporters print the local variables of a traceback
        self._tokens.assign(replacement)

    @property
    def closed(self) -> bool:
        """Whether the client has been closed."""
        return self._core.closed

    def _under(self, label: str) -> Self:
        """Returns the same client, its connections and token, with another label of the account."""
        relabelled = object.__new__(type(self))
        vars(relabelled).update(vars(self))
        relabelled._account = label
        return relabelled

    def __repr__(self) -> str:
        name = type(self).__name__
        if not hasattr(self, "_tokens"):
            return f"<{name}, not initialised>"  # in a traceback, while __init__ fails
        account = f", account={self.account!r}" if self.account is not None else ""
        token = "with a token" if self._tokens.known else "without a token"
        return f"<{name} {self.base_url}{account}, {'closed' if self.closed else token}>"

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name: str) -> object:
            raise AttributeError(_no_attribute(type(self), name), name=name, obj=self)

    def _not_assignable(self, name: str) -> str:
        is_own = name not in CHECKS and hasattr(type(self), name)
        return super()._not_assignable(name) if is_own else _no_attribute(type(self), name)

    def _watching(
        self,
        kind: type[AnyBook],
        state: KnownOrders | KnownTrades,
        interval: float,
        until: datetime | clock_time | str | None,
        timeout: float | None,
    ) -> tuple[Callable[[], Any], Any, Rules]:
        """Returns the arguments of a watch; validates them before the first request."""
        poll = partial(self._book, kind, None if timeout is None else seconds("timeout", timeout))
        rules = Rules(
            seconds("interval", interval),
            time_left(until),
            lambda: self.closed,
        )
        return poll, state, rules

    def _response(self, record: str, timeout: float | None) -> Plan[Received]:
        """Makes a call; if the service refuses the token, once more with a new one."""
        deadline = time.monotonic() + self._budget(timeout)
        tokens = self._tokens
        try:
            waited = not self._core.has_token
            if waited:
                if self._core.closed:  # before a token function is called to no purpose
                    raise ClientClosedError("the client is closed: make a new one")
                yield from tokens.get(deadline)
            generation, renewed = tokens.generation, False
            while True:
                started = time.monotonic()
                try:
                    if started >= deadline:
                        raise late(of_token=waited or renewed)
                    response: Received = yield self._send(record, deadline - started)
                except TradingDataError as error:
                    self._log_end(record, time.monotonic() - started, error)
                    if renewed or not isinstance(error, REFUSALS):
                        raise
                    renewed = yield from tokens.refresh(generation, deadline)
                    if not renewed:
                        raise
                else:
                    self._log_end(record, time.monotonic() - started, response[1])
                    return response
        except TradingDataError as error:
            error.account = self._account
            if tokens.is_of_sandbox:
                error._received_at = error._served_at
            raise

    def _budget(self, timeout: float | None) -> float:
        """Seconds that a call may take."""
        return self._timeout if timeout is None else seconds("timeout", timeout)

    def _retry_hook(self, record: str) -> RetryHook:
        """Returns the function that is called before the core waits for another attempt."""

        def report(attempt: int, reason: str, delay: float) -> None:
            # The reason of a status may quote the service.
            logged = reason.partition(": ")[0] if reason.startswith("HTTP ") else reason
            self._log(
                _INFO, record, "attempt %d failed (%s), again in %.2f s", attempt, logged, delay
            )
            if self._on_retry is not None:
                self._on_retry(Retry(CALL_OF[record], self._account, attempt, reason, delay))

        return report

    def _log_end(self, record: str, elapsed: float, end: int | TradingDataError) -> None:
        """Logs the status or the error with which a call ended.

        Of an error about a response, only the status: its message may quote the service, which may
        name the account.
        """
        if isinstance(end, TradingDataError):
            quotes = isinstance(end, (StatusError, ServiceError, DecodeError))
            text = f"HTTP {end.status_code}" if quotes else str(end)
            self._log(_INFO, record, "%s in %.3f s: %s", type(end).__name__, elapsed, text)
        else:
            self._log(_DEBUG, record, "%s in %.3f s", end, elapsed)

    def _log(self, level: int, record: str, text: str, *values: object) -> None:
        # A program that never imported logging has no handler: do not make it pay for the import.
        if "logging" in sys.modules and (logger := _logger()).isEnabledFor(level):
            label = "" if self._account is None else f" [{self._account}]"
            logger.log(level, f"%s%s: {text}", CALL_OF[record], label, *values)

    def _received(self, kind: type[AnyBook], result: Received) -> AnyBook:
        """Converts a response to a book."""
        rows, status, attempts, elapsed, received_at, served_at = result
        if self._tokens.is_of_sandbox and served_at is not None:
            # The clock of the simulated day has seconds, and may be stopped: two fetches within one
            # stay two, in their order. Its fraction is that of ten minutes of this machine's clock.
            wall = received_at
            passed = wall.minute % 10 * 60 + wall.second + wall.microsecond / 1e6
            received_at = served_at.replace(microsecond=int(passed / 600 * 1e6))
        facts = self._account, status, attempts, elapsed, received_at, served_at
        book = kind._received(rows, partial(Response, rows, *facts))
        return book if self._zone is None else book.localize(self._zone)
