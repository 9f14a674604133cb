"""The program as click commands: options, help and completion."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from tradingdata._util.optional_imports import show_versions

from .errors import Code
from .options import COMMANDS, GROUPS, Debug, click_command, click_parameter

_HELP = """Trade book, order book and stock search of the Trading Data Service.

Address and token come from TRADINGDATA_BASE_URL and TRADINGDATA_ACCESS_TOKEN, or from a profile
(--profile NAME, TRADINGDATA_PROFILE). A token is never an argument.

For completion in bash, run: eval "$(_TRADINGDATA_COMPLETE=bash_source tradingdata)"
"""
_EXAMPLES = """
tradingdata demo
tradingdata check
tradingdata trades --where symbol=INFY -o infy.csv
"""


class _Group(click.Group):
    """A group whose help lists the commands in the order in which they were registered."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the commands."""
        return list(self.commands)


def result_of(name: str, arguments: Sequence[str]) -> object:
    """Returns the result of a command, or the exit code of a completion in the shell."""
    program, variable = make_command(name), f"_{name.upper()}_COMPLETE"
    if instruction := os.environ.get(variable):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, name, variable, instruction)
    alone = not arguments or (len(arguments) == 1 and arguments[0] in GROUPS)
    try:
        with program.make_context(name, [*arguments, *(["--help"] if alone else [])]) as context:
            return program.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code


def make_command(name: str) -> click.Group:
    """Returns the program, with the commands that were registered."""
    codes = "\n".join(f"{code:>3}  {code.meaning}" for code in Code)
    app = _Group(
        name,
        callback=lambda **_: None,
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                callback=_version,
                help="Show the installed versions.",
            ),
            click_parameter("debug", Debug, False),
        ],
        help=_HELP,
        epilog=f"{_help_section('Examples', _EXAMPLES)}\n\n{_help_section('Exit codes', codes)}",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    groups = {"": app}
    for group, (summary, examples) in GROUPS.items():
        epilog = _help_section("Examples", examples)
        groups[group] = _Group(group, help=summary, epilog=epilog)
    for path, (function, examples) in COMMANDS.items():
        group, _, command = path.rpartition(" ")
        epilog = _help_section("Examples", examples)
        groups[group].add_command(click_command(command, function, epilog=epilog))
    for group in GROUPS:  # below the commands
        app.add_command(groups[group])
    return app


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        show_versions(sys.stdout)
        context.exit()


def _help_section(title: str, text: str) -> str:
    """Formats lines for the help; the backspace keeps click from joining them."""
    return "\n".join(["\b", f"{title}:", *(f"  {line}" for line in text.splitlines() if line)])
