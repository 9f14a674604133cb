"""The simulated service as its user sees it; other modules generate days and serve HTTP."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from .accounts import make_accounts
from .books import Books
from .clock import Clock
from .faults import Fault, FaultQueue
from .log import Request, RequestLog
from .market import CLOSE, Market
from .routes import HttpRequest, Reply, respond

if TYPE_CHECKING:
    from ..client.async_client import AsyncClient
    from ..client.client import Client

_running: set[Service] = set()


class Service:
    """A simulated Trading Data Service on 127.0.0.1, started by `tradingdata.sandbox.start`.

    Runs on threads of this process until `stop()`, the end of its `with` block, or the end of the
    program.

    Attributes:
        base_url: URL of the service, for `Client`.
        accounts: Labels of its accounts.
        clock: Its market clock.
        requests: Log of the requests received.
        seed: Seed of the generated day.
        day: The trading day.
    """

    def __init__(
        self,
        *,
        seed: int,
        day: date,
        speed: float | None,
        accounts: int | Sequence[str],
        orders: int,
        port: int,
    ) -> None:
        from .server import Server  # imports http.server, which takes as long as all the rest

        found = make_accounts(accounts, seed)
        self.seed = seed
        self.day = day
        self.accounts: tuple[str, ...] = tuple(account.label for account in found)
        self.requests = RequestLog()
        self._faults = FaultQueue()
        self._tokens_lock = threading.Lock()
        self._tokens = {label: _token(f"{seed}/{label}/1") for label in self.accounts}
        market = Market(seed, day)
        self._books = {
            account.label: Books(account, market, day, orders, seed) for account in found
        }
        # Generate the first account's day now; those of the others follow on their first request.
        self._books[self.accounts[0]].at(CLOSE if speed is None else 0)
        # Created last, so that a running day begins when the service can be reached.
        self.clock = Clock(day, speed)
        self._server = Server(port, self._handle)
        self._stop_lock = threading.Lock()
        self._stopped = False
        self._process = os.getpid()
        self.base_url = f"http://127.0.0.1:{self._server.port}"
        _running.add(self)

    def token(self, account: str | None = None) -> str:
        """Returns the current access token of an account.

        The method itself can be used as a token function: `Client(url,
        access_token=service.token)`.

        Args:
            account: Label of the account; the first one if None.

        Raises:
            ValueError: The service has no such account.
        """
        with self._tokens_lock:
            return self._tokens[self._label(account)]

    def client(self, account: str | None = None, **options: Any) -> Client:
        """Returns a client for an account.

        Args:
            account: Label of the account; the first one if None.
            **options: Options of `Client`.
        """
        from ..client.client import Client

        return Client(self.base_url, **self._options(account, options))

    def async_client(self, account: str | None = None, **options: Any) -> AsyncClient:
        """Returns an asynchronous client for an account.

        Args:
            account: Label of the account; the first one if None.
            **options: Options of `AsyncClient`.
        """
        from ..client.async_client import AsyncClient

        return AsyncClient(self.base_url, **self._options(account, options))

    def expire_token(self, account: str | None = None) -> str:
        """Invalidates an account's token, as happens every morning, and issues a new one.

        Args:
            account: Label of the account; the first one if None.

        Returns:
            The new token.
        """
        label = self._label(account)
        with self._tokens_lock:
            token = self._tokens[label] = _token(self._tokens[label])
            return token

    def fail_next(
        self,
        kind: str | int,
        *,
        times: int | None = 1,
        endpoint: str | None = None,
        account: str | None = None,
        **details: Any,
    ) -> None:
        """Makes the next request fail.

        Several faults apply to successive requests, in the order in which they were added.

        Args:
            kind: Name of the fault. These change the response: expired_token, forbidden, 429, 500,
                502, 503, 504, status, redirect, html, html_503, error_envelope, empty, bad_json,
                null_data. These disturb the connection: stall, slow, cut, reset.
                `tradingdata.sandbox.FAULTS` describes each of them.
            times: Number of requests to fail; None fails all until `clear_faults()`.
            endpoint: Fails only requests of "trade_book", "order_book" or "search".
            account: Fails only requests with the token of this account.
            **details: Parameters of the fault, e.g. `retry_after=5` for "429".

        Raises:
            ValueError: There is no such kind, endpoint, account or parameter.

        Example:
            >>> service.fail_next("stall", seconds=2, endpoint="order_book")
        """
        if account is not None:
            account = self._label(account)
        self._faults.add(
            str(kind), times=times, endpoint=endpoint, account=account, details=details
        )

    def clear_faults(self) -> None:
        """Removes the faults that have not been applied yet."""
        self._faults.clear()

    @property
    def now(self) -> datetime:
        """The market time, naive like the service's own times."""
        return self.clock.now

    def advance_to(self, moment: str | time | datetime) -> datetime:
        """Sets the market time; see `Clock.advance_to`.

        Args:
            moment: A time of day such as "10:30", or a naive time on the day.

        Returns:
            The new market time.
        """
        return self.clock.advance_to(moment)

    def advance(self, seconds: float) -> datetime:
        """Advances the market time; see `Clock.advance`.

        Args:
            seconds: Market seconds, 0 or more.

        Returns:
            The new market time.
        """
        return self.clock.advance(seconds)

    def stop(self) -> None:
        """Closes the port and all connections. Safe to call more than once."""
        # A forked child has a copy of this object, but the connections belong to its parent.
        if os.getpid() != self._process:
            return
        with self._stop_lock:
            if not self._stopped:
                self._stopped = True
                _running.discard(self)
                self._server.stop()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "stopped" if self._stopped else self.base_url
        accounts = f"{len(self.accounts)} account{'s' * (len(self.accounts) > 1)}"
        return f"<sandbox.Service {state}, {self.now}, {accounts}>"

    def _options(self, account: str | None, options: dict[str, Any]) -> dict[str, Any]:
        label = self._label(account)
        return {"access_token": self.token(label), "account": label, **options}

    def _label(self, account: str | None) -> str:
        if account is None:
            return self.accounts[0]
        if account not in self._books:
            raise ValueError(f"no account {account!r}: use one of {', '.join(self.accounts)}")
        return account

    def _account_of(self, token: str | None) -> str | None:
        with self._tokens_lock:
            return next((label for label, own in self._tokens.items() if own == token), None)

    def _book(self, endpoint: str, account: str) -> bytes:
        orders, trades = self._books[account].at(self.clock.second)
        return orders if endpoint == "order_book" else trades

    def _handle(self, request: HttpRequest) -> tuple[Reply, Fault | None]:
        account = self._account_of(request.token)
        fault = self._faults.take(request.endpoint, account) if request.endpoint else None
        reply = respond(request, self._account_of, self._book)
        if fault and fault.kind.change:
            reply = fault.kind.change(reply, fault.details)
        unanswered = fault is not None and fault.name in ("stall", "reset")
        self.requests.add(
            Request(
                at=self.now,
                method=request.method,
                path=request.path,
                query=request.query,
                endpoint=request.endpoint,
                account=account,
                token_sent="Authorization" in request.headers,
                status=None if unanswered else reply.status,
                fault=fault.name if fault else None,
            )
        )
        return reply, fault


def _token(origin: str) -> str:
    """Returns a token that is the same in every run, so that a printed one can be reused."""
    return f"sandbox-{hashlib.sha256(origin.encode()).hexdigest()[:40]}"


@atexit.register
def _stop_all() -> None:
    for service in list(_running):
        service.stop()
