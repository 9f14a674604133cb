"""The stock search: pages of companies by name, NSE symbol or BSE code.

The list of companies is the same for every seed. An exact NSE symbol or BSE code comes first, then
the others by market capitalization, so the order of the pages is stable.
"""

from __future__ import annotations

from functools import lru_cache

from .company_generator import companies
from .json_rows import stock_record


def search(query: str, page: int, limit: int) -> bytes:
    """Returns a page of at most `limit` records, counted from 1; `[]` beyond the last."""
    return _page(query.strip().casefold(), page, limit)


@lru_cache(maxsize=2048)
def _page(wanted: str, page: int, limit: int) -> bytes:
    records = _records()
    hits = _find(wanted)[(page - 1) * limit : page * limit]
    return b"[" + b",".join(records[hit] for hit in hits) + b"]"


@lru_cache(maxsize=1)
def _records() -> tuple[bytes, ...]:
    return tuple(stock_record(company, rank) for rank, company in enumerate(companies()))


@lru_cache(maxsize=1)
def _index() -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (company.name.casefold(), company.nse.casefold(), company.bse) for company in companies()
    )


@lru_cache(maxsize=256)
def _find(wanted: str) -> list[int]:
    """Returns the positions of the matching companies, exact matches first."""
    exact, partly = [], []
    for place, (name, nse, bse) in enumerate(_index()):
        if wanted in (nse, bse):
            exact.append(place)
        elif wanted in name or wanted in nse or wanted in bse:
            partly.append(place)
    return exact + partly
