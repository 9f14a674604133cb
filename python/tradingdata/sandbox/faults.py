"""Responses, and faults on demand: the kinds of failure that the sandbox can produce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._util.declarations import CALLS
from .._util.validate import count, did_you_mean
from .companies import encode

JSON = "application/json"
_HTML = "text/html; charset=utf-8"
TOKEN_REFUSED = "Session not valid"


@dataclass(frozen=True, slots=True)
class Reply:
    """A response before it is written to the connection."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


def error(status: int, message: str, *headers: tuple[str, str]) -> Reply:
    """Returns an error response: the service's envelope without data."""
    body = encode({"data": None, "message": message, "status": "error"})
    return Reply(status, body, headers=headers)


Details = Mapping[str, Any]

FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "status": "an HTTP status: code=, or its number in place of the name, 200 included; "
        "message= of the error envelope, or any body= in its place; retry_after=, which is "
        "seconds or any text",
        "stall": "no response for seconds=, then the connection closes",
        "cut": "the connection closes early, after the fraction at= of the body",
    }
)
"""The kinds of fault that `Service.fail_next` accepts, each with a description of its effect."""

_DETAILS: dict[str, Details] = {
    "status": {"code": 418, "message": "Refused", "body": None, "retry_after": None},
    "stall": {"seconds": 30.0},
    "cut": {"at": 0.5},
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
        if self.name != "status":
            return reply
        code, message, body, after = self.details.values()
        headers = () if after is None else (("Retry-After", str(after)),)
        if body is None:
            return error(int(code), str(message), *headers)
        sent = body if isinstance(body, bytes) else str(body).encode()
        return Reply(int(code), sent, _HTML if sent.startswith(b"<") else JSON, headers)


def make_fault(
    name: str, times: int | None, endpoint: str | None, account: str | None, details: Details
) -> Fault:
    """Returns a fault; a number is a status. Raises ValueError for unknown names."""
    if name.isdigit():
        name, details = "status", {"code": int(name), **details}
    defaults = _DETAILS[_known("kind of fault", name, FAULTS)]
    if endpoint is not None:
        _known("endpoint", endpoint, CALLS)
    for detail, value in details.items():
        default = defaults[_known(f"detail of {name!r}", detail, defaults)]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(default, int | float) and not (is_number and value >= 0):
            raise ValueError(f"{detail} must be a number of 0 or more, not {value!r}")
    if times is not None and count("times", times, least=-(2**63)) < 1:
        raise ValueError(f"times must be 1 or more, or None for every call, not {times}")
    return Fault(name, {**defaults, **details}, times, endpoint, account)


def _known(what: str, name: str, names: Mapping[str, object]) -> str:
    if name not in names:
        listed = f"; known: {', '.join(map(repr, names))}"
        raise ValueError(f"unknown {what}: {name!r}{did_you_mean(name, names) or listed}")
    return name
