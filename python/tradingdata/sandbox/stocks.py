"""The stock search: pages of companies by name, NSE symbol or BSE code."""

from __future__ import annotations

import threading
from functools import lru_cache

from .books import Body
from .company_generator import companies
from .json_rows import stock_record

_PAGES_KEPT = 2048


class StockSearch:
    """Searches the list of companies, which is the same for every seed, ignoring case.

    An exact NSE symbol or BSE code comes first, then the others by market capitalization, so the
    order of the pages is stable.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hits: dict[str, list[int]] = {}
        self._pages: dict[tuple[str, int, int], Body] = {}

    def page(self, query: str, page: int, limit: int) -> Body:
        """Returns a page of at most `limit` records, counted from 1; `[]` beyond the last."""
        wanted = query.strip().casefold()
        key = (wanted, page, limit)
        with self._lock:
            body = self._pages.get(key)
            if body is None:
                if len(self._pages) >= _PAGES_KEPT:
                    self._pages.clear()
                    self._hits.clear()
                hits = self._hits.get(wanted)
                if hits is None:
                    hits = self._hits[wanted] = _find(wanted)
                records = _records()
                rows = [records[hit] for hit in hits[(page - 1) * limit : page * limit]]
                body = self._pages[key] = Body(b"[" + b",".join(rows) + b"]")
            return body


@lru_cache(maxsize=1)
def _records() -> tuple[bytes, ...]:
    return tuple(stock_record(company, rank) for rank, company in enumerate(companies()))


@lru_cache(maxsize=1)
def _index() -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (company.name.casefold(), company.nse.casefold(), company.bse) for company in companies()
    )


def _find(wanted: str) -> list[int]:
    """Returns the positions of the matching companies, exact matches first."""
    exact, partly = [], []
    for place, (name, nse, bse) in enumerate(_index()):
        if wanted in (nse, bse):
            exact.append(place)
        elif wanted in name or wanted in nse or wanted in bse:
            partly.append(place)
    return exact + partly
