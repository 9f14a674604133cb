"""A plain model of an archive: the fold of responses over records as they were sent.

Written from the docs, without the package's own code for it: each day is folded from the beginning
for each question.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
NUMBER = {"trades": "trade_no", "orders": "order_no"}
IDENTITY = {
    "trades": ("exchange", "segment", "order_no", "client_id"),
    "orders": ("exchange", "segment", "leg_no", "child_leg_unq_id", "client_id"),
}
TIMES = {
    "trades": ("exch_trade_time", "order_date_time"),
    "orders": ("order_date_time", "exch_order_time"),
}
COMPARED = ("quantity", "txn_type", "client_id", "order_no")  # beside account, number and time
Record = dict[str, Any]


@dataclass(eq=False)
class Sent:
    """A response: what was sent to an account at a time."""

    book: str
    account: str
    at: dt.datetime
    records: list[Record]
    filed: int = 0
    only: str = ""  # the day of which it is what is left, if the response is lost
    is_complete: bool = True

    @property
    def day(self) -> str:
        return str((self.at.astimezone(INDIA) - dt.timedelta(hours=6)).date())

    def day_of(self, record: Record) -> str:
        if self.only:
            return self.only
        known = [record[name] for name in TIMES[self.book] if record.get(name)]
        return known[0][:10] if known and self.book == "trades" else self.day

    def is_dated(self, record: Record) -> bool:
        return any(record.get(name) for name in TIMES[self.book])

    @property
    def days(self) -> set[str]:
        """The days of its rows, and of its receipt."""
        return {self.day_of(record) for record in self.records} | {self.only or self.day}


@dataclass
class Model:
    """The responses that count, and the rows of those that are lost."""

    sent: list[Sent] = field(default_factory=list)
    kept: set[tuple[int, int]] = field(default_factory=set)  # the rows of the files of days

    def accounts(self) -> set[str]:
        return {one.account for one in self.sent}

    def days(self, book: str) -> set[str]:
        return {day for one in self.sent if one.book == book for day in one.days}

    def folded(self, book: str, day: str, account: str) -> list[tuple[Sent, Record]]:
        """The records of a day, each with the response that showed it last."""
        state: list[tuple[Sent, Record]] = []
        last: Sent | None = None
        those = [one for one in self.sent if (one.book, one.account) == (book, account)]
        for one in sorted(those, key=lambda one: (one.at, not one.only, one.filed)):
            if day in one.days and not _repeats(one, last):
                state = _step(state, one, day, self.kept if one.only else set())
                if one.records and not one.only:
                    last = one
        return state

    def rows(self, book: str, day: str) -> Counter[tuple[Any, ...]]:
        """What a reader sees of a day."""
        return Counter(
            shown(book, account, record)
            for account in self.accounts()
            for _, record in self.folded(book, day, account)
        )

    def lose(self, lost: list[Sent]) -> None:
        """Loses responses; what a day has of one stays, together, at the time of the response."""
        left: dict[tuple[int, str], Sent] = {}
        for book in NUMBER:
            for day in self.days(book):
                for account in self.accounts():
                    for one, record in self.folded(book, day, account):
                        if one in lost:
                            rest = Sent(book, account, one.at, [], one.filed, day)
                            left.setdefault((id(one), day), rest).records.append(record)
        self.sent = [one for one in self.sent if one not in lost] + [*left.values()]

    def settle(self) -> None:
        """Forgets what is left of lost responses where later ones have replaced it."""
        kept: dict[int, list[Record]] = {}
        rows: set[tuple[int, int]] = set()
        for book in NUMBER:
            for day in self.days(book):
                for account in self.accounts():
                    for one, record in self.folded(book, day, account):
                        kept.setdefault(id(one), []).append(record)
                        rows.add((one.filed, id(record)))
        for one in self.sent:
            if one.only:
                one.records = kept.get(id(one), [])
        self.sent = [one for one in self.sent if not one.only or one.records]
        self.kept = rows


def shown(book: str, account: str, record: Record) -> tuple[Any, ...]:
    """The values of a record that tests compare."""
    time = record.get(TIMES[book][0])
    names = [name for name in COMPARED if name != NUMBER[book]]
    return account, record[NUMBER[book]], time and str(time), *(record[x] for x in names)


def _repeats(one: Sent, last: Sent | None) -> bool:
    """Whether a response is the one before it again: the rows remain those of the first."""
    return bool(last and not one.only and one.day == last.day and one.records == last.records)


def _step(
    state: list[tuple[Sent, Record]], one: Sent, day: str, kept: set[tuple[int, int]]
) -> list[tuple[Sent, Record]]:
    number = NUMBER[one.book]
    here = [record for record in one.records if one.day_of(record) == day]
    left = []
    for owner, old in state:
        if old[number] in (None, "", "0"):
            is_gone = old in here
        else:
            shown_now = [record for record in here if record[number] == old[number]]
            before = [record for _, record in state if record[number] == old[number]]
            is_gone = any(
                _same(one.book, old, new, is_single=len(shown_now) == 1 == len(before))
                for new in shown_now
            )
            if not is_gone and not owner.is_dated(old):
                is_gone = any(
                    all(
                        old[name] in (None, new[name]) for name in (*IDENTITY[one.book], "txn_type")
                    )
                    for new in one.records
                    if one.day_of(new) != day and one.is_dated(new) and new[number] == old[number]
                )
        if not is_gone or (owner.filed, id(old)) in kept:
            left.append((owner, old))
    return left + [(one, record) for record in here]


def _same(book: str, old: Record, new: Record, *, is_single: bool) -> bool:
    names = IDENTITY[book]
    if not is_single:
        return all(old[name] == new[name] for name in (*names, "txn_type"))
    return all(old[name] == new[name] or None in (old[name], new[name]) for name in names)
