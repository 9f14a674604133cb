"""The columns of a trade book that calculations use, validated and in exact units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .exact_sums import decimals_of, in_units
from .multipliers import multipliers_of
from .security_key import KEY, Key, Names, names_of
from .validation import (
    check_codes,
    read,
    require_once,
    require_quantities,
    require_sides,
    require_values,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..books.book import TradeBook


class Fills(NamedTuple):
    """Columns of trades, each with a complete key, a side, a quantity of 1 or more and a value.

    ``values`` are multiples of 10**-``decimals``. ``names`` has every key, ``multipliers`` those
    whose trades prove one.
    """

    keys: list[Key]
    bought: list[bool]
    quantities: list[int]
    values: list[int]
    decimals: int
    times: list[Any]
    trade_nos: list[str | None]
    names: dict[Key, Names]
    multipliers: dict[Key, int]


def read_fills(
    trades: TradeBook,
    accounts: Sequence[str | None],
    buy: str,
    sell: str,
    *,
    also: Sequence[float] = (),
    timed: bool = False,
) -> Fills:
    """Returns the fills of a book in a unit that holds the amounts in ``also`` as well.

    Raises:
        ValueError: If a row lacks a required value (with ``timed``, also ``exch_trade_time``), has
            another ``txn_type`` than the two codes or a quantity below 1, or appears twice, or if
            quantities of one key are in different units.
    """
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
    # A trade without a number cannot be recognised as a duplicate.
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
        names=names_of(trades, accounts, keys),
        multipliers=multipliers_of(trades, keys),
    )
