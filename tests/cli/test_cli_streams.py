"""`tradingdata` with standard streams that are closed, full, or read by nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import PROGRAM, account, start, unlabelled
from systems import needs_shell
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service
from tradingdata.sandbox import start as start_service

pytestmark = needs_shell

NO_FULL = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="this system has no full device"
)
ERRORS_FULL = pytest.param("2>/dev/full", marks=NO_FULL)
BOTH_FULL = pytest.param(">/dev/full 2>/dev/full", marks=NO_FULL)
WRITES = ["trades", "check", "watch --polls 1", "--version", "demo", "sandbox --port 0"]


def run(
    service: Service, command: str, redirected: str, *, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command of `tradingdata` in a shell that redirects its streams."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {command} {redirected}', "bash", *PROGRAM],
        env={**os.environ, **account(service), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
        cwd=cwd,
    )


@pytest.mark.parametrize(
    ("command", "redirected"),
    [pytest.param("trades", ">/dev/full", marks=NO_FULL), *((one, ">&-") for one in WRITES)],
)
def test_output_that_cannot_be_written_is_an_error_of_the_file(
    command: str, redirected: str, sandbox: Service
) -> None:
    """(O8)"""
    done = run(sandbox, command, redirected)
    assert done.returncode == Code.FILE, done.stderr
    reason = "Bad file descriptor" if redirected == ">&-" else "No space left on device"
    assert done.stderr.splitlines()[-1] == f"error: the output cannot be written: {reason}"


@pytest.mark.parametrize("redirected", ["2>&-", ERRORS_FULL, "2> >(true)"])
def test_messages_that_cannot_be_written_lose_no_output(redirected: str, sandbox: Service) -> None:
    done = run(sandbox, "trades -f csv", redirected)
    assert done.returncode == Code.OK
    assert len(done.stdout.splitlines()) == 1 + len(sandbox.client().trade_book())


@pytest.mark.parametrize("redirected", ["2> >(true)", "<&- >&- 2>&-", BOTH_FULL])
def test_the_exit_code_is_the_documented_one_whatever_the_streams_are(
    redirected: str, sandbox: Service
) -> None:
    assert run(sandbox, "trades --columns nope", redirected).returncode == Code.USAGE
    assert run(sandbox, "stock NOPE --debug", redirected).returncode == Code.NOT_FOUND
    lost = Code.OK if redirected == "2> >(true)" else Code.FILE
    assert run(sandbox, "trades", redirected).returncode == lost


@pytest.mark.parametrize("redirected", [">&- 2>&-", "<&- >&- 2>&-", BOTH_FULL])
def test_a_file_is_complete_whatever_the_streams_are(
    redirected: str, sandbox: Service, tmp_path: Path
) -> None:
    done = run(sandbox, "trades -o book.csv", redirected, cwd=tmp_path)
    assert done.returncode == Code.OK, done.stderr
    written = (tmp_path / "book.csv").read_text()
    assert written == unlabelled(sandbox).trade_book().to_csv()


@pytest.mark.parametrize(
    ("command", "is_begun", "unbuffered"),
    [
        *((command, False, "") for command in ("check", "demo", "orders -f json")),
        *(("orders -f ndjson", True, unbuffered) for unbuffered in ("", "1")),
        ("watch -i 0.2", True, ""),  # (X9) also if nothing changes any more
    ],
)
def test_a_pipe_that_nobody_reads_any_more_ends_the_command(
    command: str, is_begun: bool, unbuffered: str
) -> None:
    """The book is larger than what a pipe holds, so that the write meets the closed end."""
    ours, theirs = os.pipe()
    with start_service(orders=200) as service, open(ours, "rb") as reader:
        if not is_begun:
            reader.close()
        env = account(service) | {"PYTHONUNBUFFERED": unbuffered}
        with start(*command.split(), env=env, output=theirs) as child:
            os.close(theirs)
            assert child.stderr is not None
            assert not is_begun or reader.readline()
            reader.close()
            assert (child.wait(timeout=60), child.stderr.read()) == (Code.BROKEN_PIPE, b"")
