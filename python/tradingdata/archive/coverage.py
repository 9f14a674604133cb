"""Coverage of an archive: days as arguments, the days that were fetched, and those that were not.

A response covers days, and an account is expected on each weekday from its first line in the log
until it is retired. Weekends count only if a fetch was tried and failed.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from .._util import validate
from .._util.warn import warn_user
from ..errors import ArchiveError, DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Day = date | str

BOOKS = ("orders", "trades")
_MOST_LISTED = 8  # in a message


class MissingDay(NamedTuple):
    """A day on which a book was never fetched.

    Attributes:
        day: The day.
        account: The label of the account, or ``None``.
        books: The books that are missing: ``"orders"``, ``"trades"`` or both.
    """

    day: date
    account: str | None
    books: tuple[str, ...]


class Expected(NamedTuple):
    """The days on which an account is expected, inclusive."""

    account: str
    since: date
    until: date


def days_of(start: Day | None, end: Day | None) -> tuple[date | None, date | None]:
    """Returns the first and the last day of a range, None where it is open.

    With ``start`` alone, the range is that day.

    Raises:
        ValueError: The end is before the start.
    """
    first = None if start is None else validate.day("start", start)
    last = first if end is None else validate.day("end", end)
    if first is not None and last is not None and last < first:
        raise ValueError(f"the end ({last}) is before the start ({first})")
    return first, last


_EXPECTED = """
SELECT account, min(since), CASE WHEN max(since) <= max(until) THEN max(until) ELSE $never END
FROM log_read WHERE since IS NOT NULL OR until IS NOT NULL
GROUP BY account HAVING min(since) IS NOT NULL ORDER BY account
"""


def expected_accounts(connection: Any) -> dict[str, Expected]:
    """Returns when each account is expected, from the lines that begin or end that.

    A fetch after an account was retired ends its retirement.
    """
    found = connection.execute(_EXPECTED, {"never": date.max}).fetchall()
    return {account: Expected(account, since, until) for account, since, until in found}


_ANYBODY = "\0"  # all accounts, before the first one is expected
_DAYS = """
SELECT account, book, list(covered - DATE '0001-01-01' + 1) FILTER (covered IS NOT NULL),
    list(day - DATE '0001-01-01' + 1) FILTER (error IS NOT NULL)
FROM log_lines GROUP BY account, book
"""  # dates would take as long to fetch as all the rest


def find_gaps(
    connection: Any,
    known: dict[str, Expected],
    days: tuple[date, date],
    account: str | None,
    books: dict[str, tuple[date, date]],
    holidays: Iterable[date],
) -> list[MissingDay]:
    """Returns the days of some books that no response covers.

    Before the first account is expected, a day must be covered for any of them.

    Args:
        connection: A connection to DuckDB with ``log_lines``, those of the log for these days.
        known: When each account is expected.
        days: The first and the last day.
        account: One account, which is expected until it is retired, or None for all.
        books: The names of the books, each with the first and the last day to check.
        holidays: Days on which the exchanges were closed.
    """
    first, last = days
    expected = [*known.values()]
    if account is not None:
        until = known[account].until if account in known else date.max
        expected = [Expected(account, first, until)]
    elif (begin := min((each.since for each in expected), default=date.max)) > first:
        expected.append(Expected(_ANYBODY, first, min(last, begin - timedelta(1))))
    covered: dict[tuple[str, str], set[int]] = defaultdict(set)
    failed: dict[tuple[str, str], set[int]] = defaultdict(set)
    for label, book, covers, fails in connection.execute(_DAYS).fetchall():
        covered[label, book].update(covers or ())
        covered[_ANYBODY, book].update(covers or ())
        failed[label, book].update(fails or ())
    closed = {day.toordinal() for day in holidays}
    each_day = range(first.toordinal(), last.toordinal() + 1)
    due = {day for day in each_day if date.fromordinal(day).weekday() < 5} - closed
    gaps: dict[tuple[int, str], list[str]] = defaultdict(list)
    for label, since, until in expected:
        for book, (start, end) in sorted(books.items()):
            low, high = max(since, start).toordinal(), min(until, end).toordinal()
            lacking = (due | failed[label, book]) - covered[label, book] - closed
            for day in lacking:
                if low <= day <= high:
                    gaps[day, label].append(book)
    return [
        MissingDay(date.fromordinal(day), label.strip(_ANYBODY) or None, tuple(lacking))
        for (day, label), lacking in sorted(gaps.items())
    ]


def report(root: str, gaps: Sequence[MissingDay], *, missing_ok: bool) -> None:
    """Raises ArchiveError for days that were never fetched, or warns with ``missing_ok``."""
    if not gaps:
        return
    lacking = f"{root} lacks {describe(gaps)}, which were never fetched"
    if missing_ok:
        warn_user(DataWarning(lacking))
        return
    error = ArchiveError(
        f"{lacking}: fetch or add them, choose other days, name `holidays`, or pass `missing_ok` "
        "(--missing-ok)",
        file=root,
    )
    error.missing = tuple(gaps)
    raise error from None


def describe(gaps: Sequence[MissingDay]) -> str:
    """Returns missing days in words, such as "the trades of 2026-11-19 (desk1, desk2)"."""
    days: dict[tuple[str | None, tuple[str, ...]], list[date]] = {}
    for gap in gaps:
        days.setdefault((gap.account, gap.books), []).append(gap.day)
    accounts: dict[tuple[str, str], list[str]] = {}
    for (account, books), those in days.items():
        listed = _listed([str(day) for day in those])
        if len(those) > _MOST_LISTED:
            listed = f"{len(those)} days from {those[0]} to {those[-1]}"
        accounts.setdefault((" and ".join(books), listed), []).append(account or "no label")
    parts = [
        f"the {books} of {listed}" + (f" ({_listed(labels)})" if labels != ["no label"] else "")
        for (books, listed), labels in accounts.items()
    ]
    return "; ".join(parts[:_MOST_LISTED]) + ("; and more" if len(parts) > _MOST_LISTED else "")


def in_words(first: date, last: date) -> str:
    """Returns a range of days as text."""
    return f"{first}" if first == last else f"{first} to {last}"


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_LISTED
    return ", ".join(texts[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
