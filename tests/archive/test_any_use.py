"""Random histories of an archive beside a plain model.

Among what happens are crashes, full disks, damage and erasure; other engines read meanwhile.
"""

from __future__ import annotations

import datetime as dt
import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tradingdata as td
from archive.crashes import WRITES, counted_down, full
from archive.engines import check_engines, damage_bodies, is_named, of_archive, rewrite
from archive.model import NUMBER, TIMES, Model, Record, Sent
from archiving import DAYS, clock, order, response, trade
from tradingdata.archive import MissingDay, store

KINDS: dict[str, tuple[Any, Callable[..., Record]]] = {
    "trades": (td.TradeBook, trade),
    "orders": (td.OrderBook, order),
}
TIMELESS = {"exch_trade_time": None, "order_date_time": None}
ACCOUNTS = ("desk1", "desk2")

# What reads a book of some days, which must have been fetched.
READS: dict[str, list[Callable[..., Any]]] = {
    "trades": [
        td.Archive.trades,
        lambda archive, *days, **only: archive.scan("trades", *days, **only),
        lambda archive, *days, **only: archive.sql("SELECT 1 FROM trades", *days, **only),
    ],
    "orders": [
        td.Archive.orders,
        lambda archive, *days, **only: archive.sql("FROM Order_States", *days, **only),
    ],
}

ROWS = {  # what a row lacks, or that it is of an earlier day
    "": 9,
    "exchange": 1,
    "order_no": 1,
    "time": 2,
    "earlier": 2,
}


class Killed(BaseException):
    """The process is gone."""


def record(book: str, account: str, day: dt.date, row: tuple[Any, ...]) -> Record:
    number, quantity, side, place, oddity = row
    when = day - dt.timedelta(1) if oddity == "earlier" else day
    values = {"quantity": quantity, "txn_type": side, "row_no": place}
    sent = KINDS[book][1](number, when, client_id=f"C-{account}", **values)
    if book == "trades":
        sent |= {"order_date_time": None}
    if oddity == "time":
        sent |= TIMELESS if book == "trades" else {}
    elif oddity in ("exchange", "order_no") and not (book == "orders" and oddity == "order_no"):
        sent[oddity] = None
    return sent


class History:
    """The archive is that of one process at a time, which a crash ends."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = random.Random(seed)
        self.folder = folder
        self.path = self.folder / "books"
        self.model = Model()
        self.ids: dict[str, Sent] = {}
        self.has_backup = False
        self.is_folded = True
        self.filed = 0
        self.erased: set[str] = set()
        self.is_aged = False
        self.is_marred = False  # whether a file of responses cannot be read
        self.written: dict[tuple[str, str], Any] = {}
        self.reopen()

    def reopen(self) -> None:
        store.store_of.cache_clear()
        self.archive = td.Archive(self.path)

    def run(self, work: Callable[[], Any], *books: Any) -> Any:
        """Does something, in which the process may end or a write fail.

        Returns its result, or None. A write that fails costs what was to be stored, whose books
        come back with the error, or only their place in their days, which is a warning.
        """
        at, is_full = self.crash()
        failure = (full, WRITES) if is_full else (Killed, ())
        files, was_folded, self.is_folded = self.files(), self.is_folded, False
        try:
            with (
                warnings.catch_warnings(record=True) as said,
                counted_down(at, *failure, once=is_full),
            ):
                warnings.simplefilter("always")
                result = work()
        except Killed:
            self.reopen()
            return None
        except td.ArchiveError as error:
            if is_full and error.books == books and "could not be written" in str(error):
                return None
            raise
        finally:
            self.written = dict(self.files().items() - files.items())
        self.is_aged = is_full or not was_folded  # who ends an erasure leaves joining to the next
        self.is_folded = not any("stored, but not yet in its day" in str(x.message) for x in said)
        return result

    def files(self) -> dict[tuple[str, str], tuple[int, int]]:
        """What changes when the file of a day is written."""
        return {
            (book, path.stem): (path.stat().st_ino, path.stat().st_mtime_ns)
            for book in NUMBER
            for path in self.path.glob(f"{book}/*.parquet")
        }

    def settle(self) -> None:
        for book, day in self.written:
            self.model.settle(book, day)

    @staticmethod
    def quietly(work: Callable[[], Any]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", td.DataWarning)
            return work()

    def note(self, one: Sent) -> None:
        """Takes a response into the model if it is in the log."""
        for entry in self.archive.fetches():
            if entry.id not in self.ids and not entry.withdrawn:
                assert (entry.book, entry.account, entry.at) == (one.book, one.account, one.at)
                assert entry.rows == len(one.records)
                self.ids[entry.id] = one
                self.model.sent.append(one)

        self.find_torn()

    def root_of(self, identity: str) -> str:
        """The response that has the body of one."""
        return self.log().entries[identity].repeats or identity

    def find_torn(self) -> None:
        """Has the model know whose bodies are not as they were sent."""
        sound: set[str] = set()
        for path in self.path.glob("responses/*/*.parquet"):
            with duckdb.connect() as own, suppress(duckdb.Error):
                query = f"SELECT id FROM '{path}' WHERE sha256(body) = sha256"
                sound |= {x for (x,) in own.execute(query).fetchall()}
        known = {x: one for x, one in self.ids.items() if one in self.model.sent}
        self.model.torn = [one for x, one in known.items() if self.root_of(x) not in sound]

    def log(self) -> Any:
        return self.archive._store.log()

    def crash(self) -> tuple[int, bool]:
        """Returns where the process ends or the disk is full, and whether it is the disk.

        An operation on files, or for the disk a write, is counted; 0 is neither.
        """
        number = self.chance.randint(1, 70)
        return self.chance.choice([(0, False), (0, False), (number, False), (number // 4, True)])

    def row(self) -> tuple[Any, ...]:
        pick = self.chance
        (oddity,) = pick.choices(list(ROWS), list(ROWS.values()))
        number = pick.choice([*"112233", None, "0", ""])
        return number, pick.randint(1, 2), pick.choice("BBBS"), pick.randint(1, 2), oddity

    def store(self, book: str, account: str, at: dt.datetime, records: list[Record]) -> None:
        if any(one.at == at for one in self.model.sent):
            return
        self.filed += 1
        self.erased.discard(account)
        one = Sent(book, account, at, records, self.filed)
        is_known, was_folded = self.model.is_repeat(one), self.is_folded
        is_sound = not self.model.lost and not self.model.torn
        entry = self.add_to(one)
        if entry and is_sound:
            assert entry.stored == (bool(records) and not is_known)
            assert not (is_known and was_folded and self.written), "nothing has changed"

    def add_to(self, one: Sent) -> Any:
        got = response(KINDS[one.book][0], one.records, one.at, account=one.account)
        entry = self.run(lambda: self.archive.add(got), got)
        self.note(one)
        self.settle()
        return entry

    def add(self) -> None:
        """A response, which may be late, or of the night after its day."""
        pick = self.chance
        book, account = pick.choice(["trades", "trades", "orders"]), pick.choice(ACCOUNTS)
        day = pick.choice(DAYS[1:3])
        minutes = pick.choice([pick.randint(0, 300), pick.randint(0, 300), pick.randint(840, 1199)])
        at = clock("10:00", day) + dt.timedelta(minutes=minutes)
        rows = [self.row() for _ in range(pick.randint(0, 4))]
        self.store(book, account, at, [record(book, account, day, row) for row in rows])

    def again(self) -> None:
        """The body of an earlier response, later on its day."""
        if self.model.sent:
            old = self.chance.choice(self.model.sent)
            minutes = self.chance.randint(301, 400)
            at = old.at.replace(hour=10, minute=0) + dt.timedelta(minutes=minutes)
            self.store(old.book, old.account, at, old.records)

    def store_again(self) -> None:
        """The same response, which repairs its body and is not stored twice."""
        log = [x.id for x in self.archive.fetches() if self.ids[x.id] not in self.model.lost]
        if log:
            one = self.ids[self.chance.choice(log)]
            if entry := self.add_to(one):
                assert (entry.at, entry.stored) == (one.at, False)

    def add_without_settings(self) -> None:
        """The file is not there, or damaged; then it is restored."""
        if not self.model.sent:
            return
        settings = self.path / "archive.json"
        content = settings.read_bytes()
        settings.write_bytes(content[:-9])
        if self.chance.random() < 0.5:
            settings.unlink()
        book, day = self.chance.choice([*NUMBER]), self.chance.choice(DAYS[1:3])
        at = clock("14:00", day) + dt.timedelta(seconds=self.filed + 1)
        records = [record(book, ACCOUNTS[0], day, self.row()) for _ in range(2)]
        got = response(KINDS[book][0], records, at, account=ACCOUNTS[0])
        with pytest.warns(td.DataWarning, match="stored, but not yet in its day"):
            self.archive.add(got)
        settings.write_bytes(content)
        self.filed += 1
        self.erased.discard(ACCOUNTS[0])
        self.note(Sent(book, ACCOUNTS[0], at, records, self.filed))
        self.is_folded = False

    def withdraw(self) -> None:
        """Also unchanged responses after it, which have no bodies of their own."""
        log = [entry for entry in self.archive.fetches() if not entry.withdrawn]
        if log:
            chosen = self.chance.choice(log).id
            self.run(lambda: self.archive.withdraw(chosen))
            gone = {x.id for x in self.archive.fetches() if x.withdrawn} & self.ids.keys()
            self.model.remove([self.ids[x] for x in gone])
            self.settle()

    def erase(self) -> None:
        """A file that cannot be read stays, which is an error; no day has the account any more."""
        account = self.chance.choice(ACCOUNTS)
        if account in self.archive.accounts:
            try:
                if self.run(lambda: self.archive.erase(account)):
                    self.erased.add(account)
            except td.ArchiveError as error:
                if not self.is_marred or "responses" not in str(error):
                    raise
            if account not in self.archive.accounts:
                known = [*self.model.sent, *self.model.lost]
                self.model.remove([one for one in known if one.account == account])
            self.settle()

    def copy(self) -> None:
        """The copy is an archive with everything, or none; from then on it is used."""
        path = self.folder / f"copy{self.filed}"
        if path.exists():
            return
        if self.run(lambda: self.archive.copy(path)):
            self.path = path
            self.reopen()
            self.written = self.files()
            self.settle()
            return
        with suppress(td.ArchiveError):
            copied = td.Archive(path, create=False)
            for book in NUMBER:
                assert of_archive(copied, book) == of_archive(self.archive, book)

    def damage(self) -> None:
        """The file of a day, and with it what its responses lack now."""
        pick = self.chance
        book, day = pick.choice([*NUMBER]), pick.choice(DAYS[:3])
        work = pick.choice(["cut", "zero", "gone"])
        path = self.path / book / f"{day}.parquet"
        if path.exists():
            self.model.files.pop((book, str(day)), None)
            content = path.read_bytes()
            path.unlink()
            if work != "gone":
                path.write_bytes(content[:-9] if work == "cut" else bytes(len(content)))
            self.is_folded = False

    def back_up(self) -> None:
        if self.is_folded and self.model.is_sound():
            shutil.rmtree(self.folder / "backup", ignore_errors=True)
            shutil.copytree(self.path, self.folder / "backup")
            self.has_backup = True

    def restore(self) -> None:
        """The days as they were, which are folded again; of responses, also those that went."""
        if self.has_backup and self.is_folded and self.model.is_sound():
            for book in NUMBER:
                shutil.rmtree(self.path / book, ignore_errors=True)
                if (self.folder / "backup" / book).exists():
                    shutil.copytree(self.folder / "backup" / book, self.path / book)
            if not self.model.lost and (self.folder / "backup/responses").exists():
                old, new = self.folder / "backup/responses", self.path / "responses"
                shutil.copytree(old, new, dirs_exist_ok=True)
            self.is_folded = False
            self.reopen()

    def lose(self) -> None:
        """The newest responses, as if their folder were that of a backup; days stay."""
        if self.model.sent and self.is_folded:
            since = self.chance.choice(self.model.sent).filed
            places = {one: self.log().places.get(x, ()) for x, one in self.ids.items()}
            gone = {x for one in self.model.sent if one.filed >= since for x in places[one]}
            for path in gone:
                (self.path / path).unlink()
            self.model.lose([one for one in self.model.sent if gone.issuperset(places[one])])
            self.find_torn()
            self.is_folded = False
            self.reopen()

    def tear(self) -> None:
        """A body that cannot be read, also of those that repeat it, or all bodies of its file."""
        known = [x for x, one in self.ids.items() if one in self.model.sent and one.records]
        if known:
            root = self.root_of(self.chance.choice(known))
            is_page = self.chance.random() < 0.5 or self.is_marred
            for path in (self.path / each for each in self.log().places[root]):
                if is_page:
                    self.is_marred = True
                    damage_bodies(path)
                else:
                    rewrite([path], path, f"CASE WHEN id = '{root}' THEN encode('x') ELSE body END")
            self.reopen()
            self.find_torn()

    def age(self) -> None:
        """The responses become those of a day that is over, which the next writer joins."""
        for path in self.path.glob("responses/*/*T*.parquet"):
            path.rename(path.with_name(f"2026-11-10{path.name[10:]}"))
        self.is_aged = True
        self.reopen()

    def each_day_is_the_fold_of_its_responses(self) -> None:
        for book in NUMBER:
            found = of_archive(self.archive, book)
            wanted: Counter[Any] = Counter()
            for day in self.model.days(book):
                for values, count in self.model.rows(book, day).items():
                    wanted[(day, *values)] += count
            assert found == wanted, book
            days, rows = sorted(self.model.days(book)), []
            read = partial(getattr(self.archive, book), missing_ok=True)
            for day in days:
                rows += (one := self.quietly(partial(read, day)))
                names = TIMES[book][0], "client_id", "row_no"
                places = [tuple(row[name] for name in names) for row in one]
                assert places == sorted(places, key=lambda x: (x[0] is None, x)), "their order"
            if days:
                assert list(self.quietly(partial(read, days[0], days[-1]))) == rows, "by day"

    def each_read_needs_its_days(self) -> None:
        pick = self.chance
        days = sorted(pick.choices(DAYS, k=2))
        only: Any = pick.choice([{}, *({"account": x} for x in self.archive.accounts)])
        missing = self.archive.missing(*days, **only)
        for book, reads in READS.items():
            lacking = [gap._replace(books=(book,)) for gap in missing if book in gap.books]
            for read in reads:
                raised: tuple[MissingDay, ...] = ()
                try:
                    self.quietly(partial(read, self.archive, *days, **only))
                except td.ArchiveError as error:
                    raised = error.missing
                    if not raised:
                        raise
                assert [gap._replace(books=(book,)) for gap in raised] == lacking

    def days_that_are_over_are_one_file(self) -> None:
        """Which the last writer joined, if it was not interrupted and each can be read."""
        if self.is_folded and not self.is_aged and not self.is_marred:
            assert len([*self.path.glob("responses/*/2026-11-10T*")]) <= 1

    def nothing_is_left_of_who_was_erased(self) -> None:
        if self.is_folded:
            assert not any(is_named(self.archive, account) for account in self.erased)

    def other_engines_read_the_same(self) -> None:
        if self.is_folded:
            check_engines(self.archive, "pyarrow", "DuckDB")


STEPS = {
    History.add: 20,
    History.again: 5,
    History.store_again: 2,
    History.withdraw: 2,
    History.erase: 1,
    History.copy: 1,
    History.damage: 2,
    History.back_up: 2,
    History.restore: 3,
    History.lose: 3,
    History.tear: 2,
    History.age: 2,
    History.add_without_settings: 1,
    History.reopen: 1,
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12, 300))]
)
def test_f183_any_history(seed: int, tmp_path: Path) -> None:
    """F112, F124, F126, F142, F183, A17: td.Archive and other engines have what the model says."""
    history = History(seed, tmp_path)
    for step in history.chance.choices(list(STEPS), list(STEPS.values()), k=30):
        step(history)
        check(history)


def check(history: History) -> None:
    history.each_day_is_the_fold_of_its_responses()
    history.each_read_needs_its_days()
    history.other_engines_read_the_same()
    history.days_that_are_over_are_one_file()
    history.nothing_is_left_of_who_was_erased()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_full", [False, True], ids=["killed", "full disk"])
@pytest.mark.parametrize("work", [History.add, History.withdraw, History.erase, History.copy])
def test_f112_a_crash_at_each_operation(
    work: Callable[[History], None], is_full: bool, tmp_path: Path
) -> None:
    """F111, F112: what was acknowledged is there; the next writer puts all into its day."""
    at = 0
    while True:
        at += 1
        history = History(3, tmp_path / str(at))
        history.crash = lambda: (0, False)  # type: ignore[method-assign]
        for _ in range(4):
            history.add()
        history.crash = lambda at=at: (at, is_full)  # type: ignore[misc, method-assign]
        work(history)
        check(history)
        if history.is_folded:
            break
        history.crash = lambda: (0, False)  # type: ignore[method-assign]
        history.add()
        assert history.is_folded
        check(history)
    assert at > (3 if is_full else 10), "operations"
