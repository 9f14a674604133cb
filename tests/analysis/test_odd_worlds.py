"""What is odd in a random world is refused or named, and spoils nothing else."""

from __future__ import annotations

import datetime as dt
import random
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, unwarned
from worlds import EXPIRY, FIRST_CALL, SECURITY, world
from worlds.odd import MAKERS, Maker, Odd
from worlds.shares import Ledger, key_of, named


def by_key(result: td.analysis.RealisedPnl) -> dict[Any, tuple[float, int]]:
    return {key_of(row): (row.realised, row.open_quantity) for row in result}


def rows_of(odd: Odd) -> td.TradeBook:
    return td.TradeBook(odd.rows)


@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_odd_is_refused_or_named(maker: Maker) -> None:
    tried = 0
    for number in range(60):
        rng = random.Random(number)
        made = world(rng)
        odd = maker(made, rng)
        if odd is None:
            continue
        tried += 1
        if odd.error:
            with pytest.raises(ValueError, match=odd.error):
                td.realised_pnl(rows_of(odd), **odd.arguments)
            continue
        with pytest.warns(td.DataWarning, match=odd.problem):
            found = td.realised_pnl(rows_of(odd), **odd.arguments)
        details = [issue.detail for issue in found.issues if issue.problem == odd.problem]
        assert any(all(name in detail for name in odd.names) for detail in details)
        if odd.is_same:
            plain = td.TradeBook(event.row for event in made.events)
            assert by_key(found) == by_key(unwarned(partial(td.realised_pnl, plain)))
    assert tried > 5


def test_an_opening_of_an_earlier_contract_of_the_same_id_is_apart() -> None:
    """Its id was assigned anew."""
    fields = dict(FIRST_CALL.fields) | {"strike_price": 20000.0}
    expiry = DAY - dt.timedelta(days=24)
    for number in range(60):
        rng = random.Random(number)
        made = world(rng)
        (account, client), cost = made.events[0].party, rng.randint(1, 900)
        lot = {**fields, EXPIRY: expiry, "account": account, "client_id": client}
        lot |= {"segment": "D", "product": "C", "quantity": 3, "value": float(cost)}
        book = td.TradeBook(event.row for event in made.events)
        key = (account, client), "NSE", fields[SECURITY], expiry, "C"
        before = by_key(unwarned(partial(td.realised_pnl, book)))
        found = unwarned(partial(td.realised_pnl, book, [lot]))
        assert by_key(found) == before | {key: (0.0, 0)}
        assert [(key_of(each), each.value) for each in found.expired if key_of(each) == key] == [
            (key, cost)
        ]
        settle = {(fields[SECURITY], expiry): 2.0}
        multipliers = {(fields[SECURITY], expiry): 1}
        settled = unwarned(
            partial(td.realised_pnl, book, [lot], settle=settle, multipliers=multipliers)
        )
        assert by_key(settled) == before | {key: (6.0 - cost, 0)}


def test_sales_of_products_that_may_not_be_short_are_apart() -> None:
    """The sales of C that close nothing are unmatched, those of I are short."""
    for number in range(100):
        made = world(random.Random(number))
        book = td.TradeBook(event.row for event in made.events)
        found = unwarned(partial(td.realised_pnl, book, shorts={"I"}))
        ledger = Ledger(made.events, DAY + dt.timedelta(days=3), None, shorts={"I"})
        unmatched = {named(key): count for key, count in ledger.unmatched.items()}
        assert {
            key_of(row): row.unmatched_quantity for row in found if row.unmatched_quantity
        } == unmatched
        total = sum(ledger.realised.values(), Fraction(0)) + ledger.earlier
        assert found.realised == pytest.approx(float(total), abs=1e-6)
        assert ("sold without an opening" in found.issues.column("problem")) is bool(unmatched)
