"""Records as the service sends them: every field of its document, with values of the sandbox."""

from __future__ import annotations

import datetime as dt
import functools
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tradingdata._util.declarations import BOOK_CALLS
from tradingdata.sandbox.companies import search
from tradingdata.sandbox.day import SimulatedBooks
from tradingdata.sandbox.market import CLOSE, Market

# As the service publishes it, beside which the compiled fields are checked.
DOCUMENT = Path(__file__).with_name("service.md")
HEADING = re.compile(r"^### (\w+) record\b.*$", re.MULTILINE)
ROW = re.compile(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
FURTHER = re.compile(r"also carries these fields, with the types given: ([^.]+)\.")
FURTHER_FIELD = re.compile(r"(\w+) \(([^)]+)\)")
TABLE_HEAD = "Field"


@dataclass(frozen=True)
class Field:
    """One row of a table: the wire name, the type in the document's words, the meaning or ""."""

    name: str
    type: str
    meaning: str


@functools.cache
def fields(record: str) -> tuple[Field, ...]:
    """Return the fields of "trade", "order" or "stock" in the order of the document."""
    text = _section(record)
    rows = [Field(*(cell.strip() for cell in match.groups())) for match in ROW.finditer(text)]
    found = [field for field in rows if field.name != TABLE_HEAD]
    if further := FURTHER.search(text):
        found += [Field(name, kind, "") for name, kind in FURTHER_FIELD.findall(further[1])]
    return tuple(found)


def names(record: str) -> list[str]:
    """Return the wire names of a record in the order of the document."""
    return [field.name for field in fields(record)]


def _section(record: str) -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    for heading in HEADING.finditer(text):
        if heading[1].lower() == record:
            return re.split(r"^#", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    raise LookupError(f"the service document has no section of the {record} record")


Record: TypeAlias = dict[str, Any]
TRADING_DAY = dt.date(2025, 1, 6)


@functools.cache
def _of_sandbox(kind: str, seed: int) -> list[Record]:
    """The records of a day of the sandbox at its end, or of all its stocks."""
    found: list[Record]
    if kind == "stock":
        found = json.loads(search("", 1, 1000))
    else:
        call = next(name for name, call in BOOK_CALLS.items() if call["record"].lower() == kind)
        books = SimulatedBooks(0, Market(seed, TRADING_DAY), 100).at(CLOSE)
        found = json.loads(books[call])["data"]
        random.Random(seed).shuffle(found)  # so that the first have contracts among them
    return found


def _own(record: Record, index: int, seed: int) -> Record:
    """What no other record of a book or a list has: its numbers, names and codes."""
    if "nsesymbol" in record:
        return {
            **{name: f"{record[name]} {index}" for name in ("companyname", "companyshortname")},
            **{"bsecode": str(500_000 + index), "nsesymbol": f"{record['nsesymbol']}{index}"},
            **{"co_code": 100 + index, "isin": f"INE{index:06}A01"},
        }
    number = (seed % 7 + 1) * 10**11 + index
    own: Record = {"order_no": str(number), "trade_no": str(number * 10), "row_no": index + 1}
    own["pan_no"] = "ABCPK1000F"
    return {name: value for name, value in own.items() if name in record}


ODD_TEXTS = (
    "",
    "twelve bytes",
    "thirteen byte",
    "टाटा मोटर्स लिमिटेड",
    "₹ 1,501.05",
    "रु₹123",
    "रु₹1234",
    'quote " backslash \\ slash /',
    "line\nfeed, tab\t, return\r, bell\x07",
    "NUL\x00 inside",
    "beyond the plane 📈",
    "=SUM(A1:A9)",
    "<script>alert(1)</script>",
    "x" * 300,
)
# Text that says who or which: other values of it would change what the book means.
IDENTITY = "identifier account code symbol ISIN status".split()


def samples(
    kind: str, count: int, seed: int = 0, *, variety: bool = False, **overrides: object
) -> list[Record]:
    """Return `count` records of a kind, such as "trade", the same for the same seed.

    `variety` puts odd texts (empty, 12 and 13 bytes, escapes, Devanagari, rupee signs, astral) into
    text fields. An override is the value of a field in every record, or a function of the index.
    """
    table = fields(kind)
    if unknown := overrides.keys() - set(names(kind)):
        raise TypeError(f"not fields of the {kind} record: {sorted(unknown)}")
    generator = random.Random(f"{kind} {seed}")
    drawn = _of_sandbox(kind, seed)
    made = []
    for index in range(count):
        record = drawn[index % len(drawn)].copy()
        record |= _own(record, index, seed)
        if variety:
            _vary(record, table, generator)
        for name, override in overrides.items():
            record[name] = override(index) if callable(override) else override
        made.append(record)
    return made


trades = functools.partial(samples, "trade")
orders = functools.partial(samples, "order")
stocks = functools.partial(samples, "stock")


def _vary(record: Record, table: tuple[Field, ...], generator: random.Random) -> None:
    for field in table:
        plain = field.type == "string" and not any(word in field.meaning for word in IDENTITY)
        if plain and generator.random() < 0.5:
            record[field.name] = generator.choice(ODD_TEXTS)
