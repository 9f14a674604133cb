"""`tradingdata profiles`: adds and shows profiles, without showing their tokens."""

from __future__ import annotations

import re
import sys
from getpass import getpass
from typing import Annotated

from tradingdata.client.client import Client
from tradingdata.client.profiles import add_profile, read_profiles, replace_token

from .errors import UsageError
from .options import GROUPS, argument, command, option, switch
from .output import write_lines
from .terminal import remark

GROUPS["profiles"] = (
    "Keep addresses and tokens by name.\n\nOnly you can read the files.",
    """
tradingdata profiles add desk1 --base-url https://api.example.com
tradingdata profiles list
tradingdata trades --profile desk1
""",
)


@command("profiles list", "tradingdata profiles list")
def list_profiles() -> None:
    """Show the profiles. Tokens are never shown."""
    profiles = read_profiles()
    rows = []
    for name, table in profiles.tables.items():
        if not isinstance(table, dict):
            continue
        token = "in the profile" if "access_token" in table else table.get("access_token_file")
        # The client refuses an address with a user name or password; do not show them here.
        address = getattr(table.get("base_url"), "value", "")
        address = re.sub("//.*@", "//", str(address), flags=re.DOTALL) or None
        rows.append((name, address, table.get("tz"), table.get("account", name), token))
    write_lines(("profile", "base_url", "tz", "account", "token"), rows)
    remark(f"in {profiles.path}")


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
    answers = {"base_url": base_url, "tz": tz}
    options = {option: text for option, text in answers.items() if text is not None}
    Client(base_url, access_token=token, tz=tz).close()
    file = add_profile(name, options, token)
    remark(f"profile {name} is in {file}; try: tradingdata check --profile {name}")
