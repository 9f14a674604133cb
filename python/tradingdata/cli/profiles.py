"""`tradingdata profiles`: adds, shows and checks profiles, without showing their tokens."""

from __future__ import annotations

import sys
from functools import partial
from getpass import getpass
from typing import Annotated, Any

import typer

from tradingdata._util.files import require_private
from tradingdata.client.client import Client
from tradingdata.client.profiles import Profiles, add_profile, read_profiles, replace_token
from tradingdata.errors import ConfigurationError

from .errors import UsageError
from .options import GROUPS, Output, argument, command, option, switch
from .output import Destination, ListTable
from .terminal import Report, remark

GROUPS["profiles"] = (
    "Keep addresses and tokens by name.\n\nOnly you can read the files.",
    """
tradingdata profiles add desk1 --base-url https://api.example.com
tradingdata profiles list
tradingdata trades --profile desk1
""",
)
_COLUMNS = ("profile", "base_url", "account", "tz", "token")


@command("profiles list", "tradingdata profiles list\ntradingdata profiles list --format json")
def list_profiles(output: Output) -> None:
    """Show the profiles. Tokens are never shown."""
    destination = Destination(output)
    profiles = read_profiles()
    rows = [_row(name, table) for name, table in profiles.tables.items() if isinstance(table, dict)]
    noun = (f"profile in {profiles.path}", f"profiles in {profiles.path}")
    destination.take(ListTable.of(rows, dict.fromkeys(_COLUMNS, "text"), noun))


def _row(name: str, table: dict[str, Any]) -> dict[str, Any]:
    token = table.get("access_token_file")
    if token is None and "access_token" in table:
        token = "in the profile"
    account = table.get("account", name)
    return {**dict.fromkeys(_COLUMNS), **table, "profile": name, "account": account, "token": token}


@command(
    "profiles add",
    """
tradingdata profiles add desk1 --base-url https://api.example.com
pass show desk1 | tradingdata profiles add desk1 --replace
""",
)
def add(
    name: Annotated[str, argument("Letters, digits, - and _.", "NAME")],
    base_url: Annotated[str | None, option("Address of the service.", "URL")] = None,
    tz: Annotated[str | None, option("Time zone of the books, such as Asia/Kolkata.", "ZONE")] = (
        None
    ),
    replace: Annotated[
        bool, switch("--replace", "Give a profile that exists a new token; nothing else.")
    ] = False,
) -> None:
    """Add a profile, or replace its token.

    The token is asked for without being shown, or read from standard input if that is not a
    terminal. It is stored beside the profiles in NAME.token; only you can read the files. To set or
    change other options, edit the profile file, which `profiles list` names.
    """
    if replace == (base_url is not None) or (replace and tz is not None):
        raise UsageError("pass --base-url for a new profile, or --replace alone for a new token")
    if sys.stdin.isatty():
        token = getpass("Access token (not shown): ").strip()
    else:
        token = sys.stdin.readline().strip()
    if not token:
        raise UsageError("the token is empty: type it at the prompt, or pipe it to standard input")
    if replace:
        Client.from_profile(name, access_token=token).close()  # refuses what is invalid
        remark(f"the token is in {replace_token(name, token)}")
        return
    given = {"base_url": base_url, "tz": tz}
    options = {option: text for option, text in given.items() if text is not None}
    Client(base_url, access_token=token, tz=tz).close()
    file = add_profile(name, options, token)
    remark(f"profile {name} is in {file}; try: tradingdata check --profile {name}")


@command("profiles check", "tradingdata profiles check\ntradingdata profiles check desk1 desk2")
def check(
    names: Annotated[
        list[str] | None, argument("The profiles (default: all).", "[NAME]...")
    ] = None,
) -> None:
    """Check the profiles without a call.

    Checks their options and the files of their tokens. To try a profile with the service, run
    `tradingdata check --profile NAME`.
    """
    profiles = read_profiles()
    chosen = names or list(profiles.tables)
    if not chosen:
        raise ConfigurationError(
            f"{profiles.path} has no profile: add one with `tradingdata profiles add`"
        )
    report = Report(width=max(map(len, chosen)))
    for name in chosen:
        report.step(name, partial(_checked, profiles, name))
    raise typer.Exit(report.code)


def _checked(profiles: Profiles, name: str) -> str:
    """Returns the address of a profile. Raises ConfigurationError or OSError."""
    options = profiles.options(name)
    with Client(**options) as client:
        address = client.base_url
    if "access_token_file" in profiles.tables[name]:
        if not options["access_token"]():
            raise ConfigurationError("the token file is empty: write the token to it")
        token_path = profiles.token_path(name)
        with open(token_path, "rb") as file:
            require_private(file, token_path)
    return address
