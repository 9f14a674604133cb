"""Responses, and faults on demand: the kinds of failure that the sandbox can produce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from types import MappingProxyType
from typing import Any

from .._util.declarations import CALLS
from .._util.validate import did_you_mean
from .companies import encode

ENDPOINTS = {name: (call["method"], call["path"]) for name, call in CALLS.items()}
"""Method and path by the name of the client's call."""

JSON = "application/json"
TOKEN_REFUSED = "Session not valid"
_LOGIN_PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Your session has ended"
    b'</h1><form action="/login"><input name="user"><input type="password"></form></body></html>'
)
_OUTAGE_PAGE = b"<html><body><h1>503 Service Unavailable</h1><hr>gateway</body></html>"


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


Details = Mapping[str, Any]
Change = Callable[[Reply, Details], Reply]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault, which changes the response or, without `change`, acts on the connection."""

    what: str
    details: Details
    change: Change | None = None


@dataclass(slots=True)
class Fault:
    """A fault waiting for requests; `times` is None if it applies until cleared."""

    name: str
    kind: Kind
    details: Details
    times: int | None
    endpoint: str | None
    account: str | None


def _refusal(status: int, message: str) -> Change:
    return lambda reply, details: error(status, message, *_retry_after(details))


def _retry_after(details: Details) -> tuple[tuple[str, str], ...]:
    after = details.get("retry_after")
    if after is None:
        return ()
    if isinstance(after, datetime):
        after = format_datetime(after.astimezone(UTC), usegmt=True)
    return (("Retry-After", str(after)),)


def _page(status: int, page: bytes) -> Change:
    return lambda reply, details: Reply(status, page, "text/html; charset=utf-8")


def _status(reply: Reply, details: Details) -> Reply:
    return error(int(details["code"]), str(details["message"]))


def _error_envelope(reply: Reply, details: Details) -> Reply:
    envelope = {"data": None, "message": str(details["message"]), "status": str(details["status"])}
    return Reply(200, encode(envelope))


def _body(make: Callable[[bytes], bytes]) -> Change:
    return lambda reply, details: replace(reply, status=200, body=make(reply.body))


def _null_data(body: bytes) -> bytes:
    is_page = body.startswith(b"[")
    return encode(None if is_page else {"data": None, "message": "Success", "status": "success"})


def _bad_json(body: bytes) -> bytes:
    """Returns the body with its first colon removed: same length, but invalid JSON."""
    return body.replace(b":", b" ", 1) if b":" in body else b"[,]"


def _redirect(reply: Reply, details: Details) -> Reply:
    moved = error(int(details["code"]), "Moved", ("Location", str(details["location"])))
    return replace(moved, content_type="text/html")


_OUTAGES = {
    "500": "Internal server error",
    "502": "Bad gateway",
    "503": "Service unavailable",
    "504": "Gateway timeout",
}

KINDS: dict[str, Kind] = {
    "expired_token": Kind(
        "401, as for an expired token; the token itself remains valid",
        {},
        _refusal(401, TOKEN_REFUSED),
    ),
    "forbidden": Kind("403", {}, _refusal(403, "Not allowed for this client")),
    "429": Kind(
        "429; retry_after= is seconds, a datetime, any text, or None for no header",
        {"retry_after": 1},
        _refusal(429, "Too many requests"),
    ),
    **{
        code: Kind(
            f"{code}; retry_after= adds the header Retry-After",
            {"retry_after": None},
            _refusal(int(code), message),
        )
        for code, message in _OUTAGES.items()
    },
    "status": Kind(
        "any other HTTP status: code= and message=", {"code": 418, "message": "Refused"}, _status
    ),
    "html": Kind("200 with a login page", {}, _page(200, _LOGIN_PAGE)),
    "html_503": Kind("503 with a gateway's page", {}, _page(503, _OUTAGE_PAGE)),
    "error_envelope": Kind(
        "200 with an error envelope: message= and status=",
        {"message": "Something went wrong", "status": "error"},
        _error_envelope,
    ),
    "stall": Kind("no response for seconds=, then the connection closes", {"seconds": 30.0}),
    "slow": Kind("the correct response, sent slowly over seconds=", {"seconds": 3.0}),
    "cut": Kind("the connection closes early, after the fraction at= of the body", {"at": 0.5}),
    "reset": Kind(
        "the connection is reset before the response or, with at=, after that fraction of the body",
        {"at": None},
    ),
    "empty": Kind("200 without a body", {}, _body(lambda body: b"")),
    "bad_json": Kind("200 with a body that is almost valid JSON", {}, _body(_bad_json)),
    "null_data": Kind("200 with null data, as for an empty book", {}, _body(_null_data)),
    "redirect": Kind("302, or code=, to location=", {"code": 302, "location": "/login"}, _redirect),
}

FAULTS: Mapping[str, str] = MappingProxyType({name: kind.what for name, kind in KINDS.items()})
"""The kinds of fault that `Service.fail_next` accepts, each with a description of its effect."""


def make_fault(
    name: str, times: int | None, endpoint: str | None, account: str | None, details: Details
) -> Fault:
    """Returns a fault. Raises ValueError for unknown names, listing the known ones."""
    kind = KINDS[_known("kind of fault", name, KINDS)]
    if endpoint is not None:
        _known("endpoint", endpoint, ENDPOINTS)
    for detail, value in details.items():
        default = kind.details[_known(f"detail of {name!r}", detail, kind.details)]
        if isinstance(default, int | float) and detail != "retry_after":
            _number(detail, value)
    if times is not None and times < 1:
        raise ValueError(f"times must be 1 or more, or None for every call, not {times}")
    return Fault(name, kind, {**kind.details, **details}, times, endpoint, account)


def _number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"{name} must be a number of 0 or more, not {value!r}")


def _known(what: str, name: str, names: Mapping[str, object]) -> str:
    if name not in names:
        listed = ", ".join(map(repr, names)) or "none"
        near = did_you_mean(name, names)
        raise ValueError(f"unknown {what}: {name!r}{near or f'; known: {listed}'}")
    return name
