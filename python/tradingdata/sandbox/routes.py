"""The three endpoints of the service: request validation, and errors as envelopes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from .json_rows import encode
from .stocks import search

if TYPE_CHECKING:
    from email.message import Message

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
    """A request as received."""

    method: str
    target: str
    headers: Message
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
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
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
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = field(default=())


def error(status: int, message: str, *headers: tuple[str, str]) -> Reply:
    """Returns an error response: the service's envelope without data."""
    envelope = {"data": None, "message": message, "status": "error"}
    return Reply(status, encode(envelope), headers=headers)


def respond(
    request: HttpRequest,
    account_of: Callable[[str | None], str | None],
    book: Callable[[str, str], bytes],
) -> Reply:
    """Returns the response. Undocumented requests are errors, which reveals client bugs.

    Args:
        request: The request.
        account_of: Returns the account of a token.
        book: Returns an account's book by the name of the endpoint.
    """
    endpoint = request.endpoint
    if endpoint is None:
        known = ", ".join(f"{method} {path}" for method, path in ENDPOINTS.values())
        return error(404, f"No such path: {request.path}. The service has {known}")
    method = ENDPOINTS[endpoint][0]
    if request.method != method:
        message = f"{request.path} takes {method}, not {request.method}"
        return error(405, message, ("Allow", method))
    if endpoint == "search":
        return _stocks(request.query)
    account = account_of(request.token)
    if account is None:
        return error(401, "Access token is missing, wrong or expired")
    return _refused_body(request) or Reply(200, book(endpoint, account))


def _refused_body(request: HttpRequest) -> Reply | None:
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != JSON:
        return error(400, f"Content-Type must be {JSON}")
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return error(400, "The body is not JSON")
    if not isinstance(body, dict) or body.get("source") != "N":
        return error(400, 'The body must be {"source":"N"}')
    return None


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
