"""A part of a result agrees with itself: its sums, its frame, and what belongs to its rows."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import unwarned
from tradingdata import analysis
from tradingdata.analysis import ResultTable
from worlds import world
from worlds.orders import orders_of

RATE = td.ChargeRate(brokerage=0.003, cap=2.5, per_order=1, stt_sell=0.001, gst=0.18)


def results(seed: int) -> dict[type, Any]:
    """A result of each type, of one random world."""
    rng = random.Random(seed)
    while not (made := world(rng)).has_orders:
        continue
    trades, orders = made.book, orders_of(made, rng).book
    prices: Any = lambda row: None if row.security_id == "30" else 20.0  # noqa: E731
    pnl = td.realised_pnl(trades, shorts={"I"})
    quality = td.execution_quality(orders, trades)
    found: list[Any] = [
        *(pnl, pnl.matches, pnl.open_lots, pnl.issues, td.positions(trades)),
        *(td.unrealised_pnl(pnl, prices), td.charges(trades, [RATE])),
        td.charges(trades, [RATE], per="trade"),
        td.day_pnl(trades, prices=prices, charges=[RATE], shorts={"I"}),
        td.daily_pnl(trades, prices=lambda day, row: prices(row), charges=[RATE]),
        *(td.reconcile(orders, trades), quality, quality.issues),
    ]
    return {type(table): table for table in found}


TYPES = sorted(
    (
        each
        for each in map(analysis.__dict__.get, analysis.__all__)
        if isinstance(each, type) and issubclass(each, ResultTable) and hasattr(each, "_row")
    ),
    key=lambda each: each.__name__,
)
MADE = [unwarned(lambda seed=seed: results(seed)) for seed in range(12)]  # type: ignore[misc]


@st.composite
def parts(draw: st.DrawFn, kind: type) -> Any:
    """A result after some filters, slices and sorts, whose conditions are on any column."""
    table = draw(st.sampled_from(MADE))[kind]
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from(table.columns))
        values = table.column(name)
        value = draw(st.sampled_from(values)) if values else None
        ending = draw(st.sampled_from(["", "__ne", "__ge", "__lt"]))
        how = draw(st.sampled_from(["condition", "function", "slice", "sort"]))
        if how == "condition" and (value is not None or ending in ("", "__ne")):
            table = table.filter(**{name + ending: value})
        elif how == "function":
            table = table.filter(lambda row, name=name, value=value: row[name] == value)
        elif how == "slice":
            table = table[draw(st.integers(0, 3)) :: draw(st.integers(1, 3))]
        else:
            table = table.sort(name)
    return table


@pytest.mark.parametrize("kind", TYPES)
@given(data=st.data())
def test_sums_and_frames_agree_after_any_filter(kind: type, data: st.DataObject) -> None:
    part = data.draw(parts(kind))
    frame = part.to_pandas()
    assert list(frame.index) == list(range(len(part)))
    exact = {
        name: float(sum(Fraction(repr(each)) for each in part.column(name) if each is not None))
        for name, column in part._kinds.items()
        if column == "number"
    }
    for name, total in exact.items():
        assert frame[name].sum() == pytest.approx(total, abs=1e-6)
        if isinstance(getattr(kind, name, None), property):
            is_known = None not in part.column(name)
            assert getattr(part, name) in ((total,) if is_known else (total, None))
    assert all(part._sum(name) == exact[name] for name in part._view.sums)
    if isinstance(part, td.analysis.DayPnl):
        priced = part.filter(unrealised__ne=None)
        net = priced.realised + td.required(priced.unrealised) - priced.charges
        assert priced.net == pytest.approx(net, abs=1e-6)
        assert part.net == (None if part.unpriced else priced.net)
    check_what_belongs(part)


def check_what_belongs(part: Any) -> None:
    """The issues, matches and lots of a part are those of its rows, and add up to the same."""
    keys = set(part._keys())
    width = len(next(iter(keys), ()))  # days are of an account and a client
    belonging = [each for each in vars(part).values() if isinstance(each, ResultTable)]
    if isinstance(part, td.analysis.DayPnl):  # it has what was closed before the day, too
        belonging.remove(part.pnl)
        assert part.pnl.realised == part.realised
    for table in belonging:
        own = min(width, *(len(key) for key in (*table._keys(), range(width))))
        assert {key[:own] for key in table._keys() if any(key)} <= {key[:own] for key in keys}
    if isinstance(part, analysis.RealisedPnl):
        assert set(part.matches._keys()) <= keys
        whole = dict.fromkeys(keys, 0.0)
        for row, key in zip(part.matches, part.matches._keys(), strict=True):
            whole[key] += row.realised
        of_rows = dict(zip(part._keys(), part.column("realised"), strict=True))
        assert whole == pytest.approx(of_rows, abs=1e-6)
        held = sum(lot.quantity for lot in part.open_lots)
        assert held == sum(abs(quantity) for quantity in part.column("open_quantity"))
