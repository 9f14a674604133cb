"""From a body to records, with each library: what most cases begin with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..harness.case import peer
from ..harness.facts import item
from ..harness.fields import FIVE
from .models import struct_decoder, validator


@dataclass(frozen=True)
class Decoder:
    """`decode` gives records, whose fields are read as `access` says."""

    decode: Callable[[bytes], Any]
    access: str = "attribute"
    fields: tuple[str, ...] = ()  # those that it reads, if not all

    @property
    def get(self) -> Callable[[Any, str], Any]:
        return getattr if self.access == "attribute" else item


def ours(record: str) -> Decoder:
    tradingdata = peer("tradingdata")
    kind = {"Trade": tradingdata.TradeBook, "Order": tradingdata.OrderBook}[record]
    return Decoder(kind.from_json)


def msgspec_struct(record: str) -> Decoder:
    decode = struct_decoder(record).decode
    return Decoder(lambda body: decode(body).data)


def msgspec_five(record: str) -> Decoder:
    decode = struct_decoder(record, FIVE).decode
    return Decoder(lambda body: decode(body).data, fields=FIVE)


def pydantic_model(record: str) -> Decoder:
    validate = validator(record).model_validate_json
    return Decoder(lambda body: validate(body).data)


def orjson_dicts(record: str) -> Decoder:
    loads = peer("orjson").loads
    return Decoder(lambda body: loads(body)["data"], access="item")


def json_dicts(record: str) -> Decoder:
    return Decoder(lambda body: json.loads(body)["data"], access="item")


def simdjson_lazy(record: str) -> Decoder:
    parse = peer("simdjson").Parser().parse
    return Decoder(lambda body: parse(body)["data"], access="item")


DECODERS: dict[str, Callable[[str], Decoder]] = {
    "tradingdata": ours,
    "msgspec": msgspec_struct,
    "msgspec-five": msgspec_five,
    "pysimdjson": simdjson_lazy,
    "orjson": orjson_dicts,
    "json": json_dicts,
    "pydantic": pydantic_model,
}
LABELS = {
    "tradingdata": "tradingdata",
    "msgspec": "msgspec Struct",
    "msgspec-five": "msgspec Struct of the five",
    "pysimdjson": "pysimdjson",
    "orjson": "orjson dict",
    "json": "json dict",
    "pydantic": "pydantic",
}
