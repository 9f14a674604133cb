"""Runs a command, with an exit code and a message for every error. Imports only that command."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from tradingdata._util.declarations import BOOK_CALLS, RECORDS
from tradingdata._util.optional_imports import show_versions
from tradingdata._util.platform import accept_every_character, is_closed_pipe

from .errors import Code, code_of, for_a_terminal
from .terminal import problem

if TYPE_CHECKING:
    from . import archive, check, commands, profiles, results, sandbox, watch  # noqa: F401

PROGRAM = "tradingdata"

# The commands and groups that each module registers. A module is imported when its command runs.
_MODULES: dict[str, tuple[str, ...]] = {
    "archive": ("archive",),
    "check": ("check",),
    "commands": (
        *(RECORDS[call["record"]]["noun"][1] for call in BOOK_CALLS.values()),
        *("search", "stock"),
    ),
    "profiles": ("profiles",),
    "results": ("positions", "pnl", "reconcile", "quality"),
    "sandbox": ("demo", "sandbox"),
    "watch": ("watch",),
}
_SECRET_OPTION = re.compile(
    r"--?(access[-_]?)?(token|bearer|password|secret|api[-_]?key)(=.*)?", re.I | re.S
)
_LONG_WORD = re.compile(r"[\w.~+/-]{16,}")
_NO_TOKENS_HERE = (
    "a token on the command line is visible to other users and stored in the shell's history: "
    "set TRADINGDATA_ACCESS_TOKEN, or use a profile (--profile NAME)"
)


def run(arguments: Sequence[str]) -> int:
    """Runs a command; returns one of the codes of `errors`."""
    accept_every_character(sys.stdout)
    try:
        if any(map(_SECRET_OPTION.fullmatch, arguments)):
            problem(_NO_TOKENS_HERE)
            return Code.USAGE
        if list(arguments) == ["--version"]:  # needs none of the libraries of commands
            show_versions(sys.stdout)
            result: object = None
        else:
            load_commands(arguments[0] if arguments else "")
            from .program import result_of

            result = result_of(PROGRAM, arguments)
        sys.stdout.flush()
        return result if isinstance(result, int) else Code.OK
    except KeyboardInterrupt:
        return Code.INTERRUPTED
    except SystemExit as end:  # raised by rich
        if isinstance(end.__context__, BrokenPipeError):
            return Code.BROKEN_PIPE
        raise
    except Exception as error:
        if isinstance(error, OSError) and is_closed_pipe(error):
            return Code.BROKEN_PIPE
        if "--debug" in arguments:
            import traceback

            with suppress(OSError):
                traceback.print_exc()
        return _report(error, arguments)


def load_commands(name: str = "") -> None:
    """Imports the module of a command, or all modules if it is the name of none."""
    modules = [module for module, commands in _MODULES.items() if name in commands]
    for module in modules or _MODULES:
        import_module(f".{module}", __package__)


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Writes the message of an error; returns its exit code."""
    code = code_of(error)
    if hasattr(error, "format_message"):  # raised by click
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else PROGRAM
        message = _without_long_words(error.format_message(), arguments)
        problem(f"{message} (see `{path} --help`)")
        return Code.USAGE
    if code is Code.BUG:
        problem(f"{type(error).__name__}: {error} (unexpected: --debug shows the traceback)")
        return code
    account = getattr(error, "account", None)
    message = for_a_terminal(error)
    if isinstance(error, OSError) and error.strerror is not None:  # without errno
        message = f"{error.filename or 'the output cannot be written'}: {error.strerror}"
    message = message if account is None else f"[{account}] {message}"
    # File names are long words too, but not tokens.
    problem(message if code is Code.FILE else _without_long_words(message, arguments))
    return code


def _without_long_words(message: str, arguments: Sequence[str]) -> str:
    """Removes long words of the arguments from a message: one may be a misplaced token.

    Names of columns and options may be shown, and paths.
    """
    for argument in arguments:
        for word in _LONG_WORD.findall(argument):
            folder, slash, _ = word.rpartition("/")
            is_path = os.path.exists(word) or (slash and os.path.isdir(folder))
            if not is_path and not re.fullmatch("[a-z_-]+", word):
                message = re.sub(re.escape(word), "…", message, flags=re.I)
    return message
