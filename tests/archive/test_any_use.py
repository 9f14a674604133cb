"""Any use of an archive, with crashes at any call of its files, beside a plain model."""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import tradingdata as td
from archiving import DAYS, clock, order, response, trade
from tradingdata.archive import store
from tradingdata.archive.folder import Disk

METHODS = ("names", "read", "put", "rename", "sync", "remove", "age")
KINDS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "trades": (td.TradeBook, trade),
    "orders": (td.OrderBook, order),
}
FIELD = {"trades": "trade_no", "orders": "order_no"}

accounts = st.sampled_from(["a", "b"])
books = st.sampled_from(["trades", "orders"])
days = st.sampled_from(DAYS[:3])
minutes = st.integers(0, 400)
contents = st.dictionaries(st.sampled_from("1234"), st.integers(1, 2), max_size=4)
crashes = st.one_of(st.none(), st.none(), st.integers(1, 40))


class Killed(BaseException):
    """The process is gone."""


class Entry:
    """A response of the model: its records, with the quantity of each by its number."""

    def __init__(self, account: str, book: str, at: dt.datetime, content: dict[str, int]) -> None:
        self.account, self.book, self.at, self.content = account, book, at, content
        self.withdrawn = False

    @property
    def key(self) -> tuple[str, str, dt.datetime]:
        return self.account, self.book, self.at

    def response(self) -> Any:
        kind, make = KINDS[self.book]
        day = self.at.date()
        records = [make(number, day, quantity=each) for number, each in self.content.items()]
        return response(kind, records, self.at, account=self.account)


class Client:
    """A client whose books are given; one that is None fails."""

    def __init__(self, account: str, found: dict[str, Entry]) -> None:
        self.account, self._found = account, found

    def order_book(self, *, timeout: float | None) -> Any:
        return self._found["orders"].response()

    def trade_book(self, *, timeout: float | None) -> Any:
        if "trades" not in self._found:
            raise td.TransportError("no connection")
        return self._found["trades"].response()


class Archives(RuleBasedStateMachine):
    """The archive is that of one process at a time, which a crash ends."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.left = 0  # calls of the file system until the process is gone; 0: it is not
        self.is_gone = False
        for name in METHODS:
            self.patch.setattr(Disk, name, self._failing(getattr(Disk, name)))
        self.entries: dict[tuple[str, str, dt.datetime], Entry] = {}
        self.retired: dict[str, tuple[dt.date, dt.datetime]] = {}
        self.reopen()

    def _failing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(disk: Disk, *arguments: Any) -> Any:
            if self.left:
                self.left -= 1
                self.is_gone = not self.left
            if self.is_gone:
                raise Killed
            return real(disk, *arguments)

        return call

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.folder)

    def reopen(self) -> None:
        store._of_disk.cache_clear()
        self.archive = td.Archive(self.folder / "books", tz="Asia/Kolkata")

    def run(self, crash: int | None, work: Callable[[], object]) -> bool:
        """Does something, in which the process may end; returns whether it did not."""
        self.left = crash or 0
        try:
            work()
        except Killed:
            return False
        finally:
            killed, self.is_gone, self.left = self.is_gone, False, 0
            if killed:
                self.reopen()
        return True

    def note(self, *entries: Entry, done: bool) -> None:
        """Takes responses over; of a process that was gone, those that are in the log."""
        if not done:
            log = {(str(x.account), x.book, x.at) for x in self.archive.fetches() if x.ok}
            stored = [entry for entry in entries if entry.key in log]
            assert len(stored) in (0, len(entries)), "one commit"
            entries = tuple(stored)
        for entry in entries:
            self.entries.setdefault(entry.key, entry)

    @rule(account=accounts, book=books, day=days, minute=minutes, content=contents, crash=crashes)
    def add(
        self,
        account: str,
        book: str,
        day: dt.date,
        minute: int,
        content: dict[str, int],
        crash: int | None,
    ) -> None:
        at = clock("10:00", day) + dt.timedelta(minutes=minute)
        entry = self.entries.get((account, book, at)) or Entry(account, book, at, content)
        if not entry.withdrawn:
            done = self.run(crash, lambda: self.archive.add(entry.response()))
            self.note(entry, done=done)

    @rule(account=accounts, day=days, content=contents, fails=st.booleans(), crash=crashes)
    def fetch(
        self, account: str, day: dt.date, content: dict[str, int], fails: bool, crash: int | None
    ) -> None:
        at = clock("18:00", day) + dt.timedelta(minutes=len(self.entries))
        names = ["orders"] if fails else ["orders", "trades"]
        found = {name: Entry(account, name, at, content) for name in names}
        if any(entry.key in self.entries for entry in found.values()):
            return

        def work() -> None:
            try:
                self.archive.fetch(Client(account, found))  # type: ignore[call-overload]
            except td.TransportError:
                assert fails

        self.note(*found.values(), done=self.run(crash, work))

    @rule(number=st.integers(0, 50), crash=crashes)
    def withdraw(self, number: int, crash: int | None) -> None:
        """Also unchanged responses after it, which have no rows of their own."""
        log = [entry for entry in self.archive.fetches() if entry.ok]
        if log:
            one = log[number % len(log)]
            self.run(crash, lambda: self.archive.withdraw(one.id))
            for entry in self.archive.fetches():
                if entry.ok:
                    known = self.entries[str(entry.account), entry.book, td.required(entry.at)]
                    assert entry.withdrawn or not known.withdrawn, "it stays withdrawn"
                    wanted = self.entries[str(one.account), one.book, td.required(one.at)]
                    if entry.withdrawn and known is not wanted:
                        assert known.withdrawn or known.content == wanted.content
                    known.withdrawn = entry.withdrawn

    @rule(account=accounts, day=days)
    def retire(self, account: str, day: dt.date) -> None:
        if account in self.archive.accounts:
            self.archive.retire(account, day)
            self.retired[account] = day, dt.datetime.now(dt.UTC)

    def is_retired(self, account: str, day: dt.date) -> bool:
        """Since no response of a later day came after it."""
        last, at = self.retired.get(account, (day, None))
        log = [each for each in self.archive.fetches(account=account) if not each.withdrawn]
        is_known = account in self.archive.accounts  # unless all of it was withdrawn
        return (
            is_known
            and day > last
            and not any(each.filed_at > td.required(at) and max(each.days) > last for each in log)
        )

    @rule(crash=crashes)
    def compact(self, crash: int | None) -> None:
        self.run(crash, lambda: self.archive.compact())

    @rule()
    def begin_again(self) -> None:
        self.reopen()

    @rule(account=accounts, book=books, day=days)
    def read(self, account: str, book: str, day: dt.date) -> None:
        """Each record as the last response that has it showed it; an error if there is none."""
        states: dict[str, int] = {}
        those = [
            entry
            for entry in self.entries.values()
            if (entry.account, entry.book, entry.at.date()) == (account, book, day)
            and not entry.withdrawn
        ]
        for entry in sorted(those, key=lambda each: each.at):
            states |= entry.content
        read = getattr(self.archive, book)
        if not those and self.is_retired(account, day):
            assert len(read(day, account=account)) == 0
        elif not those:
            with pytest.raises(td.ArchiveError, match="never fetched"):
                read(day, account=account)
        else:
            found = [(row[FIELD[book]], row.quantity) for row in read(day, account=account)]
            assert sorted(found) == sorted(states.items())
            query = f"SELECT {FIELD[book]}, quantity FROM {book} ORDER BY 1"
            assert [*map(tuple, self.archive.sql(query, day, account=account))] == sorted(found)

    @invariant()
    def each_response_is_there_once(self) -> None:
        log = [entry for entry in self.archive.fetches() if entry.ok]
        keys = [(str(entry.account), entry.book, entry.at) for entry in log]
        assert len(set(keys)) == len(keys)
        assert set(keys) == self.entries.keys()
        for entry in log:
            assert entry.rows == len(
                self.entries[str(entry.account), entry.book, td.required(entry.at)].content
            )

    @rule()
    def verify(self) -> None:
        self.archive.verify()


Archives.TestCase.settings = settings(
    max_examples=settings().max_examples // 6, stateful_step_count=20
)
TestAnyUse = pytest.mark.timeout(600)(Archives.TestCase)
