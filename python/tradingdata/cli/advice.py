"""The advice of errors for users of the command line, where it differs from the library's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradingdata.errors import ADVICE, TradingDataError, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADVICE = {
    **ADVICE,
    "access_token": "set TRADINGDATA_ACCESS_TOKEN, or use --profile NAME",
    "account_label": "use --profile NAME, otherwise records may be duplicated",
    "base_url": "check the address (TRADINGDATA_BASE_URL or the profile's base_url)",
    "ca_file": "set SSL_CERT_FILE or the profile's ca_file to the authorities that you trust",
    "confirm": "narrow the query",
    "create_archive": "check the path, restore a backup, or create an archive with "
    "`tradingdata archive fetch`",
    "duplicates": "correct the trades in Python and calculate there",
    "fewer_requests": "make fewer requests",
    "locked": "try again later",
    "max_body": "set a larger max_body in a profile if such a response is right",
    "missing_ok": "fetch or add them, choose other days, or pass --missing-ok",
    "missing_value": "leave such rows out in Python and calculate there",
    "network": "check the address (TRADINGDATA_BASE_URL or the profile's base_url), DNS, the "
    "network and its firewall",
    "new_token": "set TRADINGDATA_ACCESS_TOKEN or the profile's token to a new one",
    "proxy": "check the profile's proxy or https_proxy",
    "query": "narrow the query, or pass a larger --page-size",
    "side_codes": "pass the codes of the service with --buy and --sell",
    "smaller_pages": "read again with a smaller --page-size",
    "timeout": "make fewer requests, or pass a longer --timeout",
    "token_file": "check the profile's access_token_file",
    "url_format": "set TRADINGDATA_BASE_URL or the profile's base_url to an address like "
    "https://api.example.com",
}


def for_a_terminal(error: BaseException) -> str:
    """Returns what happened and what to do about it on the command line, in one line."""
    notes: Sequence[str] = getattr(error, "__notes__", ())
    if isinstance(error, TradingDataError) and error.page_size is not None:
        notes = [f"resume with --start-page {error.page} --page-size {error.page_size}"]
    return " ".join("; ".join([text_of(error, _ADVICE), *notes]).split())
