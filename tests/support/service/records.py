"""Records as the service sends them: every field of its document, realistic and consistent."""

from __future__ import annotations

import datetime as dt
import functools
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

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


Record: TypeAlias = dict[str, object]


def balance_trade(record: Record) -> None:
    """Make a trade's value the product of its price and quantity."""
    count, each = record["quantity"], record["traded_price"]
    assert isinstance(count, int)
    assert isinstance(each, float)
    record["trade_value"] = round(count * each, 2)


def balance_order(record: Record) -> None:
    """Make the quantities of an order, their text form and its prices agree."""
    total, filled = record["quantity"], record["status"] == "Success"
    assert isinstance(total, int)
    left = 0 if filled else total
    record["remaining_quantity"] = left
    record["traded_qty"] = total - left
    record["rem_qty_tot_qty"] = f"{left}/{total}"
    record["avg_traded_price"] = record["traded_price"] = record["traded_price"] if filled else 0


COMPANIES = (
    ("Reliance Industries", "RELIANCE", "2885", "INE002A01018"),
    ("Tata Consultancy Services", "TCS", "11536", "INE467B01029"),
    ("Infosys", "INFY", "1594", "INE009A01021"),
    ("HDFC Bank", "HDFCBANK", "1333", "INE040A01034"),
    ("Mahindra & Mahindra", "M&M", "2031", "INE101A01026"),
    ("Bajaj Auto", "BAJAJ-AUTO", "16669", "INE917I01010"),
    ("Larsen & Toubro", "LT", "11483", "INE018A01030"),
    ("State Bank of India", "SBIN", "3045", "INE062A01020"),
)
SECTORS = ("IT - Software", "Refineries", "Banks", "Automobile", "Pharmaceuticals")
OPEN = dt.timedelta(hours=9, minutes=15)
SESSION_SECONDS = 6 * 3600
ZERO_DATE = "0001-01-01"
TICKS = 20


@dataclass
class Row:
    """What the values of one record have in common; `seed` is common to all records of a book."""

    seed: int
    index: int
    generator: random.Random
    company: tuple[str, str, str, str]
    derivative: bool
    entered: dt.datetime

    @classmethod
    def make(cls, seed: int, index: int, generator: random.Random) -> Row:
        """Draw a row of the trading day that belongs to `seed`."""
        company = generator.choice(COMPANIES)
        day = dt.datetime(2025, 1, 6) + dt.timedelta(days=seed % 5)
        entered = day + OPEN + dt.timedelta(seconds=generator.randrange(SESSION_SECONDS))
        return cls(seed, index, generator, company, generator.random() < 0.2, entered)

    def number(self, digits: int) -> str:
        """Return digits that no other row of the book has."""
        return str((self.seed % 7 + 1) * 10 ** (digits - 1) + self.index)


Maker: TypeAlias = Callable[[Row], object]

# The first rule whose pattern is found in "type: meaning" makes the value.
RULES: tuple[tuple[str, Maker], ...] = (
    (r"timestamp: .*entry", lambda row: _time(row, 0)),
    (r"timestamp: .*received", lambda row: _time(row, 1)),
    (r"timestamp: .*executed", lambda row: _time(row, 2)),
    (r"timestamp: ", lambda row: _time(row, 3)),
    (r"date: .*expiry", lambda row: "2025-01-30" if row.derivative else ZERO_DATE),
    (r"date: ", lambda row: str(row.entered.date())),
    (r"Permanent account", lambda row: f"ABCPK{1000 + row.seed % 9000}F"),
    (r"Client identifier|entity that placed", lambda row: f"CL{10000 + row.seed % 90000}"),
    (r"Security identifier", lambda row: row.company[2]),
    (r"string: Exchange-assigned", lambda row: row.number(16)),
    (r"string: Unique order", lambda row: row.number(12)),
    (r"string: Unique trade", lambda row: row.number(13)),
    (r"string: (Identifier of the algo|Algo)", lambda row: "0"),
    (r"number: .*identifier", lambda row: 0),
    (r"Unique company code", lambda row: 100 + row.index),
    (r"BSE code", lambda row: str(500000 + row.index)),
    (r"NSE symbol", lambda row: f"{row.company[1]}{row.index}"),
    (r"Full company", lambda row: f"{row.company[0]} {row.index} Ltd."),
    (r"Short company", lambda row: f"{row.company[0]} {row.index}"),
    (r"ISIN code", lambda row: row.company[3]),
    (r"string: ISIN", lambda row: f"INE{row.index:06}A01"),
    (r"Market capitalization, in", lambda row: round(row.generator.uniform(50, 2e6), 2)),
    (r"Y or N", lambda row: row.generator.choice("YN")),
    (r"buy or sell", lambda row: row.generator.choice("BS")),
    (r"Order type", lambda row: row.generator.choice(("LMT", "MKT", "SL", "SLM"))),
    (r"Option type", lambda row: row.generator.choice(("CE", "PE")) if row.derivative else "XX"),
    (r"Option strike", lambda row: row.generator.randrange(20, 80) * 50 if row.derivative else 0),
    (r"Market segment", lambda row: "D" if row.derivative else "E"),
    (r"Product code", lambda row: row.generator.choice("CMIH")),
    (r"Product name", lambda row: row.generator.choice(("DELIVERY", "INTRADAY", "MARGIN"))),
    (r"Market type \(e", lambda row: row.generator.choice(("NL", "OL", "AU"))),
    (r"Participant", lambda row: "C"),
    (r"Instrument", lambda row: "OPTSTK" if row.derivative else "EQUITY"),
    (r"Trading symbol", lambda row: row.company[1]),
    (r"Custom symbol", lambda row: row.company[0]),
    (r"Who placed", lambda row: "CLIENT"),
    (r"(Sector|Industry) code", lambda row: f"{26 + row.index % len(SECTORS):08}"),
    (r"Sector name|Industry name|sector$", lambda row: SECTORS[row.index % len(SECTORS)]),
    (r"order status", lambda row: row.generator.choice(("Pending", "Success", "Error"))),
    (r"Reason text", lambda row: row.generator.choice(("TRADE CONFIRMED", "RMS: margin exceeds"))),
    (r"indicator|Indicator", lambda row: "N"),
    (r"Row index", lambda row: row.index + 1),
    (r"Serial number|Leg value", lambda row: 1),
    (r"[Ll]ot size", lambda row: 250 if row.derivative else 1),
    (r"Minimum price movement", lambda row: 0.05),
    (r"Market protection value|isclosed|Trailing|Stop-loss|Profit", lambda row: 0),
    (r"quantity|Number of shares", lambda row: row.generator.randrange(1, 500)),
    (r"[Pp]rice", lambda row: price(row.generator)),
    (r"integer: ", lambda row: row.generator.randrange(1, 1000)),
    (r"number: ", lambda row: price(row.generator)),
)
EXAMPLES = re.compile(r"(?:e\.g\.|such as) ([^);]+)\)")


@functools.cache
def maker(field: Field) -> Maker:
    """Return what makes values of a field: a rule, or a choice of the document's examples."""
    for pattern, make in RULES:
        if re.search(pattern, f"{field.type}: {field.meaning}"):
            return make
    if not (found := EXAMPLES.search(field.meaning)):
        return lambda row: ""
    examples = [example.partition(" for ")[0] for example in found[1].split(", ")]
    return lambda row: row.generator.choice(examples)


def price(generator: random.Random) -> float:
    """Return a price on the tick of 0.05."""
    return generator.randrange(100 * TICKS, 4000 * TICKS) / TICKS


def _time(row: Row, seconds: int) -> str:
    return f"{row.entered + dt.timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"


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
# Makes the values of a record agree with each other.
BALANCED: dict[str, Callable[[Record], None]] = {"trade": balance_trade, "order": balance_order}
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
    if unknown := overrides.keys() - {field.name for field in table}:
        raise TypeError(f"not fields of the {kind} record: {sorted(unknown)}")
    makers = [(field.name, maker(field)) for field in table]
    generator = random.Random(f"{kind} {seed}")
    made = []
    for index in range(count):
        row = Row.make(seed, index, generator)
        record = {name: make(row) for name, make in makers}
        if kind in BALANCED:
            BALANCED[kind](record)
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
