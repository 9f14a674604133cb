"""The companies of the sandbox, which are in ``companies.csv``, and the search for them.

Names, symbols, BSE codes and ISINs are real. Prices and market capitalizations are only plausible:
the sandbox is not a source of market data.
"""

from __future__ import annotations

import csv
import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_LARGE, _MID = 105_000, 34_000  # crores


class Company(NamedTuple):
    """A listed company; `nse` or `bse` is empty if it is not listed there. Money is in paise."""

    code: int
    nse: str
    bse: str
    isin: str
    name: str
    industry: str
    industry_code: str
    sector: str
    sector_code: str
    price: int
    crores: float


@lru_cache(maxsize=1)
def companies() -> tuple[Company, ...]:
    """Returns all companies, the largest market capitalization first."""
    with Path(__file__).with_name("companies.csv").open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    listed = [
        Company._make((100 + 13 * place, *texts, round(float(price) * 100), float(crores)))
        for place, (*texts, price, crores) in enumerate(lines)
    ]
    return tuple(sorted(listed, key=lambda company: -company.crores))


def short_name(name: str) -> str:
    """Returns a company's name without common suffixes."""
    return name.removesuffix(" Ltd").replace(" (India)", "").replace(" Company", "")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(value: object) -> bytes:
    """Encodes a value as JSON: UTF-8, without spaces."""
    return _ENCODER.encode(value).encode()


def search(query: str, page: int, limit: int) -> bytes:
    """Returns a page of at most `limit` records, counted from 1; `[]` beyond the last.

    An exact NSE symbol or BSE code comes first, then the others by market capitalization.
    """
    wanted = query.strip().casefold()
    hits: list[tuple[bool, Company]] = []
    for company in companies():
        codes = company.nse.casefold(), company.bse
        if any(wanted in text for text in (*codes, company.name.casefold())):
            hits.append((wanted not in codes, company))
    hits.sort(key=lambda hit: hit[0])
    return encode([_record(company) for _, company in hits[(page - 1) * limit : page * limit]])


def _record(company: Company) -> dict[str, object]:
    """Returns an element of a search result."""
    size = company.crores
    return {
        "type": "STK",
        "co_code": company.code,
        "bsecode": company.bse,
        "nsesymbol": company.nse,
        "companyname": company.name,
        "companyshortname": short_name(company.name),
        "categoryname": "Company",
        "isin": company.isin,
        "bsegroup": "A" if company.bse else "",
        "mcap": size,
        "mcaptype": "Large Cap" if size > _LARGE else "Mid Cap" if size > _MID else "Small Cap",
        "displaytype": company.industry,
        "sectorcode": company.sector_code,
        "sectorname": company.sector,
        "industrycode": company.industry_code,
        "industryname": company.industry,
        "bselistedflag": "Y" if company.bse else "N",
        "nselistedflag": "Y" if company.nse else "N",
        "BSEStatus": "Active" if company.bse else "",
        "NSEStatus": "Active" if company.nse else "",
    }
