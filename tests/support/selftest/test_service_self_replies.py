"""Every ready-made behaviour of the scripted service sends the bytes that it claims."""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib

import pytest

from service import (
    EMPTY_BOOK,
    GET,
    HTML_PAGE,
    Behaviour,
    Http2,
    Service,
    bad_chunk_size,
    book_reply,
    chunked,
    chunked_and_length,
    close_delimited,
    continue_flood,
    cut_chunked,
    cut_content_length,
    deflate_reply,
    delay,
    drip,
    empty_reply,
    encoded,
    endless_body,
    envelope,
    exchange,
    extra_bytes,
    garbage,
    gzip_bad_crc,
    gzip_bomb,
    gzip_cut,
    gzip_flipped,
    gzip_reply,
    gzip_trailing,
    gzip_without_crc,
    h2_goaway,
    h2_reply,
    h2_reset,
    hang_up,
    header_flood,
    html_reply,
    http09,
    huge_header_line,
    json_reply,
    message,
    mislabelled_gzip,
    negative_length,
    oversize_body,
    pages,
    raw,
    redirect,
    reply,
    reset,
    reset_mid_body,
    retry_after,
    set_cookie,
    stacked_gzip,
    stall_before_headers,
    stall_mid_body,
    stall_mid_headers,
    steps,
    two_content_lengths,
    unknown_encoding,
)

TYPE = b"Content-Type: application/json; charset=utf-8\r\n"
OK = b"HTTP/1.1 200 OK\r\n" + TYPE
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"
BODY = b'{"a":1}'
WHOLE = OK + b"Content-Length: 7\r\n\r\n" + BODY

EXACT: dict[str, tuple[Behaviour, bytes]] = {
    "reply": (reply(200, BODY), WHOLE),
    "json": (json_reply({"a": 1}), WHOLE),
    "book": (book_reply([]), message(body=b'{"data":[],"message":"Success","status":"success"}')),
    "F28 no content": (reply(204), b"HTTP/1.1 204 No Content\r\n\r\n"),
    "F28 empty body": (reply(200), OK + b"Content-Length: 0\r\n\r\n"),
    "own reason": (
        reply(299, reason="Odd", headers={"content-type": "text/plain"}),
        b"HTTP/1.1 299 Odd\r\nContent-Length: 0\r\ncontent-type: text/plain\r\n\r\n",
    ),
    "unknown status": (
        reply(599),
        b"HTTP/1.1 599 Unknown\r\n" + TYPE + b"Content-Length: 0\r\n\r\n",
    ),
    "raw": (steps(raw(b"any"), raw(b"\0thing"), hang_up), b"any\0thing"),
    "F53 html": (
        html_reply(),
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n"
        b"Content-Type: text/html; charset=utf-8\r\n\r\n%s" % (len(HTML_PAGE), HTML_PAGE),
    ),
    "F62 redirect": (
        redirect(307, "http://127.0.0.1:1/"),
        b"HTTP/1.1 307 Temporary Redirect\r\n"
        + TYPE
        + b"Content-Length: 0\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
    ),
    "F49 retry-after": (
        retry_after("soon", date="Mon, 06 Jan 2025 09:15:00 GMT"),
        b"HTTP/1.1 429 Too Many Requests\r\n"
        + TYPE
        + b"Content-Length: 0\r\nDate: Mon, 06 Jan 2025 09:15:00 GMT\r\nRetry-After: soon\r\n\r\n",
    ),
    "F50 no retry-after": (retry_after(None, 503), message(503)),
    "F67 cookie": (
        set_cookie("a=b", BODY),
        OK
        + b"Content-Length: 7\r\nSet-Cookie: a=b\r\n"
        + b"Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n"
        + b'Alt-Svc: h2="127.0.0.1:1"; ma=3600\r\n\r\n'
        + BODY,
    ),
    "F7 empty reply": (empty_reply, b""),
    "F8 garbage": (garbage(b"\xff\r\n"), b"\xff\r\n"),
    "F8 HTTP/0.9": (http09(BODY), BODY),
    "F20 cut": (cut_content_length(BODY, keep=5), WHOLE[:-2]),
    "F20 cut in half": (cut_content_length(BODY), WHOLE[:-4]),
    "chunked": (chunked(BODY, size=5), CHUNKED + b'\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'),
    "trailers": (
        chunked(BODY, trailers=b"X: y\r\n"),
        CHUNKED + b"\r\n7\r\n" + BODY + b"\r\n0\r\nX: y\r\n\r\n",
    ),
    "F21 no last chunk": (cut_chunked(BODY), CHUNKED + b"\r\n7\r\n" + BODY + b"\r\n"),
    "F21 cut chunk": (cut_chunked(BODY, keep=3), CHUNKED + b'\r\n7\r\n{"a'),
    "F22 chunk size": (
        bad_chunk_size(BODY),
        CHUNKED + b"\r\nxyz\r\n" + BODY + b"\r\n0\r\n\r\n",
    ),
    "F23 both framings": (
        chunked_and_length(BODY),
        CHUNKED + b"Content-Length: 5\r\n\r\n7\r\n" + BODY + b"\r\n0\r\n\r\n",
    ),
    "F24 two lengths": (
        two_content_lengths(BODY, other=3),
        OK + b"Content-Length: 7\r\nContent-Length: 3\r\n\r\n" + BODY,
    ),
    "F25 negative": (negative_length(BODY), OK + b"Content-Length: -5\r\n\r\n" + BODY),
    "F26 extra": (extra_bytes(BODY, extra=b"!"), WHOLE + b"!"),
    "F27 close": (close_delimited(BODY), OK + b"Connection: close\r\n\r\n" + BODY),
    "F27 cut": (close_delimited(BODY, keep=2), OK + b'Connection: close\r\n\r\n{"'),
    "F29 continue": (
        continue_flood(3, reply(200, BODY)),
        b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + WHOLE,
    ),
    "F31 late": (stall_before_headers(0.01, reply(200, BODY)), WHOLE),
    "F31 late in headers": (stall_mid_headers(0.01, BODY), WHOLE),
    "F31 late in body": (stall_mid_body(0.01, BODY), WHOLE),
    "F32 drip": (drip(BODY, bytes_per=3, every=0.001, headers_too=True), WHOLE),
    "F34 oversize": (
        oversize_body(70000, b"x" * 999),
        OK + b"Content-Length: 70000\r\n\r\n" + b"x" * 70000,
    ),
    "F39 mislabelled": (
        mislabelled_gzip(BODY),
        OK + b"Content-Length: 7\r\nContent-Encoding: gzip\r\n\r\n" + BODY,
    ),
    "F38 unknown encoding": (
        unknown_encoding(BODY),
        OK + b"Content-Length: 7\r\nContent-Encoding: x-canary\r\n\r\n" + BODY,
    ),
    "F43 any encoding": (
        encoded(BODY, "br"),
        OK + b"Content-Length: 7\r\nContent-Encoding: br\r\n\r\n" + BODY,
    ),
}


@pytest.mark.parametrize(("behaviour", "expected"), EXACT.values(), ids=EXACT)
def test_a_behaviour_sends_exactly_its_bytes(
    service: Service, behaviour: Behaviour, expected: bytes
) -> None:
    service.script(behaviour)
    assert exchange(service.port) == expected


def drain(sock: socket.socket, into: bytearray) -> None:
    while data := sock.recv(65536):
        into += data


@pytest.mark.parametrize("behaviour", [reset_mid_body(BODY, keep=3), reset])
def test_f19_a_reset_comes_behind_the_bytes(service: Service, behaviour: Behaviour) -> None:
    service.script(behaviour)
    came = bytearray()
    with socket.create_connection(("127.0.0.1", service.port), timeout=5) as sock:
        sock.sendall(GET)
        with pytest.raises(ConnectionResetError):
            drain(sock, came)
    assert came == (b"" if behaviour is reset else WHOLE[:-4])


def body_of(answer: bytes) -> bytes:
    """Take a body out of a reply whose framing is sound."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"chunked" not in head:
        assert b"Content-Length: %d\r\n" % len(body) in head + b"\r\n"
        return body
    whole = b""
    while True:
        size, _, body = body.partition(b"\r\n")
        if size == b"0":
            assert body == b"\r\n"
            return whole
        length = int(size, 16)
        assert body[length : length + 2] == b"\r\n"
        whole, body = whole + body[:length], body[length + 2 :]


def served(service: Service, behaviour: Behaviour) -> bytes:
    service.script(behaviour)
    return body_of(exchange(service.port))


def test_gzip_and_deflate_are_correct_when_they_should_be(service: Service) -> None:
    assert gzip.decompress(served(service, gzip_reply(BODY))) == BODY
    assert zlib.decompress(served(service, deflate_reply(BODY))) == BODY
    trailing = zlib.decompressobj(31)
    assert trailing.decompress(served(service, gzip_trailing(BODY, extra=b"!"))) == BODY
    assert trailing.unused_data == b"!"


@pytest.mark.parametrize("behaviour", [gzip_flipped(), gzip_bad_crc()])
def test_f40_flipped_gzip_does_not_decode(service: Service, behaviour: Behaviour) -> None:
    data = served(service, behaviour)
    with pytest.raises((gzip.BadGzipFile, zlib.error)):
        gzip.decompress(data)


def test_f40_a_bad_crc_is_behind_good_data(service: Service) -> None:
    data = served(service, gzip_bad_crc())
    assert zlib.decompress(data[10:-8], -15) == EMPTY_BOOK


def test_f41_f42_gzip_that_ends_early(service: Service) -> None:
    cut = served(service, gzip_cut())
    assert gzip.compress(EMPTY_BOOK, mtime=0).startswith(cut)
    without = zlib.decompressobj(31)
    assert without.decompress(served(service, gzip_without_crc())) == EMPTY_BOOK
    assert not without.eof


def test_f37_stacked_gzip_unpacks_layer_by_layer(service: Service) -> None:
    service.script(stacked_gzip(BODY, layers=3))
    answer = exchange(service.port)
    assert b"\r\nContent-Encoding: gzip, gzip, gzip\r\n" in answer
    assert gzip.decompress(gzip.decompress(gzip.decompress(body_of(answer)))) == BODY


def test_f36_a_bomb_is_small_on_the_wire_and_good_when_unpacked(service: Service) -> None:
    data = served(service, gzip_bomb(10_000_001))
    assert len(data) < 20_000
    unpacked = gzip.decompress(data)
    assert len(unpacked) == 10_000_001 + len(EMPTY_BOOK)
    assert json.loads(unpacked) == envelope([])


@pytest.mark.parametrize("in_chunks", [True, False])
def test_f35_an_endless_body_goes_on_until_the_client_leaves(
    service: Service, in_chunks: bool
) -> None:
    service.script(endless_body(b"x" * 100, in_chunks=in_chunks))
    with socket.create_connection(("127.0.0.1", service.port), timeout=5) as sock:
        sock.sendall(GET)
        came = b""
        while len(came) < 10**6:
            came += sock.recv(2**20)
    assert came.startswith(CHUNKED if in_chunks else OK)
    assert came.count(b"x" * 100) > 9000
    service.wait_for_open(0)


def test_f33_header_floods_have_the_size_they_say(service: Service) -> None:
    service.script(header_flood(10_000, line=100, body=BODY), huge_header_line(5000, BODY))
    flood, line = exchange(service.port), exchange(service.port)
    flooded = [each for each in flood.split(b"\r\n") if each.startswith(b"X-Flood")]
    assert len(flooded) == 100
    assert sum(len(each) + 2 for each in flooded) == 10_000
    assert max(len(each) for each in line.split(b"\r\n")) >= 5000
    assert body_of(flood) == body_of(line) == BODY


def test_delays_and_drips_take_their_time(service: Service) -> None:
    service.script(delay(0.1, reply(200, BODY)), drip(b"12345", every=0.02))
    start = time.monotonic()
    exchange(service.port)
    assert time.monotonic() - start >= 0.1
    start = time.monotonic()
    exchange(service.port)
    assert time.monotonic() - start >= 0.1


def asked(service: Service, query: str) -> object:
    request = f"GET /?{query} HTTP/1.1\r\nConnection: close\r\n\r\n"
    answer: object = json.loads(body_of(exchange(service.port, request.encode())))
    return answer


def test_pages_go_through_the_rows(service: Service) -> None:
    service.choose(pages(range(23)))
    assert asked(service, "query=x") == list(range(10))
    assert asked(service, "query=x&page=3&limit=10") == [20, 21, 22]
    assert asked(service, "query=x&page=4&limit=10") == []


def test_f74_to_f77_pages_misbehave_as_told(service: Service) -> None:
    service.choose(pages(range(23), ignore_page=True))
    assert asked(service, "page=9&limit=3") == [0, 1, 2]
    service.choose(pages(range(23), most=4))
    assert asked(service, "page=2&limit=100") == [4, 5, 6, 7]
    service.choose(pages(range(23), shift=1))
    assert asked(service, "page=1&limit=3") == [0, 1, 2]
    assert asked(service, "page=2&limit=3") == [2, 3, 4]
    service.choose(pages(range(23), shift=-1))
    assert asked(service, "page=1&limit=3") == [0, 1, 2]
    assert asked(service, "page=2&limit=3") == [4, 5, 6]
    service.choose(pages(range(23), faults={2: [json_reply("no")]}))
    assert asked(service, "page=2&limit=3") == "no"
    assert asked(service, "page=2&limit=3") == [3, 4, 5]


def test_f72_http2_streams_are_answered_reset_or_sent_away(service: Service) -> None:
    behaviour = Http2(h2_reply(BODY), h2_reset(), h2_goaway(last_stream=3, error=2))
    service.script(behaviour)
    requests = [
        b"\0\0\1\1\5\0\0\0\1\x82",  # HEADERS with END_STREAM and END_HEADERS
        b"\0\0\1\1\4\0\0\0\3\x83" + b"\0\0\2\0\1\0\0\0\3{}",  # HEADERS, DATA with END_STREAM
        b"\0\0\1\1\5\0\0\0\5\x82",
    ]
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" + b"\0\0\0\4\1\0\0\0\0"
    ping = b"\0\0\x08\6\0\0\0\0\0pingpong"
    expected = (
        b"\0\0\0\4\0\0\0\0\0"  # SETTINGS
        b"\0\0\0\4\1\0\0\0\0"  # its acknowledgement
        b"\0\0\x08\6\1\0\0\0\0pingpong"
        b"\0\0\1\1\4\0\0\0\1\x88\0\0\7\0\1\0\0\0\1" + BODY + b"\0\0\4\3\0\0\0\0\3\0\0\0\2"
        b"\0\0\x08\7\0\0\0\0\0\0\0\0\3\0\0\0\2"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=5) as sock:
        sock.sendall(preface + ping + b"".join(requests))
        came = b""
        while len(came) < len(expected):
            came += sock.recv(65536)
    assert came == expected
    assert behaviour.streams == dict(zip((1, 3, 5), requests, strict=True))
