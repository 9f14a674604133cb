"""Cases from a body to records: decoded only, five or all fields read in a loop, or to dicts."""

from __future__ import annotations

from typing import Any

from ..harness.case import Fact, Prepare, Ready, Source
from ..harness.facts import item, of_records
from ..harness.fields import FIVE, kinds, loop_over
from .decoders import DECODERS, Decoder


def _fact(source: Source, decoder: Decoder, records: Any) -> Fact:
    return of_records(source.record, records, decoder.get, decoder.fields or None)


def _decode(name: str) -> Prepare:
    def prepare(source: Source) -> Ready:
        decoder, body = DECODERS[name](source.record), source.body()
        decode = decoder.decode
        return Ready(lambda: decode(body), lambda records: _fact(source, decoder, records))

    return prepare


def _loop(name: str, *, five: bool) -> Prepare:
    def prepare(source: Source) -> Ready:
        decoder, body = DECODERS[name](source.record), source.body()
        decode = decoder.decode
        read = loop_over(FIVE if five else kinds(source.record), decoder.access)

        def run() -> Any:
            records = decode(body)
            read(records)
            return records

        return Ready(run, lambda records: _fact(source, decoder, records))

    return prepare


def _to_dicts(source: Source) -> Ready:
    decode, body = DECODERS["tradingdata"](source.record).decode, source.body()
    return Ready(
        lambda: decode(body).to_dicts(), lambda records: of_records(source.record, records, item)
    )


def _to_dicts_only(source: Source) -> Ready:
    book = DECODERS["tradingdata"](source.record).decode(source.body())
    return Ready(book.to_dicts, lambda records: of_records(source.record, records, item))


CASES: dict[str, Prepare] = {
    **{f"decode:{name}": _decode(name) for name in DECODERS},
    **{f"five:{name}": _loop(name, five=True) for name in DECODERS},
    **{f"all:{name}": _loop(name, five=False) for name in DECODERS if name != "msgspec-five"},
    "dicts:tradingdata": _to_dicts,
    "dicts:to_dicts-alone": _to_dicts_only,
}
