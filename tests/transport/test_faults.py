"""The table of faults: what the service does, what a call comes to, and if it is tried again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import service as s
import tradingdata as td
from calls import TOKEN, both, failure, good_book, served, sync_call, within
from service import Authority, Behaviour, Service
from systems import NO_RESET, not_under_wine, posix

pytestmark = pytest.mark.sanitize

MIB = 2**20
BODY = s.as_json(s.envelope(list(s.trades(3))))
GZIP = s.gzip_bytes(BODY)
PREFIX = "POST /api/v1/trade/book: "
NEVER, ONCE, AGAIN = "never", "once", "again"


class Fault(NamedTuple):
    """`words` is a regular expression that the message of the error matches."""

    name: str
    does: Behaviour
    words: str
    error: type[td.TradingDataError]
    retried: str


def faults(
    error: type[td.TradingDataError], retried: str, *rows: tuple[str, Behaviour, str]
) -> Iterable[Any]:
    for row in rows:
        marks = [not_under_wine(NO_RESET)] if "reset" in row[0] else []
        yield pytest.param(Fault(*row, error, retried), id=row[0], marks=marks)


def status(code: int) -> Behaviour:
    return s.reply(code, b'{"status":"error","message":"Invalid source","data":null}')


def gateway(code: int, page: str) -> Behaviour:
    return s.html_reply(code, f"<html><head><title>{page}</title></head></html>".encode())


def said(envelope: dict[str, Any]) -> Behaviour:
    return s.json_reply(envelope)


TWO_LENGTHS = "two different Content-Lengths|malformed.*Content-Length"  # the latter: libcurl 8.22
UNDOCUMENTED = "Invalid source; the service does not document this status"
BASE_URL = "; check `base_url` or TRADINGDATA_BASE_URL$"
HTTPS_ONLY = f"takes https only{BASE_URL}"
LONG_HEADERS = "with the access token, are too large; check that `access_token`"
LIMITED = "HTTP {}.*; a gateway limits requests or asks for a browser"
NO_JSON = f"^{PREFIX}the response is not the JSON that the service documents: .*"
IDENTITY = {"Transfer-Encoding": "identity", "Content-Length": "9999"}
NO_HTTP = "is not HTTP|malformed"

FAULTS = [
    *faults(
        td.TransportError,
        AGAIN,
        ("F7 empty reply", s.hang_up, r"127.0.0.1 closed the connection without a response \(2 a"),
        ("F19 reset mid body", s.reset_mid_body(), "broke while reading the response"),
        ("F20 cut length", s.cut_content_length(), "incomplete body: the response ended"),
        ("F20 no body", s.cut_content_length(keep=0), "incomplete body: .* after 0 bytes"),
        (
            "F20 transfer of identity shorter than its length",
            s.steps(
                s.reply(200, BODY, headers=IDENTITY),
                s.hang_up,
            ),
            "incomplete body: .* after",
        ),
        ("F21 whole body without its last chunk", s.cut_chunked(), "incomplete body"),
        ("F21 cut chunk", s.cut_chunked(keep=5), "incomplete body"),
        ("F22 bad chunk size", s.bad_chunk_size(), "broke|malformed"),
        ("F27 cut by the close", s.close_delimited(keep=20), "incomplete body"),
        (
            "F128 cut behind its own length",
            s.reply(200, BODY[:-20]),
            rf"incomplete body: .* ends too early at byte {len(BODY) - 20}\b",
        ),
        ("F128 cut before its first value", s.reply(200, b" "), "ends too early|empty"),
        (
            "F170 cut head",
            s.cut_head(s.message(body=BODY), keep=30),
            "incomplete response: its hea",
        ),
        ("F170 head of 401", s.cut_head(s.head(401, s.CONTENT_TYPE), keep=40), "head ends too"),
        ("F40 flipped bit", s.gzip_flipped(20), "gzip data is corrupt"),
        ("F40 bad checksum", s.gzip_flipped(-8), "gzip data is corrupt"),
        (
            "F40 bytes behind the gzip data",
            s.encoded(GZIP + b"more", "gzip"),
            "gzip data is corrupt",
        ),
        ("F41 cut gzip", s.gzip_cut(), "incomplete body: .* gzip data ends too early"),
        ("F42 gzip without checksum", s.gzip_without_crc(), "gzip data ends too early"),
    ),
    *faults(
        td.TransportError,
        NEVER,
        ("F8 HTTP/0.9", s.garbage(s.EMPTY_BOOK), NO_HTTP),
        ("F8 garbage", s.garbage(b"\x00\xff\x13\r\n\r\n"), NO_HTTP),
        ("F8 another protocol", s.garbage(b"SSH-2.0-OpenSSH_9.2\r\n"), NO_HTTP),
        ("F8 another version", s.garbage(b"HTTP/9.9 200 OK\r\n\r\n"), NO_HTTP),
        ("F8 HTTP/2", s.garbage(bytes.fromhex("000008 07 00 00000000 0000000000000000")), NO_HTTP),
        ("F24 two lengths", s.two_content_lengths(), TWO_LENGTHS),
        (
            "F24 one length in two spellings",
            s.two_content_lengths(other=f"0{len(s.EMPTY_BOOK)}"),
            TWO_LENGTHS,
        ),
        ("F25 negative length", s.reply(headers={"Content-Length": "-5"}), "malformed.*Content-Le"),
        ("F33 header flood", s.header_flood(), "headers are larger than 256 KiB"),
        ("F33 huge header line", s.header_flood(200_020, line=200_020), "longer than 100 kB"),
        ("F37 six encodings", s.stacked_gzip(6), "not requested .only gzip was"),
        ("F37 two encodings", s.stacked_gzip(2), "not requested"),
        ("F38 unknown encoding", s.encoded(BODY, "x-canary"), "not requested"),
        ("F39 label on plain body", s.encoded(BODY, "gzip"), "declared as gzip but is not"),
        ("F43 deflate", s.deflate_reply(), "not requested"),
        ("F43 brotli", s.encoded(b"\x1b\x00\x00", "br"), "not requested"),
    ),
    *faults(
        td.DecodeError,
        ONCE,
        ("F28 200 without a body", s.reply(200, b""), "empty body.*is not a book without rows"),
        ("F28 204", s.reply(204), "which is not a book without rows"),
        ("F28 closed before the body", s.close_delimited(keep=0), "is not a book without rows"),
    ),
    *faults(
        td.BadRequestError,
        NEVER,
        ("F44 400", status(400), "HTTP 400 Bad Request: Invalid source; check the arguments"),
        ("F44 405", status(405), f"HTTP 405.*: Invalid source.*{BASE_URL}"),
        ("F44 422", status(422), "HTTP 422.*: Invalid source"),
        ("F44 431", status(431), "HTTP 431.*ACCESS_TOKEN has nothing but the token$"),
        ("nginx: headers", gateway(400, "400 Request Header Or Cookie Too Large"), LONG_HEADERS),
        ("Go: headers", gateway(400, "Size of a request header field exceeds"), LONG_HEADERS),
        ("nginx: https", gateway(400, "plain HTTP request was sent to HTTPS port"), HTTPS_ONLY),
        ("Go: https", gateway(400, "Client sent an HTTP request to an HTTPS server."), HTTPS_ONLY),
        ("Apache: https", gateway(400, "plain HTTP to an SSL-enabled server"), HTTPS_ONLY),
    ),
    *faults(td.NotFoundError, NEVER, ("F44 404", status(404), f"HTTP 404.*Invalid so.*{BASE_URL}")),
    *faults(
        td.AuthenticationError,
        NEVER,
        ("401", status(401), "HTTP 401.*Invalid source.*set TRADINGDATA_ACCESS_TOKEN to one$"),
        ("403", status(403), "HTTP 403.*Invalid source.*; check the account's permissions$"),
        ("403, limit", s.reply(403, headers={"X-RateLimit-Remaining": "10"}), "HTTP 403"),
        ("403, block", s.reply(403, headers={"cf-mitigated": "block"}), "HTTP 403"),
        ("403, server", s.reply(403, headers={"Server": "rate limit"}), "HTTP 403"),
    ),
    *faults(
        td.StatusError,
        NEVER,
        ("F44 418", status(418), f"HTTP 418.*{UNDOCUMENTED}"),
        ("F44 201", status(201), f"HTTP 201.*{UNDOCUMENTED}"),
        ("F44 206", status(206), f"HTTP 206.*{UNDOCUMENTED}"),
        ("202, no challenge", s.html_reply(202), "HTTP 202"),
    ),
    *faults(
        td.ServerError,
        NEVER,
        ("F44 501", status(501), f"HTTP 501.*Invalid source.*{BASE_URL}"),
        ("F44 505", status(505), f"HTTP 505.*Invalid source.*{BASE_URL}"),
    ),
    # The tests of the core have every status.
    *faults(td.StatusError, AGAIN, ("F47 408", s.reply(408), r"HTTP 408.*\(2 attempts in ")),
    *faults(
        td.ServerError,
        AGAIN,
        ("F51 503", s.reply(503), r"HTTP 503.*\(2 attempts in "),
        ("F54 HTML with 503", s.html_reply(503), "HTTP 503 Service Unavailable"),
        (
            "F160 captive portal",
            s.html_reply(511),
            "511 Network Authentication Required; the network wants a login.*"
            "log in to this network in a browser, then try again$",
        ),
    ),
    *faults(
        td.RateLimitError,
        AGAIN,
        *(
            (f"F160 403 {limit!r}", s.reply(403, **limit), LIMITED.format(403))
            for limit in (
                {"headers": {"Retry-After": "0"}},
                {"headers": {"X-RateLimit-Remaining": "0"}},
                {"headers": {"ratelimit-remaining": "0"}},
                {"headers": {"cf-mitigated": "challenge"}},
                {"headers": {"X-Amzn-Waf-Action": "captcha"}},
                {"body": b"<html><head><title>Just a moment...</title>"},
                {"body": b'{"message":"You have exceeded a secondary rate limit."}'},
                {"body": s.as_json(s.envelope(None, "error", "Too many requests"))},
            )
        ),
        (
            "F160 202, challenge of a firewall",
            s.reply(202, b"<html>", headers={"x-amzn-waf-action": "challenge"}),
            LIMITED.format(202),
        ),
        (
            "F160 405, captcha of a firewall",
            s.reply(405, b"<html>", headers={"x-amzn-waf-action": "captcha"}),
            LIMITED.format(405),
        ),
    ),
    *faults(
        td.DecodeError,
        NEVER,
        ("F53 HTML", s.html_reply(), NO_JSON + "it is a web page, such as a login page"),
        ("F65 portal", s.reply(200, b"\n <HTML>Log in</HTML>"), NO_JSON + "it is a web page"),
        ("F56 {}", said({}), NO_JSON + "the envelope has no status"),
        ("F56 no record", said({"status": "success", "data": [1]}), NO_JSON + r"\$\.data\[0\]"),
        ("F92 trailing garbage", s.reply(200, s.EMPTY_BOOK + b"x"), NO_JSON + "byte"),
        ("F82 UTF-16", s.reply(200, b"\xff\xfe{\x00}\x00"), NO_JSON + "byte 0"),
    ),
    *faults(
        td.ServiceError,
        NEVER,
        (
            "F57 refusal with data beside it",
            said({"status": "FAILED", "message": "", "data": s.trades(2)}),
            'the service returned status "FAILED" and no message',
        ),
        (
            "F57 refusal in any case of letters",
            said({"data": None, "message": "Try\nlater", "status": "Error"}),
            'the service returned status "Error": Try later',
        ),
    ),
]


@both
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_comes_to_what_the_table_says(call: Any, fault: Fault) -> None:
    passing = fault.retried != NEVER
    options = {"attempts": 2} if fault.retried == AGAIN else {}
    with served(then=fault.does) as service:
        error = failure(service.base_url, call=call, **options)
        assert len(service.requests) == 1 + passing
    assert type(error) is fault.error
    assert str(error).startswith(PREFIX)
    assert re.search(fault.words, str(error))
    assert (error.attempts, error.retryable) == (1 + passing, passing)
    if isinstance(error, td.StatusError):
        assert error.passing == passing
        assert str(error).startswith(f"{PREFIX}HTTP {error.status_code}")
        assert error.service_message in str(error)
    # A document that ends too early may be a cut response, and says where as one that is no JSON.
    if isinstance(error, td.DecodeError) or "F128" in fault.name:
        assert error.offset is not None
    if passing:
        reported: list[td.types.Retry] = []
        with served(fault.does, good_book()) as service:
            book = call(service.base_url, on_retry=reported.append)
        assert (len(book), book.response.attempts) == (3, 2)
        assert [retry.attempt for retry in reported] == [1]


ODD = {
    "F16 whole, ended by the close": s.close_delimited(BODY),
    "F23 chunked and a wrong length: chunked wins": s.chunked_and_length(BODY),
    "F24 the same length twice": s.two_content_lengths(BODY, other=len(BODY)),
    "F24 the same length twice in one line": s.reply(
        200, BODY, headers={"Content-Length": f"{len(BODY)}, {len(BODY)}"}
    ),
    "F26 bytes after the response": s.extra_bytes(BODY),
    "F29 100-continue flood": s.continue_flood(then=good_book()),
    "F32 slowly": s.drip(BODY, bytes_per=200, every=0.005),
    "F55 text/html": s.reply(200, BODY, headers={"Content-Type": "text/html"}),
    "F55 no type": s.reply(200, BODY, headers={"Content-Type": ""}),
    "F169 a charset as encoding": s.encoded(BODY, "UTF-8"),
    "F169 none": s.encoded(BODY, "none"),
    "F169 an empty encoding": s.encoded(BODY, ""),
    "F169 transfer of identity": s.with_lines(b"Transfer-Encoding: identity", body=BODY),
    "F169 zeros after gzip": s.encoded(GZIP + bytes(512), "gzip"),
    "F169 CR LF after gzip": s.encoded(GZIP + b"\r\n", "gzip"),
    "chunks and trailers": s.chunked(BODY, size=7, trailers=b"X-Trailer: 1\r\n"),
    "gzip": s.encoded(GZIP, "gzip"),
}
RESET_AT_ITS_END = pytest.param(
    s.steps(s.raw(b"HTTP/1.1 200 OK\r\n\r\n" + BODY), s.delay(0.05, s.reset)),
    id="whole, without a length, ended by a reset",
    marks=not_under_wine(NO_RESET),
)


@both
@pytest.mark.parametrize(
    "behaviour", [RESET_AT_ITS_END, *(pytest.param(ODD[name], id=name) for name in ODD)]
)
def test_what_is_odd_but_whole_is_taken(call: Any, behaviour: Behaviour) -> None:
    with served(behaviour) as service:
        book = call(service.base_url)
    assert [trade["trade_no"] for trade in book] == [row["trade_no"] for row in s.trades(3)]


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


def endless_gzip(start: bytes, block: bytes = b"x" * 65_536) -> Behaviour:
    """Send blocks of gzip data that never become text."""

    def run(connection: s.Connection) -> None:
        headers = (s.CONTENT_TYPE, ("Content-Encoding", "gzip"), s.CHUNKED)
        connection.send(s.head(200, *headers) + s.chunk(start + block))
        while True:
            connection.send(s.chunk(block * (65_536 // len(block))))

    return run


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


def test_a_length_above_the_cap_is_refused_before_its_body(service: Service) -> None:
    service.script(s.stall_mid_body(body=b"x" * 1000, keep=1))
    error = failure(service.base_url, max_body=999, timeout=5)
    assert "larger than max_body" in str(error)
    assert error.elapsed < 5  # the deadline


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
@example(status=404, lines=[b"HTTP/1.1 200 OK: x"])
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


def test_two_lengths_stay_two_whatever_is_between_them() -> None:
    other = s.with_lines(b"HTTP/1.1 200 OK: x", b"Content-Length: 5", body=BODY)
    with served(then=s.steps(other, s.hang_up)) as service:
        assert type(failure(service.base_url, attempts=1)) is td.TransportError


def test_a_403_that_limits_requests_asks_for_no_token() -> None:
    asked: list[int] = []

    def token() -> str:
        asked.append(1)
        return TOKEN

    with served(s.reply(403, headers={"Retry-After": "0"}), good_book()) as service:
        assert len(sync_call(service.base_url, access_token=token)) == 3
    assert len(asked) == 1


def test_a_web_page_as_error_is_kept_and_is_no_message() -> None:
    with served(then=s.html_reply(502)) as service:
        error = failure(service.base_url, attempts=1)
    assert error.service_message == ""
    assert error.body.startswith("<!DOCTYPE html>")


@both
def test_success_without_data_is_an_empty_book(call: Any) -> None:
    with served(s.json_reply({"status": "SUCCESS", "message": "", "data": None})) as service:
        book = call(service.base_url)
    assert len(book) == 0
    assert book.response.status_code == 200


@both
def test_a_field_that_nobody_documents_is_kept_and_is_no_error(call: Any) -> None:
    rows = [{**row, "new_field": {"a": [number]}} for number, row in enumerate(s.trades(2))]
    with served(s.book_reply(rows)) as service:
        book = call(service.base_url, strict=True)
    assert list(book.extra_fields) == ["new_field"]
    assert [trade["new_field"] for trade in book] == [{"a": [0]}, {"a": [1]}]


@pytest.mark.parametrize(
    ("status", "target"),
    [
        (301, "same"),
        (302, "other port"),
        (303, "https"),
        (307, "file:///etc/passwd"),
        (308, "ftp://x"),
    ],
)
def test_a_redirect_is_refused_and_carries_nothing_anywhere(status: int, target: str) -> None:
    """To the same host, another port, another scheme, a file: never followed."""
    with served(then=good_book()) as elsewhere, Service() as service:
        places = {"same": service.base_url, "other port": elsewhere.base_url}
        places["https"] = elsewhere.url(scheme="https")
        to = places.get(target, target)
        service.script(then=s.redirect(status, f"{to}/api/v1/trade/book?a=b"))
        error = failure(service.base_url)
        assert len(service.requests) == 1
        assert elsewhere.connections == []
    assert type(error) is td.StatusError
    assert not error.retryable
    assert "redirects are not followed, so that the token is not sent elsewhere" in str(error)
    assert "?a=b" not in str(error)


def test_https_is_never_left_for_http(tls_service: Service, ca: Authority) -> None:
    with served(then=good_book()) as plain:
        tls_service.script(then=s.redirect(307, plain.base_url))
        error = failure(tls_service.base_url, ca_file=ca.pem_file)
        assert plain.connections == []
    assert f"(the target is {plain.base_url})" in str(error)
