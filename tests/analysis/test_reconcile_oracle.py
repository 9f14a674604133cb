"""Reconciliation of generated days whose right finding is known from how they were made.

The days have several clients, exchanges, products and securities, bracket orders, values in lots,
and order numbers that repeat on the next day. One order is then changed in a known way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import at, order, trade
from tradingdata.analysis.keys import KEY

LOT = 25
CHANGES: dict[str, dict[str, Any]] = {
    "agrees": {},
    "side differs": {"txn_type": "other"},
    "security differs": {"security_id": "other"},
    "product differs": {"product": "other"},
    "value missing": {"trade_value": None},
    "quantity differs": {"quantity": 10**6},
    "price differs": {"trade_value": 10.0**9},
}


class Made(NamedTuple):
    """One side of an order: its legs and its trades."""

    legs: list[td.Order]
    fills: list[td.Trade]


@st.composite
def sides(draw: st.DrawFn) -> list[Made]:
    """Sides of orders that agree with their trades, one or two for each order number."""
    made = []
    count = 0
    for number in range(draw(st.integers(1, 6))):
        key = [draw(st.sampled_from(pair)) for pair in (["C1", "C2"], ["NSE", "BSE"], "ED")]
        key += [draw(st.sampled_from(["10", "11"])), draw(st.sampled_from("CIM"))]
        facts: dict[str, Any] = dict(zip(KEY, key, strict=True)) | {
            # A number repeats on the next day.
            "order_date_time": at(0, day=number % 2),
            "order_no": f"O{number // 2}",
            "lot_size": LOT,
        }
        multiplier = draw(st.sampled_from([1, LOT]))
        for side in draw(st.sampled_from(["B", "S", "BS"])):
            legs, fills = [], []
            for leg in range(draw(st.integers(1, 2))):
                # Each leg has fills at one price, so that its average needs no rounding.
                price = draw(st.integers(1, 10**5)) / 100
                quantities = draw(st.lists(st.integers(1, 50), min_size=leg == 0, max_size=3))
                for quantity in quantities:
                    count += 1
                    value = quantity * round(price * 100) * multiplier / 100
                    fills.append(trade(count, side, quantity, value, **facts))
                filled = sum(quantities)
                average = price if filled else None
                legs.append(order(count, filled, average, leg_no=leg, txn_type=side, **facts))
            made.append(Made(legs, fills))
    return made


def compared(made: list[Made]) -> td.analysis.Reconciliation:
    orders = td.OrderBook(leg for side in made for leg in side.legs)
    return td.reconcile(orders, td.TradeBook(fill for side in made for fill in side.fills))


@settings(deadline=None)
@given(sides())
def test_books_of_one_truth_agree(made: list[Made]) -> None:
    found = compared(made)
    assert found.agrees
    assert len(found) == len(made)
    assert sum(row.fills for row in found) == sum(len(side.fills) for side in made)


@settings(deadline=None)
@given(sides(), st.sampled_from(sorted(CHANGES)), st.data())
def test_one_change_gives_its_finding_and_no_other(
    made: list[Made], finding: str, data: st.DataObject
) -> None:
    at_fault = data.draw(st.integers(0, len(made) - 1))
    side = made[at_fault]
    changed = Made(side.legs, [fill._replace(**CHANGES[finding]) for fill in side.fills])
    found = compared([*made[:at_fault], changed, *made[at_fault + 1 :]])
    of_side = [row.finding for row in found if same_order(row, side.legs[0])]
    assert of_side == [finding]
    agreeing = sum(row.finding == "agrees" for row in found)
    assert agreeing == len(made) - (finding != "agrees")


def same_order(row: td.analysis.OrderCheck, leg: Any) -> bool:
    names = (*KEY[:3], "order_no", "txn_type")
    same = all(getattr(row, name) == getattr(leg, name) for name in names)
    return same and row.day == leg.order_date_time.date()
