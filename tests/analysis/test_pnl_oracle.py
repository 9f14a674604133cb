"""Realised profit and loss, match by match, against single shares with exact fractions."""

from __future__ import annotations

from collections import defaultdict, deque
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import TIME, on_day, trades

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

Key = tuple[str | None, ...]


def key_of(row: Any) -> Key:
    return (row.client_id, row.exchange, row.segment, row.security_id, row.product)


def in_time(made: list[td.Trade]) -> list[td.Trade]:
    """A merge by time that leaves trades of the same second in the direction of their numbers.

    Each exchange numbers a client's trades of a day. If the first is the newest trade, so it is in
    each second.
    """
    responses: dict[Any, list[td.Trade]] = defaultdict(list)
    for row in made:
        responses[row.client_id, row[TIME].date(), row.exchange].append(row)
    by_time: dict[Any, list[td.Trade]] = defaultdict(list)
    for rows in responses.values():
        times = [row[TIME] for row in rows]
        newest_first = times[0] != times[-1] and times == sorted(times, reverse=True)
        for row in reversed(rows) if newest_first else rows:
            by_time[row[TIME]].append(row)
    return [row for time in sorted(by_time) for row in by_time[time]]


def price_of(row: Any) -> Fraction:
    return Fraction(str(row.trade_value)) / int(row.quantity)


class Pair(NamedTuple):
    """A purchase and a sale by trade number, and which of them came first."""

    key: Key
    side: str
    buy: str | None
    sell: str | None


def share_by_share(
    made: list[td.Trade], shorts: bool
) -> tuple[dict[Pair, tuple[int, Fraction]], dict[Key, Fraction]]:
    """Quantity and profit of each pair of trades, and the value of what is left open by key."""
    held: dict[Key, deque[tuple[str, td.Trade]]] = defaultdict(deque)
    pairs: dict[Pair, tuple[int, Fraction]] = defaultdict(lambda: (0, Fraction(0)))
    for row in in_time(made):
        key, shares = key_of(row), held[key_of(row)]
        for _ in range(row.quantity or 0):
            if shares and shares[0][0] != row.txn_type:
                _, first = shares.popleft()
                buy, sell = (row, first) if row.txn_type == "B" else (first, row)
                pair = Pair(key, "short" if buy is row else "long", buy.trade_no, sell.trade_no)
                count, profit = pairs[pair]
                pairs[pair] = count + 1, profit + price_of(sell) - price_of(buy)
            elif row.txn_type == "B" or shorts:
                shares.append((str(row.txn_type), row))
    left = {
        key: sum((price_of(row) * (1 if side == "B" else -1) for side, row in shares), Fraction(0))
        for key, shares in held.items()
    }
    return dict(pairs), left


@given(trades(whole_prices=True), trades(whole_prices=True, most=10), st.booleans())
def test_every_share_is_matched_as_the_oracle_matches_it(
    monday: list[td.Trade], tuesday: list[td.Trade], shorts: bool
) -> None:
    made = [*monday, *on_day(renumbered(tuesday), 1)]
    pairs, left = share_by_share(made, shorts)
    result = td.realised_pnl(td.TradeBook(made), shorts=shorts)
    found: dict[Pair, tuple[int, Fraction]] = {}
    for match in result.matches:
        pair = Pair(key_of(match), match.side, match.buy_trade_no, match.sell_trade_no)
        assert pair not in found
        found[pair] = match.quantity, Fraction(str(match.realised))
    assert found == pairs
    assert {key_of(row): Fraction(str(row.open_value)) for row in result} == left
    assert result.realised == float(sum(profit for _, profit in pairs.values()))


def renumbered(made: list[td.Trade]) -> list[td.Trade]:
    return [row._replace(trade_no=f"9{row.trade_no}") for row in made]
