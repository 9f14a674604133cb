"""`tradingdata profiles`: adds, shows and checks profiles, without showing their tokens."""

from __future__ import annotations

import sys
from dataclasses import asdict, field, make_dataclass
from functools import partial
from getpass import getpass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradingdata._util.files import require_private
from tradingdata._util.time_zones import checked_zone
from tradingdata._util.validate import count, flag, path, seconds, text
from tradingdata.client.client import Client
from tradingdata.client.options import IN_FILES, attempts, meaning_of
from tradingdata.client.profiles import Profiles, add_profile, read_profiles
from tradingdata.display.text import counted
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
    title = f"{counted(len(rows), 'profile')} in {profiles.path}"
    kinds = dict.fromkeys(_COLUMNS, "text")
    destination.take(ListTable.of(rows, kinds, ("profile", "profiles"), title=title))


def _row(name: str, table: dict[str, Any]) -> dict[str, Any]:
    token = table.get("access_token_file")
    if token is None and "access_token" in table:
        token = "in the profile"
    account = table.get("account", name)
    return {**dict.fromkeys(_COLUMNS), **table, "profile": name, "account": account, "token": token}


_KINDS: dict[Any, tuple[type, str | None]] = {
    text: (str, "TEXT"),
    path: (str, "FILE"),
    checked_zone: (str, "ZONE"),
    seconds: (float, "SECONDS"),
    count: (int, "N"),
    attempts: (int, "N"),
    flag: (bool, None),
}
"""The type and the placeholder of an option's values, by how the client validates them."""


def _field(name: str, check: object) -> tuple[str, Any, Any]:
    kind, placeholder = _KINDS[check]
    declared = option(meaning_of(name), placeholder)
    if name == "base_url":
        return name, Annotated[kind, declared], field()
    return name, Annotated[kind | None, declared], field(default=None)


if TYPE_CHECKING:
    Options = Any
else:
    Options = make_dataclass(
        "Options", [_field(*item) for item in IN_FILES.items()], frozen=True, kw_only=True
    )


@command(
    "profiles add",
    """
tradingdata profiles add desk1 --base-url https://api.example.com
pass show desk1 | tradingdata profiles add desk1 --base-url https://api.example.com --replace
""",
)
def add(
    name: Annotated[str, argument("Letters, digits, - and _.", "NAME")],
    options: Options,
    replace: Annotated[
        bool, switch("--replace", "Change a profile: its token, and the options given.")
    ] = False,
) -> None:
    """Add a profile.

    The token is asked for without being shown, or read from standard input if that is not a
    terminal. It is stored beside the profiles in NAME.token; only you can read the files.
    """
    given = {key: value for key, value in asdict(options).items() if value is not None}
    if sys.stdin.isatty():
        token = getpass("Access token (not shown): ").strip()
    else:
        token = sys.stdin.readline().strip()
    if not token:
        raise UsageError("the token is empty: type it at the prompt, or pipe it to standard input")
    Client(**given, access_token=token).close()  # refuses what is invalid
    file = add_profile(name, given, token, replace=replace)
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
        raise ConfigurationError(f"{profiles.path} has no profile: add one")
    report = Report(width=max(map(len, chosen)))
    for name in chosen:
        report.step(name, partial(_checked, profiles, name))
    raise typer.Exit(report.code)


def _checked(profiles: Profiles, name: str) -> str:
    """Returns where a profile leads to. Raises ConfigurationError or OSError."""
    options = profiles.options(name)
    with Client(**options) as client:
        address = client.base_url
    source: Any = options.get("access_token")
    if source is None:
        return f"{address}, without a token of its own"
    if not callable(source):
        return f"{address}, with a token"
    if not source():
        raise ConfigurationError("the token file is empty: write the token to it")
    token_path = profiles.token_path(name)
    with open(token_path, "rb") as file:
        require_private(file, token_path)
    return f"{address}, with the token of {token_path}"
