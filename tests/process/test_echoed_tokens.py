"""A service repeats the token, of any length, as it is or escaped; no text about a call shows
it, and a book keeps it in documented fields only."""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tradingdata as td
from command_line import Run, run_here
from echoes import (
    BODIES,
    PLACES,
    SPELLINGS,
    echo,
    pieces_in,
    random_token,
    said_by,
    shown_of,
    success_with,
)
from service import Behaviour, Service, as_json, envelope, garbage, reply, trades
from tradingdata._util.declarations import CALLS

PAN = "ABCPK1234F"
STATUSES = [200, 302, 400, 401, 403, 404, 422, 429, 500, 503]
LENGTHS = st.sampled_from([8, 9, 13, 20, 36, 63, 64, 255, 512, 520, 900, 4000]) | st.integers(
    8, 4000
)
# Around each of the places where text is cut: 64, 100, 300, 500, 2,048 and 65,536 bytes.
EDGES = [0, 64, 100, 300, 500, 2048, 65536]
POSITIONS = st.builds(
    lambda edge, before: max(0, edge - before), st.sampled_from(EDGES), st.integers(0, 5000)
)
# Fixed examples: with random ones, a piece would be found by chance in one run of thousands.
fixed = settings(
    max_examples=settings().max_examples * 3 // 2,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)


def always(behaviour: Behaviour) -> Callable[[Any], Behaviour]:
    """Behaves in this way whatever is requested."""
    return lambda request: behaviour


@pytest.fixture(scope="module")
def echoing() -> Iterator[Service]:
    with Service() as service:
        yield service


def failed_call(service: Service, token: str, what: str, log: io.StringIO) -> str:
    retries: list[td.types.Retry] = []
    log.seek(0)
    log.truncate()
    with (
        td.Client(service.base_url, access_token=token, attempts=1) as client,
        pytest.raises(td.TradingDataError) as caught,
    ):
        client.search("x").all() if what == "search" else getattr(client, what)()
    return f"{said_by(caught.value)} {retries} {log.getvalue()}"


@fixed
@given(
    seed=st.integers(0, 2**32),
    length=LENGTHS,
    before=POSITIONS,
    spelling=st.sampled_from(sorted(SPELLINGS)),
    body=st.sampled_from(sorted(BODIES)),
    status=st.sampled_from(STATUSES),
    what=st.sampled_from(sorted(CALLS)),
)
def test_no_error_shows_a_piece_of_an_echoed_token(
    echoing: Service,
    log: io.StringIO,
    seed: int,
    length: int,
    before: int,
    spelling: str,
    body: str,
    status: int,
    what: str,
) -> None:
    token = random_token(seed, length)
    text = "." * before + " bad token " + SPELLINGS[spelling](token) + f" of {PAN}"
    echoing.choose(lambda request: echo(status, BODIES[body](text)))
    shown = failed_call(echoing, token, what, log)
    assert pieces_in(shown, token) == set()
    assert PAN not in shown


@fixed
@given(
    seed=st.integers(0, 2**32),
    length=LENGTHS,
    before=st.integers(0, 100),
    spelling=st.sampled_from(sorted(SPELLINGS)),
    where=st.sampled_from(PLACES),
)
def test_no_book_keeps_or_shows_an_echoed_token(
    echoing: Service,
    log: io.StringIO,
    tmp_path: Path,
    seed: int,
    length: int,
    before: int,
    spelling: str,
    where: str,
) -> None:
    token = random_token(seed, length)
    body = success_with("." * before + SPELLINGS[spelling](token), where)
    echoing.choose(lambda request: reply(200, body))
    with (
        td.Client(echoing.base_url, access_token=token) as client,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        book = client.trade_book()
    shown = shown_of(book, tmp_path) + str([str(one.message) for one in warned]) + log.getvalue()
    assert pieces_in(shown, token) == set()
    assert ("$", "the access token, now X") in {(one.field, one.problem) for one in book.issues}
    assert book.response is not None
    assert b"<token>X" in book.response.content


@pytest.mark.parametrize("spelling", ["plain", "all JSON escapes", "percent"])
@pytest.mark.parametrize("where", ["documented field", "wrong type"])
def test_documented_fields_are_the_services_data(
    echoing: Service, spelling: str, where: str
) -> None:
    body = success_with(SPELLINGS[spelling](token := random_token(1, 900)), where)
    echoing.choose(lambda request: reply(200, body))
    with (
        td.Client(echoing.base_url, access_token=token) as client,
        pytest.warns(td.DataWarning) as warned,
    ):
        book = client.trade_book()
    assert book.response is not None
    assert book.response.content == body
    if where == "documented field":
        percent = spelling == "percent"
        assert book[0].symbol == (SPELLINGS["percent"](token) if percent else token)
    assert "$" not in {issue.field for issue in book.issues}
    assert pieces_in(str(book.issues) + str([str(one.message) for one in warned]), token) == set()


@pytest.mark.parametrize("length", [8, 11, 40, 900])
def test_issues_of_all_rows_do_not_show_the_token(echoing: Service, length: int) -> None:
    token = random_token(4, length)
    echoing.choose(always(reply(200, as_json(envelope(trades(1, trade_no=token) * 2)))))
    with td.Client(echoing.base_url, access_token=token) as client:
        (repeated,) = client.trade_book().issues
        assert (repeated.field, pieces_in(str(repeated), token)) == ("trade_no", set())
        other = trades(1) + trades(1, client_id=token)
        echoing.choose(always(reply(200, as_json(envelope(other)))))
        issues = client.trade_book().issues
    assert "client_id" in {issue.field for issue in issues}
    assert pieces_in(str(issues), token) == set()


def test_strict_refuses_a_book_that_holds_the_token(echoing: Service) -> None:
    token = random_token(2, 40)
    body = f'{{"status":"success","message":"{token}","data":[]}}'.encode()
    echoing.choose(lambda request: reply(200, body))
    with (
        td.Client(echoing.base_url, access_token=token, strict=True) as client,
        pytest.raises(td.DecodeError, match="token"),
    ):
        client.trade_book()


@pytest.mark.parametrize(
    "command", [["check"], ["trades"], ["orders", "-f", "json"], ["search", "x"]]
)
@pytest.mark.parametrize("status", [200, 401])  # which are not tried again
def test_the_command_line_shows_no_echoed_token(
    echoing: Service,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    command: list[str],
    status: int,
) -> None:
    token = random_token(3, 700)
    env = {"TRADINGDATA_BASE_URL": echoing.base_url, "TRADINGDATA_ACCESS_TOKEN": token}
    run: Run = run_here(capsysbinary, monkeypatch, env)
    bodies: list[Callable[[str], bytes]] = [*BODIES.values()]
    bodies.append(functools.partial(success_with, where="message"))
    for make, spelling in zip(itertools.cycle(bodies), SPELLINGS.values(), strict=False):
        text = f"{'.' * 480} Bearer {spelling(token)}"
        echoing.choose(always(reply(status, make(text))))
        ran = run(*command)
        assert pieces_in(ran.text + ran.err, token) == set()


def test_headers_and_the_reason_show_no_token(echoing: Service, log: io.StringIO) -> None:
    token = random_token(4, 600)
    name = token[:40].replace("=", "").replace("/", "").replace("+", "")
    chunked = "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = gzip.compress(BODIES["JSON"](token))
    packed = b"HTTP/1.1 401 X\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    packed += body
    for head in (
        f"HTTP/1.1 500 {token}\r\nContent-Length: 0\r\n\r\n",
        f"HTTP/1.1 302 Found\r\nLocation: https://{name}.test/\r\nContent-Length: 0\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nContent-Length: {token}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nContent-Encoding: {token}\r\n\r\nx",
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {token}\r\n\r\nx",
        f"HTTP/1.1 429 X\r\nRetry-After: {token}\r\nContent-Length: 0\r\n\r\n",
        f"{token}\r\n\r\n",
        f"HTTP/9.9 {token}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\n{token}\r\n\r\n",
        f"HTTP/1.1 401 X\r\nX-Debug: a\r\n {token}\r\n{name}: 1\r\nContent-Length: 0\r\n\r\n",
        f"HTTP/1.1 401 X\r\nSet-Cookie: session={token}; Path=/\r\nContent-Length: 0\r\n\r\n",
        f"HTTP/1.1 103 {token}\r\nLink: {token}\r\n\r\nHTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n",
        f"{chunked}9;t={token}\r\nno good: \r\n0\r\nX-Token: {token}\r\n\r\n",
        f"{chunked}{token}\r\n",
        packed,
        packed[:-9],
    ):
        echoing.choose(always(garbage(head.encode() if isinstance(head, str) else head)))
        with (
            td.Client(echoing.base_url, access_token=token, attempts=1, timeout=2) as client,
            pytest.raises(td.TradingDataError) as caught,
        ):
            client.trade_book()
        assert pieces_in(said_by(caught.value) + log.getvalue(), token) == set(), head[:40]
