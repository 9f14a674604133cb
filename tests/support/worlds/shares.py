"""What a random world realises and leaves open: signed first in, first out, share by share.

It is written from the docstrings, in fractions, and uses nothing of the package's calculations.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict, deque
from fractions import Fraction
from typing import Any

from . import Contract, Event, Party

Key = tuple[Party, Contract, str]
Lot = tuple[int, Fraction, str | None]  # its sign, its value and the number of its trade
Pair = tuple[Key, str | None, str | None]


class Ledger:
    """Signed first in, first out, one share or contract at a time.

    ``pairs`` counts the shares of each purchase and sale that the day matched, by the numbers of
    their trades.
    """

    def __init__(self, events: list[Event], day: dt.date, settle: Fraction | None) -> None:
        self.pairs: Counter[Pair] = Counter()
        self.realised: dict[Key, Fraction] = defaultdict(Fraction)
        self.held: dict[Key, deque[Lot]] = defaultdict(deque)
        self.expired: dict[Key, deque[Lot]] = defaultdict(deque)
        for event in events:
            on = event.time.date()
            if on > day:
                break
            self._settle(on, day, settle)
            sign = 1 if event.side == "B" else -1
            for _ in range(event.quantity):
                self._take(event, sign, event.value / event.quantity, on == day)
        self._settle(day + dt.timedelta(days=1), day, settle)

    def _take(self, event: Event, sign: int, value: Fraction, counts: bool) -> None:
        key = event.party, event.contract, event.product
        lots = self.held[key]
        if lots and lots[0][0] == -sign:
            _, opened, number = lots.popleft()
            bought, sold = (event.row.trade_no, number)[::sign]
            self.pairs[key, bought, sold] += counts
            self.realised[key] += (opened - value) * sign if counts else 0
        else:
            lots.append((sign, value, event.row.trade_no))

    def _settle(self, now: dt.date, day: dt.date, price: Fraction | None) -> None:
        for key, lots in self.held.items():
            expiry = key[1].expiry
            if expiry is None or not lots or not (expiry < now or now > day >= expiry):
                continue
            if price is not None:
                closed = sum((price * key[1].multiplier - paid) * sign for sign, paid, _ in lots)
                self.realised[key] += closed if expiry == day else 0
                for sign, _, number in lots:
                    bought, sold = (number, None)[::sign]
                    self.pairs[key, bought, sold] += expiry == day
                lots.clear()
            elif expiry < day:
                self.expired[key] += lots
                lots.clear()


def key_of(row: Any) -> tuple[Any, ...]:
    party = row.account, row.client_id
    return party, row.exchange, row.security_id, row.expiry_date, row.product


def named(key: Key) -> tuple[Any, ...]:
    fields = dict(key[1].fields)
    return key[0], fields["exchange"], fields["security_id"], key[1].expiry, key[2]
