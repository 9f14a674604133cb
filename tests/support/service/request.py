"""A request as it came over the wire: every byte, and the parts read from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from .connection import ConnectionOver

if TYPE_CHECKING:
    from .connection import Connection

HEAD_LIMIT = 2**20
TLS_HANDSHAKE = b"\x16"


class BadRequest(Exception):
    """What the client sent is no HTTP/1.1 request."""


class TlsHello(Exception):
    """The client speaks TLS to a plain port (F6)."""


class CutRequest(ConnectionOver):
    """The client closed in the middle of a request; `raw` is what came of it."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(f"a request was cut after {len(raw)} bytes")
        self.raw = raw


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request; `raw` is head and body as received, `at` is time.monotonic() at its end."""

    raw: bytes
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connection: int
    at: float

    @property
    def head(self) -> bytes:
        """The request line and the headers, with the empty line behind them."""
        return self.raw[: self.raw.index(b"\r\n\r\n") + 4]

    @property
    def path(self) -> str:
        """The target without its query, still percent-encoded."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        """The query's names and values, decoded; what is not UTF-8 raises UnicodeDecodeError."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True, errors="strict")

    def header_values(self, name: str) -> list[str]:
        """Return every value of a header, the name in any case."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """Return the value of a header, None if it is not there; a repeated one is a ValueError."""
        values = self.header_values(name)
        if len(values) > 1:
            raise ValueError(f"{name} was sent {len(values)} times: {values}")
        return values[0] if values else None

    def json(self) -> object:
        """Return the body, parsed."""
        parsed: object = json.loads(self.body)
        return parsed


def read_request(connection: Connection) -> Request | None:
    """Read the next request; None if the client closes before its first byte.

    Raises BadRequest, TlsHello or CutRequest for what is no whole request.
    """
    first = connection.peek()
    if not first:
        return None
    if first == TLS_HANDSHAKE:
        raise TlsHello
    head = connection.take_through(b"\r\n\r\n", limit=HEAD_LIMIT)
    if not head.endswith(b"\r\n\r\n"):
        if len(head) >= HEAD_LIMIT:
            raise BadRequest(f"the head does not end: {head[:200]!r}")
        raise CutRequest(head)
    lines = head[:-4].decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3:
        raise BadRequest(f"the request line has not three words: {lines[0]!r}")
    headers = tuple(_header(line) for line in lines[1:])
    try:
        body = _body(connection, headers)
    except CutRequest as error:
        raise CutRequest(head + error.raw) from None
    return Request(
        raw=head + body,
        method=words[0],
        target=words[1],
        version=words[2],
        headers=headers,
        body=body,
        connection=connection.number,
        at=connection.clock(),
    )


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequest(f"not a header line: {line!r}")
    return name, value.strip(" \t")


def _body(connection: Connection, headers: tuple[tuple[str, str], ...]) -> bytes:
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    if any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise BadRequest("the body is in chunks, which the package never sends")
    if not lengths:
        return b""
    if len(lengths) > 1 or not lengths[0].isdecimal():
        raise BadRequest(f"not one Content-Length: {lengths}")
    body = connection.take(int(lengths[0]))
    if len(body) != int(lengths[0]):
        raise CutRequest(body)
    return body
