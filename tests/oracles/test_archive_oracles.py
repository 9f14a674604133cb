"""`history()` and `missing()` of random archives, against models written from the docstrings."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import order, response, trade

SEEDS = range(8)
MONDAY = dt.date(2026, 11, 16)
INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
DAY_START = dt.time(6)
ACCOUNTS = ("desk1", "desk2")


def day(number: int) -> dt.date:
    return MONDAY + dt.timedelta(days=number)


def moment(rng: random.Random, number: int) -> dt.datetime:
    """A time of the business day, which ends at six in the next morning."""
    minutes = rng.randint(6 * 60, 30 * 60 - 1)
    return dt.datetime.combine(day(number), dt.time(), INDIA) + dt.timedelta(minutes=minutes)


@pytest.mark.parametrize("seed", SEEDS)
def test_history_has_each_state_once_from_when_it_was_first_seen(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    polls: list[tuple[dt.datetime, str, list[Any]]] = []
    for account in ACCOUNTS:
        states = {leg: {"status": "Pending", "traded_qty": 0} for leg in (1, 2)}
        minutes = sorted(rng.sample(range(540, 960), rng.randint(1, 8)))
        for at in minutes:
            for state in states.values():
                if rng.random() < 0.4:
                    state["traded_qty"] = rng.randint(0, 2)
                if rng.random() < 0.3:
                    state["status"] = rng.choice(["Pending", "Success"])
            legs = [leg for leg in states if rng.random() < 0.9]
            ticks = {"row_no": rng.randint(0, 99), "ref_ltp": rng.random()}
            rows = [order("7", MONDAY, leg_no=leg, **states[leg], **ticks) for leg in legs]
            rng.shuffle(rows)
            time = dt.datetime.combine(MONDAY, dt.time(at // 60, at % 60), INDIA)
            polls.append((time, account, rows))

    wanted: dict[Any, list[Any]] = defaultdict(list)
    for time, account, rows in polls:
        for row in rows:
            now = row["status"], row["traded_qty"]
            known = wanted[account, row["leg_no"]]
            if not known or known[-1][1] != now:
                known.append((time, now))

    archive = td.Archive(tmp_path / "books")
    rng.shuffle(polls)  # a response that is stored late takes its place by its time
    for time, account, rows in polls:
        archive.add(response(td.OrderBook, [order("8", MONDAY), *rows], time, account=account))
    for chosen in (None, *ACCOUNTS):
        only: Any = {} if chosen is None else {"account": chosen}
        found: dict[Any, list[Any]] = defaultdict(list)
        last: Any = None
        for seen in archive.history("7", **only):
            key = seen.order.account, seen.order.leg_no
            assert key == last or key not in found  # those of a record follow each other
            last = key
            found[key].append((seen[0], (seen.order.status, seen.order.traded_qty)))
        assert found == {key: each for key, each in wanted.items() if chosen in (None, key[0])}


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_are_the_sessions_that_no_response_covers(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    holidays = {day(rng.randrange(14))}
    archive = td.Archive(tmp_path / "books", holidays=holidays)
    since: dict[str, dt.date] = {}
    covered: dict[Any, list[dt.time | None]] = defaultdict(list)  # at which times, None: later
    events = sorted(
        (moment(rng, rng.randrange(14)), rng.choice(ACCOUNTS), rng.choice(["orders", "trades"]))
        for _ in range(rng.randint(1, 24))
    )
    for at, account, book in events:
        received = at.date() if at.time() >= DAY_START else at.date() - dt.timedelta(days=1)
        if book == "orders":
            rows: list[Any] = [] if rng.random() < 0.5 else [order("1", received)]
            days = {received}
            archive.add(response(td.OrderBook, rows, at, account=account))
        else:
            earlier = range((received - MONDAY).days + 1)
            traded = {day(number) for number in earlier if rng.random() < 0.15}
            days = traded | ({received} if at.date() == received else set())
            rows = [trade(str(number), one) for number, one in enumerate(traded)]
            archive.add(response(td.TradeBook, rows, at, account=account))
        begin = max(days or {received})
        since[account] = min(since.get(account, begin), begin)
        for one in days:
            late = one < received or at.date() > received
            covered[account, book, one].append(None if late else at.time())
    retired: dict[str, dt.date] = {}
    if rng.random() < 0.5:
        account = rng.choice(sorted(since))
        last = max(one for label, _, one in covered if label == account)
        retired[account] = last + dt.timedelta(days=rng.randint(0, 3))
        archive.retire(account, retired[account])

    def is_missing(account: str, book: str, one: dt.date, after: dt.time | None) -> bool:
        times = covered.get((account, book, one), [])
        return not any(after is None or time is None or time >= after for time in times)

    for _ in range(8):
        first = rng.randrange(14)
        span = [day(number) for number in range(first, rng.randint(first, 15) + 1)]
        after = rng.choice([None, dt.time(15, 30)])
        chosen = rng.choice([None, *since])
        if chosen is None and span[0] < min(since.values()):  # missing, but of no account
            continue
        wanted = set()
        for one in span:
            is_session = one.weekday() < 5 and one not in holidays
            for account in since if chosen is None else [chosen]:
                # An account that is asked for by its name is expected on every day before, too.
                is_early = chosen is None and one < since[account]
                if is_early or one > retired.get(account, one):
                    continue
                books = [b for b in ("orders", "trades") if is_missing(account, b, one, after)]
                if books and (is_session or len(span) == 1):
                    wanted.add((one, account, tuple(books)))
        only: Any = {} if chosen is None else {"account": chosen}
        found = archive.missing(span[0], span[-1], after=after, **only)
        assert len(found) == len(set(found))
        assert {tuple(gap) for gap in found} == wanted


def test_of_responses_of_one_moment_the_same_is_the_newest_whoever_is_first(tmp_path: Path) -> None:
    at = dt.datetime.combine(MONDAY, dt.time(15, 45), INDIA)
    books = [response(td.TradeBook, [trade("1", MONDAY, quantity=n)], at) for n in (5, 7, 9)]
    found = set()
    for number, given in enumerate((books, books[::-1], [books[1], books[0], books[2]])):
        archive = td.Archive(tmp_path / str(number))
        for book in given:
            archive.add(book)
        found.add(tuple(row.quantity for row in archive.trades(MONDAY)))
    assert len(found) == 1
    assert len(found.pop()) == 1
