"""The three endpoints of the service: request validation, and errors as envelopes."""

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
"""Method and path by the name of the client's call."""

_BY_PATH = {path: name for name, (_, path) in ENDPOINTS.items()}
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as received; header names are in lower case."""

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
        """The query parameters; the last value of a repeated one."""
        return _split(self.target)[1]

    @property
    def endpoint(self) -> str | None:
        """The name of the endpoint at this path, or None."""
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
    """A response before it is written to the connection."""

    status: int
    body: Body
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = field(default=())


def error(status: int, message: str, *headers: tuple[str, str]) -> Reply:
    """Returns an error response: the service's envelope without data."""
    envelope = {"data": None, "message": message, "status": "error"}
    return Reply(status, Body(encode(envelope)), headers=headers)


class Routes:
    """Finds the response to a request.

    `account_of` returns the account of a token, `book` an account's book by the endpoint's name,
    and `search` a page of stocks.
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

    def respond(self, request: HttpRequest) -> Reply:
        """Returns the response. Undocumented requests are errors, which reveals client bugs."""
        endpoint = request.endpoint
        if endpoint is None:
            known = ", ".join(f"{method} {path}" for method, path in ENDPOINTS.values())
            return error(404, f"No such path: {request.path}. The service has {known}")
        method = ENDPOINTS[endpoint][0]
        if request.method != method:
            message = f"{request.path} takes {method}, not {request.method}"
            return error(405, message, ("Allow", method))
        if endpoint == "search":
            return self._stocks(request)
        return self._account_book(endpoint, request)

    def _account_book(self, endpoint: str, request: HttpRequest) -> Reply:
        account = self._account_of(request.token)
        if account is None:
            return error(401, "Access token is missing, wrong or expired")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return error(400, f"Content-Type must be {JSON}")
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError):
            return error(400, "The body is not JSON")
        if not isinstance(body, dict) or body.get("source") != "N":
            return error(400, 'The body must be {"source":"N"}')
        return Reply(200, self._book(endpoint, account))

    def _stocks(self, request: HttpRequest) -> Reply:
        query = request.query
        if not query.get("query", "").strip():
            return error(400, "query is required: a company name, NSE symbol or BSE code")
        numbers = []
        for name, default in (("page", "1"), ("limit", "10")):
            text = query.get(name, default)
            if not (text.isascii() and text.isdigit() and len(text) < 18 and int(text) > 0):
                return error(400, f"{name} must be an integer of at least 1")
            numbers.append(int(text))
        return Reply(200, self._search(query["query"], *numbers))
