"""Options of a client: declared once, and known everywhere that takes them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tradingdata as td
from tradingdata.client.options import CHECKS, IN_FILES, ClientOptions, meaning_of
from tradingdata.client.profiles import check_options

OPTIONS = [name for name in inspect.signature(ClientOptions).parameters if name != "access_token"]


def test_every_option_of_the_signature_is_validated() -> None:
    assert list(CHECKS) == OPTIONS, "add a check for each option to CHECKS of client/options.py"


@pytest.mark.parametrize("name", [*OPTIONS, "access_token"])
def test_every_option_is_documented(name: str) -> None:
    assert meaning_of(name)[-1] == "."


@pytest.mark.parametrize("client", [td.Client, td.AsyncClient])
def test_both_clients_have_the_signature(client: Any) -> None:
    assert inspect.signature(client) == inspect.signature(ClientOptions)


@pytest.mark.parametrize("name", sorted(IN_FILES))
def test_a_profile_takes_the_option(name: str) -> None:
    with pytest.raises(td.ConfigurationError, match=f"here: {name} has the wrong type"):
        check_options("here", {name: []})
