"""Bodies framed wrongly: cut, reset, miscounted, or with too many lengths (F7, F8, F19-F28)."""

from __future__ import annotations

from collections.abc import Iterable

from .connection import Behaviour, Connection
from .replies import EMPTY_BOOK, JSON_TYPE, hang_up, head, message, raw, steps

CONTENT_TYPE = ("Content-Type", JSON_TYPE)
CHUNKED = ("Transfer-Encoding", "chunked")
CLOSE = ("Connection", "close")


def empty_reply(connection: Connection) -> None:
    """Close without a byte (F7, F70)."""
    connection.close()


def garbage(data: bytes = b"\x00\xff\x13garbage\r\n\r\n") -> Behaviour:
    """Send what is no HTTP and close (F8)."""
    return steps(raw(data), hang_up)


def http09(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Send the body without status line or headers and close (F8)."""
    return garbage(body)


def cut_content_length(body: bytes = EMPTY_BOOK, *, keep: int | None = None) -> Behaviour:
    """Announce the whole body, send `keep` bytes of it (half), close in order (F20)."""
    return steps(raw(_part(body, keep)), hang_up)


def reset_mid_body(body: bytes = EMPTY_BOOK, *, keep: int | None = None) -> Behaviour:
    """Announce the whole body, send `keep` bytes of it (half), reset the connection (F19)."""
    return steps(raw(_part(body, keep)), Connection.reset)


def chunk(data: bytes) -> bytes:
    """Return data as one chunk; no data makes the last chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def pieces(body: bytes, size: int) -> Iterable[bytes]:
    """Split a body; the last piece may be shorter."""
    return (body[at : at + size] for at in range(0, len(body), size))


def chunked(body: bytes = EMPTY_BOOK, *, size: int = 4096, trailers: bytes = b"") -> Behaviour:
    """Send the body correctly in chunks of `size` bytes; `trailers` are whole lines with CR LF."""
    chunks = b"".join(chunk(piece) for piece in pieces(body, size))
    return raw(head(200, CONTENT_TYPE, CHUNKED) + chunks + b"0\r\n" + trailers + b"\r\n")


def cut_chunked(body: bytes = EMPTY_BOOK, *, keep: int | None = None) -> Behaviour:
    """Close before the last chunk (F21): after the whole body, or `keep` bytes of its chunk."""
    start = head(200, CONTENT_TYPE, CHUNKED)
    if keep is None:
        return steps(raw(start + chunk(body)), hang_up)
    return steps(raw(start + b"%x\r\n" % len(body) + body[:keep]), hang_up)


def bad_chunk_size(body: bytes = EMPTY_BOOK, *, size: bytes = b"xyz") -> Behaviour:
    """Send `size` where the first chunk's size belongs (F22)."""
    start = head(200, CONTENT_TYPE, CHUNKED)
    return steps(raw(start + size + b"\r\n" + body + b"\r\n0\r\n\r\n"), hang_up)


def chunked_and_length(body: bytes = EMPTY_BOOK, *, length: int = 5) -> Behaviour:
    """Send a correctly chunked body with a Content-Length beside it that is wrong (F23)."""
    start = head(200, CONTENT_TYPE, CHUNKED, ("Content-Length", str(length)))
    return raw(start + chunk(body) + chunk(b""))


def two_content_lengths(body: bytes = EMPTY_BOOK, *, other: int | None = None) -> Behaviour:
    """Send the right Content-Length and behind it another one, 10 less unless given (F24)."""
    other = len(body) - 10 if other is None else other
    lengths = [("Content-Length", str(length)) for length in (len(body), other)]
    return steps(raw(head(200, CONTENT_TYPE, *lengths) + body), hang_up)


def negative_length(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Announce -5 bytes (F25)."""
    return steps(raw(message(body=body, headers={"Content-Length": "-5"})), hang_up)


def extra_bytes(body: bytes = EMPTY_BOOK, *, extra: bytes = b"HTTP/1.1 500 Poison") -> Behaviour:
    """Send more bytes behind a complete reply and keep the connection open (F26)."""
    return raw(message(body=body) + extra)


def close_delimited(
    body: bytes = EMPTY_BOOK, *, keep: int | None = None, notify: bool = True
) -> Behaviour:
    """Send a body that only the close ends, cut after `keep` bytes (F27).

    With `notify` False a TLS connection ends without its close_notify (F16).
    """
    sent = body if keep is None else body[:keep]
    start = head(200, CONTENT_TYPE, CLOSE)
    return steps(raw(start + sent), lambda connection: connection.close(notify=notify))


def _part(body: bytes, keep: int | None) -> bytes:
    kept = len(body) // 2 if keep is None else keep
    return message(body=body)[: len(message(body=body)) - len(body) + kept]
