"""A scripted HTTP service on loopback that controls every byte, for the tests of this package.

    with Service() as service:
        service.script(reply(503), cut_chunked(), book_reply(trades(10)))
        ...
        assert service.requests[0].raw == b"POST /api/v1/trade/book HTTP/1.1\\r\\n..."

A behaviour is any function of a `Connection`; the ready-made ones below cover faults F1 to F79.
"""

from .bare_client import GET, exchange
from .coherence import Record
from .connection import Behaviour, Connection, ConnectionOver
from .encode import as_json, envelope
from .encodings import (
    deflate_reply,
    encoded,
    gzip_bad_crc,
    gzip_bomb,
    gzip_bytes,
    gzip_cut,
    gzip_flipped,
    gzip_reply,
    gzip_trailing,
    gzip_without_crc,
    mislabelled_gzip,
    stacked_gzip,
    unknown_encoding,
)
from .floods import continue_flood, endless_body, header_flood, huge_header_line, oversize_body
from .framing import (
    bad_chunk_size,
    chunked,
    chunked_and_length,
    close_delimited,
    cut_chunked,
    cut_content_length,
    empty_reply,
    extra_bytes,
    garbage,
    http09,
    negative_length,
    reset_mid_body,
    two_content_lengths,
)
from .http2 import h2_goaway, h2_reset
from .log import Opened
from .pages import pages
from .ports import black_hole, closed_port, deaf_port, has_ipv6
from .proxy import Proxy, Tunnel
from .records import orders, samples, stocks, trades
from .replies import (
    EMPTY_BOOK,
    HTML_PAGE,
    book_reply,
    delay,
    hang_up,
    hold,
    html_reply,
    json_reply,
    message,
    raw,
    redirect,
    reply,
    reset,
    retry_after,
    set_cookie,
    steps,
)
from .request import BadRequest, Request
from .resolver import NoCompiler, resolver_environment
from .script import Choice, Unscripted
from .server import Service
from .service_document import Field, fields, names
from .stalls import (
    close_after_reply,
    close_when_next_request_is_read,
    drip,
    stall,
    stall_before_headers,
    stall_mid_body,
    stall_mid_headers,
)
from .tls import Authority

__all__ = [
    "EMPTY_BOOK",
    "GET",
    "HTML_PAGE",
    "Authority",
    "BadRequest",
    "Behaviour",
    "Choice",
    "Connection",
    "ConnectionOver",
    "Field",
    "NoCompiler",
    "Opened",
    "Proxy",
    "Record",
    "Request",
    "Service",
    "Tunnel",
    "Unscripted",
    "as_json",
    "bad_chunk_size",
    "black_hole",
    "book_reply",
    "chunked",
    "chunked_and_length",
    "close_after_reply",
    "close_delimited",
    "close_when_next_request_is_read",
    "closed_port",
    "continue_flood",
    "cut_chunked",
    "cut_content_length",
    "deaf_port",
    "deflate_reply",
    "delay",
    "drip",
    "empty_reply",
    "encoded",
    "endless_body",
    "envelope",
    "exchange",
    "extra_bytes",
    "fields",
    "garbage",
    "gzip_bad_crc",
    "gzip_bomb",
    "gzip_bytes",
    "gzip_cut",
    "gzip_flipped",
    "gzip_reply",
    "gzip_trailing",
    "gzip_without_crc",
    "h2_goaway",
    "h2_reset",
    "hang_up",
    "has_ipv6",
    "header_flood",
    "hold",
    "html_reply",
    "http09",
    "huge_header_line",
    "json_reply",
    "message",
    "mislabelled_gzip",
    "names",
    "negative_length",
    "orders",
    "oversize_body",
    "pages",
    "raw",
    "redirect",
    "reply",
    "reset",
    "reset_mid_body",
    "resolver_environment",
    "retry_after",
    "samples",
    "set_cookie",
    "stacked_gzip",
    "stall",
    "stall_before_headers",
    "stall_mid_body",
    "stall_mid_headers",
    "steps",
    "stocks",
    "trades",
    "two_content_lengths",
    "unknown_encoding",
]
