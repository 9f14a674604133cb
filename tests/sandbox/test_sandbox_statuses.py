"""What becomes of the sandbox's orders: Pending, then Success or Error."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from sandbox_calls import column, orders, trades
from tradingdata import sandbox

MOMENTS = ["09:15:20", "10:00", "12:34:56", "15:30"]


@pytest.fixture(scope="module", params=[0, 1, 2])
def day(request: pytest.FixtureRequest) -> Iterator[sandbox.Service]:
    with sandbox.start(seed=request.param, orders=400) as running:
        yield running


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_status_says_what_became_of_an_order(day: sandbox.Service, moment: str) -> None:
    day.advance_to(moment)
    for order in orders(day):
        filled, asked = order["traded_qty"], order["quantity"]
        possible = {
            "Success": filled == asked,
            "Pending": filled < asked,
            "Error": filled == 0,
            "Cancelled": filled < asked,
        }
        assert possible[order["status"]], order


def test_a_day_has_everything_in_it(day: sandbox.Service) -> None:
    day.advance_to("15:30")
    placed = orders(day)
    counts = Counter(column(placed, "status"))
    assert len(placed) == 400
    assert counts["Success"] > 200
    assert counts["Pending"] > 10
    assert counts["Error"] > 5
    assert counts["Cancelled"] > 5
    parts = Counter(column(trades(day), "order_no"))
    assert max(parts.values()) > 3
    unfinished = [order for order in placed if 0 < order["traded_qty"] < order["quantity"]]
    assert {order["status"] for order in unfinished} <= {"Pending", "Cancelled"}


def test_only_an_error_has_a_code_and_a_reason_for_it(day: sandbox.Service) -> None:
    day.advance_to("15:30")
    for order in orders(day):
        assert (order["error_code"] != "0") == (order["status"] == "Error")
        assert order["reason_description"]


def test_an_order_goes_from_pending_to_its_end_and_stays_there() -> None:
    with sandbox.start(seed=3, speed=0, orders=300) as service:
        seen: dict[str, list[str]] = defaultdict(list)
        filled: dict[str, int] = {}
        while service.now.time().isoformat() < "10:15":
            service.advance(15)
            for order in orders(service):
                key, status = order["order_no"], order["status"]
                if not seen[key] or seen[key][-1] != status:
                    seen[key].append(status)
                assert order["traded_qty"] >= filled.get(key, 0)
                filled[key] = order["traded_qty"]
        # A state may pass between two looks, so an order can be seen at its end at once.
        changes = {tuple(states) for states in seen.values()}
        assert changes == {
            *(("Pending",), ("Success",), ("Error",)),
            *(("Pending", "Success"), ("Pending", "Error")),
        }
