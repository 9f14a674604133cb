"""Exact lookup: picks the stock with a given symbol, code or ISIN from the hits of a search."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

from .._core import printable
from .._util.validate import words
from .._util.waiting import Plan
from ..books.book import StockList
from ..errors import StockNotFoundError
from ..table.rows import Stock

LONGEST_SHOWN = 60  # characters of a query or an identifier in a message
MOST_PAGES = 20
MOST_NAMES = 5
ISIN = re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9]")

_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")

# The fields that identify a stock, in order of precedence.
KINDS = {"nsesymbol": "NSE symbol", "bsecode": "BSE code", "isin": "ISIN"}
TAKES = "an NSE symbol, a BSE code or an ISIN"


class StockLookup:
    """Looks for the stock page by page, ignoring case and surrounding spaces."""

    def __init__(self, identifier: str, account: str | None) -> None:
        self.wanted = as_listed(words("identifier", identifier, takes=TAKES)).upper()
        self._account = account
        self._pages = self._seen = 0
        self._first: list[Stock] = []

    def find(self, page: StockList) -> Stock | None:
        """Returns the stock if it is on this page.

        Raises StockNotFoundError if several companies match, and after the last page to read.
        """
        for field, kind in KINDS.items():
            matches = [stock for stock in page if _folded(getattr(stock, field)) == self.wanted]
            if len({_company(stock) for stock in matches}) > 1:
                raise self._error(
                    f"{len(matches)} stocks have the {kind} {short_repr(self.wanted)}", matches
                )
            if matches:
                return copy.copy(matches[0])  # a copy does not keep the page alive
        self._pages, self._seen = self._pages + 1, self._seen + len(page)
        self._first += page[: MOST_NAMES - len(self._first)]
        if self._pages == MOST_PAGES:
            raise self.not_found(more=True)
        return None

    def not_found(self, *, more: bool = False) -> StockNotFoundError:
        """Returns an error that names the first stocks that the search found."""
        subject = f"none of the first {self._seen:,} hits" if more else "no stock"
        message = f"{subject} has the NSE symbol, BSE code or ISIN {short_repr(self.wanted)}"
        rest = "the search found nothing: check the spelling"
        if ISIN.fullmatch(self.wanted):
            rest = "the search finds names, NSE symbols and BSE codes: pass the symbol or the code"
        return self._error(message, self._first, rest)

    def _error(self, message: str, stocks: Sequence[Stock], rest: str = "") -> StockNotFoundError:
        names = [f"{stock.companyname or '?'} ({_label(stock)})" for stock in stocks[:MOST_NAMES]]
        advice = (
            f"pass the code of one that the search found: {printable(', '.join(names))}"
            if names
            else rest
        )
        error = StockNotFoundError(f"{message}; {advice}", account=self._account)
        error.nearest = tuple(stock.companyname or "" for stock in stocks[:MOST_NAMES])
        return error


def lookup(client: Any, identifier: str, timeout: float | None) -> Plan[Stock]:
    """The plan of ``stock``."""
    lookup = StockLookup(identifier, client.account)
    within = client._calls.budget(timeout)
    reader = client.search(lookup.wanted, prefetch=0)._begin(within=within)
    try:
        while (page := (yield from reader.next_page())) is not None:
            if (stock := lookup.find(page)) is not None:
                return stock
    finally:
        reader.close()
    raise lookup.not_found()


def as_listed(text: str) -> str:
    """Returns text as the exchanges write names: without accents, full width and extra spaces."""
    plain = _ACCENTS.sub("", normalize("NFKD", text))
    return " ".join(normalize("NFKC", plain).split())


def short_repr(text: str) -> str:
    """Returns the repr of a query or an identifier, shortened for a message."""
    fits = len(text) <= LONGEST_SHOWN
    return repr(text if fits else text[: LONGEST_SHOWN - 3] + "...")


def _folded(value: str | None) -> str:
    return as_listed(value).upper() if value else ""


def _label(stock: Stock) -> str:
    return stock.nsesymbol or stock.bsecode or stock.isin or f"co_code {stock.co_code}"


def _company(stock: Stock) -> object:
    """Returns a key that all rows of one company share."""
    return stock if stock.co_code is None else stock.co_code
