"""Rates of charges: which trades each is for, and what it takes of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from .. import _core
from .._util.validate import keywords, shown
from ..table.conditions import Condition, parse_conditions
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
AMOUNTS = ("per_order", "per_lot", "minimum", "minimum_per_lot", "cap", "cap_per_lot")
LEVIES = ("brokerage", *BY_VALUE, "gst")
_FLAGS = ("squared_off", "settled")  # conditions on what is no field of a trade
_ORDER_VALUE = "order_value"
_USES = {f"{name}_buy= and {name}_sell=": name for name in ("stt", "other")}
_USES |= {"stamp_buy=": "stamp stamp_duty", "exchange=": "exchange_charges", "gst_on=": "taxed"}

Kind = TypeVar("Kind")


class RateConditions(NamedTuple):
    """What a rate is for.

    Attributes:
        squared_off: Which part of a day's trades, if not all.
        settled: Whether settlements, if that is said.
        order_value: Conditions on the value of the order.
        of_trade: Conditions on the trade.
    """

    squared_off: bool | None
    settled: bool | None
    order_value: list[Condition]
    of_trade: list[Condition]


def _with_hints(kind: type[Kind]) -> type[Kind]:
    """Makes the TypeError of a keyword that a dataclass does not have say what to write instead."""
    function = vars(kind)["__init__"]
    function.__name__ = kind.__name__
    type.__setattr__(kind, "__init__", keywords(_USES)(function))
    return kind


@_with_hints
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
            ``order_value`` is the value of the executed order, for slabs of brokerage such as
            ``{"order_value__lt": 1400}``. ``settled`` is True for settlements of expired contracts,
            which have neither an order nor a trade number, and False for trades; settlements take
            only the rates that say True, if there is one.
        brokerage: Brokerage, as a fraction of the order's value.
        minimum: Smallest amount that ``brokerage`` comes to for one order.
        minimum_per_lot: The same for each lot of the order; the larger of both counts.
        cap: Largest amount that ``brokerage`` comes to for one order; ``None`` for no limit.
        cap_per_lot: The same for each lot of the order; the smaller of both counts.
        per_order: Amount for each order, in addition.
        per_lot: Amount for each lot, in addition: ``lot_size`` shares, or one contract where
            quantities count contracts.
        stt_buy: Securities transaction tax on purchases.
        stt_sell: Securities transaction tax on sales.
        average: Whether the securities transaction tax is on the quantity times the average price
            of all purchases and sales of the contract on the day, as exchanges compute it for
            shares, instead of on each ``trade_value``.
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
    minimum_per_lot: float = 0.0
    cap: float | None = None
    cap_per_lot: float | None = None
    per_order: float = 0.0
    per_lot: float = 0.0
    stt_buy: float = 0.0
    stt_sell: float = 0.0
    average: bool = False
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
        conditions = self._conditions()
        for name in _FLAGS:
            if getattr(conditions, name) not in (None, True, False):
                raise TypeError(
                    f"{name} must be True or False, not {shown(getattr(conditions, name))}"
                )
        if not isinstance(self.average, bool):
            raise TypeError(f"average must be True or False, not {shown(self.average)}")
        for name in (*sorted(FRACTIONS), *AMOUNTS):
            value = getattr(self, name)
            if value is None and name.startswith("cap"):
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

        Args:
            path: The file. The keys of a table are the attributes of a rate.

        Returns:
            The rates.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not TOML, or has anything but such tables with these fields, whose
                conditions are on fields of a trade.
        """
        return tables_of(path, "rate", cls)

    def _conditions(self) -> RateConditions:
        of_trade: dict[str, object] = {}
        of_order: dict[str, object] = {}
        flags: dict[str, Any] = {}
        for keyword, value in as_conditions(self.where).items():
            name, _, _ = keyword.partition("__")
            if keyword in _FLAGS:
                flags[keyword] = value
            elif name == _ORDER_VALUE:
                of_order[keyword] = value
            else:
                of_trade[keyword] = value
        return RateConditions(
            squared_off=flags.get("squared_off"),
            settled=flags.get("settled"),
            order_value=parse_conditions("ChargeRate", [_ORDER_VALUE], of_order),
            of_trade=parse_conditions("Trade", _core.names_of("Trade"), of_trade),
        )


Rates = ChargeRate | Sequence[ChargeRate] | str | os.PathLike[str]


def rates_of(rates: object) -> tuple[ChargeRate, ...]:
    """Returns rates given as one, as several, or as the path of a file of them."""
    if isinstance(rates, ChargeRate):
        return (rates,)
    if isinstance(rates, (str, os.PathLike)):
        return ChargeRate.load(rates)
    if not isinstance(rates, Sequence) or not all(isinstance(rate, ChargeRate) for rate in rates):
        raise TypeError(
            "rates must be one or several td.ChargeRate, or the path of a TOML file of them, not "
            f"{shown(rates)}"
        )
    return tuple(rates)


def charge_settlements(rates: Sequence[ChargeRate]) -> bool:
    """Returns whether some of the rates are for settlements of expired contracts."""
    return any(rate._conditions().settled for rate in rates)
