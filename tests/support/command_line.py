"""Running `tradingdata` for its tests: in this process, in one of its own, and on a terminal."""

from __future__ import annotations

import io
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import tradingdata as td
from signalling import interruptible
from systems import posix, skip_without_numpy
from tradingdata.cli import main
from tradingdata.display import VIEWS
from tradingdata.sandbox import Service

if TYPE_CHECKING:
    import click

# What a shell puts in the background has SIGINT ignored, and so would its children.
_SCRIPT = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from tradingdata.cli import main; sys.exit(main())"
)
PROGRAM = [sys.executable, "-c", _SCRIPT]


@dataclass(frozen=True)
class Ran:
    """What a run came to."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


Run = Callable[..., Ran]
Screen = Callable[[int], io.StringIO]


def account(service: Service) -> dict[str, str]:
    """The environment that `tradingdata sandbox` says to paste."""
    return {"TRADINGDATA_BASE_URL": service.base_url, "TRADINGDATA_ACCESS_TOKEN": service.token()}


def unlabelled(service: Service) -> td.Client:
    """The client of such an environment, whose books have no label of an account."""
    return td.Client(service.base_url, access_token=service.token())


def leading_columns(record: str) -> list[str]:
    """The key columns that a table of such a client's rows shows."""
    return [name for name in VIEWS[record].columns if name != "account"]


def commands() -> dict[str, click.Command]:
    """Every command and group by its path, the program itself excepted."""
    import click

    from tradingdata.cli.app import program

    found = {}
    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {own}": one for own, one in command.commands.items()}
    return found


def run_here(
    capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch, env: dict[str, str]
) -> Run:
    """Runs commands in this process, which costs no start; standard output is no terminal."""
    for name, value in env.items():
        patch.setenv(name, value)

    def run(*arguments: object) -> Ran:
        capture.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capture.readouterr()
        skip_without_numpy(err.decode())
        return Ran(code, out, err.decode())

    return run


def start(
    *arguments: str,
    env: dict[str, str],
    terminal: int | None = None,
    output: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """A command in a process of its own, its output in pipes or on a terminal."""
    return subprocess.Popen(
        interruptible(*PROGRAM, *arguments),
        env={**os.environ, **env},
        stdin=subprocess.PIPE if terminal is None else terminal,
        stdout=output if terminal is None else terminal,
        stderr=subprocess.PIPE if terminal is None else terminal,
    )


def on_terminal(*arguments: str, env: dict[str, str], width: int, height: int = 30) -> str:
    """What a terminal of that size gets to show, with its control sequences."""
    fcntl, termios = posix("fcntl"), posix("termios")
    ours, theirs = posix("pty").openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    child = start(*arguments, env={"TERM": "xterm-256color", **env}, terminal=theirs)
    os.close(theirs)
    shown = b""
    until = time.monotonic() + 100
    while time.monotonic() < until:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    child.wait(timeout=100)
    return shown.decode().replace("\r\n", "\n")
