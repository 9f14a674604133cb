"""Calls on the sandbox with the standard library's client only, for the tests of the sandbox."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tradingdata import _core
from tradingdata.sandbox import Service

PATHS = {call["name"]: call["path"] for call in _core.calls()}
SOURCE = b'{"source":"N"}'

Record = dict[str, Any]

# The commands that set variables, in the shells of POSIX systems and in PowerShell.
SETTING = re.compile(r'^(?:export |\$env:)(\w+)(?:=| = ")([^\s"]+)"?$', re.MULTILINE)


@dataclass(frozen=True)
class Response:
    """A response as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def connect(service: Service, timeout: float = 10) -> http.client.HTTPConnection:
    port = int(service.base_url.rpartition(":")[2])
    return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)


def call(
    service: Service,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    *,
    timeout: float = 10,
) -> Response:
    connection = connect(service, timeout)
    try:
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        names = {name.lower(): value for name, value in reply.getheaders()}
        return Response(reply.status, names, reply.read())
    finally:
        connection.close()


def book_headers(service: Service, account: str | None = None) -> dict[str, str]:
    return {"Content-Type": "application/json", "Authorization": f"Bearer {service.token(account)}"}


def ask(
    service: Service, endpoint: str, account: str | None = None, *, timeout: float = 10
) -> Response:
    """A well-formed call of an endpoint by the client's name for it."""
    if endpoint == "search":
        return call(service, "GET", f"{PATHS[endpoint]}?query=tata", timeout=timeout)
    headers = book_headers(service, account)
    return call(service, "POST", PATHS[endpoint], SOURCE, headers, timeout=timeout)


def arguments(service: Service) -> dict[str, dict[str, Any]]:
    """What makes a client of each account."""
    return {
        label: {"base_url": service.base_url, "access_token": service.token(label)}
        for label in service.accounts
    }


def trades(service: Service, account: str | None = None) -> list[Record]:
    return list(ask(service, "trade_book", account).json["data"] or [])


def orders(service: Service, account: str | None = None) -> list[Record]:
    return list(ask(service, "order_book", account).json["data"] or [])


def search(service: Service, query: str, **numbers: object) -> list[Record]:
    response = call(service, "GET", f"{PATHS['search']}?{urlencode({'query': query, **numbers})}")
    assert response.status == 200, response.body
    return list(response.json)


def column(rows: Iterable[Record], name: str) -> list[Any]:
    return [row[name] for row in rows]
