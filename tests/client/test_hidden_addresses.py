"""Addresses with a user name and password: never shown, whether they can be read or not."""

from __future__ import annotations

import logging
import pickle
import traceback
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tradingdata as td
from calls import TOKEN, both

SECRET = "hunter2canary"
BASE = "https://api.example.test"
VARIABLES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")

# Some that libcurl reads as a proxy, and more that it does not.
ADDRESSES = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["http://", "https://", "HTTP://", "socks5://", "ftp://", "http:/", "://", ""]),
    st.sampled_from(
        [f"{SECRET}@", f"desk:{SECRET}@", f"desk:{SECRET}@@", f"{SECRET}:%zz@", f"a:{SECRET}%"]
    ),
    st.sampled_from(
        ["127.0.0.1", "[::1]", "[::1", "", "a b", "a%", "a^b", "\u0928", "#", "?", "\\"]
    ),
    st.sampled_from(["", ":9", ":99999", ":x", ":-1", ":0"]),
    st.sampled_from(["", "/", "/@", "?a=b", "#c"]),
)
BAD = f"http://desk:{SECRET}@127.0.0.1:99999"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def shown(error: BaseException) -> str:
    """All that an error, its pickle and its traceback with local variables show."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    text = "".join(line for line in trace.format() if "ADDRESSES" not in line)
    return f"{error} {error!r} {pickle.dumps(error)!r} {vars(error)} {text}"


@given(address=ADDRESSES, where=st.sampled_from(["base_url", "proxy", *VARIABLES[:4]]))
@settings(
    max_examples=3 * settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(address=BAD, where="proxy")
@example(address=BAD, where="all_proxy")
@example(address=f"https://desk:{SECRET}@api.example.test", where="base_url")
def test_no_address_is_shown(address: str, where: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    hold = {"address": address}
    address = ""
    with pytest.MonkeyPatch.context() as patch:
        options: dict[str, Any] = {"base_url": BASE}
        if where in VARIABLES:
            patch.setenv(where, hold["address"])
        else:
            options[where] = hold["address"]
        del hold
        made, seen = None, ""
        try:
            made = td.Client(access_token=TOKEN, **options)
        except td.ConfigurationError as error:
            options.clear()
            seen = shown(error)
        if made is not None:
            seen = f"{made!r} {made} {made.base_url}"
    assert SECRET not in seen
    assert SECRET not in caplog.text


@both
@pytest.mark.parametrize("where", ["proxy", "all_proxy"])
def test_an_unreadable_proxy_is_an_error_of_the_client(
    call: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {}
    if where == "proxy":
        options["proxy"] = BAD
    else:
        monkeypatch.setenv(where, BAD)
    with pytest.raises(td.ConfigurationError, match=r"port that is no number|no host") as caught:
        call(BASE, **options)
    source = "proxy " if where == "proxy" else "the environment's https_proxy (or all_proxy) "
    assert str(caught.value).startswith(source)
