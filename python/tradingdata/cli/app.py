"""Runs a command, with an exit code and a message for every error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from shutil import get_terminal_size

import click

from tradingdata._util.optional_imports import show_versions
from tradingdata._util.platform import accept_every_character, is_closed_pipe

from . import archive, commands, results, watch
from .parameters import Given, Group, option
from .terminal import Code, code_of, for_a_terminal, problem

PROGRAM = "tradingdata"

_COMMANDS = (  # in the order of the help
    *(commands.check, commands.trades, commands.orders, commands.search, commands.stock),
    *(commands.demo, commands.sandbox),
    *(results.positions, results.pnl, results.reconcile, results.quality),
    *(watch.watch, archive.archive),
)
_SECRET_OPTION = re.compile(
    r"--?(access[-_]?)?(token|bearer|password|secret|api[-_]?key)(=.*)?", re.I | re.S
)
_LONG_WORD = re.compile(r"[\w.~+/-]{16,}")
# Names of columns and options, and values such as days, which have no letters.
_HARMLESS = re.compile(r"[a-z_-]+|[\d./-]*[./-][\d./-]*")
_NO_TOKENS_HERE = (
    "a token on the command line is visible to other users and stored in the shell's history: "
    "set TRADINGDATA_ACCESS_TOKEN, or use a profile (--profile NAME)"
)


class _Program(Group):
    """The program, whose help has the exit codes."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples and the exit codes."""
        super().format_epilog(ctx, formatter)
        with formatter.indentation(), formatter.section("Exit codes"):
            formatter.write_dl([(f"{code:>3}", code.meaning) for code in Code])


def _show_versions(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        show_versions(sys.stdout)
        context.exit()


_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=_Program, context_settings=_SETTINGS)
@option(
    "--version",
    "Show the installed versions.",
    is_eager=True,
    expose_value=False,
    callback=_show_versions,
)
def program(_: Given) -> None:
    """Trade book, order book and stock search of the Trading Data Service.

    Address and token come from TRADINGDATA_BASE_URL and TRADINGDATA_ACCESS_TOKEN, or from a profile
    (--profile NAME, TRADINGDATA_PROFILE). A token is never an argument.

    For completion in bash, run: eval "$(_TRADINGDATA_COMPLETE=bash_source tradingdata)"

    Examples:
    tradingdata demo
    tradingdata check
    tradingdata trades --where symbol=INFY -o infy.csv
    """


for _command in _COMMANDS:
    program.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """Runs a command; returns one of the codes of `errors`."""
    accept_every_character(sys.stdout)
    try:
        if any(map(_SECRET_OPTION.fullmatch, arguments)):
            problem(_NO_TOKENS_HERE)
            return Code.USAGE
        result = _result_of(arguments)
        sys.stdout.flush()
        return result if isinstance(result, int) else Code.OK
    except (KeyboardInterrupt, click.Abort):  # also at a question
        return Code.INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and is_closed_pipe(error):
            return Code.BROKEN_PIPE
        if "--debug" in arguments:
            import traceback

            with suppress(OSError):
                traceback.print_exc()
        return _report(error, arguments)


def _result_of(arguments: Sequence[str]) -> object:
    """Returns the result of a command, or the exit code of a completion in the shell."""
    variable = f"_{PROGRAM.upper()}_COMPLETE"
    if instruction := os.environ.get(variable):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, PROGRAM, variable, instruction)
    alone = list(arguments) in ([], ["archive"])  # a group, which shows its help
    try:
        words, width = [*arguments, *(["--help"] if alone else [])], get_terminal_size().columns
        with program.make_context(PROGRAM, words, terminal_width=min(width, 100) - 2) as context:
            return program.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Writes the message of an error; returns its exit code."""
    code, message = code_of(error), for_a_terminal(error)
    if isinstance(error, click.ClickException):
        path = PROGRAM if (context := getattr(error, "ctx", None)) is None else context.command_path
        code, message = Code.USAGE, f"{error.format_message()} (see `{path} --help`)"
    elif code is Code.BUG:
        message = f"{type(error).__name__}: {error} (unexpected: --debug shows the traceback)"
    elif isinstance(error, OSError) and error.strerror is not None:  # without errno
        message = f"{error.filename or 'the output cannot be written'}: {error.strerror}"
    if (account := getattr(error, "account", None)) is not None:
        message = f"[{account}] {message}"
    # File names are long words too, but not tokens.
    kept = (Code.FILE, Code.BUG)
    problem(message if code in kept else _without_long_words(message, arguments))
    return code


def _without_long_words(message: str, arguments: Sequence[str]) -> str:
    """Removes long words of the arguments from a message: one may be a misplaced token."""
    for argument in arguments:
        for word in _LONG_WORD.findall(argument):
            folder, slash, _ = word.rpartition("/")
            is_path = os.path.exists(word) or (slash and os.path.isdir(folder))
            if not is_path and not _HARMLESS.fullmatch(word):
                message = re.sub(re.escape(word), "…", message, flags=re.I)
    return message
