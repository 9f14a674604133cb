"""Rewords the advice in error messages from Python arguments to command-line options."""

from __future__ import annotations

import re

_WORDS = (
    (
        r"assign a new one to client\.access_token",
        "set TRADINGDATA_ACCESS_TOKEN (or the profile's token) to a new one",
    ),
    (r", or pass rate_limit=", ""),
    (r"pass access_token=, set TRADINGDATA_ACCESS_TOKEN,? or assign client\.access_token",
     "set TRADINGDATA_ACCESS_TOKEN or use --profile NAME"),
    (r": pass access_token=$", ": the token is TRADINGDATA_ACCESS_TOKEN's or a profile's"),
    (r"; resume with start_page=(\d+), page_size=(\d+)",
     r"; resume with --start-page \1 --page-size \2"),
    (r"read again with all\(confirm=True\) or ", ""),
    (r"\bbuy= and sell=", "--buy and --sell"),
    (
        r": (see trades\.issues, then|where rows are equal,) .*",
        "; leave it out in Python: tradingdata.positions and realised_pnl take any trade book",
    ),
    (
        r", or create one with create=True|, or create an archive in it with create=True",
        ", or create an archive with tradingdata archive fetch",
    ),
    (r"\bmissing_ok=True", "--missing-ok"),
    (r"\btimeout=", "--timeout"),
    (r"\bca_file=", "SSL_CERT_FILE or a profile's ca_file"),
    (r"\bmax_body=", "a profile's max_body"),
    (r"\bproxy=(\"\")?", "a profile's proxy"),
    (r"\bpage_size\b", "--page-size"),
    (r"\bstart_page\b", "--start-page"),
    (r"\bbase_url's\b", "the address's"),
    (r"\bbase_url\b", "the address (TRADINGDATA_BASE_URL or a profile's base_url)"),
)  # fmt: skip


def for_a_terminal(message: str) -> str:
    """Returns the message with options and variables in place of Python arguments."""
    for python, here in _WORDS:
        message = re.sub(python, here, message)
    return message
