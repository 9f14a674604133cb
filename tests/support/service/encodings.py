"""Encoded bodies: right, damaged, mislabelled, stacked, unasked for, and bombs (F36-F43).

They are sent whatever the request's Accept-Encoding says.
"""

from __future__ import annotations

import gzip
import zlib

from .connection import Behaviour, Connection
from .floods import BLOCK
from .framing import CHUNKED, CONTENT_TYPE, chunk
from .replies import EMPTY_BOOK, head, reply

GZIP = 31
GZIP_TRAILER = 8


def encoded(data: bytes, encoding: str) -> Behaviour:
    """Reply with these bytes under this Content-Encoding (F38, F39, F43)."""
    return reply(200, data, headers={"Content-Encoding": encoding})


def gzip_bytes(body: bytes) -> bytes:
    """Return the body in gzip, the same bytes for the same body."""
    return gzip.compress(body, mtime=0)


def gzip_reply(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply in correct gzip; to a client that did not ask for it, this is F43."""
    return encoded(gzip_bytes(body), "gzip")


def deflate_reply(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply in correct deflate (zlib), which a client that asks for gzip alone did not allow."""
    return encoded(zlib.compress(body), "deflate")


def gzip_flipped(body: bytes = EMPTY_BOOK, *, position: int | None = None) -> Behaviour:
    """Reply in gzip with one bit flipped in the middle, or at byte `position` (F40)."""
    data = bytearray(gzip_bytes(body))
    data[len(data) // 2 if position is None else position] ^= 0x10
    return encoded(bytes(data), "gzip")


def gzip_bad_crc(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply in gzip whose data are right and whose checksum is not (F40)."""
    return gzip_flipped(body, position=-GZIP_TRAILER)


def gzip_cut(body: bytes = EMPTY_BOOK, *, keep: int | None = None) -> Behaviour:
    """Reply with a part of the gzip data (half) and the length of that part (F41)."""
    data = gzip_bytes(body)
    return encoded(data[: len(data) // 2 if keep is None else keep], "gzip")


def gzip_without_crc(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply in gzip that ends before its checksum and size (F42)."""
    return gzip_cut(body, keep=-GZIP_TRAILER)


def gzip_trailing(body: bytes = EMPTY_BOOK, *, extra: bytes = b"trailing") -> Behaviour:
    """Reply in correct gzip with bytes behind its end."""
    return encoded(gzip_bytes(body) + extra, "gzip")


def mislabelled_gzip(body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply with a plain body that is labelled gzip (F39)."""
    return encoded(body, "gzip")


def stacked_gzip(body: bytes = EMPTY_BOOK, *, layers: int = 6) -> Behaviour:
    """Reply with gzip in gzip in gzip, correctly labelled (F37)."""
    data = body
    for _ in range(layers):
        data = gzip_bytes(data)
    return encoded(data, ", ".join(["gzip"] * layers))


def unknown_encoding(body: bytes = EMPTY_BOOK, *, encoding: str = "x-canary") -> Behaviour:
    """Reply with a plain body under an encoding that nobody knows (F38)."""
    return encoded(body, encoding)


def gzip_bomb(size: int = 2**30, body: bytes = EMPTY_BOOK) -> Behaviour:
    """Reply with `size` spaces and then the body, in about a thousandth of that in gzip (F36).

    What comes out is valid JSON: only its size is wrong.
    """

    def run(connection: Connection) -> None:
        connection.send(head(200, CONTENT_TYPE, CHUNKED, ("Content-Encoding", "gzip")))
        packer = zlib.compressobj(9, zlib.DEFLATED, GZIP)
        for _ in range(size // len(BLOCK)):
            connection.pause(0)
            if piece := packer.compress(BLOCK):
                connection.send(chunk(piece))
        last = packer.compress(BLOCK[: size % len(BLOCK)] + body) + packer.flush()
        connection.send(chunk(last) + chunk(b""))

    return run
