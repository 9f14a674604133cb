"""Bodies framed or encoded wrongly: never a book, and tried again where that helps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import service as s
import tradingdata as td
from calls import TOKEN, both, failure, good_book, served, within
from service import Behaviour, Service
from systems import NO_RESET, not_under_wine, posix

pytestmark = pytest.mark.sanitize

MIB = 2**20
BODY = s.as_json(s.envelope(list(s.trades(3))))


def endless_gzip(start: bytes, block: bytes = b"x" * 65_536) -> Behaviour:
    """Send blocks of gzip data that never become text."""

    def run(connection: s.Connection) -> None:
        headers = (s.CONTENT_TYPE, ("Content-Encoding", "gzip"), s.CHUNKED)
        connection.send(s.head(200, *headers) + s.chunk(start + block))
        while True:
            connection.send(s.chunk(block * (65_536 // len(block))))

    return run


PASSING = [
    pytest.param(
        s.reset_mid_body(),
        "broke while reading the response",
        id="reset mid body",
        marks=not_under_wine(NO_RESET),
    ),
    pytest.param(s.cut_content_length(), "incomplete body: the response ended", id="cut length"),
    pytest.param(s.cut_content_length(keep=0), "incomplete body: .* after 0 bytes", id="no body"),
    pytest.param(
        s.steps(
            s.reply(200, BODY, headers={"Transfer-Encoding": "identity", "Content-Length": "9999"}),
            s.hang_up,
        ),
        "incomplete body: .* after",
        id="transfer of identity shorter than its length",
    ),
    pytest.param(s.cut_chunked(), "incomplete body", id="whole body without its last chunk"),
    pytest.param(s.cut_chunked(keep=5), "incomplete body", id="cut chunk"),
    pytest.param(s.bad_chunk_size(), "broke|malformed", id="bad chunk size"),
    pytest.param(s.close_delimited(keep=20), "incomplete body", id="cut by the close"),
    pytest.param(
        s.reply(200, BODY[:-20]),
        rf"incomplete body: .* ends too early at byte {len(BODY) - 20}\b",
        id="cut behind its own length",
    ),
    pytest.param(
        s.cut_head(s.message(body=BODY), keep=30), "incomplete response: its head", id="cut head"
    ),
    pytest.param(
        s.cut_head(s.head(401, s.CONTENT_TYPE), keep=40), "head ends too early", id="head of 401"
    ),
    pytest.param(s.reply(200, b" "), "ends too early|empty", id="cut before its first value"),
    pytest.param(s.gzip_flipped(20), "gzip data is corrupt", id="flipped bit"),
    pytest.param(s.gzip_flipped(-8), "gzip data is corrupt", id="bad checksum"),
    pytest.param(s.gzip_cut(), "incomplete body: .* gzip data ends too early", id="cut gzip"),
    pytest.param(s.gzip_without_crc(), "gzip data ends too early", id="gzip without checksum"),
    pytest.param(
        s.encoded(s.gzip_bytes(BODY) + b"more", "gzip"),
        "gzip data is corrupt",
        id="bytes behind the gzip data",
    ),
]


@both
@pytest.mark.parametrize(("behaviour", "message"), PASSING)
def test_a_damaged_response_is_tried_again_and_then_reported(
    call: Any, behaviour: Behaviour, message: str
) -> None:
    reported: list[td.types.Retry] = []
    with served(behaviour, good_book()) as service:
        book = call(service.base_url, on_retry=reported.append)
    assert len(book) == 3
    assert book.response.attempts == 2
    assert [retry.attempt for retry in reported] == [1]
    with served(then=behaviour) as service:
        with pytest.raises(td.TransportError, match=message) as caught:
            call(service.base_url, attempts=2)
        assert len(service.requests) == 2
    assert type(caught.value) is td.TransportError
    assert caught.value.retryable
    assert caught.value.attempts == 2


@both
@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        pytest.param(  # libcurl 8.22 refuses it itself
            s.two_content_lengths(),
            "two different Content-Lengths|malformed.*Content-Length",
            id="two lengths",
        ),
        pytest.param(
            s.two_content_lengths(other=f"0{len(s.EMPTY_BOOK)}"),
            "two different Content-Lengths|malformed.*Content-Length",
            id="one length in two spellings",
        ),
        pytest.param(
            s.reply(headers={"Content-Length": "-5"}),
            "malformed.*Content-Length",
            id="negative length",
        ),
        pytest.param(s.header_flood(), "headers are larger than 256 KiB", id="header flood"),
        pytest.param(
            s.header_flood(200_020, line=200_020),
            "header line longer than 100 kB",
            id="huge header line",
        ),
        pytest.param(s.stacked_gzip(6), "not requested .only gzip was", id="six encodings"),
        pytest.param(s.stacked_gzip(2), "not requested", id="two encodings"),
        pytest.param(s.encoded(BODY, "x-canary"), "not requested", id="unknown encoding"),
        pytest.param(
            s.encoded(BODY, "gzip"), "declared as gzip but is not", id="label on plain body"
        ),
        pytest.param(s.deflate_reply(), "not requested", id="deflate"),
        pytest.param(s.encoded(b"\x1b\x00\x00", "br"), "not requested", id="brotli"),
    ],
)
def test_a_response_against_the_rules_is_refused_at_once(
    call: Any, behaviour: Behaviour, message: str
) -> None:
    with served(then=behaviour) as service:
        with pytest.raises(td.TransportError, match=message) as caught:
            call(service.base_url)
        assert len(service.requests) == 1
    assert not caught.value.retryable


@both
@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(s.chunked_and_length(BODY), id="chunked and a wrong length: chunked wins"),
        pytest.param(s.two_content_lengths(BODY, other=len(BODY)), id="the same length twice"),
        pytest.param(
            s.reply(200, BODY, headers={"Content-Length": f"{len(BODY)}, {len(BODY)}"}),
            id="the same length twice in one line",
        ),
        pytest.param(s.extra_bytes(BODY), id="bytes after the response"),
        pytest.param(s.close_delimited(BODY), id="whole, ended by the close"),
        pytest.param(
            s.steps(s.raw(b"HTTP/1.1 200 OK\r\n\r\n" + BODY), s.delay(0.05, s.reset)),
            id="whole, without a length, ended by a reset",
            marks=not_under_wine(NO_RESET),
        ),
        pytest.param(s.continue_flood(then=s.book_reply(s.trades(3))), id="100-continue flood"),
        pytest.param(
            s.chunked(BODY, size=7, trailers=b"X-Trailer: 1\r\n"), id="chunks and trailers"
        ),
        pytest.param(s.encoded(s.gzip_bytes(BODY), "gzip"), id="gzip"),
        pytest.param(s.drip(BODY, bytes_per=200, every=0.005), id="slowly"),
        pytest.param(s.encoded(BODY, "identity"), id="identity"),
        pytest.param(s.encoded(BODY, "UTF-8"), id="a charset as encoding"),
        pytest.param(s.encoded(BODY, "none"), id="none"),
        pytest.param(
            s.with_lines(b"Transfer-Encoding: identity", body=BODY), id="transfer of identity"
        ),
        pytest.param(s.encoded(s.gzip_bytes(BODY) + bytes(512), "gzip"), id="zeros after gzip"),
        pytest.param(s.encoded(s.gzip_bytes(BODY) + b"\r\n", "gzip"), id="CR LF after gzip"),
    ],
)
def test_what_is_odd_but_whole_is_taken(call: Any, behaviour: Behaviour) -> None:
    with served(behaviour) as service:
        book = call(service.base_url)
    assert len(book) == 3
    assert [trade["trade_no"] for trade in book] == [row["trade_no"] for row in s.trades(3)]


def test_bytes_after_a_response_do_not_poison_the_next(service: Service) -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" + s.EMPTY_BOOK
    service.script(s.extra_bytes(BODY, extra=poison), good_book(5), good_book(5))
    with td.Client(service.base_url, access_token=TOKEN) as client:
        assert [len(client.trade_book()) for _ in range(3)] == [3, 5, 5]


@both
@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(s.reply(200, b""), id="200 without a body"),
        pytest.param(s.reply(204), id="204"),
        pytest.param(s.close_delimited(keep=0), id="closed before the body"),
    ],
)
def test_no_body_is_tried_once_more_and_is_never_no_trades(call: Any, behaviour: Behaviour) -> None:
    with served(then=behaviour) as service:
        with pytest.raises(td.DecodeError, match="which is not a book without rows") as caught:
            call(service.base_url)
        assert len(service.requests) == 2
    assert caught.value.retryable
    with served(behaviour, good_book()) as service:
        assert len(call(service.base_url)) == 3


@both
@pytest.mark.parametrize(
    ("behaviour", "phase"),
    [
        pytest.param(s.stall(), "waiting for the response", id="before the headers"),
        pytest.param(
            s.steps(s.raw(b"HTTP/1.1 200"), s.stall()),
            "waiting for the response",
            id="within the headers",
        ),
        pytest.param(s.stall_mid_body(), r"reading the response \(25 bytes", id="within the body"),
        pytest.param(s.drip(), "reading the response", id="drip"),
        pytest.param(s.drip(headers_too=True), "waiting for the response", id="headers drip"),
        pytest.param(s.continue_flood(9, s.stall()), "waiting", id="then a stall"),
    ],
)
def test_what_stalls_or_drips_ends_at_the_deadline(
    call: Any, behaviour: Behaviour, phase: str
) -> None:
    with (
        served(then=behaviour) as service,
        within(0.3, at_least=0.25),
        pytest.raises(td.DeadlineError, match=f"the deadline passed while {phase}"),
    ):
        call(service.base_url, timeout=0.3)


def test_a_stall_on_a_kept_connection_is_not_taken_for_a_stalled_lookup(service: Service) -> None:
    service.script(good_book(), s.stall())
    with td.Client(service.base_url, access_token=TOKEN) as client:
        client.trade_book()
        with pytest.raises(td.DeadlineError, match="while waiting for the response"):
            client.trade_book(timeout=0.2)
        assert client.stats.connections == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(s.oversize_body(64 * MIB), id="length known"),
        pytest.param(s.endless_body(), id="endless, in chunks"),
        pytest.param(s.endless_body(in_chunks=False), id="endless, up to the close"),
        pytest.param(s.gzip_bomb(1024 * MIB), id="gzip bomb"),
        pytest.param(endless_gzip(b"\x1f\x8b\x08\x08" + bytes(6)), id="endless name in gzip"),
        pytest.param(endless_gzip(b"", s.gzip_bytes(b"")), id="endless empty members of gzip"),
    ],
)
@both
def test_memory_stops_at_the_cap(call: Any, behaviour: Behaviour) -> None:
    resource = posix("resource")

    def peak() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) // 1024

    with served(then=behaviour) as service:
        before = peak()
        error = failure(service.base_url, call=call, max_body=4 * MIB, timeout=20)
        grown = peak() - before
        assert len(service.requests) == 1
    assert f"larger than max_body ({4 * MIB} bytes)" in str(error)
    assert "pass a larger `max_body` if such a response is right" in str(error)
    assert not error.retryable
    assert grown < 24


# Lines that a parser may take for another head, another length or the head's end.
NAMES = (
    b"HTTP/1.1 200|HTTP/2 200|http/1.1 200 OK|:status|Status|X-Y| X|Content-Length|Content-Length |"
    b"content-length|Transfer-Encoding"
)
LINES = st.builds(
    b"%s%s%s".__mod__,
    st.tuples(
        st.sampled_from(NAMES.split(b"|")),
        st.sampled_from([b":", b": ", b" : ", b" ", b""]),
        st.sampled_from([b"200", b"200 OK", b"5", b"-5", b"identity", b"\x00", b"\xff", b""]),
    ),
)


@given(status=st.sampled_from([200, 401, 404, 429, 503]), lines=st.lists(LINES, max_size=4))
@settings(
    max_examples=3 * settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(status=503, lines=[b"HTTP/2 200: x"])
@example(status=401, lines=[b"HTTP/1.1 200 OK: x", b"Content-Length: 5"])
def test_the_status_is_that_of_the_status_line(
    service: Service, status: int, lines: list[bytes]
) -> None:
    service.script(s.steps(s.with_lines(*lines, status=status, body=BODY), s.hang_up))
    with td.Client(service.base_url, access_token=TOKEN, attempts=1) as client:
        try:
            found = 200 if len(client.trade_book()) == 3 else None
        except td.TransportError:
            return
        except td.TradingDataError as error:
            found = error.status_code
    assert found == status


@both
@pytest.mark.parametrize("line", [b"HTTP/2 200: x", b"HTTP/1.1 200 OK: x"])
@pytest.mark.parametrize("status", [401, 404, 503])
def test_a_header_line_like_a_status_line_is_none(call: Any, line: bytes, status: int) -> None:
    with served(then=s.with_lines(line, status=status, body=BODY)) as service:
        error = failure(service.base_url, call=call, attempts=1)
    assert error.status_code == status


@both
def test_two_lengths_stay_two_whatever_is_between_them(call: Any) -> None:
    other = s.with_lines(b"HTTP/1.1 200 OK: x", b"Content-Length: 5", body=BODY)
    with served(then=s.steps(other, s.hang_up)) as service:
        error = failure(service.base_url, call=call, attempts=1)
    assert type(error) is td.TransportError


def test_a_length_above_the_cap_is_refused_before_its_body(service: Service) -> None:
    service.script(s.stall_mid_body(body=b"x" * 1000, keep=1))
    error = failure(service.base_url, max_body=999, timeout=5)
    assert "larger than max_body" in str(error)
    assert error.elapsed < 5  # the deadline
