"""The simulated service as its user sees it: clock, log, tokens, faults and the calls."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
import time as wall
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from math import floor
from typing import TYPE_CHECKING, Any

from .._util import validate
from .._util.declarations import BOOK_CALLS, CALLS
from ..client.client import AsyncClient, Client
from ..client.tokens import OF_SANDBOX
from ..display import counted
from .companies import search
from .day import SimulatedBooks
from .faults import JSON, TOKEN_REFUSED, Fault, Reply, error, make_fault
from .market import CLOSE, OPEN, ZONE, Market

if TYPE_CHECKING:
    from .http import RequestHandler

_KEPT = 10_000  # requests in the log


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the sandbox received, and its outcome.

    Attributes:
        at: Market time of the request.
        method: HTTP method.
        path: Path without the query.
        query: Query parameters; the last value of a repeated one.
        endpoint: Name of the call, such as ``"trade_book"``, or None for another path.
        account: Label of the account whose token was sent, or None.
        token_sent: Whether the request had an Authorization header.
        status: HTTP status of the response, or None if none was sent.
        fault: Kind of the fault applied, or None.
    """

    at: datetime
    method: str
    path: str
    query: Mapping[str, str]
    endpoint: str | None
    account: str | None
    token_sent: bool
    status: int | None
    fault: str | None


class Service:
    """A simulated Trading Data Service on 127.0.0.1, started by `tradingdata.sandbox.start`.

    Runs on threads of this process until `stop()`, the end of its `with` block, or the end of the
    program.

    Attributes:
        base_url: URL of the service, for `Client`.
        accounts: Labels of its accounts.
        requests: The last 10,000 requests received, the oldest first.
        seed: Seed of the generated day.
        day: The trading day.
        speed: Market seconds per second; 0 for a stopped clock.
    """

    def __init__(
        self, market: Market, accounts: tuple[str, ...], orders: int, speed: float | None, port: int
    ) -> None:
        from .http import Server  # imports http.server, which takes as long as all the rest

        self.seed = market.seed
        self.day = market.day
        self.accounts = accounts
        self.requests: list[Request] = []
        self._faults: list[Fault] = []
        self._taking = threading.Lock()
        self._tokens = {label: _token(f"{self.seed}/{label}/1") for label in self.accounts}
        self._books = {
            label: SimulatedBooks(number, market, orders)
            for number, label in enumerate(accounts, start=1)
        }
        # Generate the first account's day now; those of the others follow on their first request.
        begin = CLOSE if speed is None else 0
        self._books[self.accounts[0]].at(begin)
        # Set last, so that a running day begins when the service can be reached.
        self.speed = speed or 0.0
        self._set_clock(begin)
        self._server = Server(port, self._handle, lambda: self.now.replace(tzinfo=ZONE).timestamp())
        self._process = os.getpid()
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._running = True
        atexit.register(self.stop)

    def token(self, account: str | None = None) -> str:
        """Returns the current access token of an account.

        The method itself can be used as a token function: `Client(url,
        access_token=service.token)`.

        Args:
            account: Label of the account; the first one if None.

        Raises:
            ValueError: The service has no such account.
        """
        return self._tokens[self._label(account)]

    def client(self, account: str | None = None, **options: Any) -> Client:
        """Returns a client for an account.

        Args:
            account: Label of the account; the first one if None.
            **options: Options of `Client`.
        """
        return Client(self.base_url, **self._options(account, options))

    def async_client(self, account: str | None = None, **options: Any) -> AsyncClient:
        """Returns an asynchronous client for an account.

        Args:
            account: Label of the account; the first one if None.
            **options: Options of `AsyncClient`.
        """
        return AsyncClient(self.base_url, **self._options(account, options))

    def expire_token(self, account: str | None = None) -> str:
        """Invalidates an account's token, as the service may at any time, and issues a new one.

        Args:
            account: Label of the account; the first one if None.

        Returns:
            The new token.
        """
        label = self._label(account)
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
            kind: Number of an HTTP status, such as 503, or name of the fault. A status changes the
                response; stall and cut disturb the connection. See `tradingdata.sandbox.FAULTS`.
            times: Number of requests to fail; None fails all until `clear_faults()`.
            endpoint: Fails only requests of this call, such as "trade_book" or "search".
            account: Fails only requests with the token of this account.
            **details: Parameters of the fault, e.g. `retry_after=5` for 429, or `body="<html>..."`
                for 200.

        Raises:
            ValueError: There is no such kind, endpoint, account or parameter.

        Example:
            >>> service.fail_next("stall", seconds=2, endpoint="order_book")
        """
        label = None if account is None else self._label(account)
        self._faults.append(make_fault(str(kind), times, endpoint, label, details))

    def clear_faults(self) -> None:
        """Removes the faults that have not been applied yet."""
        self._faults.clear()

    @property
    def now(self) -> datetime:
        """The market time, naive like the service's own times."""
        return datetime.combine(self.day, time()) + timedelta(seconds=OPEN + floor(self._clock()))

    def advance_to(self, moment: str | time) -> datetime:
        """Sets the market time; an earlier time moves it back. A running clock continues from it.

        Args:
            moment: A time of day such as "10:30" or "10:30:15".

        Returns:
            The new market time.

        Raises:
            ValueError: The text is not a time, or the time has a zone.
        """
        moment = validate.time_of_day("moment", moment)
        self._set_clock(moment.hour * 3600 + moment.minute * 60 + moment.second - OPEN)
        return self.now

    def _clock(self) -> float:
        """Returns the seconds after the opening bell; negative before it."""
        at, since = self._origin
        return max(at, min(at + (wall.monotonic() - since) * self.speed, CLOSE))

    def _set_clock(self, seconds: float) -> None:
        self._origin = (float(seconds), wall.monotonic())

    def stop(self) -> None:
        """Closes the port and all connections. Safe to call more than once."""
        # A forked child has a copy of this object, but the connections belong to its parent.
        if os.getpid() == self._process and self._running:
            self._running = False
            atexit.unregister(self.stop)
            self._server.stop()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = self.base_url if self._running else "stopped"
        return f"<sandbox.Service {state}, {self.now}, {counted(len(self.accounts), 'account')}>"

    def _options(self, account: str | None, options: dict[str, Any]) -> dict[str, Any]:
        label = self._label(account)
        return {"access_token": self.token(label), "account": label, **options}

    def _label(self, account: str | None) -> str:
        if account is None:
            return self.accounts[0]
        if account not in self._books:
            raise ValueError(f"no account {account!r}: use one of {', '.join(self.accounts)}")
        return account

    def _respond(self, request: RequestHandler, account: str | None) -> Reply:
        """Returns the response. Undocumented requests are errors, which reveals client bugs."""
        endpoint = request.endpoint
        if endpoint is None:
            known = ", ".join(f"{call['method']} {call['path']}" for call in CALLS.values())
            return error(404, f"No such path: {request.path}. The service has {known}")
        method = CALLS[endpoint]["method"]
        if request.command != method:
            message = f"{request.path} takes {method}, not {request.command}"
            return error(405, message, ("Allow", method))
        if endpoint not in BOOK_CALLS:
            return _stocks(request.query)
        if account is None:
            return error(401, TOKEN_REFUSED)
        refusal = _refused_body(request, endpoint)
        return refusal or Reply(200, self._books[account].at(floor(self._clock()))[endpoint])

    def _take_fault(self, endpoint: str, account: str | None) -> Fault | None:
        """Returns the fault that applies to this request, and counts that it does."""
        with self._taking:
            for fault in self._faults:
                if fault.endpoint in (None, endpoint) and fault.account in (None, account):
                    if fault.times is not None:
                        fault.times -= 1
                        if not fault.times:
                            self._faults.remove(fault)
                    return fault
        return None

    def _handle(self, request: RequestHandler) -> tuple[Reply, Fault | None]:
        account = next((name for name, own in self._tokens.items() if own == request.token), None)
        fault = self._take_fault(request.endpoint, account) if request.endpoint else None
        reply = self._respond(request, account)
        if fault is not None:
            reply = fault.change(reply)
        self.requests.append(
            Request(
                at=self.now,
                method=request.command,
                path=request.path,
                query=request.query,
                endpoint=request.endpoint,
                account=account,
                token_sent="Authorization" in request.headers,
                status=None if fault and fault.name == "stall" else reply.status,
                fault=fault.name if fault else None,
            )
        )
        del self.requests[:-_KEPT]
        return reply, fault


def _token(origin: str) -> str:
    """Returns a token that is the same in every run, so that a printed one can be reused.

    By its first characters a client knows that the service and its clock are simulated.
    """
    return f"{OF_SANDBOX}{hashlib.sha256(origin.encode()).hexdigest()[:40]}"


def _refused_body(request: RequestHandler, endpoint: str) -> Reply | None:
    wanted = CALLS[endpoint]["body"]
    if wanted is None:
        return error(400, f"{request.path} takes no body") if request.body else None
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip()
    with suppress(ValueError, RecursionError):
        if kind == JSON and json.loads(request.body) == json.loads(wanted):
            return None
    return error(400, f"The body must be {wanted}, of the type {JSON}")


def _stocks(query: Mapping[str, str]) -> Reply:
    if not query.get("query", "").strip():
        return error(400, "query is required: a company name, NSE symbol or BSE code")
    numbers = []
    for name, default in (("page", "1"), ("limit", "10")):
        text = query.get(name, default)
        if not (text.isascii() and text.isdigit() and len(text) < 18 and int(text) > 0):
            return error(400, f"{name} must be an integer of at least 1")
        numbers.append(int(text))
    return Reply(200, search(query["query"], *numbers))
