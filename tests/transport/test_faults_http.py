"""What a response means, and how connections live."""

from __future__ import annotations

import time
from typing import Any

import pytest

import service as s
import tradingdata as td
from calls import TOKEN, both, failure, good_book, served, sync_call
from service import Authority, Behaviour, Service

PREFIX = "POST /api/v1/trade/book: "
NO_JSON = PREFIX + "the response is not the JSON that the service documents: "


@both
@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, td.BadRequestError, ""),
        (405, td.BadRequestError, "; check `base_url` or TRADINGDATA_BASE_URL"),
        (431, td.BadRequestError, "TRADINGDATA_ACCESS_TOKEN has nothing but the token"),
        (422, td.BadRequestError, ""),
        (404, td.NotFoundError, "; check `base_url` or TRADINGDATA_BASE_URL"),
        (401, td.AuthenticationError, "or set TRADINGDATA_ACCESS_TOKEN to one"),
        (403, td.AuthenticationError, "; check the account's permissions"),
        (418, td.StatusError, ""),
        (201, td.StatusError, ""),
        (206, td.StatusError, ""),
        (501, td.ServerError, "; check `base_url` or TRADINGDATA_BASE_URL"),
        (505, td.ServerError, "; check `base_url` or TRADINGDATA_BASE_URL"),
    ],
)
def test_a_status_that_will_not_change_is_reported_at_once(
    call: Any, status: int, kind: type[td.StatusError], advice: str
) -> None:
    """An error of its own kind, the service's message, no second attempt."""
    body = b'{"status":"error","message":"Invalid source","data":null}'
    with served(then=s.reply(status, body)) as service:
        error = failure(service.base_url, call=call)
        assert len(service.requests) == 1
    assert type(error) is kind
    assert (error.retryable, error.passing) == (False, False)
    assert error.status_code == status
    assert error.service_message == "Invalid source"
    assert str(error).startswith(f"{PREFIX}HTTP {status}")
    assert ": Invalid source" in str(error)
    assert str(error).endswith(advice)
    undocumented = kind is td.StatusError
    assert ("the service does not document this status" in str(error)) == undocumented


@both
@pytest.mark.parametrize("status", [408, 503])
def test_a_status_that_may_pass_is_tried_again(call: Any, status: int) -> None:
    """The POST too, since it only reads; the tests of the core have every status."""
    with served(s.reply(status), good_book()) as service:
        book = call(service.base_url)
    assert book.response.attempts == 2
    with served(then=s.reply(status)) as service:
        error = failure(service.base_url, call=call, attempts=2)
        assert len(service.requests) == 2
    assert isinstance(error, td.StatusError)
    assert (error.retryable, error.passing) == (True, True)
    assert error.status_code == status
    assert "(2 attempts in " in str(error)


LIMITS = [
    {"headers": {"Retry-After": "0"}},
    {"headers": {"X-RateLimit-Remaining": "0"}},
    {"headers": {"ratelimit-remaining": "0"}},
    {"headers": {"cf-mitigated": "challenge"}},
    {"headers": {"X-Amzn-Waf-Action": "captcha"}},
    {"body": b"<html><head><title>Just a moment...</title>"},
    {"body": b'{"message":"You have exceeded a secondary rate limit.","status":"error"}'},
    {"body": s.as_json(s.envelope(None, "error", "Too many requests"))},
]


@both
@pytest.mark.parametrize("limit", LIMITS, ids=repr)
def test_a_403_that_limits_requests_is_tried_again(call: Any, limit: dict[str, Any]) -> None:
    with served(s.reply(403, **limit), good_book()) as service:
        assert call(service.base_url).response.attempts == 2
    with served(then=s.reply(403, **limit)) as service:
        error = failure(service.base_url, call=call, attempts=2)
    assert type(error) is td.RateLimitError
    assert (error.status_code, error.retryable, error.passing) == (403, True, True)
    assert "a gateway limits requests" in str(error)


@pytest.mark.parametrize(("status", "action"), [(202, "challenge"), (405, "captcha")])
def test_a_challenge_of_a_firewall_is_tried_again(status: int, action: str) -> None:
    challenge = s.html_reply(status)
    named = s.reply(status, b"<html>", headers={"x-amzn-waf-action": action})
    with served(named, good_book()) as service:
        assert sync_call(service.base_url).response.attempts == 2
    error = failure_of(named)
    assert type(error) is td.RateLimitError
    assert f"HTTP {status}" in str(error)
    assert "asks for a browser" in str(error)
    assert type(failure_of(challenge)) is not td.RateLimitError


def failure_of(behaviour: s.Behaviour) -> td.TradingDataError:
    with served(then=behaviour) as service:
        return failure(service.base_url, attempts=1)


@pytest.mark.parametrize(
    ("title", "meaning", "advice"),
    [
        ("400 Request Header Or Cookie Too Large", "with the access token, are too large", "token"),
        ("Size of a request header field exceeds server limit.", "are too large", "access_token"),
        ("The plain HTTP request was sent to HTTPS port", "takes https only", "base_url"),
        ("Client sent an HTTP request to an HTTPS server.", "takes https only", "base_url"),
        ("You're speaking plain HTTP to an SSL-enabled server port.", "https only", "base_url"),
    ],
)
def test_a_400_of_a_gateway_says_what_to_do(title: str, meaning: str, advice: str) -> None:
    page = f"<html><head><title>{title}</title></head></html>".encode()
    error = failure_of(s.html_reply(400, page))
    assert type(error) is td.BadRequestError
    assert meaning in str(error)
    assert advice in str(error).rsplit("; ", 1)[1]
    assert "arguments" not in str(error)


def test_a_captive_portal_says_so() -> None:
    error = failure_of(s.html_reply(511))
    assert type(error) is td.ServerError
    assert "511 Network Authentication Required; the network wants a login" in str(error)
    assert str(error).endswith("log in to this network in a browser, then try again")


def test_a_403_that_limits_requests_asks_for_no_token() -> None:
    asked: list[int] = []

    def token() -> str:
        asked.append(1)
        return TOKEN

    with served(s.reply(403, headers={"Retry-After": "0"}), good_book()) as service:
        assert len(sync_call(service.base_url, access_token=token)) == 3
    assert len(asked) == 1


@pytest.mark.parametrize(
    "headers",
    [{"X-RateLimit-Remaining": "10"}, {"cf-mitigated": "block"}, {"Server": "rate limit"}],
)
def test_another_403_is_about_the_token(headers: dict[str, str]) -> None:
    with served(then=s.reply(403, headers=headers)) as service:
        error = failure(service.base_url)
    assert type(error) is td.AuthenticationError
    assert (error.attempts, error.retryable, error.passing) == (1, False, False)


def test_html_with_503_is_a_status_and_is_tried_again() -> None:
    with served(s.html_reply(503), good_book()) as service:
        assert sync_call(service.base_url).response.attempts == 2
    with served(then=s.html_reply(502)) as service:
        error = failure(service.base_url, attempts=1)
    assert type(error) is td.ServerError
    assert error.service_message == ""
    assert error.body.startswith("<!DOCTYPE html>")


@both
@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        pytest.param(s.html_reply(), "it is a web page, such as a login page", id="HTML"),
        pytest.param(
            s.reply(200, b"\n <HTML>Log in to the airport</HTML>", headers={"Content-Type": "x/y"}),
            "it is a web page",
            id="captive portal",
        ),
        pytest.param(s.json_reply({}), "the envelope has no status", id="{}"),
        pytest.param(
            s.json_reply({"status": "success", "data": [1]}), r"\$\.data\[0\]", id="no record"
        ),
        pytest.param(s.reply(200, s.EMPTY_BOOK + b"x"), "byte", id="trailing garbage"),
        pytest.param(s.reply(200, b"\xff\xfe{\x00}\x00"), "byte 0", id="UTF-16"),
    ],
)
def test_what_is_not_the_documented_json_is_never_an_empty_book(
    call: Any, behaviour: Behaviour, message: str
) -> None:
    with served(then=behaviour) as service:
        with pytest.raises(td.DecodeError, match=message) as caught:
            call(service.base_url)
        assert len(service.requests) == 1
    error = caught.value
    assert str(error).startswith(NO_JSON)
    assert error.status_code == 200
    assert error.offset is not None
    assert not error.retryable


@both
@pytest.mark.parametrize(
    ("envelope", "message"),
    [
        (
            {"status": "FAILED", "message": "", "data": s.trades(2)},
            'the service returned status "FAILED" and no message',
        ),
        (
            {"data": None, "message": "Try\nlater", "status": "Error"},
            'the service returned status "Error": Try later',
        ),
    ],
    ids=ascii,
)
def test_an_envelope_that_says_no_is_a_service_error(
    call: Any, envelope: dict[str, Any], message: str
) -> None:
    """With data beside it too; in any case of letters; not tried again."""
    with served(then=s.json_reply(envelope)) as service:
        error = failure(service.base_url, call=call)
        assert len(service.requests) == 1
    assert type(error) is td.ServiceError
    assert message in str(error)
    assert error.status_code == 200
    assert error.service_message == envelope["message"].replace("\n", " ")


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


@both
@pytest.mark.parametrize("content_type", ["text/html", ""])
def test_the_body_decides_not_its_content_type(call: Any, content_type: str) -> None:
    with served(s.reply(200, s.EMPTY_BOOK, headers={"Content-Type": content_type})) as service:
        assert len(call(service.base_url)) == 0


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


class TestConnections:
    """Kept connections that end in the wrong moment cost no error."""

    @both
    def test_closed_while_idle(self, call: Any, service: Service) -> None:
        service.script(s.steps(good_book(), s.hang_up), good_book())
        with td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            service.wait_for_open(0)
            book = client.trade_book()
        assert book.response is not None
        assert book.response.attempts == 1
        assert [request.connection for request in service.requests] == [0, 1]

    @pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
    def test_closed_after_the_request_was_written(self, service: Service, reset: bool) -> None:
        service.script(
            s.close_when_next_request_is_read(good_book(), reset=reset), then=good_book()
        )
        with td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            assert len(client.trade_book()) == 3
            assert client.stats.failures == 0
        assert len(service.requests) == 3
        assert len({request.raw for request in service.requests}) == 1

    @pytest.mark.long
    def test_a_connection_idle_for_a_minute_is_not_trusted(self, service: Service) -> None:
        service.script(then=good_book())
        with td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            time.sleep(62)
            client.trade_book()
        assert [request.connection for request in service.requests] == [0, 1]

    def test_http_1_1_is_spoken_even_where_http_2_is_offered(self, ca: Authority) -> None:
        with Service(tls=ca.good(alpn=["h2", "http/1.1"])) as service:
            service.script(good_book())
            assert len(sync_call(service.base_url, ca_file=ca.pem_file)) == 3
            assert service.connections[0].alpn in {None, "http/1.1"}
            assert service.requests[0].version == "HTTP/1.1"

    def test_calls_one_after_the_other_share_a_connection(self, service: Service) -> None:
        service.script(then=good_book())
        with td.Client(service.base_url, access_token=TOKEN) as client:
            for _ in range(20):
                client.trade_book()
            assert client.stats.connections == 1
            assert client.stats.reused == 19
        assert len(service.connections) == 1


def test_cookies_and_security_headers_change_nothing(service: Service) -> None:
    headers = {
        "Set-Cookie": "session=canary; Path=/; Domain=127.0.0.1",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "Alt-Svc": 'h2="127.0.0.1:1"; ma=3600',
    }
    service.script(then=s.reply(200, s.EMPTY_BOOK, headers=headers))
    with td.Client(service.base_url, access_token=TOKEN) as client:
        client.trade_book()
        client.trade_book()
    first, second = service.requests
    assert first.raw == second.raw
