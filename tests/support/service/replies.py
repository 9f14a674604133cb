"""Whole, correct HTTP replies, and the small pieces to build others from."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from http.client import responses
from typing import TypeAlias

from .connection import Behaviour, Connection
from .encode import as_json, envelope

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]

JSON_TYPE = "application/json; charset=utf-8"
EMPTY_BOOK = as_json(envelope([]))
HTML_PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"
BODILESS = (204, 304)
POLL = 0.005


def head(status: int = 200, *headers: tuple[str, str], reason: str | None = None) -> bytes:
    """Return a status line, the headers and the empty line, as latin-1 bytes and unchecked."""
    if reason is None:
        reason = responses.get(status, "Unknown")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def with_defaults(headers: Headers, **defaults: str) -> list[tuple[str, str]]:
    """Return the headers, behind those defaults (content_type="...") that they do not name."""
    own = list(headers.items() if isinstance(headers, Mapping) else headers)
    named = {name.lower() for name, _ in own}
    kept = {key.replace("_", "-").title(): value for key, value in defaults.items()}
    return [pair for pair in kept.items() if pair[0].lower() not in named] + own


def message(
    status: int = 200, body: bytes = b"", *, headers: Headers = (), reason: str | None = None
) -> bytes:
    """Return the bytes of a whole reply; Content-Type and Content-Length unless `headers` say."""
    defaults = {"content_type": JSON_TYPE, "content_length": str(len(body))}
    if status in BODILESS:
        defaults = {}
    return head(status, *with_defaults(headers, **defaults), reason=reason) + body


def raw(data: bytes) -> Behaviour:
    """Send these bytes; the connection stays open."""
    return lambda connection: connection.send(data)


def reply(
    status: int = 200, body: bytes = b"", *, headers: Headers = (), reason: str | None = None
) -> Behaviour:
    """Send a whole reply; the connection stays open."""
    return raw(message(status, body, headers=headers, reason=reason))


def json_reply(value: object, status: int = 200, *, headers: Headers = ()) -> Behaviour:
    """Reply with a value as compact JSON."""
    return reply(status, as_json(value), headers=headers)


def book_reply(records: Iterable[object]) -> Behaviour:
    """Reply with the records in the service's envelope."""
    return json_reply(envelope(list(records)))


def html_reply(status: int = 200, page: bytes = HTML_PAGE) -> Behaviour:
    """Reply with a web page: an error page, a captive portal (F53, F54, F65)."""
    return reply(status, page, headers={"Content-Type": "text/html; charset=utf-8"})


def redirect(status: int, to: str) -> Behaviour:
    """Reply with a 3xx and a Location (F62-F64)."""
    return reply(status, headers={"Location": to})


def retry_after(value: str | None, status: int = 429, *, date: str | None = None) -> Behaviour:
    """Reply 429 with this Retry-After and Date, as given; None leaves one out (F48-F50)."""
    pairs = [("Date", date), ("Retry-After", value)]
    return reply(status, headers=[(name, text) for name, text in pairs if text is not None])


def set_cookie(cookie: str = "session=canary; Path=/", body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply with a cookie, HSTS and Alt-Svc, all to be ignored (F67)."""
    headers = {
        "Set-Cookie": cookie,
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "Alt-Svc": 'h2="127.0.0.1:1"; ma=3600',
    }
    return reply(200, body, headers=headers)


def steps(*behaviours: Behaviour) -> Behaviour:
    """Do several behaviours one after the other, all for one request."""

    def run(connection: Connection) -> None:
        for behaviour in behaviours:
            behaviour(connection)

    return run


def delay(seconds: float, then: Behaviour) -> Behaviour:
    """Wait, then do the other behaviour."""
    return steps(lambda connection: connection.pause(seconds), then)


def hold(gate: threading.Event, then: Behaviour) -> Behaviour:
    """Wait until the test sets the event, then do the other behaviour."""

    def wait(connection: Connection) -> None:
        while not gate.is_set():
            connection.pause(POLL)

    return steps(wait, then)


def hang_up(connection: Connection) -> None:
    """Close in order, at once."""
    connection.close()


def reset(connection: Connection) -> None:
    """Close with a TCP reset, at once."""
    connection.reset()
