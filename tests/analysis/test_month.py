"""A month of the sandbox against a ledger in plain Python, which goes by contract."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict, deque
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import unwarned
from tradingdata import sandbox
from tradingdata.analysis.issues import ELSEWHERE, EXPIRED

DAYS = [
    day
    for day in (dt.date(2026, 10, 15) + dt.timedelta(days=number) for number in range(30))
    if day.weekday() < 5
]


@pytest.fixture(scope="module")
def month() -> td.TradeBook:
    books = []
    for number, day in enumerate(DAYS):
        with sandbox.start(seed=number, day=day, orders=60) as service:
            books.append(service.client().trade_book())
    return td.concat(books)


def ledger(trades: td.TradeBook) -> dict[tuple[Any, ...], Fraction]:
    """What is realised by contract: first in, first out, on either side."""
    held: dict[Any, deque[list[Any]]] = defaultdict(deque)
    realised: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
    rows = sorted(trades, key=lambda row: (row.exch_trade_time, int(td.required(row.trade_no))))
    for row in rows:
        contract = row.exchange, row.security_id, row.expiry_date
        lots = held[contract, row.product]
        sign = 1 if row.txn_type == "B" else -1
        left = td.required(row.quantity)
        value = Fraction(str(row.trade_value)) / left
        while left and lots and lots[0][0] == -sign:
            lot = lots[0]
            closed = min(left, lot[1])
            realised[contract] += closed * (lot[2] - value) * sign
            left, lot[1] = left - closed, lot[1] - closed
            if not lot[1]:
                lots.popleft()
        if left:
            lots.append([sign, left, value])
    return realised


def test_a_month_is_what_a_plain_ledger_by_contract_has(month: td.TradeBook) -> None:
    expected = ledger(month)
    found = unwarned(lambda: td.realised_pnl(month))
    contracts: dict[Any, float] = defaultdict(float)
    for row in found:
        contracts[row.exchange, row.security_id, row.expiry_date] += row.realised
    for contract, amount in contracts.items():
        assert amount == pytest.approx(float(expected[contract]), abs=0.02), contract
    assert found.realised == pytest.approx(float(sum(expected.values())), abs=0.5)
    ids = [contract[:2] for contract in contracts]
    assert len(ids) > len(set(ids)), "no id was used again: lengthen the month"
    assert set(found.issues.to_dict()["problem"]) <= {EXPIRED, ELSEWHERE}


def test_sums_and_frames_agree_after_any_filter(month: td.TradeBook) -> None:
    found = unwarned(lambda: td.realised_pnl(month))
    for conditions in ({"product": "I"}, {"segment": "D"}, {"expiry_date__ne": None}):
        part = found.filter(**conditions)
        frame = part.to_pandas()
        assert part.realised == pytest.approx(frame["realised"].sum(), abs=1e-4)
        assert part.matches.to_pandas()["realised"].sum() == pytest.approx(part.realised, abs=1e-4)
        keys = {(row.security_id, row.expiry_date, row.product) for row in part}
        for table in (part.open_lots, part.expired, part.issues):
            assert {(row.security_id, row.expiry_date, row.product) for row in table} <= keys
