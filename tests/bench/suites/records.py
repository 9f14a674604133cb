"""Body to records, with this library and its peers: decoded only, read in a loop, or to dicts."""

from __future__ import annotations

import datetime as dt
import functools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tradingdata import _core

from ..bodies import book, walk_floor
from ..contest import Contest, Entry, Fact, Prepare, Ready, Source, peer
from ..report import Goal, Run

# What a script reads of a trade: what was traded, when, how much of it and at what price.
FIVE = ("exch_trade_time", "symbol", "txn_type", "quantity", "traded_price")
PYTHON_TYPE: dict[str, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "timestamp": dt.datetime,
    "date": dt.date,
}
SAMPLE = 1000


@functools.cache
def kinds(record: str) -> dict[str, str]:
    """The kind of each field that is sent by wire name, in the service's order."""
    (fields,) = (each["fields"] for each in _core.records() if each["name"] == record)
    return {field["name"]: field["kind"] for field in fields if not field["local"]}


def names_of(record: str, *of_kind: str) -> list[str]:
    """The fields of some kinds."""
    return [name for name, kind in kinds(record).items() if kind in of_kind]


def item(record: Any, name: str) -> Any:
    return record[name]


def of_records(
    record: str,
    records: Sequence[Any],
    get: Callable[[Any, str], Any] = getattr,
    names: Iterable[str] | None = None,
) -> Fact:
    """The fact of records that are objects (`get` is getattr) or mappings."""
    expected = kinds(record)
    sums, untyped = {}, []
    for name in expected if names is None else names:
        values = [value for one in records if (value := get(one, name)) is not None]
        number = expected[name] == "number"
        if number or expected[name] == "integer":
            sums[name] = math.fsum(values)
        allowed = {int, float} if number else {PYTHON_TYPE[expected[name]]}
        if not set(map(type, values[:SAMPLE])) <= allowed:
            untyped.append(name)
    return {"rows": len(records), "sums": sums, "untyped": untyped}


@functools.cache
def struct_decoder(record: str, names: tuple[str, ...] = ()) -> Any:
    """A msgspec decoder of the envelope, with Structs of all fields, or of some."""
    msgspec, each = peer("msgspec"), kinds(record)
    fields = [(name, PYTHON_TYPE[each[name]] | None) for name in names or each]
    row = msgspec.defstruct(record, fields, gc=False)
    members = [("data", list[row]), ("message", str), ("status", str)]  # type: ignore[valid-type]
    return msgspec.json.Decoder(msgspec.defstruct("Envelope", members, gc=False))


@dataclass(frozen=True)
class Decoder:
    """`decode` gives records, whose fields are read as attributes, or as items."""

    decode: Callable[[bytes], Any]
    items: bool = False
    fields: tuple[str, ...] = ()  # those that it reads, if not all

    def fact(self, record: str, records: Any) -> Fact:
        return of_records(record, records, item if self.items else getattr, self.fields or None)


def ours(record: str) -> Decoder:
    tradingdata = peer("tradingdata")
    kind = {"Trade": tradingdata.TradeBook, "Order": tradingdata.OrderBook}[record]
    return Decoder(kind.from_json)


def msgspec_struct(record: str, names: tuple[str, ...] = ()) -> Decoder:
    decode = struct_decoder(record, names).decode
    return Decoder(lambda body: decode(body).data, fields=names)


def pydantic_model(record: str) -> Decoder:
    pydantic = peer("pydantic")
    fields = {name: (PYTHON_TYPE[kind] | None, ...) for name, kind in kinds(record).items()}
    row = pydantic.create_model(record, **fields)
    members = {"data": (list[row], ...), "message": (str, ...), "status": (str, ...)}  # type: ignore[valid-type]
    validate = pydantic.create_model("Envelope", **members).model_validate_json
    return Decoder(lambda body: validate(body).data)


def dicts(loads: Callable[[bytes], Any]) -> Decoder:
    return Decoder(lambda body: loads(body)["data"], items=True)


DECODERS: dict[str, Callable[[str], Decoder]] = {
    "tradingdata": ours,
    "msgspec Struct": msgspec_struct,
    "msgspec Struct of the five": lambda record: msgspec_struct(record, FIVE),
    "pysimdjson": lambda record: dicts(peer("simdjson").Parser().parse),
    "orjson dict": lambda record: dicts(peer("orjson").loads),
    "json dict": lambda record: dicts(json.loads),
    "pydantic": pydantic_model,
}
FIVE_ONLY = "msgspec Struct of the five"
ALL_FIELDS = [label for label in DECODERS if label != FIVE_ONLY]


def loop_over(names: Iterable[str], *, items: bool) -> Callable[[Iterable[Any]], None]:
    """A `for` loop that reads fields of every record, as a user would write it out.

    The source is compiled here, since a loop over names with getattr would measure getattr.
    """
    lines = [f"        record[{name!r}]" if items else f"        record.{name}" for name in names]
    source = "\n".join(["def loop(records):", "    for record in records:", *lines, "        pass"])
    namespace: dict[str, Any] = {}
    exec(compile(source, "<loop over fields>", "exec"), namespace)
    loop: Callable[[Iterable[Any]], None] = namespace["loop"]
    return loop


def _case(label: str, read: Sequence[str] | None = ()) -> Prepare:
    """Decodes, then reads these fields of every record in a loop; None: all fields."""

    def prepare(source: Source) -> Ready:
        decoder, body = DECODERS[label](source.record), source.body()
        decode = decoder.decode
        names = list(kinds(source.record)) if read is None else read
        loop = loop_over(names, items=decoder.items)

        def decode_and_read() -> Any:
            records = decode(body)
            loop(records)
            return records

        run = decode_and_read if names else lambda: decode(body)
        return Ready(run, lambda records: decoder.fact(source.record, records))

    return prepare


def _to_dicts(source: Source, *, alone: bool = False) -> Ready:
    decode, body = ours(source.record).decode, source.body()
    made = decode(body)
    run = made.to_dicts if alone else lambda: decode(body).to_dicts()
    return Ready(run, lambda records: of_records(source.record, records, item))


CASES: dict[str, Prepare] = {
    **{label: _case(label) for label in DECODERS},
    **{f"five:{label}": _case(label, FIVE) for label in DECODERS},
    **{f"all:{label}": _case(label, None) for label in ALL_FIELDS},
    "dicts": _to_dicts,
    "dicts alone": functools.partial(_to_dicts, alone=True),
}


def entries(source: Source, labels: Iterable[str], prefix: str = "") -> tuple[Entry, ...]:
    return tuple(Entry(label, "records", f"{prefix}{label}", source) for label in labels)


def trades(count: int = 10_000, form: str = "compact") -> Source:
    return Source("Trade", str(book("Trade", count, form)))


PEER = ("msgspec Struct",)
WALK = "the walk alone, C++"
SPELLINGS = {"reversed": "keys reversed", "spaced": "spaced", "unknown": "three unknown keys"}


def decode(run: Run) -> None:
    """Body to records: against peers, the walk alone, and in other spellings of the JSON."""

    def contest(title: str, source: Source, labels: Iterable[str], *more: Entry) -> Contest:
        return Contest(f"{title}, body to records", (*entries(source, labels), *more))

    def with_walk() -> Contest:
        walk = Entry(WALK, "", "", trades(), (str(walk_floor()), "Trade", trades().path))
        return contest("10,000 trades", trades(), DECODERS, walk)

    def as_dicts() -> Contest:
        cases = {"tradingdata": "dicts", "to_dicts() alone": "dicts alone"}
        ours = [Entry(label, "records", case, trades()) for label, case in cases.items()]
        peers = entries(trades(), ("orjson dict", "json dict"))
        return Contest("10,000 trades, body to dicts", (*ours, *peers))

    def spelled() -> Contest:
        forms = {"tradingdata": "compact"} | {what: form for form, what in SPELLINGS.items()}
        each = (
            Entry(what, "records", "tradingdata", trades(10_000, forms[what])) for what in forms
        )
        return Contest("10,000 trades in other spellings, body to records", tuple(each))

    both = ("tradingdata", *PEER)
    run.play(
        "trades-10k",
        with_walk,
        Goal("10k trades to a book, times faster", PEER, 3.5, 5),
        Goal("part of the C++ limit", (WALK,), 0.7, 0.9),
    )
    run.play(
        "orders-10k",
        lambda: contest("10,000 orders", Source("Order", str(book("Order", 10_000))), ALL_FIELDS),
        Goal("10k orders to a book, times faster", PEER, 3.5, 5),
    )
    run.play(
        "trades-200k",
        lambda: contest("200,000 trades", trades(200_000), both),
        Goal("200k trades to a book, times faster", PEER, 2, 3),
    )
    run.play(
        "trades-100",
        lambda: contest("100 trades", trades(100), ALL_FIELDS),
        Goal("100 trades to a book, times faster", PEER, 3, 4),
    )
    goal = Goal("10k trades to dicts, times faster", ("orjson dict",), 1.5, 3)
    run.play("dicts", as_dicts, goal)
    slower = "times slower than compact, in order"
    run.play(
        "spellings",
        spelled,
        *(
            Goal(f"{what}: {slower}", ("tradingdata",), 1.5, 1.2, faster=False, ours=what)
            for what in SPELLINGS.values()
        ),
    )
    run.play(
        "hard",
        lambda: contest("10,000 trades, hard to read", trades(10_000, "hard"), both),
        Goal("10k hard trades to a book, times faster", PEER, 3.5, 5),
    )


def rows(run: Run) -> None:
    """Body to records and then a loop over them: five fields of each, and all."""

    def contest(title: str, prefix: str, labels: Iterable[str]) -> Contest:
        title = f"10,000 trades, body to {title} of each in a loop"
        return Contest(title, entries(trades(), labels, prefix))

    run.play(
        "five",
        lambda: contest("five fields", "five:", DECODERS),
        Goal("five fields in a loop, times faster", PEER, 3, 4, ahead_of=FIVE_ONLY),
    )
    run.play(
        "all",
        lambda: contest("all fields", "all:", ALL_FIELDS),
        Goal("all fields in a loop, times faster", PEER, 1.7, 2.5),
    )
