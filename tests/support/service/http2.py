"""As much of HTTP/2 as it takes to break it off: GOAWAY and stream reset (F72).

Requests are told apart by stream and kept undecoded; the service's log holds the preface alone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

from .connection import Connection
from .replies import EMPTY_BOOK

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
ACK = END_STREAM = 1
END_HEADERS = 4
PREFACE_END = b"SM\r\n\r\n"
# RFC 7541, appendix A: entry 8 of the static table is ":status: 200".
STATUS_200 = b"\x88"
INTERNAL_ERROR, REFUSED_STREAM = 2, 7
GREATEST_FRAME = 16384

Answer: TypeAlias = Callable[[int], bytes]


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return one frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def h2_reply(body: bytes = EMPTY_BOOK) -> Answer:
    """Answer a stream with 200 and a body of at most one frame."""
    if len(body) > GREATEST_FRAME:
        raise ValueError(f"{len(body)} bytes do not fit into one frame")
    return lambda stream: (
        frame(HEADERS, END_HEADERS, stream, STATUS_200) + frame(DATA, END_STREAM, stream, body)
    )


def h2_reset(error: int = INTERNAL_ERROR) -> Answer:
    """Reset the stream."""
    return lambda stream: frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def h2_goaway(*, last_stream: int = 0, error: int = 0) -> Answer:
    """Send GOAWAY: streams above `last_stream` were not acted upon."""
    return lambda stream: frame(GOAWAY, 0, 0, struct.pack(">II", last_stream, error))


class Http2:
    """The behaviour for an HTTP/2 connection: each stream gets the next answer, then silence.

    Serve it with a context whose `alpn` is ["h2"], or to a client with prior knowledge. `streams`
    holds the frames of each stream as they came.
    """

    def __init__(self, *answers: Answer) -> None:
        self.streams: dict[int, bytes] = {}
        self._answers = answers

    def __call__(self, connection: Connection) -> None:
        """Serve one connection whose preface has been read up to its empty line."""
        if connection.take(len(PREFACE_END)) != PREFACE_END:
            raise ValueError("not the preface of HTTP/2")
        connection.send(frame(SETTINGS, 0, 0))
        for answer in self._answers:
            connection.send(answer(self._next_stream(connection)))
        connection.pause(None)

    def _next_stream(self, connection: Connection) -> int:
        """Read frames until a stream's request is whole; return its number."""
        while head := connection.take(9):
            size = int.from_bytes(head[:3], "big")
            kind, flags, stream = struct.unpack(">BBI", head[3:])
            payload = connection.take(size)
            if kind in (SETTINGS, PING) and not flags & ACK:
                connection.send(frame(kind, ACK, 0, payload if kind == PING else b""))
            if kind in (HEADERS, DATA):
                self.streams[stream] = self.streams.get(stream, b"") + head + payload
                if flags & END_STREAM:
                    return int(stream)
        raise EOFError("the client closed before its request was whole")
