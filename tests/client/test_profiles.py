"""Profiles and options: declared once, and known everywhere that takes them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import good_book
from service import Service
from systems import WINDOWS, needs_modes
from tradingdata.client.options import CHECKS, IN_FILES, ClientOptions
from tradingdata.client.profiles import check_options

kinds = pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])


@kinds
def test_a_profile_gives_the_options(kind: Any, profiles: Path) -> None:
    profiles.write_text('[desk1]\nbase_url = "https://api.example.test"\naccess_token = "canary"\n')
    client = kind.from_profile("desk1")
    name = kind.__name__
    assert repr(client) == f"<{name} https://api.example.test, account='desk1', with a token>"
    assert kind.from_profile("desk1", account="mine").account == "mine"
    other = kind.from_profile("desk1", base_url="https://other.example.test")
    assert other.base_url == "https://other.example.test"


def test_a_token_file_is_named_beside_the_profiles_and_read_when_needed(
    profiles: Path, service: Service
) -> None:
    service.script(then=good_book())
    profiles.write_text(f'[a]\nbase_url = "{service.base_url}"\naccess_token_file = "a.token"\n')
    client = td.Client.from_profile("a")
    token = profiles.parent / "a.token"
    token.touch(0o600)
    token.write_text("written-later\n")
    client.trade_book()
    assert service.requests[0].header("authorization") == "Bearer written-later"


@kinds
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r'no profile of that name: write it with the lines \[NAME\], base_url = "https://'),
        ("[desk2]\n[desk3]\n", "has no profile of that name: use one of: desk2, desk3"),
        ("desk1 = 5\n", r"'desk1' is not a table: write \[desk1\] above its options"),
        ("[desk1]\ntoken = 'canary'\n", "unknown option 'token': use one of: base_url,"),
        ("[desk1]\ntimeout = 'canary'\n", "timeout has the wrong type"),
        ("[desk1]\nattempts = true\n", "attempts has the wrong type"),
        ("[desk1]\naccess_token = 'canary'\naccess_token_file = 'x'\n", "has both access_token"),
        ("[desk1\n", "is not valid TOML"),
        ("[desk1]\n# canary \udcff\n", "is not valid TOML: byte 17 is not UTF-8"),
    ],
)
def test_what_is_wrong_in_a_profile_is_reported_without_its_values(
    kind: Any, profiles: Path, text: str, message: str
) -> None:
    profiles.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(td.ConfigurationError, match=message) as caught:
        kind.from_profile("desk1")
    assert str(profiles) in str(caught.value)
    assert "canary" not in str(caught.value)


@needs_modes
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_can_read_is_refused(profiles: Path, mode: int) -> None:
    profiles.write_text('[desk1]\nbase_url = "https://api.example.test"\n')
    profiles.chmod(mode)
    with pytest.raises(td.ConfigurationError, match="run `") as refused:
        td.Client.from_profile("desk1")
    assert f"chmod 600 {profiles}" in str(refused.value)


def test_no_file_says_where_it_belongs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRADINGDATA_PROFILES", raising=False)
    variable = "APPDATA" if WINDOWS else "XDG_CONFIG_HOME"
    monkeypatch.setenv(variable, str(tmp_path))
    expected = tmp_path / "tradingdata" / "profiles.toml"
    with pytest.raises(
        td.ConfigurationError, match=re.escape(f"no profile file at {expected}: write it")
    ):
        td.Client.from_profile("desk1")
    monkeypatch.delenv(variable)
    monkeypatch.setenv("USERPROFILE" if WINDOWS else "HOME", str(tmp_path))
    expected = tmp_path / ".config" / "tradingdata" / "profiles.toml"
    with pytest.raises(
        td.ConfigurationError, match=re.escape(f"no profile file at {expected}: write it")
    ):
        td.Client.from_profile("desk1")


OPTIONS = [name for name in inspect.signature(ClientOptions).parameters if name != "access_token"]


def test_every_option_of_the_signature_is_validated() -> None:
    assert list(CHECKS) == OPTIONS, "add a check for each option to CHECKS of client/options.py"


@pytest.mark.parametrize("name", sorted(IN_FILES))
def test_a_profile_takes_the_option(name: str) -> None:
    with pytest.raises(td.ConfigurationError, match=f"here: {name} has the wrong type"):
        check_options("here", {name: []})
