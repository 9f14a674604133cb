"""`tradingdata profiles` and TRADINGDATA_PROFILE."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from command_line import PROGRAM, Run, run_here
from systems import is_private, posix
from tradingdata.cli.errors import Code
from tradingdata.sandbox import Service

TOKEN = "canary-token-5f3a9c21e8"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("BASE_URL", "ACCESS_TOKEN", "PROFILE"):
        monkeypatch.delenv(f"TRADINGDATA_{name}", raising=False)
    monkeypatch.setenv("TRADINGDATA_PROFILES", str(tmp_path / "desk" / "profiles.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "desk"


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> Run:
    return run_here(capfdbinary, monkeypatch, {})


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def add(run: Run, monkeypatch: pytest.MonkeyPatch, *arguments: str, token: str = TOKEN) -> Any:
    typed(monkeypatch, token + "\n")
    return run("profiles", "add", *arguments)


def test_a_profile_that_was_added_can_be_used(
    run: Run, folder: Path, sandbox: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = ("--base-url", sandbox.base_url)
    done = add(run, monkeypatch, "desk1", *url, "--tz", "Asia/Kolkata", token=sandbox.token())
    assert done.code == Code.OK, done.err
    assert sandbox.token() not in done.err + done.text
    for name in ("profiles.toml", "desk1.token"):
        assert is_private(folder / name)
    assert sorted(os.listdir(folder)) == ["desk1.token", "profiles.toml"], "a draft was left"
    assert sandbox.token() not in (folder / "profiles.toml").read_text()
    assert run("trades", "--profile", "desk1", "-f", "json").code == Code.OK
    book: Any = td.Client.from_profile("desk1").trade_book()
    assert str(book[0].exch_trade_time.tzinfo) == "Asia/Kolkata"
    listed = run("profiles", "list")
    facts = ["desk1", sandbox.base_url, "Asia/Kolkata", "desk1", "desk1.token"]
    assert listed.text.splitlines()[-1].split() == facts
    assert str(folder / "profiles.toml") in listed.err
    assert run("check", "--profile", "desk1").code == Code.OK


def test_a_profile_is_added_below_the_others(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    path = folder / "profiles.toml"
    path.touch(0o600)
    before = '# of the desk\n[desk1]\nbase_url = """https://a.test"""\naccess_token = "old"'
    path.write_text(before)
    refused = add(run, monkeypatch, "desk1", "--base-url", "https://c.test")
    assert refused.code == Code.CONFIGURATION
    assert "has a profile 'desk1' already" in refused.err
    assert os.listdir(folder) == ["profiles.toml"]
    assert add(run, monkeypatch, "desk2", "--base-url", "https://c.test").code == Code.OK
    table = '[desk2]\nbase_url = "https://c.test"\naccess_token_file = "desk2.token"\n'
    assert path.read_text() == f"{before}\n\n{table}"
    assert is_private(path)


def test_the_token_of_a_profile_is_replaced_and_nothing_else(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    path = folder / "profiles.toml"
    path.touch(0o600)
    url = 'base_url = "https://a.test"'
    before = f'[desk1]\n{url}\naccess_token_file = "own"\n[desk2]\n{url}\naccess_token = "old"\n'
    path.write_text(before)
    assert add(run, monkeypatch, "desk1", "--replace").code == Code.OK
    assert (folder / "own").read_text() == TOKEN + "\n"
    assert is_private(folder / "own")
    for name, said in {"desk2": "has no access_token_file", "desk3": "no profile"}.items():
        refused = add(run, monkeypatch, name, "--replace")
        assert (refused.code, said in refused.err) == (Code.CONFIGURATION, True)
    for options in ([], ["--replace", "--base-url", "https://a.test"], ["--replace", "--tz", "x"]):
        assert add(run, monkeypatch, "desk1", *options).code == Code.USAGE
    assert path.read_text() == before
    assert sorted(os.listdir(folder)) == ["own", "profiles.toml"]


@pytest.mark.parametrize(
    ("arguments", "token", "said"),
    [
        (("../x", "--base-url", "https://a.test"), TOKEN, "letters, digits, - and _ only"),
        (("desk", "--base-url", "ftp://a.test"), TOKEN, "https"),
        (("desk", "--base-url", "https://a.test", "--tz", "Asia/Mumbai"), TOKEN, "no time zone"),
        (("desk", "--base-url", "https://a.test"), "", "the token is empty"),
    ],
)
def test_what_cannot_work_is_not_written(
    run: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    token: str,
    said: str,
) -> None:
    done = add(run, monkeypatch, *arguments, token=token)
    assert done.code in (Code.CONFIGURATION, Code.USAGE)
    assert said in done.err
    assert TOKEN not in done.err
    assert not folder.exists()


def test_the_token_is_not_shown_while_it_is_typed(folder: Path) -> None:
    ours, theirs = posix("pty").openpty()
    command = [*PROGRAM, "profiles", "add", "desk1", "--base-url", "https://a.test"]
    running = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    seen = b""
    while b"not shown" not in seen:
        seen += os.read(ours, 1000)
    os.write(ours, TOKEN.encode() + b"\n")
    assert running.wait(60) == 0
    os.close(theirs)
    try:
        while more := os.read(ours, 1000):
            seen += more
    except OSError:
        pass
    os.close(ours)
    assert TOKEN.encode() not in seen
    assert (folder / "desk1.token").read_text() == TOKEN + "\n"


def test_the_profile_of_the_environment_is_used(
    run: Run, sandbox: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(run, monkeypatch, "desk7", "--base-url", sandbox.base_url, token=sandbox.token())
    monkeypatch.setenv("TRADINGDATA_PROFILE", "desk7")
    assert run("trades", "-f", "json").code == Code.OK
    assert td.Client.from_profile().account == "desk7"
    monkeypatch.setenv("TRADINGDATA_PROFILE", "missing")
    assert "no profile of that name" in run("trades").err
    monkeypatch.delenv("TRADINGDATA_PROFILE")
    with pytest.raises(td.ConfigurationError, match="set TRADINGDATA_PROFILE"):
        td.Client.from_profile()
