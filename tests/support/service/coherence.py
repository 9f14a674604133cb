"""The fields of one record that follow from each other."""

from __future__ import annotations

from typing import TypeAlias

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
