"""Rates of charges: which trades each is for, and what it takes of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from .._util.validate import shown
from ..table.conditions import parse_conditions
from .inputs import amount, as_conditions, chosen, tables_of

_TAXED = ("brokerage", "exchange", "sebi")  # by GST unless a rate says otherwise
BY_VALUE = {  # the fields of a rate that are fractions of purchases and of sales
    "stt": ("stt_buy", "stt_sell"),
    "exchange": ("exchange", "exchange"),
    "sebi": ("sebi", "sebi"),
    "stamp": ("stamp_buy", ""),
    "other": ("other_buy", "other_sell"),
}
FRACTIONS = {"brokerage", "gst", *sum(BY_VALUE.values(), ())} - {""}
AMOUNTS = ("per_order", "per_lot", "minimum", "cap")
LEVIES = ("brokerage", *BY_VALUE, "gst")
_SQUARED = "squared_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRate:
    """The charges of the trades that meet conditions: fractions of ``trade_value``.

    No rates are built in: they differ by broker and change by law. The page "From trades to profit
    and loss" has an example for NSE and BSE.

    Attributes:
        where: Conditions as in ``trades.filter``, such as ``{"segment": "E", "product": "I"}``;
            without any, the rate applies to every trade. A list, as TOML has it, stands for a set
            of values, or the two of ``__between``. ``squared_off`` is True for the part of a day's
            purchases and sales of one contract, in any product, that offset each other, which is
            taxed as intraday, and False for the rest; each trade has its share of both.
        brokerage: Brokerage, as a fraction of the order's value.
        minimum: Smallest amount that ``brokerage`` comes to for one order.
        cap: Largest amount that ``brokerage`` comes to for one order; ``None`` for no limit.
        per_order: Amount for each order, in addition.
        per_lot: Amount for each lot, in addition: ``lot_size`` shares, or one contract where
            quantities count contracts.
        stt_buy: Securities transaction tax on purchases.
        stt_sell: Securities transaction tax on sales.
        exchange: The exchange's transaction charge.
        sebi: SEBI's turnover fee.
        stamp_buy: Stamp duty, on purchases.
        other_buy: Other charges on purchases, such as a clearing charge or a protection fund.
        other_sell: Other charges on sales.
        gst: Goods and services tax, as a fraction of the levies in ``gst_on``.
        gst_on: What is taxed: names of ``brokerage``, ``stt``, ``exchange``, ``sebi``, ``stamp``
            and ``other``.
    """

    where: Mapping[str, Any] = field(default_factory=dict)
    brokerage: float = 0.0
    minimum: float = 0.0
    cap: float | None = None
    per_order: float = 0.0
    per_lot: float = 0.0
    stt_buy: float = 0.0
    stt_sell: float = 0.0
    exchange: float = 0.0
    sebi: float = 0.0
    stamp_buy: float = 0.0
    other_buy: float = 0.0
    other_sell: float = 0.0
    gst: float = 0.0
    gst_on: Sequence[str] = _TAXED

    def __post_init__(self) -> None:
        if not isinstance(self.where, Mapping):
            raise TypeError(f"where must be a dict of conditions, not {shown(self.where)}")
        squared, _ = self._conditions()
        if squared not in (None, True, False):
            raise TypeError(f"{_SQUARED} must be True or False, not {shown(squared)}")
        for name in (*sorted(FRACTIONS), *AMOUNTS):
            value = getattr(self, name)
            if value is None and name == "cap":
                continue
            object.__setattr__(self, name, amount(name, value))
            if value >= 1 and name in FRACTIONS:
                raise ValueError(
                    f"{name} is a fraction, such as 0.001 for 0.1 %, and must be below 1, not "
                    f"{value!r}"
                )
        if self.cap is not None and self.minimum > self.cap:
            raise ValueError(f"minimum {self.minimum!r} must not be above cap {self.cap!r}")
        taxed = chosen("gst_on", self.gst_on, LEVIES[:-1], "a list of levies")
        object.__setattr__(self, "gst_on", tuple(name for name in LEVIES if name in taxed))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[ChargeRate, ...]:
        """Reads rates from a TOML file, one ``[[rate]]`` table each, in their order.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not TOML, or has anything but such tables with these fields, whose
                conditions are on fields of a trade.
        """
        return tables_of(path, "rate", cls)

    def _conditions(self) -> tuple[Any, list[Any]]:
        """Returns which part of a day's trades the rate is for, if not all, and its conditions."""
        where = as_conditions(self.where)
        squared = where.pop(_SQUARED, None)
        return squared, parse_conditions("Trade", _core.names_of("Trade"), where)
