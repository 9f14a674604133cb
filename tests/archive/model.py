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

    @property
    def day(self) -> str:
        return str((self.at.astimezone(INDIA) - dt.timedelta(hours=6)).date())

    def day_of(self, record: Record) -> str:
        known = [record[name] for name in TIMES[self.book] if record.get(name)]
        return known[0][:10] if known and self.book == "trades" else self.day

    def is_dated(self, record: Record) -> bool:
        return any(record.get(name) for name in TIMES[self.book])

    @property
    def days(self) -> set[str]:
        """The days of its rows, and of its receipt."""
        return {self.day_of(record) for record in self.records} | {self.day}


Row = tuple[Sent, Record]  # the response that showed it last
Folded = tuple[list[Sent] | None, list[Row]]  # of which responses, unless one could not be read
Rows = dict[str, Folded]  # by account


@dataclass
class Model:
    """The responses that count, those that are lost, and what the files of days have.

    Some of those that count have bodies that cannot be read.
    """

    sent: list[Sent] = field(default_factory=list)
    torn: list[Sent] = field(default_factory=list)
    lost: list[Sent] = field(default_factory=list)
    files: dict[tuple[str, str], Rows] = field(default_factory=dict)

    def days(self, book: str) -> set[str]:
        known = {day for name, day in self.files if name == book}
        return known | {day for one in self.sent if one.book == book for day in one.days}

    def day(self, book: str, day: str) -> Rows:
        """A day: what its file has, or the fold if responses came or went since."""
        file = self.files.get((book, day), {})
        accounts = {one.account for one in self.sent} | file.keys()
        known = {account: file.get(account, ([], [])) for account in accounts}
        is_current = all(
            responses == self.responses(book, day, account, repeats=self.have_lost(rows))
            and all(one in self.sent or one in self.lost for one, _ in rows)
            for account, (responses, rows) in known.items()
        )
        if is_current:
            return file
        return {x: self.folded(book, day, x, *known[x]) for x in known}

    def folded(
        self, book: str, day: str, account: str, done: list[Sent] | None, file: list[Row]
    ) -> Folded:
        """New responses folded onto the file, or all of them if it is not of the first ones."""
        beside: list[tuple[Sent, int]] = []
        state, new = file, self.responses(book, day, account, repeats=False)
        if done == new[: len(done or ())] and all(one in self.sent for one, _ in file):
            new = new[len(done or ()) :]
        else:
            gone = [*self.lost, *self.torn]
            state = [row for row in file if row[0] in gone]
            beside = [(one, id(record)) for one, record in file] if state else []
            if state or any(one in gone for one in new):
                new = self.responses(book, day, account, repeats=True)
        for one in new:
            if one not in self.torn:
                state = _step(state, one, day, beside)
        if any(one in self.torn for one in new):
            return None, state
        return self.responses(book, day, account, repeats=self.have_lost(state)), state

    def have_lost(self, rows: list[Row]) -> bool:
        return any(one in self.lost for one, _ in rows)

    def responses(self, book: str, day: str, account: str, *, repeats: bool) -> list[Sent]:
        """Those with rows; the same body once more says nothing, unless some between are lost."""
        chosen: list[Sent] = []
        for one in sorted(self.sent, key=lambda one: (one.at, one.filed)):
            if (one.book, one.account) == (book, account) and day in one.days and one.records:
                before = chosen[-1] if chosen and not repeats else None
                if not before or (before.day, before.records) != (one.day, one.records):
                    chosen.append(one)
        return chosen

    def rows(self, book: str, day: str) -> Counter[tuple[Any, ...]]:
        """What a reader sees of a day."""
        return Counter(
            shown(book, account, record)
            for account, (_, rows) in self.day(book, day).items()
            for _, record in rows
        )

    def is_repeat(self, new: Sent) -> bool:
        """Whether a response is that of before once more."""
        before = [
            one
            for one in self.sent
            if (one.book, one.account) == (new.book, new.account) and new.day in one.days
        ]
        last = max(before, key=lambda one: (one.at, one.filed), default=new)
        is_same = (last.day, last.records) == (new.day, new.records)
        return is_same and last.at < new.at and bool(new.records)

    def settle(self, book: str, day: str) -> None:
        """The file of a day was written."""
        self.files[book, day] = self.day(book, day)

    def remove(self, gone: list[Sent]) -> None:
        """Responses are withdrawn or erased, also those that are lost."""
        self.sent = [one for one in self.sent if one not in gone]
        self.torn = [one for one in self.torn if one not in gone]
        self.lost = [one for one in self.lost if one not in gone]

    def lose(self, lost: list[Sent]) -> None:
        self.sent = [one for one in self.sent if one not in lost]
        self.lost += lost

    def is_sound(self) -> bool:
        """Whether each day can be made again of its responses."""
        files = [rows for file in self.files.values() for _, rows in file.values()]
        return not any(map(self.have_lost, files)) and not any(x in self.torn for x in self.sent)


def shown(book: str, account: str, record: Record) -> tuple[Any, ...]:
    """The values of a record that tests compare."""
    time = record.get(TIMES[book][0])
    names = [name for name in COMPARED if name != NUMBER[book]]
    return account, record[NUMBER[book]], time and str(time), *(record[x] for x in names)


def _step(state: list[Row], one: Sent, day: str, beside: list[tuple[Sent, int]]) -> list[Row]:
    """The rows after a response: of two rows of a record the later one stays.

    Rows that stood beside each other leave each other alone.
    """
    here = [record for record in one.records if one.day_of(record) == day]
    gone: list[Row] = []
    new: list[Row] = []
    for record in one.records:
        is_later = True
        known = [row for row in state if _key(one, row[1]) == _key(one, record)]
        is_single = len(known) == 1 == sum(_key(one, x) == _key(one, record) for x in here)
        for owner, old in known:
            if {(owner, id(old)), (one, id(record))} <= set(beside):
                continue
            if one.day_of(record) != day:
                is_same = one.is_dated(record) and not owner.is_dated(old)
                is_same = is_same and _same(one, old, record, (old,), sided=True)
            elif is_single:
                is_same = _same(one, old, record, (old, record), sided=False)
            else:
                is_same = _same(one, old, record, (), sided=True)
            if is_same:
                is_later = is_later and owner.at <= one.at
                gone += [(owner, old)] if owner.at <= one.at else []
        if is_later and one.day_of(record) == day:
            new.append((one, record))
    return [row for row in state if not any(row[0] is x[0] and row[1] is x[1] for x in gone)] + new


def _key(one: Sent, record: Record) -> Any:
    """The number of a record, or all its values if it has none."""
    number = record[NUMBER[one.book]]
    return sorted(record.items(), key=str) if number in (None, "", "0") else number


def _same(one: Sent, old: Record, new: Record, partial: tuple[Record, ...], *, sided: bool) -> bool:
    """Whether fields are equal; those that one of some records lacks do not count."""
    return all(
        old[name] == new[name] or any(record[name] is None for record in partial)
        for name in (*IDENTITY[one.book], *["txn_type"] * sided)
    )
