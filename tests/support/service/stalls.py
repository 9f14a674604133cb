"""Replies that come slowly or not at all (F31, F32); each ends when the client or service does."""

from __future__ import annotations

from .connection import Behaviour, Connection
from .framing import pieces
from .replies import EMPTY_BOOK, delay, message, raw, steps


def stall(seconds: float | None = None) -> Behaviour:
    """Send nothing for so long (None: for ever); as `on_connect` it stalls a handshake (F15)."""
    return lambda connection: connection.pause(seconds)


def stall_before_headers(seconds: float | None = None, then: Behaviour | None = None) -> Behaviour:
    """Stall before the first byte; after `seconds`, if given, do `then` (an empty book)."""
    return steps(stall(seconds), then or raw(message(body=EMPTY_BOOK)))


def stall_mid_headers(seconds: float | None = None, body: bytes = EMPTY_BOOK) -> Behaviour:
    """Stall within the status line; after `seconds`, if given, send the rest."""
    return _stall_at(message(body=body), 12, seconds)


def stall_mid_body(
    seconds: float | None = None, body: bytes = EMPTY_BOOK, *, keep: int | None = None
) -> Behaviour:
    """Stall after `keep` bytes of the body (half); after `seconds`, if given, send the rest."""
    kept = len(body) // 2 if keep is None else keep
    whole = message(body=body)
    return _stall_at(whole, len(whole) - len(body) + kept, seconds)


def drip(
    body: bytes = EMPTY_BOOK,
    *,
    bytes_per: int = 1,
    every: float = 0.05,
    headers_too: bool = False,
) -> Behaviour:
    """Send `bytes_per` bytes each `every` seconds, the headers at once or too (F32)."""
    whole = message(body=body)
    at_once = 0 if headers_too else len(whole) - len(body)
    slowly = [delay(every, raw(piece)) for piece in pieces(whole[at_once:], bytes_per)]
    return steps(raw(whole[:at_once]), *slowly)


def close_after_reply(first: Behaviour, *, after: float = 0.0) -> Behaviour:
    """Reply as if the connection were kept, then close it `after` idle seconds (F69, F71)."""
    return steps(first, stall(after), Connection.close)


def close_when_next_request_is_read(first: Behaviour, *, reset: bool = False) -> Behaviour:
    """Reply; read the next request on this connection, then close without a byte (F70)."""
    end = Connection.reset if reset else Connection.close
    return steps(first, lambda connection: connection.respond_next_with(end))


def _stall_at(data: bytes, position: int, seconds: float | None) -> Behaviour:
    return steps(raw(data[:position]), stall(seconds), raw(data[position:]))
