"""Random histories of an archive beside a plain model, with crashes, damage and other engines."""

from __future__ import annotations

import datetime as dt
import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tradingdata as td
from archive.crashes import counted_down
from archive.engines import check_engines, of_archive
from archive.model import NUMBER, Model, Record, Sent
from archiving import DAYS, clock, order, response, trade
from tradingdata.archive import store

KINDS: dict[str, tuple[Any, Callable[..., Record]]] = {
    "trades": (td.TradeBook, trade),
    "orders": (td.OrderBook, order),
}
TIMELESS = {"exch_trade_time": None, "order_date_time": None}

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
    number, quantity, side, oddity = row
    when = day - dt.timedelta(1) if oddity == "earlier" else day
    sent = KINDS[book][1](number, when, quantity=quantity, txn_type=side, client_id=f"C-{account}")
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
        self.written: dict[tuple[str, str], Any] = {}
        self.reopen()

    def reopen(self) -> None:
        store.store_of.cache_clear()
        self.archive = td.Archive(self.path)

    def run(self, crash: int, work: Callable[[], Any]) -> Any:
        """Does something, in which the process may end; returns its result, or None."""
        files = self.files()
        try:
            with counted_down(crash, Killed):
                result = self.quietly(work)
        except Killed:
            self.is_folded = False
            self.reopen()
            return None
        finally:
            self.written = dict(self.files().items() - files.items())
        self.is_folded = True
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
        with duckdb.connect() as own:
            files = f"read_parquet('{self.path}/responses/*/*.parquet')"
            query = f"SELECT id FROM {files} WHERE sha256(body) = sha256"
            sound = {x for (x,) in own.execute(query).fetchall()} if self.model.sent else set()
        known = {x: one for x, one in self.ids.items() if one in self.model.sent}
        self.model.torn = [one for x, one in known.items() if self.root_of(x) not in sound]

    def log(self) -> Any:
        return self.archive._store.log()

    def crash(self) -> int:
        """The number of the operation on files at which the process ends; 0 for none."""
        return self.chance.choice([0, 0, self.chance.randint(1, 70)])

    def row(self) -> tuple[Any, ...]:
        pick = self.chance
        (oddity,) = pick.choices(list(ROWS), list(ROWS.values()))
        return pick.choice(["1", "2", "3", None]), pick.randint(1, 2), pick.choice("BBBS"), oddity

    def store(self, book: str, account: str, at: dt.datetime, records: list[Record]) -> None:
        if any(one.at == at for one in self.model.sent):
            return
        self.filed += 1
        got = response(KINDS[book][0], records, at, account=account)
        self.run(self.crash(), lambda: self.archive.add(got))
        self.note(Sent(book, account, at, records, self.filed))
        self.settle()

    def add(self) -> None:
        """A response, which may be late."""
        pick = self.chance
        book, account = pick.choice(["trades", "trades", "orders"]), pick.choice("ab")
        day = pick.choice(DAYS[1:3])
        at = clock("10:00", day) + dt.timedelta(minutes=pick.randint(0, 300))
        rows = [self.row() for _ in range(pick.randint(0, 4))]
        self.store(book, account, at, [record(book, account, day, row) for row in rows])

    def again(self) -> None:
        """The body of an earlier response, later on its day."""
        if self.model.sent:
            old = self.chance.choice(self.model.sent)
            minutes = self.chance.randint(301, 400)
            at = old.at.replace(hour=10, minute=0) + dt.timedelta(minutes=minutes)
            self.store(old.book, old.account, at, old.records)

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
        records = [record(book, "a", day, self.row()) for _ in range(2)]
        got = response(KINDS[book][0], records, at, account="a")
        with pytest.warns(td.DataWarning, match="stored, but not yet in its day"):
            self.archive.add(got)
        settings.write_bytes(content)
        self.filed += 1
        self.note(Sent(book, "a", at, records, self.filed))
        self.is_folded = False

    def withdraw(self) -> None:
        """Also unchanged responses after it, which have no bodies of their own."""
        log = [entry for entry in self.archive.fetches() if not entry.withdrawn]
        if log:
            chosen = self.chance.choice(log).id
            self.run(self.crash(), lambda: self.archive.withdraw(chosen))
            gone = {x.id for x in self.archive.fetches() if x.withdrawn} & self.ids.keys()
            self.model.remove([self.ids[x] for x in gone])
            self.settle()

    def erase(self) -> None:
        account = self.chance.choice("ab")
        if account in self.archive.accounts:
            self.run(self.crash(), lambda: self.archive.erase(account))
            if account not in self.archive.accounts:
                known = [*self.model.sent, *self.model.lost]
                self.model.remove([one for one in known if one.account == account])
            self.settle()

    def damage(self) -> None:
        """The file of a day, whose responses and marks are there."""
        pick = self.chance
        book, day = pick.choice([*NUMBER]), pick.choice(DAYS[:3])
        work = pick.choice(["cut", "zero", "gone"])
        path = self.path / book / f"{day}.parquet"
        if path.exists() and self.model.is_sound():
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
            if not self.model.lost:
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
        """A body that cannot be read, also of the responses that repeat it."""
        known = [x for x, one in self.ids.items() if one in self.model.sent and one.records]
        if known:
            root = self.root_of(self.chance.choice(known))
            body = f"CASE WHEN id = '{root}' THEN encode('x') ELSE body END AS body"
            for path in (self.path / each for each in self.log().places[root]):
                with duckdb.connect() as own:
                    own.execute(f"CREATE TABLE torn AS SELECT * REPLACE ({body}) FROM '{path}'")
                    own.execute(f"COPY torn TO '{path}' (FORMAT parquet)")
            self.reopen()
            self.find_torn()

    def age(self) -> None:
        """The responses become those of a day that is over, which the next writer joins."""
        for path in self.path.glob("responses/*/*T*.parquet"):
            path.rename(path.with_name(f"2026-11-10{path.name[10:]}"))
        self.reopen()

    def each_day_is_the_fold_of_its_responses(self) -> None:
        for book in NUMBER:
            found = of_archive(self.archive, book)
            wanted: Counter[Any] = Counter()
            for day in self.model.days(book):
                for values, count in self.model.rows(book, day).items():
                    wanted[(day, *values)] += count
            assert found == wanted, book

    def other_engines_read_the_same(self) -> None:
        if self.is_folded:
            check_engines(self.archive, "pyarrow", "DuckDB")


STEPS = {
    History.add: 20,
    History.again: 5,
    History.withdraw: 2,
    History.erase: 1,
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
    """F112, F124, F142, F183: td.Archive and other engines have what the model says."""
    history = History(seed, tmp_path)
    for step in history.chance.choices(list(STEPS), list(STEPS.values()), k=30):
        step(history)
        history.each_day_is_the_fold_of_its_responses()
        history.other_engines_read_the_same()
