"""Finds the days that a query selects, so that a day never fetched does not look like an empty one.

SQLite does the work: the query runs on an empty in-memory copy of the archive, whose views have one
row for each account and day of a calendar and record each row that passes the query's conditions on
`day` and `account`. Conditions that no index can serve, such as `day LIKE '2026-%'`, let all rows
pass, and the query then counts as one for all days.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import date
from typing import TYPE_CHECKING

from .. import _core
from . import fetch_log, schema
from .coverage import MissingDay, fetched_days, is_weekend
from .days import ALL_DAYS, Days
from .query import forbid_other_files
from .views import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .query import Parameters

    AccountDay = tuple[str, str]

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BEFORE, _AFTER = str(date.min), str(date.max)  # the open ends of the calendar
_MOST_DAYS = 40 * 366
_STEPS, _MOST_STEPS = 100_000, 50  # instructions of SQLite's virtual machine; 0.1 s in all


def missing_from(
    connection: sqlite3.Connection, query: str, parameters: Parameters
) -> list[MissingDay]:
    """Returns the weekdays that a query selects but that were never fetched.

    An open end, as of `day >= '2026-11-16'`, is the first or last day that was fetched.
    """
    if "day" not in query.lower():
        return []
    fetched = {book: fetched_days(connection, book, ALL_DAYS) for book in RECORDS}
    accounts = [label or "" for label in fetch_log.read_accounts(connection)] or [""]
    values = parameters.values() if isinstance(parameters, Mapping) else parameters
    mentioned = set(_DAY.findall(" ".join(map(str, [query, *values]))))
    known = {day for covered in fetched.values() for _, day in covered}
    lacking: dict[AccountDay, list[str]] = {}
    for book, read in days_read(query, parameters, accounts, _calendar(mentioned | known)).items():
        days = {day for _, day in read}
        ends = [day for _, day in fetched[book]]
        if {_BEFORE, _AFTER} <= days:
            continue
        first = min(ends, default=_AFTER) if _BEFORE in days else _BEFORE
        last = max(ends, default=_BEFORE) if _AFTER in days else _AFTER
        for account, day in read - fetched[book]:
            if first <= day <= last and not is_weekend(date.fromisoformat(day)):
                lacking.setdefault((day, account), []).append(book)
    return [
        MissingDay(date.fromisoformat(day), account or None, tuple(sorted(books)))
        for (day, account), books in sorted(lacking.items())
    ]


def _calendar(days: Iterable[str]) -> list[str]:
    """Returns these days, those between them and the two open ends."""
    found = set()
    for day in days:
        with suppress(ValueError):
            found.add(date.fromisoformat(day))
    span = Days(min(found, default=date.min), max(found, default=date.min))
    if (span.last - span.first).days < _MOST_DAYS:
        found.update(span.each())
    return sorted({_BEFORE, _AFTER, *map(str, found)})


def days_read(
    query: str, parameters: Parameters, accounts: Sequence[str], calendar: list[str]
) -> dict[str, set[AccountDay]]:
    """Runs the query on the calendar; returns the days it reads of each book, if it completes."""
    read: dict[str, set[AccountDay]] = {book: set() for book in RECORDS}
    steps = iter(range(_MOST_STEPS))

    def note(book: str, account: str, day: str) -> bool:
        read[book].add((account, day))
        return True

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        forbid_other_files(empty)
        schema.create_tables(empty)
        # SQLite evaluates conditions that an index serves first, then those of the view.
        empty.execute("CREATE TABLE calendar (book, account, day, absent)")
        empty.execute("CREATE INDEX by_day ON calendar (book, day, account)")
        empty.execute("CREATE INDEX by_account ON calendar (book, account, day)")
        rows = [(book, label, day) for book in read for label in accounts for day in calendar]
        empty.executemany("INSERT INTO calendar VALUES (?, ?, ?, NULL)", rows)
        empty.create_function("note", 3, note)
        for book, record in RECORDS.items():
            names = ["seen_at", "json", *_core.names_of(record)]
            empty.execute(
                f"CREATE VIEW {book} AS SELECT account, day, "
                f"{', '.join(f'absent AS {name}' for name in names)} FROM calendar "
                f"WHERE book = '{book}' AND note(book, account, day)"
            )
        empty.set_progress_handler(lambda: next(steps, None) is None, _STEPS)
        try:
            empty.execute(query, parameters).fetchall()
        except sqlite3.Error:  # the real run reports it, unless the query only took too long
            return {}
    return read
