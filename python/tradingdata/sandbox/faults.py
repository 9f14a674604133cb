"""Responses, and faults on demand: the kinds of failure that the sandbox can produce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from types import MappingProxyType
from typing import Any

from .._util.declarations import CALLS
from .._util.validate import did_you_mean
from .companies import encode

JSON = "application/json"
_HTML = "text/html; charset=utf-8"
TOKEN_REFUSED = "Session not valid"
_LOGIN_PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Your session has ended"
    b'</h1><form action="/login"><input name="user"><input type="password"></form></body></html>'
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response before it is written to the connection."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = field(default=())


def error(status: int, message: str, *headers: tuple[str, str]) -> Reply:
    """Returns an error response: the service's envelope without data."""
    return Reply(status, _envelope(message, "error"), headers=headers)


def _envelope(message: str, status: str) -> bytes:
    return encode({"data": None, "message": message, "status": status})


Details = Mapping[str, Any]

FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "status": "an HTTP status: code=, or its number in place of the name; message= and "
        "retry_after=, which is seconds, a datetime or any text",
        "html": "200, or code=, with a login page",
        "error_envelope": "200 with an error envelope: message= and status=",
        "stall": "no response for seconds=, then the connection closes",
        "slow": "the correct response, sent slowly over seconds=",
        "cut": "the connection closes early, after the fraction at= of the body",
        "reset": "the connection is reset before the response or, with at=, after that fraction of "
        "the body",
        "empty": "200 without a body",
        "bad_json": "200 with a body that is almost valid JSON",
        "null_data": "200 with null data, as for an empty book",
        "redirect": "302, or code=, to location=",
    }
)
"""The kinds of fault that `Service.fail_next` accepts, each with a description of its effect."""

DISTURBING = ("stall", "slow", "cut", "reset")
"""The kinds of fault that act on the connection; the others change the response."""

_DETAILS: dict[str, Details] = {
    "status": {"code": 418, "message": "Refused", "retry_after": None},
    "html": {"code": 200},
    "error_envelope": {"message": "Something went wrong", "status": "error"},
    "stall": {"seconds": 30.0},
    "slow": {"seconds": 3.0},
    "cut": {"at": 0.5},
    "reset": {"at": None},
    "redirect": {"code": 302, "location": "/login"},
}
"""The details that a kind of fault takes, with their defaults."""


@dataclass(slots=True)
class Fault:
    """A fault waiting for requests; `times` is None if it applies until cleared."""

    name: str
    details: Details
    times: int | None
    endpoint: str | None
    account: str | None

    def change(self, reply: Reply) -> Reply:
        """Returns what the service sends in place of its response."""
        match self.name, self.details:
            case "status", {"code": code, "message": message, "retry_after": after}:
                return error(int(code), str(message), *_retry_after(after))
            case "html", {"code": code}:
                return Reply(int(code), _LOGIN_PAGE, _HTML)
            case "error_envelope", {"message": message, "status": status}:
                return Reply(200, _envelope(str(message), str(status)))
            case "empty", _:
                return replace(reply, status=200, body=b"")
            case "bad_json", _:  # of the same length, without its first colon
                body = reply.body.replace(b":", b" ", 1) if b":" in reply.body else b"[,]"
                return replace(reply, status=200, body=body)
            case "null_data", _:
                is_page = reply.body.startswith(b"[")
                body = b"null" if is_page else _envelope("Success", "success")
                return replace(reply, status=200, body=body)
            case "redirect", {"code": code, "location": location}:
                moved = error(int(code), "Moved", ("Location", str(location)))
                return replace(moved, content_type=_HTML)
        return reply


def _retry_after(after: object) -> tuple[tuple[str, str], ...]:
    if after is None:
        return ()
    if isinstance(after, datetime):
        after = format_datetime(after.astimezone(UTC), usegmt=True)
    return (("Retry-After", str(after)),)


def make_fault(
    name: str, times: int | None, endpoint: str | None, account: str | None, details: Details
) -> Fault:
    """Returns a fault; a number is a status. Raises ValueError for unknown names."""
    if name.isdigit():
        name, details = "status", {"code": int(name), **details}
    defaults = _DETAILS.get(_known("kind of fault", name, FAULTS), {})
    if endpoint is not None:
        _known("endpoint", endpoint, CALLS)
    for detail, value in details.items():
        default = defaults[_known(f"detail of {name!r}", detail, defaults)]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(default, int | float) and not (is_number and value >= 0):
            raise ValueError(f"{detail} must be a number of 0 or more, not {value!r}")
    if times is not None and times < 1:
        raise ValueError(f"times must be 1 or more, or None for every call, not {times}")
    return Fault(name, {**defaults, **details}, times, endpoint, account)


def _known(what: str, name: str, names: Mapping[str, object]) -> str:
    if name not in names:
        listed = ", ".join(map(repr, names)) or "none"
        near = did_you_mean(name, names)
        raise ValueError(f"unknown {what}: {name!r}{near or f'; known: {listed}'}")
    return name
