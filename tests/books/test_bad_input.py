"""What cannot be sent: each a typed error that says what to do, before any byte leaves."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, both, failure, good_book
from service import Service, as_json, envelope, trades
from tradingdata._util.declarations import BOOK_CALLS
from tradingdata.client.options import CHECKS

pytestmark = pytest.mark.sanitize

HTTPS = "https://api.example.test"
# For each check of an option, a value of a kind that it refuses.
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "text": (5, TypeError, "must be text, not int"),
    "seconds": ("30", TypeError, "must be a number of seconds, not '30'"),
    "attempts": (1.5, TypeError, "must be an integer, not 1.5"),
    "count": ("1 MB", TypeError, "must be an integer, not '1 MB'"),
    "rate_limit": (5, TypeError, "must be a tradingdata.RateLimit, not 5"),
    "flag": ("no", TypeError, "must be True or False, not 'no'"),
    "path": (5, TypeError, "must be a path, not 5"),
    "hook": ("log", TypeError, "must be a function, not 'log'"),
    "checked_zone": ("Asia/Nowhere", ValueError, "Asia/Nowhere"),
}
kinds = pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRADINGDATA_BASE_URL", "TRADINGDATA_ACCESS_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@kinds
def test_no_base_url_says_where_to_give_one(kind: Any) -> None:
    with pytest.raises(td.ConfigurationError) as caught:
        kind()
    assert str(caught.value) == (
        "no base URL: pass `base_url`, set TRADINGDATA_BASE_URL or use a profile; "
        "to try the package without an account, run `python -m tradingdata demo`"
    )


@kinds
@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("api.example.test", "base_url must start with https://"),
        ("https://", "base_url has no host: pass an address like https://api.example.com"),
        ("https://api.example.test/\0", "control"),
        ("https://api.example.test\ud800", "lone surrogate"),
        ("http://api.example.test", "must start with https"),
        ("https://user:canary@api.example.test", "user name or password"),
    ],
    ids=ascii,
)
def test_a_malformed_base_url(kind: Any, url: str, message: str) -> None:
    with pytest.raises(td.ConfigurationError, match="base_url") as caught:
        kind(url)
    assert message in str(caught.value)
    assert "canary" not in str(caught.value)


@kinds
@pytest.mark.parametrize(
    ("option", "value", "error", "message"),
    [
        ("timeout", 0, ValueError, "must be a positive number of seconds, not 0"),
        ("timeout", float("nan"), ValueError, "must be a positive number of seconds"),
        ("timeout", None, TypeError, "must be a number of seconds, not None"),
        ("timeout", True, TypeError, "must be a number of seconds, not True"),
        ("connect_timeout", 0, ValueError, "must be a positive number of seconds"),
        ("attempts", 0, ValueError, "must be an integer of at least 1, not 0"),
        ("attempts", 2**70, ValueError, "must be an integer of at least 1"),
        ("max_body", 0, ValueError, "must be an integer of at least 1, not 0"),
        ("proxy", "ftp://proxy.test", ValueError, "must be an http, https, socks4"),
        ("proxy", "http://u:canary @p", ValueError, "contains a space"),
        ("proxy", "http://u:canary\ud800@p", ValueError, "contains a lone surrogate"),
        *((name, *WRONG[check.__name__]) for name, check in CHECKS.items()),
        ("access_token", 5, TypeError, "must be text or a function that returns text"),
        ("access_token", b"canary", TypeError, "must be text or a function that returns text, not"),
    ],
    ids=ascii,
)
def test_an_option_of_the_wrong_kind_or_size(
    kind: Any, option: str, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        kind(**{"base_url": HTTPS, option: value})
    assert str(caught.value).startswith(option)
    assert message in str(caught.value)
    assert "canary" not in str(caught.value)
    assert isinstance(caught.value, td.ConfigurationError) == (error is ValueError)


@pytest.mark.parametrize("huge", [1e300, 10**400, 2**62])
def test_a_huge_timeout_is_a_long_one(service: Service, huge: Any) -> None:
    service.script(good_book(), good_book())
    with td.Client(service.base_url, access_token=TOKEN, timeout=huge) as client:
        assert len(client.trade_book()) == 3
        assert len(client.trade_book(timeout=huge)) == 3


@kinds
@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("", "it is empty"),
        ("canary\n", "it contains a line break"),
        ("canary\ud800", "it contains a character outside ASCII"),
        ("canary" * 20_000, "it is longer than 64 KiB"),
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_a_token_that_cannot_be_a_header_is_refused_and_not_shown(
    kind: Any, token: str, why: str
) -> None:
    with pytest.raises(td.ConfigurationError) as caught:
        kind(HTTPS, access_token=token)
    expected = f"access_token cannot be sent in a header: {why} (the value is not shown)"
    assert str(caught.value) == expected
    client = kind(HTTPS, access_token=TOKEN)
    with pytest.raises(td.ConfigurationError) as caught:
        client.access_token = token
    assert str(caught.value) == expected


@both
@pytest.mark.parametrize("method", BOOK_CALLS)
def test_no_token_says_where_to_give_one(call: Any, method: str, service: Service) -> None:
    error = failure(service.base_url, method, call=call, access_token=None)
    assert isinstance(error, td.ConfigurationError)
    assert str(error) == (
        "the books need an access token: pass `access_token`, set TRADINGDATA_ACCESS_TOKEN "
        "or use a profile"
    )
    assert service.connections == []


@both
@pytest.mark.parametrize(
    ("method", "argument", "error", "message"),
    [
        *(
            ("search", blank, td.ConfigurationError, "query is blank")
            for blank in ("", " ", "\t\n", "\xa0")
        ),
        ("search", 5, TypeError, "query must be text, not int"),
        ("search", None, TypeError, "query must be text, not NoneType"),
        ("search", b"tata", TypeError, "query must be text, not bytes"),
        ("stock", 500325, TypeError, "identifier must be text, not int"),
        ("stock", "", td.ConfigurationError, "identifier is blank: pass an NSE symbol, a BSE code"),
        ("stock", "  ", td.ConfigurationError, "identifier is blank: pass a"),
    ],
)
def test_what_cannot_be_searched_for(
    call: Any, method: str, argument: Any, error: type[Exception], message: str, service: Service
) -> None:
    with pytest.raises(error, match=message):
        call(service.base_url, method, argument)
    assert service.connections == []


@pytest.mark.parametrize(
    ("timeout", "error"), [(0, ValueError), (-1, ValueError), ("5", TypeError), (True, TypeError)]
)
def test_a_call_s_own_timeout_is_checked_like_the_client_s(
    timeout: Any, error: type[Exception], service: Service
) -> None:
    with td.Client(service.base_url, access_token=TOKEN) as client:
        for call in (
            lambda: client.trade_book(timeout=timeout),
            lambda: client.order_book(timeout=timeout),
            lambda: client.stock("INFY", timeout=timeout),
            lambda: client.search("INFY", timeout=timeout),
        ):
            with pytest.raises(error, match="timeout must be a"):
                call()
    assert service.connections == []


def test_a_ca_file_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    with pytest.raises(td.ConfigurationError) as caught:
        td.Client(HTTPS, ca_file=missing)
    assert str(caught.value) == (
        f"the CA file {missing} named by ca_file does not exist: "
        "name the PEM file of the authorities that you trust as `ca_file` or in SSL_CERT_FILE"
    )
    with pytest.raises(td.ConfigurationError, match="is not a file"):
        td.Client(HTTPS, ca_file=tmp_path)


def test_verification_cannot_be_turned_off() -> None:
    for kind in (td.Client, td.AsyncClient):
        options = inspect.signature(kind).parameters
        assert not {"verify", "insecure", "verify_tls", "ssl"} & set(options)
        with pytest.raises(TypeError, match="verify"):
            kind(HTTPS, verify=False)  # type: ignore[call-arg]


def test_a_switch_is_true_or_false_since_the_text_no_is_true(tmp_path: Path) -> None:
    book: Any = td.TradeBook.from_json(as_json(envelope(trades(1))))
    path = tmp_path / "book.csv"
    path.write_text("kept")
    for method, option in [
        ("to_csv", "spreadsheet"),
        ("to_csv", "extra"),
        ("to_json", "lines"),
        ("to_dicts", "extra"),
    ]:
        with pytest.raises(TypeError, match=f"{option} must be True or False, not 'no'"):
            getattr(book, method)(**{option: "no"})
    with pytest.raises(TypeError, match="overwrite must be True or False, not 'no'"):
        book.to_csv(path, overwrite="no")
    assert path.read_text() == "kept"
