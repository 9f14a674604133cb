"""Trades as calculations need them: whose, of what, which side, how many, and for how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .amounts import decimals_of, in_units
from .columns import (
    check_book,
    check_codes,
    read,
    require_once,
    require_quantities,
    require_sides,
    require_values,
)
from .keys import KEY, Key, Names, names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..books import TradeBook


class Fills(NamedTuple):
    """Columns of trades that all have a key, a side, a quantity of 1 or more, and a value.

    ``values`` are whole numbers of 10**-``decimals``. ``names`` has a symbol and a display name for
    each key.
    """

    keys: list[Key]
    bought: list[bool]
    quantities: list[int]
    values: list[int]
    decimals: int
    times: list[Any]
    trade_nos: list[str | None]
    names: dict[Key, Names]


def read_fills(
    trades: TradeBook, buy: str, sell: str, *, also: Sequence[float] = (), timed: bool = False
) -> Fills:
    """The fills of a book; ``also`` are amounts that the unit must hold besides.

    Raises ValueError for a row that lacks what the calculation needs (with ``timed`` also its
    ``exch_trade_time``), for a ``txn_type`` that is neither code, for a quantity below 1, and for
    one trade that stands in the book twice.
    """
    from ..books import TradeBook

    check_book("trades", trades, TradeBook)
    check_codes(buy, sell)
    key = read(trades, *KEY)
    sides, quantities, values, times = read(
        trades, "txn_type", "quantity", "trade_value", "exch_trade_time"
    )
    needed = dict(zip((*KEY, "txn_type"), (*key, sides), strict=True))
    needed |= {"quantity": quantities, "trade_value": values}
    require_values(trades, needed | ({"exch_trade_time": times} if timed else {}))
    require_sides(trades, sides, buy, sell)
    require_quantities(trades, quantities)
    keys = list(zip(*key, strict=True))
    trade_nos, order_nos = read(trades, "trade_no", "order_no")
    days = [time and time.date() for time in times]
    rows = zip(keys, trade_nos, order_nos, sides, days, strict=True)
    # A trade without a number cannot be known again.
    require_once(trades, [(*row[0], *row[1:]) if row[1] else (at,) for at, row in enumerate(rows)])
    decimals = max(decimals_of(values), decimals_of(also))
    return Fills(
        keys=keys,
        bought=[side == buy for side in sides],
        quantities=quantities,
        values=in_units(values, decimals),
        decimals=decimals,
        times=times,
        trade_nos=trade_nos,
        names=names_of(trades, keys),
    )
