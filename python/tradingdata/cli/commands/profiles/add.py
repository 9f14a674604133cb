"""`tradingdata profiles add`: a new profile, whose token is typed or piped in."""

from __future__ import annotations

import sys
from getpass import getpass
from typing import Annotated

import typer

from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.options import Debug, switch
from tradingdata.cli.terminal import remark
from tradingdata.client.client import Client
from tradingdata.client.profile_writer import add_profile

EXAMPLES = """
tradingdata profiles add desk1 --base-url https://api.example.com
pass show desk1 | tradingdata profiles add desk1 --base-url https://api.example.com --replace
"""

Name = Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, - and _.")]
Address = Annotated[str, typer.Option("--base-url", metavar="URL", help="Address of the service.")]
Label = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Label of the account (default: NAME).")
]
Zone = Annotated[
    str | None,
    typer.Option("--tz", metavar="ZONE", help="Time zone of the times, such as Asia/Kolkata."),
]
Replace = Annotated[bool, switch("--replace", "Replace the profile, or only its token.")]


def add(
    name: Name,
    base_url: Address,
    account: Label = None,
    tz: Zone = None,
    replace: Replace = False,
    debug: Debug = False,
) -> None:
    """Add a profile.

    The token is asked for without being shown, or read from standard input if that is not a
    terminal. It is stored beside the profiles in NAME.token; only you can read the files.
    """
    options = {"base_url": base_url, "account": account, "tz": tz}
    given = {option: value for option, value in options.items() if value is not None}
    token = _token()
    if not token:
        raise UsageError("the token is empty: type it at the prompt, or pipe it to standard input")
    Client(**given, access_token=token).close()  # type: ignore[arg-type]  # refuses what is invalid
    path = add_profile(name, given, token, replace=replace)
    remark(f"profile {name} is in {path}; try: tradingdata check --profile {name}")


def _token() -> str:
    if sys.stdin.isatty():
        return getpass("Access token (not shown): ").strip()
    return sys.stdin.readline().strip()
