"""`tradingdata profiles` and TRADINGDATA_PROFILE."""

from __future__ import annotations

from pathlib import Path

import pytest

import tradingdata as td
from command_line import Run, run_here
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("BASE_URL", "ACCESS_TOKEN", "PROFILE"):
        monkeypatch.delenv(f"TRADINGDATA_{name}", raising=False)
    return run_here(capfdbinary, monkeypatch, {})


@pytest.fixture(autouse=True)
def desk1(profiles: Path, sandbox: Service) -> None:
    """A profile whose token is in a file beside it."""
    url = f'base_url = "{sandbox.base_url}"'
    profiles.write_text(f'[desk1]\n{url}\naccess_token_file = "own"\ntz = "Asia/Kolkata"\n')
    own = profiles.parent / "own"
    own.touch(0o600)
    own.write_text(sandbox.token() + "\n")


def test_profiles_are_listed_without_their_tokens(
    run: Run, profiles: Path, sandbox: Service
) -> None:
    secret = 'base_url = "https://user:hidden@a.test"\naccess_token = "hidden-token-1"\n'
    profiles.write_text(f"{profiles.read_text()}[desk2]\n{secret}account = 'second'\n")
    listed = run("profiles")
    desk1, desk2 = (line.split() for line in listed.text.splitlines()[-2:])
    assert desk1 == ["desk1", sandbox.base_url, "Asia/Kolkata", "desk1", "own"]
    assert desk2 == ["desk2", "https://a.test", "second", "in", "the", "profile"]
    assert str(profiles) in listed.err
    assert "hidden" not in listed.text + listed.err


def test_without_a_profile_file_its_place_is_named(run: Run, profiles: Path) -> None:
    profiles.unlink()
    listed = run("profiles")
    assert (listed.code, str(profiles) in listed.err) == (Code.CONFIGURATION, True)


def test_the_profile_of_the_environment_is_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADINGDATA_PROFILE", "desk1")
    assert run("trades", "-f", "json").code == Code.OK
    assert td.Client.from_profile().account == "desk1"
    monkeypatch.setenv("TRADINGDATA_PROFILE", "missing")
    assert "no profile of that name" in run("trades").err
    monkeypatch.delenv("TRADINGDATA_PROFILE")
    with pytest.raises(td.ConfigurationError, match="set TRADINGDATA_PROFILE"):
        td.Client.from_profile()
