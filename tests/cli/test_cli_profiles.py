"""`tradingdata profiles`, `--env-file` and TRADINGDATA_PROFILE."""

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
from systems import is_private, needs_modes, posix
from tradingdata.cli.errors import Code
from tradingdata.sandbox import Service

TOKEN = "canary-token-5f3a9c21e8"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("BASE_URL", "ACCESS_TOKEN", "PROFILE", "ENV_FILE"):
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
    listed = run("profiles", "list", "-f", "csv")
    assert listed.text.splitlines() == [
        "profile,base_url,account,tz,token",
        f"desk1,{sandbox.base_url},desk1,Asia/Kolkata,desk1.token",
    ]
    checked = run("profiles", "check")
    assert checked.code == Code.OK
    assert checked.text == f"ok    desk1  {sandbox.base_url}\n"


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


@needs_modes
def test_check_names_what_is_wrong_with_each_profile(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "readable", "gone", "empty"):
        assert add(run, monkeypatch, name, "--base-url", "https://a.test").code == Code.OK
    (folder / "readable.token").chmod(0o644)
    (folder / "gone.token").unlink()
    (folder / "empty.token").write_text("")
    done = run("profiles", "check")
    assert done.code == Code.CONFIGURATION
    lines = {line.split()[1]: line for line in done.text.splitlines() if line[:2] in ("ok", "FA")}
    assert lines["good"].startswith("ok")
    assert f"chmod 600 {folder / 'readable.token'}" in lines["readable"]
    assert "cannot be read" in lines["gone"]
    assert "is empty" in lines["empty"]
    assert run("profiles", "check", "good").code == Code.OK


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


def env_file(folder: Path, text: str) -> Path:
    path = folder / ".env"
    path.touch(0o600)
    path.write_text(text)
    return path


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_an_env_file_is_read_on_request_only(folder: Path, sandbox: Service) -> None:
    folder.mkdir()
    os.chdir(folder)
    path = env_file(
        folder,
        f"# the desk\nOTHER=1\nexport TRADINGDATA_BASE_URL='{sandbox.base_url}'\n"
        f'TRADINGDATA_ACCESS_TOKEN="{sandbox.token()}" # today\n',
    )
    assert command("trades").returncode == Code.CONFIGURATION
    done = command("trades", "--env-file", path, "-f", "json")
    assert done.returncode == Code.OK, done.stderr


def test_load_env_never_overwrites(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    path = env_file(folder, "TRADINGDATA_BASE_URL=https://b.test\nTRADINGDATA_PROFILE=x\nOTHER=1\n")
    monkeypatch.setenv("TRADINGDATA_BASE_URL", "https://a.test")
    monkeypatch.setenv("TRADINGDATA_PROFILE", "")
    monkeypatch.delenv("TRADINGDATA_PROFILE")
    assert td.load_env(path) == ["TRADINGDATA_PROFILE"]
    assert os.environ["TRADINGDATA_BASE_URL"] == "https://a.test"
    assert os.environ["TRADINGDATA_PROFILE"] == "x"
    assert "OTHER" not in os.environ


@needs_modes
def test_an_env_file_with_a_token_must_be_private(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    path = env_file(folder, f"TRADINGDATA_ACCESS_TOKEN={TOKEN}\n")
    path.chmod(0o640)
    with pytest.raises(td.ConfigurationError, match="run `") as error:
        td.load_env(path)
    assert f"chmod 600 {path}" in str(error.value)
    assert TOKEN not in str(error.value)
    assert "TRADINGDATA_ACCESS_TOKEN" not in os.environ
    path.write_text("TRADINGDATA_TIMEOUT=5\n")
    monkeypatch.setenv("TRADINGDATA_TIMEOUT", "1")
    assert td.load_env(path) == []


@pytest.mark.parametrize("line", ["TRADINGDATA_BASE_URL", f"TRADINGDATA_ACCESS_TOKEN=a {TOKEN}"])
def test_a_line_that_is_no_variable_is_named_without_its_value(folder: Path, line: str) -> None:
    folder.mkdir()
    path = env_file(folder, f"\n{line}\n")
    with pytest.raises(td.ConfigurationError, match="line 2 of") as error:
        td.load_env(path)
    assert TOKEN not in str(error.value)
    with pytest.raises(td.ConfigurationError, match=r"cannot be read"):
        td.load_env(folder / "none.env")
