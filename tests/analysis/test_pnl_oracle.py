"""Realised profit and loss against calculations that share no code with it.

One matches single shares with exact fractions; pyfolio-reloaded is a library that matches in the
same way.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections import defaultdict, deque
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import TIME, book, on_day, trade, trades

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


@settings(deadline=None)
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


def round_trips(made: list[td.Trade]) -> Any:
    """pyfolio's, of trades that are a day apart, since it merges those of one day."""
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyfolio misses zipline
        extract = pytest.importorskip("pyfolio.round_trips").extract_round_trips
        return extract(
            pandas.DataFrame(
                {
                    "amount": [
                        (row.quantity or 0) * (1 if row.txn_type == "B" else -1) for row in made
                    ],
                    "price": [float(price_of(row)) for row in made],
                    "symbol": [row.security_id for row in made],
                },
                index=pandas.DatetimeIndex([row.exch_trade_time for row in made]),
            )
        )


SIDES = "BBSBSSSBBBSSBBBBSSSSSB"


def test_round_trips_are_those_of_pyfolio() -> None:
    made = [
        trade(
            number,
            side,
            5 + 7 * number % 11,
            (5 + 7 * number % 11) * (100.0 + 13 * number % 29),
            exch_trade_time=dt.datetime(2026, 11, 1, 9, 15) + dt.timedelta(days=number),
            security_id="10" if number % 3 else "11",
        )
        for number, side in enumerate(SIDES)
    ]
    theirs = [
        (trip.symbol, bool(trip.long), trip.open_dt, trip.close_dt, round(trip.pnl, 6))
        for trip in round_trips(made).itertuples()
    ]
    ours: dict[Any, list[Any]] = {}
    for match in td.realised_pnl(book(*made)).matches:
        # pyfolio has one round trip for each closing trade.
        opened = match.buy_time if match.side == "long" else match.sell_time
        fresh = [match.security_id, match.side == "long", opened, match.close_time, 0.0]
        ours.setdefault((match.security_id, match.close_time), fresh)[-1] += match.realised
    assert {trip[1] for trip in theirs} == {True, False}
    assert sorted(map(tuple, ours.values())) == sorted(theirs)
