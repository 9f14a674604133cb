"""The protocol of an archive's files, searched: each acknowledged response is there exactly once.

The storage is a scripted one, on which an operation of a process can be interrupted at each step:
by a kill, by a loss of power, which drops what was not synced, or by what other processes do.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradingdata.archive.store import Rows, Store

DAYS = ("2026-11-20", "2026-12-01")
START = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Killed(BaseException):
    """The process is gone."""


class Disk:
    """What all processes share: files, those that outlast a loss of power, and the time."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, datetime]] = {}
        self.durable: dict[str, tuple[bytes, datetime]] = {}
        self.now = START
        self.acknowledged: set[str] = set()
        self.begun: set[str] = set()

    def lose_power(self) -> None:
        self.files = dict(self.durable)


class Folder:
    """The folder as one process sees it; ``step`` is called before, and within, each operation."""

    root = "books"

    def __init__(self, disk: Disk, *, renames: bool, step: Callable[[], None]) -> None:
        self.disk, self.renames, self.step = disk, renames, step

    def names(self, folder: str) -> set[str]:
        """A listing is not atomic: it has names of before and after a step."""
        self.step()
        before = self._names(folder)
        self.step()
        after = self._names(folder)
        middle = sorted(before)[len(before) // 2] if before else ""
        early = {name for name in before if name <= middle}
        return early | {name for name in after if name > middle}

    def _names(self, folder: str) -> set[str]:
        below = folder + "/"
        paths = [path for path in self.disk.files if path.startswith(below)]
        return {path.removeprefix(below).partition("/")[0] for path in paths}

    def read(self, path: str) -> bytes:
        self.step()
        if path not in self.disk.files:
            raise FileNotFoundError(path)
        return self.disk.files[path][0]

    def create(self, path: str, content: bytes) -> None:
        raise NotImplementedError

    def put(self, path: str, source: Any) -> tuple[int, str]:
        self.step()
        assert path not in self.disk.files, "every file is written once"
        self.disk.files[path] = (source[: len(source) // 2], self.disk.now)
        if not self.renames:  # an object is put whole
            self.disk.files[path] = (source, self.disk.now)
            self.disk.durable[path] = self.disk.files[path]
            return len(source), hashlib.sha256(source).hexdigest()
        self.step()
        self.disk.files[path] = (source, self.disk.now)
        return len(source), hashlib.sha256(source).hexdigest()

    def rename(self, old: str, new: str) -> None:
        self.step()
        if old not in self.disk.files:
            raise FileNotFoundError(old)
        content = self.disk.files.pop(old)
        assert self.disk.files.get(new, content)[0] == content[0], "restored, it is the same"
        self.disk.files[new] = content

    def sync(self, folder: str) -> None:
        self.step()
        for files in (self.disk.durable, self.disk.files):
            for path in [each for each in files if each.rpartition("/")[0] == folder]:
                if path in self.disk.files:
                    self.disk.durable[path] = self.disk.files[path]
                else:
                    del self.disk.durable[path]

    def remove(self, path: str) -> None:
        self.step()
        if path not in self.disk.files:
            raise FileNotFoundError(path)
        del self.disk.files[path]
        if not self.renames:
            del self.disk.durable[path]

    def age(self, path: str) -> float:
        self.step()
        if path not in self.disk.files:
            raise FileNotFoundError(path)
        return (self.disk.now - self.disk.files[path][1]).total_seconds()

    def local(self, path: str) -> str:
        return path


def line(identity: str, repeats: str | None = None) -> dict[str, Any]:
    """A response with a row in each of two months, or one that repeats another."""
    return {
        "id": identity,
        "account": "",
        "book": "trades",
        "source": "add",
        "day": DAYS[0],
        "days": dict.fromkeys(DAYS, 1),
        "repeats": repeats,
        "again": True,
        "filed": "",
        "covered": [],
        "error": None,
        "body": identity,
        "at": None,
        "local": None,
    }


def rows(identities: list[str]) -> bytes:
    return json.dumps(sorted(identities)).encode()


class Process:
    """A process with a clock of its own, which a step of an operation may interrupt."""

    def __init__(self, disk: Disk, *, renames: bool, skew: int = 0) -> None:
        self.disk, self.renames = disk, renames
        self.interrupt: dict[int, Callable[[], None]] = {}
        self.steps = 0
        self.is_dead = False
        folder = Folder(disk, renames=renames, step=self._step)
        self.store = Store(cast("Any", folder), lambda: disk.now + timedelta(hours=skew))

    def _step(self) -> None:
        if self.is_dead:  # also while what it has begun is cleaned up
            raise Killed
        self.steps += 1
        if work := self.interrupt.pop(self.steps, None):
            work()

    def die(self) -> None:
        self.is_dead = True
        raise Killed

    def commit(self) -> None:
        identity = f"r{len(self.disk.begun)}"
        self.disk.begun.add(identity)
        tables = [Rows("trades", day[:7], 1, rows([identity])) for day in DAYS]
        self.store.commit([line(identity)], tables)
        self.disk.acknowledged.add(identity)

    def poll(self) -> None:
        """An unchanged response, which has no rows of its own."""
        log = self.store.log()
        known = [one for one in log.lines.values() if one["repeats"] is None]
        if not known:
            return self.commit()
        identity = f"u{len(self.disk.begun)}"
        self.disk.begun.add(identity)
        self.store.commit([line(identity, known[-1]["id"])], [])
        self.disk.acknowledged.add(identity)
        return None

    def compact(self) -> None:
        def merge(book: str, month: str, files: list[tuple[str, str]], count: int) -> bytes:
            merged = self._rows(files)
            assert len(merged) == count
            return rows(merged)

        for attempt in range(3):
            try:
                self.store.compact(merge)
            except (OSError, RuntimeError):
                if attempt == 2:
                    raise
            else:
                return

    def _rows(self, files: list[tuple[str, str]]) -> list[str]:
        contents = {path: json.loads(self.store.folder.read(path)) for path, _ in files}
        return [one for path, one in files if one in contents[path]]

    def read(self) -> None:
        """Every acknowledged response is there, and each row once."""
        due = set(self.disk.acknowledged)
        for attempt in range(3):
            try:
                log = self.store.log()
                assert self.store.lost(log) == []
                stored = [one for one in log.lines.values() if one["repeats"] is None]
                for day in DAYS:
                    ids = [one["id"] for one in stored]
                    files = self.store.find(log, [(one, day[:7]) for one in ids])
                    places = [str(file["place"]) for file in files]
                    assert self._rows([*zip(places, ids, strict=True)]) == ids
            except (FileNotFoundError, RuntimeError):  # hidden meanwhile
                if attempt == 2:
                    raise
            else:
                break
        assert due <= log.lines.keys() <= self.disk.begun


OPERATIONS = {"commit": Process.commit, "poll": Process.poll, "compact": Process.compact}


def settle(disk: Disk, *, renames: bool) -> None:
    """Whatever happened, it can be read, written and compacted; what is merged is deleted."""
    for _ in range(2):
        process = Process(disk, renames=renames)
        process.read()
        process.commit()
        process.compact()
        process.read()
        disk.now += timedelta(hours=49)
    last = Process(disk, renames=renames)
    last.compact()
    last.read()
    names = [path for path in disk.files if path.startswith("trades/month=2026-11/")]
    assert len([name for name in names if name.endswith(".parquet")]) <= 2, "one for each month"
    assert not [name for name in names if name.endswith(".draft")]


def interrupted(
    prefix: tuple[str, ...], name: str, inner: str, step: int, *, renames: bool
) -> bool:
    """Runs operations, and interrupts the last one at a step; returns whether it got there."""
    disk = Disk()
    for each in prefix:
        if each == "day":
            disk.now += timedelta(hours=49)
        else:
            OPERATIONS[each](Process(disk, renames=renames))
        disk.now += timedelta(seconds=1)
    process = Process(disk, renames=renames)
    other = Process(disk, renames=renames)

    def late() -> None:
        """The process sleeps for two days, and another one sweeps meanwhile."""
        disk.now += timedelta(hours=49)
        other.compact()

    work = {
        "kill": process.die,
        "power": process.die,
        "read": other.read,
        "commit": other.commit,
        "compact": other.compact,
        "late": late,
    }[inner]
    process.interrupt[step] = work
    killed = False
    try:
        process.read() if name == "read" else OPERATIONS[name](process)
    except FileNotFoundError:
        assert inner == "late"
    except Killed:
        killed = True
        if inner == "power":
            disk.lose_power()
    assert killed == (inner in ("kill", "power") and step <= process.steps)
    if step <= process.steps:
        settle(disk, renames=renames)
    return step <= process.steps


def prefixes(length: int) -> Iterator[tuple[str, ...]]:
    for each in itertools.product(("commit", "poll", "compact", "day"), repeat=length):
        if each[:1] != ("day",) and "commit" in each:
            yield each


@pytest.mark.parametrize("renames", [True, False], ids=["files", "objects"])
@pytest.mark.parametrize("inner", ["kill", "power", "read", "commit", "compact", "late"])
@pytest.mark.parametrize("name", ["commit", "poll", "compact", "read"])
@pytest.mark.parametrize(
    "length", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.long)]
)
@pytest.mark.timeout(600)
def test_each_step_may_be_interrupted(name: str, inner: str, renames: bool, length: int) -> None:
    """In each state that some operations reach, at each step of the next."""
    count = 0
    for prefix in prefixes(length):
        for step in itertools.count(1):
            if not interrupted(prefix, name, inner, step, renames=renames):
                break
            count += 1
    assert count > 5**length


operations = st.tuples(
    st.sampled_from(["commit", "poll", "compact", "read", "day", "backup", "restore", "unite"]),
    st.integers(-20, 20),  # hours by which the clock of the process is wrong
    st.lists(
        st.tuples(
            st.integers(1, 60),
            st.sampled_from(["kill", "power", "commit", "poll", "compact", "read"]),
        ),
        max_size=2,
    ),
)


@pytest.mark.parametrize("renames", [True, False], ids=["files", "objects"])
@given(script=st.lists(operations, max_size=12))
@settings(max_examples=settings().max_examples * 3 // 5)
def test_any_operations_keep_each_response_once(renames: bool, script: list[Any]) -> None:
    """With clocks that are wrong, restored files, and two archives that become one."""
    disk, backup = Disk(), Disk()
    other = Disk()
    other.begun = {f"other{number}" for number in range(3)}
    for name, skew, interrupts in script:
        disk.now += timedelta(seconds=1)
        if name == "day":
            disk.now += timedelta(hours=49)
        elif name == "backup":
            backup.files = dict(disk.files)
        elif name == "restore":
            disk.files = backup.files | disk.files
        elif name == "unite":
            foreign = Process(other, renames=renames)
            other.now = disk.now
            foreign.store.commit(
                [line("other0")], [Rows("trades", d[:7], 1, rows(["other0"])) for d in DAYS]
            )
            disk.files |= other.files
            disk.begun.add("other0")
        else:
            run(disk, name, skew, interrupts, renames=renames)
        disk.durable = dict(disk.files)
    disk.now += timedelta(hours=49)
    settle(disk, renames=renames)


def run(
    disk: Disk, name: str, skew: int, interrupts: list[tuple[int, str]], *, renames: bool
) -> None:
    process = Process(disk, renames=renames, skew=skew)
    inside = Process(disk, renames=renames, skew=-skew)
    for number, (step, inner) in enumerate(interrupts):
        target = inside if number else process
        if inner in ("kill", "power"):
            process.interrupt[step] = process.die
        else:
            target.interrupt[step] = lambda what=inner, at=target: getattr(  # type: ignore[misc]
                inside if at is process else Process(disk, renames=renames), what
            )()
    try:
        getattr(process, name)()
    except Killed:
        if any(inner == "power" for _, inner in interrupts):
            disk.lose_power()
