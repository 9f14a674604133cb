"""Lots that are matched within a strategy, a tag or a book of one's own."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, book, trade, unwarned
from tradingdata.analysis.keys import KEY, REQUIRED
from worlds import world

LOT: dict[str, Any] = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}
RATE = td.ChargeRate(brokerage=0.003, cap=2.5, per_order=1, stt_sell=0.001, gst=0.18)
ROWS = book(
    trade(1, "B", 10, 1000.0, 0, algo_id="slow", order_no="a"),
    trade(2, "B", 10, 1200.0, 1, algo_id="fast", order_no="b"),
    trade(3, "S", 10, 1300.0, 2, algo_id="fast", order_no="c"),
    trade(4, "S", 5, 500.0, 3, order_no="d"),
)
TAGS = {"a": "slow", "b": "fast", "c": "fast"}


def by_of(result: Any, name: str) -> dict[str | None, Any]:
    return {row.by: row[name] for row in result}


@pytest.mark.parametrize("by", ["algo_id", TAGS, lambda row: TAGS.get(row.order_no)])
def test_lots_are_matched_within_what_by_says(by: Any) -> None:
    ledger = td.Ledger(ROWS, by=by)
    found = ledger.realised()
    assert by_of(found, "realised") == {"slow": 0.0, "fast": 100.0, None: 0.0}
    assert by_of(found, "open_quantity") == {"slow": 10, "fast": 0, None: -5}
    assert td.realised_pnl(ROWS).realised == 200.0  # the oldest lot, whosever it was
    assert [match.by for match in found.matches] == ["fast"]
    assert [(lot.by, lot.side) for lot in found.open_lots] == [("slow", "long"), (None, "short")]
    assert found.columns[-1] == found.matches.columns[-1] == found.open_lots.columns[-1] == "by"
    part = found.filter(by="slow")
    assert (len(part.matches), [lot.quantity for lot in part.open_lots]) == (0, [10])
    day = ledger.day(prices={"10": 110.0}, charges=td.ChargeRate(per_order=1))
    assert by_of(day, "net") == {"slow": 99.0, "fast": 98.0, None: -51.0}
    assert by_of(day, "buy_quantity") == {"slow": 10, "fast": 10, None: 0}
    daily = ledger.daily({"10": 110.0}, charges=td.ChargeRate(per_order=1), per=("by",))
    assert by_of(daily, "net") == by_of(day, "net")
    assert daily.net == day.net == 146.0
    assert "slow" in repr(found)
    assert "slow" in repr(daily)


def test_an_opening_lot_may_say_whose_it_is() -> None:
    lots = [{**LOT, "quantity": 5, "value": value, "by": by} for by, value in TAGGED.items()]
    found = td.realised_pnl(book(trade(9, "S", 4, 480.0, algo_id="slow")), lots, by="algo_id")
    assert by_of(found, "realised") == {"slow": 80.0, None: 0.0}
    again = td.realised_pnl(book(trade(9, "S", 1, 120.0, 99, algo_id="slow")), found.open_lots)
    assert again.realised == 120.0 - 90.0  # without `by`, they are of one key
    carried = td.realised_pnl(
        book(trade(9, "S", 1, 120.0, 99, algo_id="slow")), found.open_lots, by="algo_id"
    )
    assert by_of(carried, "realised") == {"slow": 20.0, None: 0.0}


TAGGED = {None: 450.0, "slow": 500.0}


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ("algoid", ValueError, "by must be a field of a trade; did you mean 'algo_id'"),
        ("quantity", TypeError, "by must say text of a trade, or None, not 10"),
        (5, TypeError, "by must be the name of a field, a mapping of order numbers or a function"),
        (lambda row: 5, TypeError, "by must say text of a trade, or None, not 5"),
    ],
)
def test_what_says_nothing_of_a_trade_is_refused(by: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        td.Ledger(ROWS, by=by)


def test_a_change_keeps_whose_lots_are() -> None:
    change = td.LotChange(DAY.isoformat() + "T09:15:01", replace={"security_id": "11"}, ratio=2)
    lots = td.Ledger(ROWS[:1], changes=[change], by="algo_id").open_lots()
    assert [(lot.by, lot.quantity, lot.security_id) for lot in lots] == [("slow", 20, "11")]


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_strategies_add_up(seed: int) -> None:
    """Realised plus unrealised is the same however lots are matched, and so are charges."""
    for number in range(seed, seed + 20):
        rng = random.Random(number)
        made = world(rng)
        tags: dict[str, str | None] = {
            str(row.order_no): rng.choice(["x", "y", None]) for row in made.book
        }
        plain, tagged = (
            td.Ledger(made.book, by=by, settle=lambda row: 12.35) for by in (None, tags)
        )
        whole, of_tags = unwarned(partial(daily_of, plain)), unwarned(partial(daily_of, tagged))
        per = unwarned(partial(daily_of, tagged, per=("security_id", "expiry_date", "by")))
        assert net_of(of_tags) == pytest.approx(net_of(whole), abs=1e-5)
        assert net_of(per) == pytest.approx(net_of(whole), abs=1e-3)
        days = [unwarned(partial(day_of, each)) for each in (plain, tagged)]
        assert days[0].charges == pytest.approx(days[1].charges, abs=1e-6)
        assert {row.by for row in days[1]} <= {"x", "y", None}
        assert set(KEY) < set(days[1].columns)


def daily_of(ledger: td.Ledger, **more: Any) -> Any:
    return ledger.daily(lambda row: 20.0 + len(row.security_id), charges=RATE, **more)


def day_of(ledger: td.Ledger) -> Any:
    return ledger.day(prices=lambda row: 20.0, charges=RATE)


def net_of(table: Any) -> Fraction:
    return sum((Fraction(repr(row.net)) for row in table), Fraction(0))


@pytest.mark.parametrize("cash", [None, 190.0])
def test_a_change_counts_the_whole_shares_of_a_holder(cash: float | None) -> None:
    """Two strategies with 5 shares each hold 10: half as many are 5, not twice 2."""
    rows = book(trade(1, "B", 5, 500.0, algo_id="slow"), trade(2, "B", 5, 400.0, 1, algo_id="fast"))
    change = td.LotChange("2026-11-21", where={"security_id": "10"}, ratio=(1, 2), cash=cash)
    ledgers = [td.Ledger(rows, changes=[change], until="2026-11-21", by=by) for by in (None, TAG)]
    assert [len(ledger.issues) for ledger in ledgers] == [0, 0]
    values = [ledger.unrealised({"10": 200.0}).unrealised for ledger in ledgers]
    assert values == [100.0, 100.0]
    found = [(lot.by, lot.quantity, lot.value) for lot in ledgers[1].open_lots()]
    assert found == [("slow", 2, 500.0), ("fast", 3, 400.0)]


def test_cash_is_for_the_last_shares_whosever_they_are() -> None:
    rows = book(*(trade(n, "B", 1, 10.0 * n, n, algo_id=name) for n, name in THREE))
    change = td.LotChange("2026-11-21", where={"security_id": "10"}, ratio=(1, 2), cash=190.0)
    ledger = td.Ledger(rows, changes=[change], until="2026-11-21", by=TAG)
    assert [(lot.by, lot.quantity, lot.value) for lot in ledger.open_lots()] == [("fast", 1, 30.0)]
    assert [(match.by, match.cost, match.proceeds) for match in ledger.matches] == [
        ("slow", 30.0, 95.0)
    ]


TAG = "algo_id"
THREE = ((1, "slow"), (2, "fast"), (3, "slow"))
