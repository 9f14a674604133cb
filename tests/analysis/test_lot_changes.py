"""Changes of open lots: splits, mergers, conversions and demergers, each applied once."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, TIME, at, book, on_day, trade, unwarned
from tradingdata.analysis.keys import CONTRACT, KEY, REQUIRED
from tradingdata.analysis.results import ATTRIBUTES, Problem

ID, ISIN, PRODUCT = CONTRACT[2], ATTRIBUTES[2], KEY[-1]
TUESDAY = DAY + dt.timedelta(days=1)
OTHER: dict[str, Any] = {ID: "11"}
PART: dict[str, Any] = {ID: "12"}
OLD: dict[str, Any] = {ID: "20", ISIN: "OLD"}
INTRADAY: dict[str, Any] = {PRODUCT: "I"}
SPLIT = td.LotChange(TUESDAY, where={ID: "10"}, ratio=10)
BEFORE = trade(1, "B", 10, 10000.0)
(AFTER,) = on_day([trade(2, "S", 100, 11000.0)], 1)


def held(result: Any) -> list[tuple[Any, ...]]:
    return [(lot.trade_no, lot.quantity, lot.value) for lot in result.open_lots]


def test_an_opening_lot_without_as_of_is_as_the_first_day_began() -> None:
    lot = {name: BEFORE[name] for name in REQUIRED} | {"quantity": 10, "value": 10000.0}
    assert td.realised_pnl(book(AFTER), opening=[lot], changes=[SPLIT]).realised == 1000.0
    earlier = td.LotChange("2026-11-01", ratio=10)
    result = unwarned(lambda: td.realised_pnl(book(AFTER), opening=[lot], changes=[earlier]))
    assert [issue.problem for issue in result.issues] == [Problem.EARLIER]
    dated = {**lot, "as_of": dt.datetime(2026, 10, 1)}
    assert td.realised_pnl(book(AFTER), opening=[dated], changes=[earlier]).realised == 1000.0
    with pytest.raises(ValueError, match="needs as_of"):
        td.Ledger(book(), [lot], changes=[SPLIT])
    value = td.Ledger(book(), [dated], changes=[SPLIT]).unrealised({"10": 110.0})
    assert (value[0].quantity, value.unrealised) == (100, 1000.0)


def test_a_fraction_stays_in_the_last_lot_and_is_named() -> None:
    bought = [trade(1, "B", 1, 100.0), trade(2, "B", 1, 110.0, 1), trade(3, "B", 3, 300.0, 2)]
    idle = on_day([trade(4, "B", 1, 1.0, **OTHER)], 1)
    change = td.LotChange(TUESDAY, where={ID: "10"}, ratio=(1, 2))
    with pytest.warns(td.DataWarning, match=r"fraction of a share: 1 \(10 \(INFY\): 1/2 of one"):
        result = td.realised_pnl(book(*bought, *idle), changes=[change])
    assert held(result.filter(**{ID: "10"})) == [("2", 1, 210.0), ("3", 1, 300.0)]
    assert [issue.problem for issue in result.issues] == [Problem.FRACTION]
    none = td.LotChange(TUESDAY, where={ID: "10"}, ratio=(1, 9))
    with pytest.warns(td.DataWarning, match="5/9 of one and no whole one"):
        result = td.realised_pnl(book(*bought, *idle), changes=[none])
    assert held(result.filter(**{ID: "10"})) == [("1", 1, 100.0), ("2", 1, 110.0), ("3", 3, 300.0)]


def test_what_is_left_of_a_lot_keeps_its_place() -> None:
    """Before another lot of its second, which it stood behind after a part of it had changed."""
    lots = [trade(1, "B", 3, 15.0, **INTRADAY), trade(2, "B", 5, 400.0, **INTRADAY)]
    (sale,) = on_day([trade(3, "S", 5, 500.0, **INTRADAY)], 1)
    change = td.LotChange(TUESDAY, where=INTRADAY, replace={PRODUCT: "C"}, quantity=2)
    result = td.realised_pnl(book(*lots, sale), changes=[change])
    assert (result.realised, held(result)) == (175.0, [("2", 1, 80.0), ("1", 2, 10.0)])


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"where": {ID: "11"}}, "2026-11-21, where {'security_id': '11'}: no lot matches"),
        ({"quantity": 100}, "90 of 100 not held"),
        ({"at": DAY}, "no lot matches"),
        ({"at": "2026-12-01"}, "it is after the last day, 2026-11-21"),
    ],
)
def test_a_change_without_its_lots_is_named(more: dict[str, Any], detail: str) -> None:
    given: dict[str, Any] = {"at": TUESDAY, "ratio": 10} | more
    with pytest.warns(td.DataWarning, match=Problem.UNCHANGED):
        result = td.realised_pnl(book(BEFORE, AFTER), changes=[td.LotChange(**given)])
    (issue,) = result.issues
    assert (issue.problem, issue.detail.endswith(detail)) == (Problem.UNCHANGED, True)
    with pytest.warns(td.DataWarning, match=Problem.UNCHANGED):
        td.day_pnl(book(BEFORE, AFTER), changes=[td.LotChange(**given)])


def test_what_the_opening_has_already_is_not_missed() -> None:
    """Once applied, a change names no lots of later days, also where it renamed them."""
    renamed = td.LotChange(TUESDAY, where={ID: "10"}, replace={ID: "12"})
    first = td.realised_pnl(
        book(BEFORE, *on_day([trade(2, "B", 1, 1.0, **OTHER)], 1)), changes=[renamed]
    )
    sold = book(*on_day([trade(3, "S", 10, 11000.0, **PART)], 2))
    then = td.realised_pnl(sold, opening=first.open_lots.filter(**PART), changes=[renamed])
    assert (then.realised, len(then.issues)) == (1000.0, 0)
    bare = [{**row, "as_of": None} for row in first.open_lots.to_dicts()]
    with pytest.warns(td.DataWarning, match=Problem.UNCHANGED):
        td.realised_pnl(sold, opening=bare, changes=[renamed])


def test_a_change_that_meets_the_other_side_stops_its_client_only() -> None:
    """The lots would close each other, and neither the day nor the order is known."""
    bought, sold = trade(1, "B", 10, 1000.0, **INTRADAY), trade(2, "S", 10, 1100.0, 60)
    early, late = (
        td.LotChange(at(second), where=INTRADAY, replace={PRODUCT: "C"}) for second in (30, 90)
    )
    rows = book(bought, sold)
    found = td.realised_pnl(rows, changes=[early])
    assert (found.realised, len(found.open_lots)) == (100.0, 0)
    other = trade(3, "B", 5, 500.0, **INTRADAY, client_id="C2")
    met = unwarned(lambda: td.realised_pnl(book(bought, sold, other), changes=[late]))
    (issue,) = met.issues
    assert (issue.client_id, issue.problem) == ("C1", Problem.MEETS)
    assert "give it a time before" in issue.detail
    assert [(lot.client_id, lot.product, lot.side) for lot in met.open_lots] == [
        *(("C1", "I", "long"), ("C1", "C", "short"), ("C2", "C", "long")),
    ]
    both = [{name: sold[name] for name in REQUIRED} | {"quantity": 10, "value": 1.0}]
    both.append(both[0] | {"side": "short"})
    with pytest.raises(ValueError, match="opening has long and short lots of 10"):
        td.realised_pnl(book(AFTER), opening=both)


def test_changes_within_a_day_are_between_its_trades() -> None:
    rows = [trade(1, "B", 1, 100.0, 0), trade(2, "S", 1, 30.0, 20), trade(3, "S", 1, 90.0, 40)]
    result = td.realised_pnl(book(*rows), changes=[td.LotChange(at(10), ratio=2)])
    assert [match.realised for match in result.matches] == [-20.0, 40.0]
    aware = book(*rows).localize("Asia/Kolkata")
    utc = (at(10) - dt.timedelta(hours=5, minutes=30)).replace(tzinfo=dt.UTC)
    result = td.realised_pnl(aware, changes=[td.LotChange(utc, ratio=2)])
    assert [match.realised for match in result.matches] == [-20.0, 40.0]
    with pytest.raises(ValueError, match="a change: its time has a zone"):
        td.realised_pnl(book(*rows), changes=[td.LotChange(utc, ratio=2)])


def test_changes_are_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "changes.toml"
    where = f'where = {{{ID} = ["10"]}}'
    path.write_text(f"[[change]]\nat = 2026-11-21\n{where}\nratio = [10, 1]\n")
    (change,) = td.LotChange.load(path)
    both = td.TradeBook([BEFORE, AFTER])
    assert td.realised_pnl(both, changes=[change]).realised == 1000.0
    path.write_text("[[change]]\nratio = 2\n")
    with pytest.raises(ValueError, match=r"change 1 of .*: it needs 'at'"):
        td.LotChange.load(path)
    with pytest.raises(TypeError, match=r"changes must be a sequence of td\.LotChange"):
        td.realised_pnl(both, changes=[path])  # type: ignore[list-item]


def test_names_and_rest_of_a_lot_are_kept() -> None:
    later = on_day([trade(9, "B", 1, 1.0)], 1)
    result = td.realised_pnl(td.TradeBook([BEFORE, *later]), changes=[SPLIT])
    first, _ = result.open_lots
    assert (first.symbol, first.time, first.as_of) == ("INFY", BEFORE[TIME], at(0, 1))
