"""The companies of the sandbox: well-known ones, and enough invented ones to page through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from .listed_companies import COMPANIES, SECTORS

LISTED = 3000
"""Number of listed companies; the list is the same for every seed and day."""


@dataclass(frozen=True, slots=True)
class Company:
    """A listed company; `nse` or `bse` is empty if it is not listed there. Money is in paise."""

    code: int
    nse: str
    bse: str
    isin: str
    name: str
    industry: str
    price: int
    crores: float
    group: str
    suspended: str = ""

    @property
    def sector(self) -> str:
        """The sector of the industry."""
        return SECTORS[self.industry]


def check_digit(isin: str) -> str:
    """Returns the last character of an ISIN, from its first eleven characters (ISO 6166)."""
    digits = "".join(str(int(character, 36)) for character in isin)
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 - place % 2)
        total += doubled // 10 + doubled % 10
    return str(-total % 10)


@lru_cache(maxsize=1)
def well_known() -> tuple[Company, ...]:
    """Returns the well-known companies, the largest first."""
    found = []
    for place, line in enumerate(COMPANIES.splitlines()):
        nse, bse, isin, name, industry, price, crores = line.split("|")
        found.append(
            Company(
                code=100 + 13 * place,
                nse=nse,
                bse=bse,
                isin=isin,
                name=name,
                industry=industry,
                price=round(float(price) * 100),
                crores=float(crores),
                group="A" if bse else "",
            )
        )
    return tuple(sorted(found, key=lambda company: -company.crores))


@lru_cache(maxsize=1)
def companies() -> tuple[Company, ...]:
    """Returns all `LISTED` companies, the largest market capitalization first."""
    from .name_generator import names

    known = well_known()
    random = Random("tradingdata.sandbox: the companies that do not exist")
    symbols = {company.nse for company in known}
    codes = {company.bse for company in known}
    everyone = list(known)
    for place, (name, industry) in enumerate(names(LISTED - len(known))):
        where = random.random()
        nse = "" if where < 0.25 else _symbol(name, symbols)
        bse = "" if where > 0.92 else _bse_code(place, codes)
        # Real issuer codes have a digit where these have a letter, so they cannot collide.
        isin = f"INE{'XYZ'[place // 1000]}{place % 1000:03d}01{place % 4 + 1:02d}"
        size = random.random()
        everyone.append(
            Company(
                code=5000 + 7 * place,
                nse=nse,
                bse=bse,
                isin=isin + check_digit(isin),
                name=name,
                industry=industry,
                price=500 + int(random.random() ** 3 * 250_000),
                crores=round(14 + 31_000 * size**6 + 900 * size, 2),
                group=("B", "B", "B", "T", "X")[int(random.random() * 5)] if bse else "",
                suspended=_suspended(random, nse, bse),
            )
        )
    return tuple(sorted(everyone, key=lambda company: (-company.crores, company.code)))


def _symbol(name: str, taken: set[str]) -> str:
    first, second, *_ = name.upper().split()
    stem = f"{first[:6]}{second[:4]}"
    symbol, number = stem, 1
    while symbol in taken:
        number += 1
        symbol = f"{stem[:9]}{number}"
    taken.add(symbol)
    return symbol


def _bse_code(place: int, taken: set[str]) -> str:
    code = 506_003 + 13 * place
    while str(code) in taken:
        code += 1
    taken.add(str(code))
    return str(code)


def _suspended(random: Random, nse: str, bse: str) -> str:
    """Returns the exchange on which a company is suspended; one company in fifty is."""
    if random.random() > 0.02:
        return ""
    return "NSE" if nse and (random.random() < 0.5 or not bse) else "BSE"
