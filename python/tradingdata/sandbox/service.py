"""The simulated service: what a script or a test holds in its hand."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from collections.abc import Sequence
from datetime import date, datetime, time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .accounts import make_accounts
from .books import Body, Books
from .clock import Clock
from .connection import Outcome
from .faults import FaultQueue
from .log import Request, RequestLog
from .market import CLOSE, Market
from .routes import Ask, Routes
from .server import Server
from .stocks import StockSearch

if TYPE_CHECKING:
    from ..client.async_client import AsyncClient
    from ..client.client import Client

_running: set[Service] = set()


class Service:
    """A simulated Trading Data Service on 127.0.0.1, made by `tradingdata.sandbox.start`.

    It runs on threads of this process until `stop()`, the end of its `with` block, or the end of
    the program. `base_url` is its address, `accounts` are the labels of its accounts, `clock` is
    its market clock and `requests` is what it was asked.
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
        found = make_accounts(accounts, seed)
        self.seed = seed
        self.day = day
        self.accounts: tuple[str, ...] = tuple(account.label for account in found)
        self.requests = RequestLog()
        self._faults = FaultQueue()
        self._tokens_lock = threading.Lock()
        self._tokens = {label: _token(seed, label, 1) for label in self.accounts}
        self._owners = {token: label for label, token in self._tokens.items()}
        self._tokens_made = dict.fromkeys(self.accounts, 1)
        market = Market(seed, day)
        self._books = {
            account.label: Books(account, market, day, orders, seed) for account in found
        }
        # The day of any other account is made when it is first asked for.
        self._books[self.accounts[0]].at(CLOSE if speed is None else 0)
        self._routes = Routes(self._account_of, self._book, StockSearch().page)
        # Only now, so that a day that unfolds begins when the service is there to be asked.
        self.clock = Clock(day, speed)
        self._server = Server(port, self._handle)
        self._stop_lock = threading.Lock()
        self._stopped = False
        self._process = os.getpid()
        self.base_url = f"http://127.0.0.1:{self._server.port}"
        _running.add(self)

    def token(self, account: str | None = None) -> str:
        """The access token of an account, by default of the first one.

        The method itself does where a client takes a function: `access_token=service.token`.
        Raises ValueError for an account that the service does not have.
        """
        with self._tokens_lock:
            return self._tokens[self._label(account)]

    def client(self, account: str | None = None, **options: Any) -> Client:
        """A client of an account, by default of the first one; `options` are those of `Client`."""
        from ..client.client import Client

        return Client(self.base_url, **self._options(account, options))

    def async_client(self, account: str | None = None, **options: Any) -> AsyncClient:
        """The same as `client()`, to be awaited."""
        from ..client.async_client import AsyncClient

        return AsyncClient(self.base_url, **self._options(account, options))

    def expire_token(self, account: str | None = None) -> str:
        """Ends an account's token, as happens to tokens every morning, and returns the new one."""
        label = self._label(account)
        with self._tokens_lock:
            self._tokens_made[label] += 1
            token = _token(self.seed, label, self._tokens_made[label])
            del self._owners[self._tokens[label]]
            self._tokens[label], self._owners[token] = token, label
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
        """Makes the next call meet a fault.

        Another answer: expired_token, forbidden, 429, 500, 502, 503, 504, status, redirect, html,
        html_503, error_envelope, empty, bad_json, null_data. A spoilt connection: stall, slow,
        cut, reset. `tradingdata.sandbox.FAULTS` says what each does.

        `times` is how many calls meet it, None all of them until `clear_faults()`. `endpoint`
        ("trade_book", "order_book" or "search") and `account` leave other calls alone. `details`
        belong to the kind: `fail_next("429", retry_after=5)`, `fail_next("stall", seconds=2)`.
        Faults asked for one after another are met one after another.
        Raises ValueError for a kind, endpoint, account or detail that does not exist.
        """
        if account is not None:
            account = self._label(account)
        self._faults.add(
            str(kind), times=times, endpoint=endpoint, account=account, details=details
        )

    def clear_faults(self) -> None:
        """Forgets the faults that were asked for and not met."""
        self._faults.clear()

    @property
    def now(self) -> datetime:
        """The market time, naive as the service's own times are."""
        return self.clock.now

    def advance_to(self, moment: str | time | datetime) -> datetime:
        """Sets the market time: `service.advance_to("10:30")`. See `Clock.advance_to`."""
        return self.clock.advance_to(moment)

    def advance(self, seconds: float) -> datetime:
        """Moves the market time on by so many seconds."""
        return self.clock.advance(seconds)

    def stop(self) -> None:
        """Closes the port and all connections. To call it again does nothing."""
        # A forked child has a copy of this object, but the connections are its parent's.
        if os.getpid() != self._process:
            return
        with self._stop_lock:
            if not self._stopped:
                self._stopped = True
                _running.discard(self)
                self._server.stop()

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
            raise ValueError(f"no account {account!r} here: there is {', '.join(self.accounts)}")
        return account

    def _account_of(self, token: str | None) -> str | None:
        with self._tokens_lock:
            return self._owners.get(token or "")

    def _book(self, endpoint: str, account: str) -> Body:
        orders, trades = self._books[account].at(self.clock.second)
        return orders if endpoint == "order_book" else trades

    def _handle(self, ask: Ask) -> Outcome:
        account = self._account_of(ask.token)
        fault = self._faults.take(ask.endpoint, account) if ask.endpoint else None
        reply = self._routes.answer(ask)
        if fault and fault.kind.change:
            reply = fault.kind.change(reply, fault.details)
        unanswered = fault is not None and fault.name in ("stall", "reset")
        self.requests.add(
            Request(
                at=self.now,
                method=ask.method,
                path=ask.path,
                query=ask.query,
                endpoint=ask.endpoint,
                account=account,
                token_sent="authorization" in ask.headers,
                status=None if unanswered else reply.status,
                fault=fault.name if fault else None,
            )
        )
        return Outcome(reply, fault)


def _token(seed: int, label: str, number: int) -> str:
    """A token that is the same in every run, so that a printed one can be used again."""
    digest = hashlib.sha256(f"{seed}/{label}/{number}".encode()).hexdigest()
    return f"sandbox-{digest[:40]}"


@atexit.register
def _stop_all() -> None:
    for service in list(_running):
        service.stop()
