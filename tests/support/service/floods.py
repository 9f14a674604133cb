"""Replies that are too much: of headers, of interim replies, of body (F29, F33-F35)."""

from __future__ import annotations

from itertools import chain, repeat

from .connection import Behaviour, Connection
from .framing import CHUNKED, CONTENT_TYPE, chunk
from .replies import EMPTY_BOOK, head, message, raw, steps

BLOCK = b" " * 65536


def continue_flood(count: int = 1000, then: Behaviour | None = None) -> Behaviour:
    """Send `count` times 100 Continue before the reply (F29)."""
    return steps(raw(head(100) * count), then or raw(message(body=EMPTY_BOOK)))


def header_flood(size: int = 2**20, *, line: int = 1000, body: bytes = EMPTY_BOOK) -> Behaviour:
    """Send about `size` bytes of headers in lines of `line` bytes before the body (F33)."""
    flood = [(f"X-Flood-{number:08}", "x" * (line - 20)) for number in range(size // line)]
    headers = [CONTENT_TYPE, ("Content-Length", str(len(body)))]
    return raw(head(200, *flood, *headers) + body)


def huge_header_line(size: int = 200_000, body: bytes = EMPTY_BOOK) -> Behaviour:
    """Send one header whose value has `size` bytes (F33)."""
    return header_flood(size + 20, line=size + 20, body=body)


def oversize_body(size: int, block: bytes = BLOCK) -> Behaviour:
    """Announce `size` bytes and send them, spaces unless `block` says (F34)."""

    def run(connection: Connection) -> None:
        connection.send(head(200, CONTENT_TYPE, ("Content-Length", str(size))))
        whole, rest = divmod(size, len(block))
        for piece in chain(repeat(block, whole), [block[:rest]]):
            connection.send(piece)

    return run


def endless_body(block: bytes = BLOCK, *, in_chunks: bool = True) -> Behaviour:
    """Send blocks until the client leaves, in chunks or up to a close that never comes (F35)."""

    def run(connection: Connection) -> None:
        connection.send(head(200, CONTENT_TYPE, *([CHUNKED] if in_chunks else [])))
        piece = chunk(block) if in_chunks else block
        while True:
            connection.send(piece)

    return run
