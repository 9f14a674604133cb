"""Two financial years of the sandbox, through an archive, against a ledger in plain Python.

The ledger reads the JSON of the responses and the TOML of the rates itself: nothing of it is the
package's code. Every figure must be equal: each day, each levy and each head of capital gains.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from collections import defaultdict, deque
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tradingdata as td
from analysis_samples import TIME, unwarned
from archiving import clock
from tradingdata.analysis.keys import CONTRACT, KEY
from tradingdata.sandbox.day import SimulatedBooks
from tradingdata.sandbox.market import CLOSE, Market

PAGE = Path(__file__).parents[2] / "docs/how-to/trades-to-pnl.md"
FIRST, LAST = dt.date(2025, 4, 1), dt.date(2027, 3, 31)
DAYS = [
    day
    for day in (FIRST + dt.timedelta(days=number) for number in range((LAST - FIRST).days + 1))
    if day.weekday() < 5
]
ZERO = "0001-01-01"
EXCHANGE, SEGMENT, SECURITY, EXPIRY = CONTRACT
PRODUCT = KEY[-1]
(RATES,) = re.findall(r"```toml\n(# EXAMPLE.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
LEVIES = ("brokerage", "stt", "exchange", "sebi", "stamp", "gst")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Row = dict[str, Any]


def bodies() -> dict[dt.date, bytes]:
    """The response of each day at its end."""
    return {day: SimulatedBooks(1, Market(7, day), 12).at(CLOSE)["trade_book"] for day in DAYS}


def exact(value: float | None) -> Fraction:
    assert value is not None
    return Fraction(repr(value))


class Plain:
    """A day after the other, with lots as `[sign, quantity, price, time]` by what is held."""

    def __init__(self, days: dict[dt.date, bytes]) -> None:
        self.lots: dict[Any, deque[list[Any]]] = defaultdict(deque)
        self.matches: list[tuple[Any, ...]] = []  # key, opened, closed, sign, cost, proceeds
        self.prices: dict[tuple[dt.date, Any], Fraction] = {}
        self.last: dict[Any, Fraction] = {}  # of all days
        self.latest: dict[Any, Fraction] = {}  # so far
        self.realised: dict[dt.date, Fraction] = defaultdict(Fraction)
        self.unrealised: dict[dt.date, Fraction] = {}
        self.charges: dict[dt.date, dict[str, Fraction]] = {}
        rows = {day: json.loads(body)["data"] for day, body in days.items()}
        for of_day in rows.values():  # a contract is settled at its last price
            for row in sorted(of_day, key=self.moment):
                self.last[self.contract(row)] = exact(row["traded_price"])
        for day, of_day in rows.items():
            in_time = sorted(of_day, key=self.moment)
            for row in in_time:
                self.latest[self.contract(row)] = exact(row["traded_price"])
                self.prices[day, self.contract(row)] = self.latest[self.contract(row)]
                self.trade(row, day)
            self.settle(day)
            self.unrealised[day] = self.value()
            self.charges[day] = note(in_time)

    @staticmethod
    def moment(row: Row) -> tuple[str, int]:
        return row[TIME], int(row["trade_no"])

    @staticmethod
    def contract(row: Row) -> tuple[str, ...]:
        return row[EXCHANGE], row[SEGMENT], row[SECURITY], row[EXPIRY][:10]

    def trade(self, row: Row, day: dt.date) -> None:
        key = self.contract(row), row[PRODUCT]
        sign = 1 if row["txn_type"] == "B" else -1
        price = exact(row["trade_value"]) / row["quantity"]
        at = dt.datetime.fromisoformat(row[TIME])
        left = self.close(key, sign, row["quantity"], price, at, day)
        if left:
            self.lots[key].append([sign, left, price, at])

    def close(
        self, key: Any, sign: int, left: int, price: Fraction, at: dt.datetime, day: dt.date
    ) -> int:
        lots = self.lots[key]
        while left and lots and lots[0][0] == -sign:
            lot = lots[0]
            part = min(left, lot[1])
            sides = (lot[2] * part, price * part)
            cost, proceeds = sides if lot[0] > 0 else sides[::-1]
            self.matches.append((key, lot[3], at, lot[0], cost, proceeds))
            self.realised[day] += proceeds - cost
            left, lot[1] = left - part, lot[1] - part
            if not lot[1]:
                lots.popleft()
        return left

    def settle(self, day: dt.date) -> None:
        for key in list(self.lots):
            if key[0][-1] == day.isoformat():
                at = dt.datetime.combine(day, dt.time(15, 30))
                for sign, quantity, *_ in list(self.lots[key]):
                    self.close(key, -sign, quantity, self.last[key[0]], at, day)

    def value(self) -> Fraction:
        total = Fraction(0)
        for key, lots in self.lots.items():
            if lots:
                price = self.latest[key[0]]
                total += sum((price - lot[2]) * lot[0] * lot[1] for lot in lots)
        return total


def meets(row: Row, where: Row, part: bool) -> bool:
    for name, value in where.items():
        if name == "squared_off":
            if value is not part:
                return False
        elif name.endswith("__gt"):
            if not (row[name[:-4]] or 0) > value:
                return False
        elif row[name] != value:
            return False
    return True


def note(rows: list[Row]) -> dict[str, Fraction]:
    """The levies of one day, rounded by exchange and segment as on a contract note."""
    rates = tomllib.loads(RATES)["rate"]
    traded: dict[Any, int] = defaultdict(int)
    worth: dict[Any, Fraction] = defaultdict(Fraction)
    for row in rows:
        traded[Plain.contract(row), row["txn_type"]] += row["quantity"]
        worth[Plain.contract(row)] += exact(row["trade_value"])
    notes: dict[Any, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    orders: dict[Any, list[tuple[Row, Fraction, Any]]] = defaultdict(list)
    for row in rows:
        of_note = notes[row[EXCHANGE], row[SEGMENT]]
        other = traded[Plain.contract(row), "S" if row["txn_type"] == "B" else "B"]
        same = traded[Plain.contract(row), row["txn_type"]]
        share = Fraction(min(same, other), same)
        for part, half in ((True, share), (False, 1 - share)):
            if not half:
                continue
            value = exact(row["trade_value"]) * half
            rate = next(each for each in rates if meets(row, each["where"], part))
            side = "buy" if row["txn_type"] == "B" else "sell"
            taxed = value
            if rate.get("average", False):  # the quantity at the average price of the day
                contract = Plain.contract(row)
                quantity = sum(traded[contract, code] for code in "BS")
                taxed = worth[contract] / quantity * row["quantity"] * half
            of_note["stt"] += taxed * exact(rate.get(f"stt_{side}", 0.0))
            of_note["stamp"] += value * exact(rate.get(f"stamp_{side}", 0.0))
            for name in ("exchange", "sebi"):
                levy = value * exact(rate.get(name, 0.0))
                of_note[name] += levy
                of_note["gst"] += levy * exact(rate["gst"])
            order = row[EXCHANGE], row[SEGMENT], row["order_no"], row["txn_type"]
            orders[order].append((rate, value, rates.index(rate)))
    for (exchange, segment, *_), parts in orders.items():
        first = min(parts, key=lambda part: part[2])[0]
        raw = sum(value * exact(rate.get("brokerage", 0.0)) for rate, value, _ in parts)
        owed = min(raw, exact(first["cap"])) if "cap" in first else raw
        whole = sum(value for _, value, _ in parts)
        for rate, value, _ in parts:
            own = value * exact(rate.get("brokerage", 0.0))
            amount = owed * own / raw if raw else Fraction(0)
            amount += exact(first.get("per_order", 0.0)) * value / whole
            notes[exchange, segment]["brokerage"] += amount
            notes[exchange, segment]["gst"] += amount * exact(rate["gst"])
    found: dict[str, Fraction] = defaultdict(Fraction)
    for of_note in notes.values():
        for name, amount in of_note.items():
            unit = Fraction(1) if name in ("stt", "stamp") else Fraction(1, 100)
            found[name] += (amount / unit + Fraction(1, 2)).__floor__() * unit
    return found


def test_every_figure_of_two_years_is_that_of_a_plain_ledger(tmp_path: Path) -> None:
    days = bodies()
    plain = Plain(days)
    archive = td.Archive(tmp_path / "books")
    for day, body in days.items():
        archive.add(td.TradeBook.from_json(body), account="desk1", at=clock("16:00", day))
    trades = archive.trades(DAYS[0], DAYS[-1], account="desk1")
    assert len(trades) == sum(len(json.loads(body)["data"]) for body in days.values())

    (tmp_path / "charges.toml").write_text(RATES)
    rates = td.ChargeRate.load(tmp_path / "charges.toml")

    def contract(row: Any) -> tuple[str, ...]:
        *place, expiry = (getattr(row, name) for name in CONTRACT)
        return (*place, ZERO if expiry is None else expiry.isoformat())

    def price(day: dt.date, row: Any) -> float | None:
        found = plain.prices.get((day, contract(row)))
        return None if found is None else float(found)

    def settled(row: Any) -> float:
        return float(plain.last[contract(row)])

    daily = unwarned(
        lambda: td.daily_pnl(
            trades, prices=price, days=DAYS, settle=settled, charges=rates, rounding="note"
        )
    )
    assert [row.day for row in daily] == DAYS
    before = Fraction(0)
    for row in daily:
        assert exact(row.realised) == plain.realised[row.day], row.day
        assert exact(row.unrealised) == plain.unrealised[row.day], row.day
        assert exact(row.charges) == sum(plain.charges[row.day].values()), row.day
        assert exact(row.net) == exact(row.realised) + plain.unrealised[row.day] - before - exact(
            row.charges
        )
        before = plain.unrealised[row.day]
    costs = td.charges(trades, rates, rounding="note").to_dict()
    for levy in LEVIES:
        column = "exchange_charges" if levy == "exchange" else levy
        expected = sum(of_day[levy] for of_day in plain.charges.values())
        assert sum(map(exact, costs[column])) == expected

    matches = daily.pnl.matches.to_pandas()
    assert len(matches) == len(plain.matches)
    for year in (2025, 2026):
        assert heads(matches, year) == plain_heads(plain, year)


def heads(matches: pd.DataFrame, year: int) -> dict[Any, float]:
    """The heads of a financial year, as the how-to has them."""
    found = matches[matches["close_time"].between(f"{year}-04-01", f"{year + 1}-03-31 23:59:59")]
    head = pd.Series("short term", index=found.index)
    head[found["sell_time"] > found["buy_time"] + pd.DateOffset(years=1)] = "long term"
    head[(found["held"] == 0) & found[EXPIRY].isna()] = "intraday"
    head[found[EXPIRY].notna()] = "derivatives"
    return dict(found.groupby(head)["realised"].sum().round(2).items())


def plain_heads(plain: Plain, year: int) -> dict[str, float]:
    totals: dict[str, Fraction] = defaultdict(Fraction)
    for (contract, _), opened, closed, sign, cost, proceeds in plain.matches:
        if not dt.date(year, 4, 1) <= closed.date() <= dt.date(year + 1, 3, 31):
            continue
        bought, sold = (opened, closed) if sign > 0 else (closed, opened)
        if contract[-1] != ZERO:
            head = "derivatives"
        elif opened.date() == closed.date():
            head = "intraday"
        else:
            head = "long term" if sold > bought.replace(year=bought.year + 1) else "short term"
        totals[head] += proceeds - cost
    return {head: round(float(amount), 2) for head, amount in totals.items()}
