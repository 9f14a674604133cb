"""Exact lookup: picks the stock with a given symbol, code or ISIN from the hits of a search."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from .._core import printable
from .._util.validate import words
from .._util.waiting import Plan
from ..errors import StockNotFoundError
from ..table.rows import Stock
from .calls import BaseClient
from .paging import KINDS, SearchOptions, as_listed, short_repr
from .search import SearchPager

MOST_PAGES = 20
MOST_NAMES = 5
ISIN = re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9]")

TAKES = "an NSE symbol, a BSE code or an ISIN"


def lookup(client: BaseClient[Any], identifier: str, timeout: float | None) -> Plan[Stock]:
    """The plan of ``stock``: looks page by page, ignoring case and surrounding spaces."""
    wanted = as_listed(words("identifier", identifier, takes=TAKES)).upper()
    within = client._budget(timeout)
    reader = SearchPager(client, SearchOptions(wanted, prefetch=0))._begin(within=within)
    first: list[Stock] = []
    subject = "no stock"
    try:
        while (page := (yield from reader.next_page())) is not None:
            for field, kind in KINDS.items():
                matches: list[Stock] = [
                    stock for stock in page if _folded(getattr(stock, field)) == wanted
                ]
                if len({_company(stock) for stock in matches}) > 1:
                    problem = f"{len(matches)} stocks have the {kind} {short_repr(wanted)}"
                    raise _error(client.account, problem, matches)
                if matches:
                    return copy.copy(matches[0])  # a copy does not keep the page alive
            first += page[: MOST_NAMES - len(first)]
            if reader.pages == MOST_PAGES:
                subject = f"none of the first {reader.items:,} hits"
                break
    finally:
        reader.close()
    rest = "the search found nothing: check the spelling"
    if ISIN.fullmatch(wanted):
        rest = "the search finds names, NSE symbols and BSE codes: pass the symbol or the code"
    problem = f"{subject} has the NSE symbol, BSE code or ISIN {short_repr(wanted)}"
    raise _error(client.account, problem, first, rest)


def _error(
    account: str | None, problem: str, stocks: Sequence[Stock], rest: str = ""
) -> StockNotFoundError:
    """Returns an error that names the first stocks that the search found."""
    names = [f"{stock.companyname or '?'} ({_label(stock)})" for stock in stocks[:MOST_NAMES]]
    if names:
        rest = f"pass the code of one that the search found: {printable(', '.join(names))}"
    error = StockNotFoundError(f"{problem}; {rest}", account=account)
    error.nearest = tuple(stock.companyname or "" for stock in stocks[:MOST_NAMES])
    return error


def _folded(value: str | None) -> str:
    return as_listed(value).upper() if value else ""


def _label(stock: Stock) -> str:
    return stock.nsesymbol or stock.bsecode or stock.isin or f"co_code {stock.co_code}"


def _company(stock: Stock) -> object:
    """Returns a key that all rows of one company share."""
    return stock if stock.co_code is None else stock.co_code
