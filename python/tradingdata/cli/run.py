"""Runs the command line: converts every error to a message and an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence

import typer

from tradingdata._util.platform import accept_every_character, is_closed_pipe

from .advice import for_a_terminal
from .app import GROUPS, make_command
from .exit_codes import Code, code_of
from .terminal import problem

PROGRAM = "tradingdata"
_SECRET_OPTION = re.compile(
    r"--?(access[-_]?)?(token|bearer|password|secret|api[-_]?key)(=.*)?", re.I | re.S
)
_LONG_WORD = re.compile(r"[\w.~+/-]{16,}")
_NO_TOKENS_HERE = (
    "a token on the command line is visible to other users and stored in the shell's history: "
    "set TRADINGDATA_ACCESS_TOKEN, or use a profile (--profile NAME)"
)


def run(arguments: Sequence[str]) -> int:
    """Runs a command; returns one of the codes of `exit_codes`."""
    accept_every_character(sys.stdout)
    try:
        if any(map(_SECRET_OPTION.fullmatch, arguments)):
            problem(_NO_TOKENS_HERE)
            return Code.USAGE
        alone = not arguments or (len(arguments) == 1 and arguments[0] in GROUPS)
        result = make_command().main(
            args=[*arguments, *(["--help"] if alone else [])],
            prog_name=PROGRAM,
            standalone_mode=False,
        )
        sys.stdout.flush()
        return result if isinstance(result, int) else Code.OK
    except (KeyboardInterrupt, typer.Abort):
        return Code.INTERRUPTED
    except SystemExit as end:  # completion, or a broken pipe that typer handled
        if isinstance(end.__context__, BrokenPipeError):
            return _pipe_closed()
        return end.code if isinstance(end.code, int) else Code.OK
    except Exception as error:
        if isinstance(error, OSError) and is_closed_pipe(error):
            return _pipe_closed()
        if "--debug" in arguments:
            traceback.print_exc()
        return _report(error, arguments)


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Writes the message of an error; returns its exit code."""
    if hasattr(error, "format_message"):
        message = _without_long_words(_reworded(error.format_message()), arguments)
        problem(f"{message[:1].lower()}{message[1:]}; see `{_help_command(error)}`")
        return Code.USAGE
    code = code_of(error)
    if code is Code.BUG:
        problem(f"{type(error).__name__}: {error} (unexpected: --debug shows the traceback)")
    else:
        account = getattr(error, "account", None)
        label = "" if account is None else f"[{account}] "
        message = label + _words(error)
        # File names are long words too, but not tokens.
        problem(message if code is Code.FILE else _without_long_words(message, arguments))
    return code


# What typer and the libraries below it say, and what they mean.
_REWORDED = (
    (r"Value error, ", ""),
    (r"Input should be ", "it must be "),
    (r", unable to parse string as (a number|an integer)", ""),
    (r"a valid integer\b", "a whole number"),
    (r"a valid number\b", "a number"),
    (r"[Gg]ot unexpected extra arguments?(?:\(s\))? \((.*)\)", r"unexpected argument: \1"),
    (r"\. Did you mean (.*)\?", r": did you mean \1"),
    (r" \(Possible options: (.*)\)", r": did you mean one of \1"),
    (r"\.$", ""),
)


def _reworded(message: str) -> str:
    for theirs, ours in _REWORDED:
        message = re.sub(theirs, ours, message)
    return message


def _words(error: Exception) -> str:
    """Returns the message, which for a system error omits the number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return for_a_terminal(error)
    what = "the output cannot be written" if error.filename is None else error.filename
    return f"{what}: {error.strerror}"


def _help_command(error: object) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context is not None else PROGRAM} --help"


def _without_long_words(message: str, arguments: Sequence[str]) -> str:
    """Removes long words of the arguments from a message: one may be a misplaced token."""
    for argument in arguments:
        for word in _LONG_WORD.findall(argument):
            if not re.fullmatch("[a-z_-]+", word):  # names of columns and options may be shown
                message = re.sub(re.escape(word), "…", message, flags=re.I)
    return message


def _pipe_closed() -> int:
    """Redirects standard output to the null device, so that the final flush cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return Code.BROKEN_PIPE
