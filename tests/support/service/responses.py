"""What the service sends: good responses, and those of faults."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Iterable, Mapping
from http.client import responses
from typing import TypeAlias

from .connection import Behaviour, Connection


def as_json(value: object, *, ascii_only: bool = False) -> bytes:
    r"""Return compact JSON in UTF-8; `ascii_only` writes the rest as \u escapes."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    return text.encode("utf-8")


def envelope(
    data: object, status: object = "success", message: object = "Success"
) -> dict[str, object]:
    """Return the common response envelope, its members in the order of the service document."""
    return {"data": data, "message": message, "status": status}


Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]

CONTENT_TYPE = ("Content-Type", "application/json; charset=utf-8")
CHUNKED = ("Transfer-Encoding", "chunked")
CLOSE = ("Connection", "close")
EMPTY_BOOK = as_json(envelope([]))
HTML_PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"
BODILESS = (204, 304)
POLL = 0.005


def head(status: int = 200, *headers: tuple[str, str]) -> bytes:
    """Return a status line, the headers and the empty line, as latin-1 bytes and unchecked."""
    reason = responses.get(status, "Unknown")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def message(status: int = 200, body: bytes = b"", *, headers: Headers = ()) -> bytes:
    """Return the bytes of a whole reply; Content-Type and Content-Length unless `headers` say."""
    own = list(headers.items() if isinstance(headers, Mapping) else headers)
    named = {name.lower() for name, _ in own}
    defaults = [] if status in BODILESS else [CONTENT_TYPE, ("Content-Length", str(len(body)))]
    kept = [pair for pair in defaults if pair[0].lower() not in named]
    return head(status, *kept, *own) + body


def with_lines(*lines: bytes, status: int = 200, body: bytes) -> Behaviour:
    """Reply with more lines in the head, as they are, behind those of `message`."""
    first, _, rest = message(status, body).partition(b"\r\n\r\n")
    return raw(b"\r\n".join([first, *lines, b"", rest]))


def cut_head(head: bytes, *, keep: int) -> Behaviour:
    """Send the first bytes of a head and close in order."""
    return steps(raw(head[:keep]), hang_up)


def raw(data: bytes) -> Behaviour:
    """Send these bytes; the connection stays open."""
    return lambda connection: connection.send(data)


def reply(status: int = 200, body: bytes = b"", *, headers: Headers = ()) -> Behaviour:
    """Send a whole reply; the connection stays open."""
    return raw(message(status, body, headers=headers))


def json_reply(value: object, status: int = 200) -> Behaviour:
    """Reply with a value as compact JSON."""
    return reply(status, as_json(value))


def book_reply(records: Iterable[object]) -> Behaviour:
    """Reply with the records in the service's envelope."""
    return json_reply(envelope(list(records)))


def html_reply(status: int = 200, page: bytes = HTML_PAGE) -> Behaviour:
    """Reply with a web page: an error page, a captive portal."""
    return reply(status, page, headers={"Content-Type": "text/html; charset=utf-8"})


def redirect(status: int, to: str) -> Behaviour:
    """Reply with a 3xx and a Location."""
    return reply(status, headers={"Location": to})


def retry_after(value: str, status: int = 429) -> Behaviour:
    """Reply 429 with this Retry-After."""
    return reply(status, headers={"Retry-After": value})


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


def unasked(
    asked: Behaviour, sent: threading.Event, *, pause: float = 0, body: bytes = EMPTY_BOOK
) -> Behaviour:
    """Do the other behaviour, then send a whole response that nobody asked for."""
    stray = delay(pause, raw(message(body=body)))
    return steps(asked, stray, lambda _: sent.set())


# Close at once: in order, without a byte, or with a TCP reset.
hang_up: Behaviour = Connection.close
reset: Behaviour = Connection.reset


def garbage(data: bytes = b"\x00\xff\x13garbage\r\n\r\n") -> Behaviour:
    """Send what is no HTTP and close."""
    return steps(raw(data), hang_up)


def cut_content_length(body: bytes = EMPTY_BOOK, *, keep: int | None = None) -> Behaviour:
    """Announce the whole body, send `keep` bytes of it (half), close in order."""
    return steps(raw(_part(body, keep)), hang_up)


def reset_mid_body() -> Behaviour:
    """Announce the whole body, send half of it, reset the connection."""
    return steps(raw(_part(EMPTY_BOOK, None)), reset)


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


def cut_chunked(*, keep: int | None = None) -> Behaviour:
    """Close before the last chunk: after the whole body, or `keep` bytes of its chunk."""
    start = head(200, CONTENT_TYPE, CHUNKED)
    if keep is None:
        return steps(raw(start + chunk(EMPTY_BOOK)), hang_up)
    return steps(raw(start + b"%x\r\n" % len(EMPTY_BOOK) + EMPTY_BOOK[:keep]), hang_up)


def bad_chunk_size() -> Behaviour:
    """Send what is no number where the first chunk's size belongs."""
    start = head(200, CONTENT_TYPE, CHUNKED)
    return steps(raw(start + b"xyz\r\n" + EMPTY_BOOK + b"\r\n0\r\n\r\n"), hang_up)


def chunked_and_length(body: bytes) -> Behaviour:
    """Send a correctly chunked body with a Content-Length beside it that is wrong."""
    start = head(200, CONTENT_TYPE, CHUNKED, ("Content-Length", "5"))
    return raw(start + chunk(body) + chunk(b""))


def two_content_lengths(body: bytes = EMPTY_BOOK, *, other: int | str | None = None) -> Behaviour:
    """Send the right Content-Length and behind it another one, 10 less unless given."""
    other = len(body) - 10 if other is None else other
    lengths = [("Content-Length", str(length)) for length in (len(body), other)]
    return steps(raw(head(200, CONTENT_TYPE, *lengths) + body), hang_up)


def extra_bytes(body: bytes) -> Behaviour:
    """Send more bytes behind a complete reply and keep the connection open."""
    return raw(message(body=body) + b"HTTP/1.1 500 Poison")


def close_delimited(
    body: bytes = EMPTY_BOOK, *, keep: int | None = None, notify: bool = True
) -> Behaviour:
    """Send a body that only the close ends, cut after `keep` bytes.

    With `notify` False a TLS connection ends without its close_notify.
    """
    sent = body if keep is None else body[:keep]
    start = head(200, CONTENT_TYPE, CLOSE)
    return steps(raw(start + sent), lambda connection: connection.close(notify=notify))


def _part(body: bytes, keep: int | None) -> bytes:
    kept = len(body) // 2 if keep is None else keep
    return message(body=body)[: len(message(body=body)) - len(body) + kept]


BLOCK = b" " * 65536


def continue_flood(count: int = 1000, then: Behaviour | None = None) -> Behaviour:
    """Send `count` times 100 Continue before the reply."""
    return steps(raw(head(100) * count), then or raw(message(body=EMPTY_BOOK)))


def header_flood(size: int = 2**20, *, line: int = 1000) -> Behaviour:
    """Send about `size` bytes of headers in lines of `line` bytes before the body."""
    flood = [(f"X-Flood-{number:08}", "x" * (line - 20)) for number in range(size // line)]
    return reply(200, EMPTY_BOOK, headers=flood)


def oversize_body(size: int) -> Behaviour:
    """Announce `size` bytes and send as many spaces."""

    def run(connection: Connection) -> None:
        connection.send(head(200, CONTENT_TYPE, ("Content-Length", str(size))))
        for at in range(0, size, len(BLOCK)):
            connection.send(BLOCK[: size - at])

    return run


def endless_body(*, in_chunks: bool = True) -> Behaviour:
    """Send blocks until the client leaves, in chunks or up to a close that never comes."""

    def run(connection: Connection) -> None:
        connection.send(head(200, CONTENT_TYPE, *([CHUNKED] if in_chunks else [])))
        piece = chunk(BLOCK) if in_chunks else BLOCK
        while True:
            connection.send(piece)

    return run


GZIP = 31
GZIP_TRAILER = 8


def encoded(data: bytes, encoding: str) -> Behaviour:
    """Reply with these bytes under this Content-Encoding."""
    return reply(200, data, headers={"Content-Encoding": encoding})


def gzip_bytes(body: bytes) -> bytes:
    """Return the body in gzip, the same bytes for the same body."""
    return gzip.compress(body, mtime=0)


def deflate_reply() -> Behaviour:
    """Reply in correct deflate (zlib), which a client that asks for gzip alone did not allow."""
    return encoded(zlib.compress(EMPTY_BOOK), "deflate")


def gzip_flipped(position: int) -> Behaviour:
    """Reply in gzip with one bit flipped, from -8 on in the checksum and the size."""
    data = bytearray(gzip_bytes(EMPTY_BOOK))
    data[position] ^= 0x10
    return encoded(bytes(data), "gzip")


def gzip_cut(*, keep: int | None = None) -> Behaviour:
    """Reply with a part of the gzip data (half) and the length of that part."""
    data = gzip_bytes(EMPTY_BOOK)
    return encoded(data[: len(data) // 2 if keep is None else keep], "gzip")


def gzip_without_crc() -> Behaviour:
    """Reply in gzip that ends before its checksum and size."""
    return gzip_cut(keep=-GZIP_TRAILER)


def stacked_gzip(layers: int) -> Behaviour:
    """Reply with gzip in gzip in gzip, correctly labelled."""
    data = EMPTY_BOOK
    for _ in range(layers):
        data = gzip_bytes(data)
    return encoded(data, ", ".join(["gzip"] * layers))


def gzip_bomb(size: int) -> Behaviour:
    """Reply with `size` spaces and then a book, in about a thousandth of that in gzip.

    What comes out is valid JSON: only its size is wrong.
    """

    def run(connection: Connection) -> None:
        connection.send(head(200, CONTENT_TYPE, CHUNKED, ("Content-Encoding", "gzip")))
        packer = zlib.compressobj(9, zlib.DEFLATED, GZIP)
        for _ in range(size // len(BLOCK)):
            connection.pause(0)
            if piece := packer.compress(BLOCK):
                connection.send(chunk(piece))
        last = packer.compress(EMPTY_BOOK) + packer.flush()
        connection.send(chunk(last) + chunk(b""))

    return run


def stall() -> Behaviour:
    """Send nothing for ever; as `on_connect` it stalls a handshake."""
    return lambda connection: connection.pause(None)


def stall_mid_body(body: bytes = EMPTY_BOOK, *, keep: int | None = None) -> Behaviour:
    """Stall after `keep` bytes of the body (half)."""
    return steps(raw(_part(body, keep)), stall())


def drip(
    body: bytes = EMPTY_BOOK, *, bytes_per: int = 1, every: float = 0.05, headers_too: bool = False
) -> Behaviour:
    """Send `bytes_per` bytes each `every` seconds, the headers at once or too."""
    whole = message(body=body)
    at_once = 0 if headers_too else len(whole) - len(body)
    slowly = [delay(every, raw(piece)) for piece in pieces(whole[at_once:], bytes_per)]
    return steps(raw(whole[:at_once]), *slowly)
