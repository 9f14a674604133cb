"""The sub-commands as a group."""

from __future__ import annotations

from . import add, check, list_profiles

SUMMARY = "Keep addresses and tokens by name.\n\nOnly you can read the files."

COMMANDS = {
    "list": (list_profiles.show, list_profiles.EXAMPLES),
    "add": (add.add, add.EXAMPLES),
    "check": (check.check, check.EXAMPLES),
}
EXAMPLES = """
tradingdata profiles add desk1 --base-url https://api.example.com
tradingdata profiles list
tradingdata trades --profile desk1
"""
