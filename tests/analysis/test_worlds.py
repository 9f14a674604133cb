"""Calculations on random worlds against an oracle of single shares, in fractions, by contract.

The oracle is written from the docstrings, and knows the order in which the trades happened.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, TIME, unwarned
from cases import ENTERED
from tradingdata.analysis.keys import KEY
from worlds import CONTRACTS, DAYS, Event, World, world
from worlds.orders import orders_of
from worlds.shares import Ledger, key_of, named

UNITS = {named((("", ""), each, ""))[1:4]: each.multiplier for each in CONTRACTS}
RATE = td.ChargeRate(brokerage=0.003, cap=2.5, per_order=1, stt_sell=0.001, gst=0.18)


def charges_of(events: list[Event], day: dt.date) -> Fraction:
    orders: dict[Any, Fraction] = defaultdict(Fraction)
    total = Fraction(0)
    for event in events:
        if event.time.date() == day:
            row = event.row
            order = (event.party, row.exchange, row.segment, row.order_no, event.side)
            orders[order] += event.value
            total += event.value / 1000 if event.side == "S" else 0
    for value in orders.values():
        total += (min(value * 3 / 1000, Fraction(5, 2)) + 1) * Fraction(118, 100)
    return total


def check(made: World, rng: random.Random) -> None:
    day = DAY + dt.timedelta(days=rng.randrange(DAYS))
    settle = rng.choice([None, Fraction(0), Fraction(1235, 100)])
    prices = {
        (row["exchange"], row["security_id"], contract.expiry): Fraction(rng.randint(1, 9999), 100)
        for contract in CONTRACTS
        for row in [dict(contract.fields)]
    }
    found = unwarned(
        lambda: td.day_pnl(
            made.book,
            day=day,
            prices=lambda row: float(prices[row.exchange, row.security_id, row.expiry_date]),
            settle=None if settle is None else (lambda row: float(settle)),
            charges=[RATE],
        )
    )
    ledger = Ledger(made.events, day, settle)
    realised = {named(key): value for key, value in ledger.realised.items() if value}
    assert {key_of(row): Fraction(str(row.realised)) for row in found if row.realised} == realised
    pairs: Counter[Any] = Counter()
    for match in found.pnl.matches:
        pairs[key_of(match), match.buy_trade_no, match.sell_trade_no] += match.quantity
    assert pairs == Counter({(named(key), *rest): n for (key, *rest), n in ledger.pairs.items()})
    held = {named(key): sum(sign for sign, *_ in lots) for key, lots in ledger.held.items() if lots}
    assert {key_of(row): row.open_quantity for row in found if row.open_quantity} == held
    unrealised = Fraction(0)
    for key, lots in ledger.held.items():
        fields = dict(key[1].fields)
        price = prices[fields["exchange"], fields["security_id"], key[1].expiry]
        unrealised += sum((price * key[1].multiplier - paid) * sign for sign, paid, _ in lots)
    assert found.unrealised == pytest.approx(float(unrealised), abs=1e-6)
    assert found.charges == pytest.approx(float(charges_of(made.events, day)), abs=1e-6)
    assert {key_of(lot) for lot in found.pnl.expired} == {
        named(key) for key, lots in ledger.expired.items() if lots
    }
    problems = set(found.issues.to_dict()["problem"])
    assert "multiplier not proved" not in problems
    assert not made.ordered or "order within a second unknown" not in problems


def check_positions(made: World, day: dt.date | None) -> None:
    sums: dict[Any, list[Any]] = defaultdict(lambda: [0, 0, 0, Fraction(0), Fraction(0)])
    for event in made.events:
        if day not in (None, event.time.date()):
            continue
        of_key = sums[named((event.party, event.contract, event.product))]
        is_sold = event.side == "S"
        of_key[0] += 1
        of_key[1 + is_sold] += event.quantity
        of_key[3 + is_sold] += event.value
    rows = unwarned(lambda: td.positions(made.book, day=day))
    found = {
        key_of(row): [
            *(row.trades, row.buy_quantity, row.sell_quantity),
            *(Fraction(repr(row.buy_value)), Fraction(repr(row.sell_value))),
        ]
        for row in rows
    }
    assert found == sums
    assert day in (None, *rows.days)
    keys = {
        each.row.symbol: named((each.party, each.contract, each.product)) for each in made.events
    }
    last = {keys[row.symbol]: row.symbol for row in made.book if day in (None, row[TIME].date())}
    for row in rows:
        unit = UNITS[key_of(row)[1:4]]
        for quantity, value, average in (
            (row.buy_quantity, row.buy_value, row.buy_average),
            (row.sell_quantity, row.sell_value, row.sell_average),
        ):
            exact = Fraction(repr(value)) / (quantity * unit) if quantity else None
            assert average == (exact and float(exact))
        assert row.net_quantity == row.buy_quantity - row.sell_quantity
        assert row.net_cash == float(sums[key_of(row)][4] - sums[key_of(row)][3])
        assert row.symbol == last[key_of(row)]


def check_orders(made: World, rng: random.Random) -> None:
    orders = orders_of(made, rng)
    found = unwarned(lambda: td.reconcile(orders.book, made.book))
    quality = unwarned(lambda: td.execution_quality(orders.book, made.book))
    for table in (found, quality):
        assert {side_of(row) for row in table} == orders.sides.keys()
    found_of = {side_of(row): row.finding for row in found}
    for row in found:
        expected = orders.sides[side_of(row)]
        assert row.finding == ("value missing" if expected.lacks_entry else "agrees")
        assert (row.legs, row.orders_quantity) == (expected.legs, expected.filled)
        assert (row.fills, row.trades_quantity) == (expected.fills, expected.filled)
        if row.finding == "agrees":
            assert row.trades_average == float(td.required(expected.average))
    assert [*found.differences] == [row for row in found if row.finding != "agrees"]
    assert found.agrees is not (len(found.differences) > 0)
    for side in quality:
        expected = orders.sides[side_of(side)]
        ratio = None if expected.lacks_entry else expected.filled / expected.quantity
        assert (side.fill_ratio, side.to_first_fill) == (ratio, expected.to_first_fill)
        assert (side.to_exchange, side.waited) == (expected.to_exchange, expected.waited)
        assert (side.price, side.average) == (expected.price, float(td.required(expected.average)))
        assert side.better_by == (expected.better_by and float(expected.better_by))
    whose = {name: orders.book[0][name] for name in KEY[:2]}
    own, theirs = orders.book.filter(**whose), made.book.filter(**whose)
    alone = {side_of(row): row.finding for row in unwarned(lambda: td.reconcile(own, theirs))}
    assert alone == {side: found_of[side] for side in alone}
    rows = list(orders.last)
    shuffled = td.OrderBook(rng.sample(rows, len(rows)))
    assert not shuffled.diff(orders.last)
    lost = rng.randrange(len(rows))
    (gone,) = td.OrderBook(row for row in shuffled if row != rows[lost]).diff(orders.last)
    assert (gone.kind, gone.order) == ("gone", rows[lost])


# What changes in the last leg of a side, or in each of its trades, and what is then found.
CHANGES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "quantity differs": ("order", lambda row: row._replace(traded_qty=row.traded_qty + 1)),
    "price differs": ("order", lambda row: row._replace(avg_traded_price=99_999.0)),
    "product differs": ("trades", lambda row: row._replace(product="X")),
    "security differs": ("trades", lambda row: row._replace(security_id="99")),
    "value missing": ("order", lambda row: row._replace(avg_traded_price=None)),
    "no trades": ("trades", lambda row: None),
    "no order": ("order", lambda row: None),
}


def check_findings(made: World, rng: random.Random) -> None:
    """A side that agrees, and of which its order or its trades are changed, is found to differ."""
    book, last = td.TradeBook(event.row for event in made.events), orders_of(made, rng).last
    agreed = [
        row
        for row in unwarned(lambda: td.reconcile(last, book))
        if row.finding == "agrees" and row.trades_value and has_entries(row, book)
    ]
    if not agreed:
        return
    wanted, (which, change) = rng.choice(list(CHANGES.items()))
    side = rng.choice(agreed)

    def changed(rows: Iterable[Any], *, is_changed: bool) -> Iterator[Any]:
        for row in rows:
            new = change(row) if is_changed and side_of(row) == side_of(side) else row
            if new is not None:
                yield new

    orders = td.OrderBook(changed(last, is_changed=which == "order"))
    trades = td.TradeBook(changed(book, is_changed=which == "trades"))
    days = {row[TIME].date() for row in trades if side_of(row)[0] == side_of(side)[0]}
    entered = {
        td.required(row[ENTERED]).date() for row in orders if side_of(row)[0] == side_of(side)[0]
    }
    found: str | None = wanted
    if wanted in ("quantity differs", "no trades") and days and side.day < min(days):
        found = "earlier days missing"
    if wanted == "no order" and side.day not in entered:
        found = None if entered else "order book empty"
    after = {side_of(row): row.finding for row in unwarned(lambda: td.reconcile(orders, trades))}
    assert after.get(side_of(side)) == found


def has_entries(side: Any, book: td.TradeBook) -> bool:
    """Whether all trades of an order number say when their order was entered."""
    own = book.filter(order_no=side.order_no, client_id=side.client_id, account=side.account)
    return None not in own.column("order_date_time")


def side_of(row: Any) -> tuple[Any, ...]:
    return (row.account, row.client_id), row.order_no, row.txn_type


@pytest.mark.parametrize(
    "seed",
    [0, 100, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(200, 2000, 100))],
)
def test_a_day_is_what_the_ledger_of_single_shares_has(seed: int) -> None:
    for number in range(seed, seed + 100):
        rng = random.Random(number)
        made = world(rng)
        check(made, rng)
        check_positions(made, rng.choice([None, DAY + dt.timedelta(days=rng.randrange(DAYS))]))
        if made.has_orders:
            check_orders(made, rng)
            check_findings(made, rng)
