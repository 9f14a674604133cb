"""What the service answers: three endpoints, their checks, and errors as envelopes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import parse_qs

from .books import Body
from .json_rows import encode

ENDPOINTS = {
    "trade_book": ("POST", "/api/v1/trade/book"),
    "order_book": ("POST", "/api/v1/order/book"),
    "search": ("GET", "/api/v1/stocks"),
}
"""Method and path by the name that the client gives to the call."""

_BY_PATH = {path: name for name, (_, path) in ENDPOINTS.items()}
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it came; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return _split(self.target)[0]

    @property
    def query(self) -> Mapping[str, str]:
        """The query's parameters; of one that comes twice, the last."""
        return _split(self.target)[1]

    @property
    def endpoint(self) -> str | None:
        """The name of the endpoint at this path."""
        return _BY_PATH.get(self.path)

    @property
    def token(self) -> str | None:
        """The bearer token, if one was sent."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token if scheme == "Bearer" else None


@lru_cache(maxsize=1024)
def _split(target: str) -> tuple[str, Mapping[str, str]]:
    path, _, query = target.partition("?")
    pairs = parse_qs(query, keep_blank_values=True)
    return path, MappingProxyType({name: values[-1] for name, values in pairs.items()})


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer before it is written to the connection."""

    status: int
    body: Body
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = field(default=())


def error(status: int, message: str, *headers: tuple[str, str]) -> Reply:
    """A refusal: the service's envelope without data."""
    envelope = {"data": None, "message": message, "status": "error"}
    return Reply(status, Body(encode(envelope)), headers=headers)


class Routes:
    """Finds the answer to a request.

    `account_of` tells whose a token is, `book` gives an account's book by the endpoint's name, and
    `search` a page of stocks.
    """

    def __init__(
        self,
        account_of: Callable[[str | None], str | None],
        book: Callable[[str, str], Body],
        search: Callable[[str, int, int], Body],
    ) -> None:
        self._account_of = account_of
        self._book = book
        self._search = search

    def answer(self, ask: Ask) -> Reply:
        """The answer; what the service does not document is refused, so that slips are seen."""
        endpoint = ask.endpoint
        if endpoint is None:
            known = ", ".join(f"{method} {path}" for method, path in ENDPOINTS.values())
            return error(404, f"No such path: {ask.path}. The service has {known}")
        method = ENDPOINTS[endpoint][0]
        if ask.method != method:
            return error(405, f"{ask.path} takes {method}, not {ask.method}", ("Allow", method))
        return self._stocks(ask) if endpoint == "search" else self._account_book(endpoint, ask)

    def _account_book(self, endpoint: str, ask: Ask) -> Reply:
        account = self._account_of(ask.token)
        if account is None:
            return error(401, "Access token is missing, wrong or expired")
        if ask.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return error(400, f"Content-Type must be {JSON}")
        try:
            body = json.loads(ask.body)
        except (ValueError, RecursionError):
            return error(400, "The body is not JSON")
        if not isinstance(body, dict) or body.get("source") != "N":
            return error(400, 'The body must be {"source":"N"}')
        return Reply(200, self._book(endpoint, account))

    def _stocks(self, ask: Ask) -> Reply:
        query = ask.query
        if not query.get("query", "").strip():
            return error(400, "query is required: a company name, NSE symbol or BSE code")
        numbers = []
        for name, default in (("page", "1"), ("limit", "10")):
            text = query.get(name, default)
            if not (text.isascii() and text.isdigit() and len(text) < 18 and int(text) > 0):
                return error(400, f"{name} must be a whole number from 1")
            numbers.append(int(text))
        return Reply(200, self._search(query["query"], *numbers))
