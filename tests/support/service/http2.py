"""Two frames of HTTP/2: GOAWAY and stream reset (F72)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

RST_STREAM, GOAWAY = 3, 7
INTERNAL_ERROR = 2

Response: TypeAlias = Callable[[int], bytes]


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return one frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def h2_reset(error: int = INTERNAL_ERROR) -> Response:
    """Reset the stream."""
    return lambda stream: frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def h2_goaway(*, last_stream: int = 0, error: int = 0) -> Response:
    """Send GOAWAY: streams above `last_stream` were not acted upon."""
    return lambda stream: frame(GOAWAY, 0, 0, struct.pack(">II", last_stream, error))
