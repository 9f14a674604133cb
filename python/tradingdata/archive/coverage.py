"""The log of an archive as it was read, and what it says of days: which were fetched, by what.

A response covers days, and an account is expected on each session from its first line in the log
until it is retired. Other days count only if a fetch was tried and failed.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from typing import Any, NamedTuple

from .._util import validate
from .._util.warn import warn_user
from ..errors import ArchiveError, ConfigurationError, DataWarning

Day = date | str
Clock = time | str | None
Json = dict[str, Any]
Line = dict[str, Any]
Rank = tuple[str, str, str]

_MOST_LISTED = 8  # in a message


class Log:
    """Commits by the path of their file; `update` adds those that are new."""

    def __init__(self, withdrawn: Iterable[str] = ()) -> None:
        self.commits: dict[str, Json] = {}
        self.damaged: dict[str, str] = {}  # the problem of each, by commit
        self.drafts: set[str] = set()  # commits that were begun
        self.known: set[str] = set()  # commits, also those that were merged
        self.saw: dict[str, Json] = {}  # commits that others saw
        self.lines: dict[str, Line] = {}  # by id
        self.files: dict[tuple[str, str], list[Json]] = {}  # by id and month, the newest last
        self.contents: dict[str, set[str]] = {}  # ids by the path of a row file
        self.withdrawn = set(withdrawn)
        # Of responses and failures that were not withdrawn, by account and book, and day.
        self.days: dict[tuple[str, str], dict[str, list[Line]]] = {}
        self.newest: dict[tuple[str, str], Line] = {}  # responses received last, by the same
        self.covered: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.since: dict[str, str] = {}
        self.retired: dict[str, tuple[str, str]] = {}  # when it was retired, and the last day

    def update(self, new: Mapping[str, Json], paths: set[str]) -> Log:
        """Returns this log with new commits, or another one if commits are not in paths now."""
        lines = [line for content in new.values() for line in content["lines"]]
        withdrawn = {line["withdraws"] for line in lines if line["source"] == "withdraw"}
        log = self
        if self.commits.keys() - paths or not withdrawn <= self.withdrawn:
            log = Log(self.withdrawn | withdrawn)
            known = {path: self.commits[path] for path in self.commits.keys() & paths}
            new = {**known, **new}
        for path in sorted(new):
            log._add(path, new[path])
        return log

    def _add(self, path: str, content: Json) -> None:
        self.commits[path] = content
        self.known.update(content["commits"])
        for saw in content["saw"]:
            self.saw.setdefault(saw["commit"], saw)
        by_book = {(file["book"], file["month"]): file for file in content["files"]}
        self.contents |= {file["path"]: set() for file in content["files"]}
        for line in content["lines"]:
            known = self.lines.setdefault(line["id"], line)
            if known is line:
                self._add_line(line)
            elif line["commit"] < known["commit"]:
                known.update(line)
            for month in months_of(line):
                if file := by_book.get((line["book"], month)):
                    self.contents[file["path"]].add(line["id"])
                    files = self.files.setdefault((line["id"], month), [])
                    files.append(file)
                    files.sort(key=lambda file: str(file["path"].rpartition("/")[2]))

    def _add_line(self, line: Line) -> None:
        account, book, filed = line["account"], line["book"], line["filed"]
        if line["source"] == "retire":
            self.retired[account] = max(self.retired.get(account, ("", "")), (filed, line["day"]))
        if line["source"] not in ("fetch", "add") or self.is_withdrawn(line):
            return
        days = self.days.setdefault((account, book), {})
        for day in line["days"]:
            days.setdefault(day, []).append(line)
        day = max(line["days"])
        self.since[account] = min(self.since.get(account, day), day)
        self.covered[account, book].update(line["covered"])
        if line["error"] is None:
            known = self.newest.get((account, book), line)
            self.newest[account, book] = max(known, line, key=rank_of)

    def is_withdrawn(self, line: Line) -> bool:
        """Returns whether a response was withdrawn, or repeats one that was."""
        return line["id"] in self.withdrawn or line["repeats"] in self.withdrawn

    def heads(self) -> list[Json]:
        """Returns the commits that no other saw, for the next one to name."""
        merged = {name for commit in self.commits.values() for name in commit["commits"][:-1]}
        return [
            {
                "commit": name,
                "days": extent_of(commit["lines"]),
                # A retirement or a failure has a random id, which no other commit repeats.
                "ids": [
                    x["id"] for x in commit["lines"] if x["source"] != "retire" and not x["error"]
                ],
            }
            for commit in self.commits.values()
            if (name := commit["commits"][-1]) not in self.saw and name not in merged
        ]

    def merged(self) -> dict[str, str]:
        """Returns the log files that others make superfluous, each with one that is greater."""
        contents = {
            path: (set(commit["commits"]), {line["id"] for line in commit["lines"]})
            for path, commit in sorted(self.commits.items())
        }
        large = [path for path, (commits, _) in contents.items() if len(commits) > 1]
        superfluous = {}
        for path, (commits, ids) in contents.items():
            for other in large:
                same_month = other.split("/")[1] == path.split("/")[1]
                has_all = commits <= contents[other][0] and ids <= contents[other][1]
                if same_month and other > path and has_all:
                    superfluous[path] = other
        return superfluous


def months_of(line: Line) -> set[str]:
    """Returns the months of the rows that were stored with a line."""
    if line["repeats"] is not None:
        return set()
    return {day[:7] for day, rows in line["days"].items() if rows}


def digest_of(identities: bytes) -> list[Any]:
    """Returns what a line has of the identities of records: their size and SHA-256."""
    return [len(identities), hashlib.sha256(identities).hexdigest()]


def begins_with(identities: bytes, line: Line) -> bool:
    """Returns whether the first of some records are, in order, all those of a response."""
    digest = line.get("identities")  # lines of earlier versions have none
    return digest is not None and digest == digest_of(identities[: digest[0]])


def extent_of(lines: Iterable[Line]) -> tuple[str, str]:
    """Returns the first and the last day of lines."""
    days = [day for line in lines for day in (*line["days"], line["day"])]
    return min(days), max(days)


def rank_of(line: Line) -> Rank:
    """Returns the place of a response among others; one without a time comes first.

    The service's clock has whole seconds, within which the local one decides.
    """
    return line["at"] or "", line["local"] or "", line["id"]


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


class Span(NamedTuple):
    """Some days, inclusive, of one account or all; None where it is open."""

    first: date | None = None
    last: date | None = None
    account: str | None = None

    def __str__(self) -> str:
        is_open = self.first is None or self.last is None
        return "all days" if is_open else in_words(str(self.first), str(self.last))

    def has(self, day: str) -> bool:
        """Returns whether a day, as text, is one of these."""
        low, high = self.texts()
        return low <= day <= high

    def texts(self) -> tuple[str, str]:
        """Returns the first and the last day as text, which sort all days."""
        return str(self.first or date.min), str(self.last or date.max)


class DayPart(NamedTuple):
    """The responses with the newest states of a book of an account and a day, the newest last.

    ``rows`` is the number of rows of the day that they have together.
    """

    day: str
    account: str
    ids: list[str]
    rows: int


def span_of(start: Day | None, end: Day | None, account: str | None = None) -> Span:
    """Returns days as given by a caller; with ``start`` alone, the range is that day.

    A label of another type would match nothing, as on an empty day.

    Raises:
        ValueError: The end is before the start.
    """
    label = None if account is None else validate.text("account", account)
    first = None if start is None else validate.day("start", start)
    last = first if end is None else validate.day("end", end)
    if first is not None and last is not None and last < first:
        raise ValueError(f"the end ({last}) is before the start ({first})")
    return Span(first, last, label)


def accounts_of(log: Log) -> dict[str, tuple[date, date]]:
    """Returns the first and the last day on which each account is expected.

    A fetch after an account was retired, of a later day, ends its retirement.
    """
    spans = {}
    for account, since in sorted(log.since.items()):
        at, retired = log.retired.get(account, ("", ""))
        later = [
            line["filed"]
            for key in (log.days if retired else ())
            if key[0] == account
            for day in log.days[key]
            if day > retired
            for line in log.days[key][day]
        ]
        is_retired = retired and max(later, default="") <= at
        until = date.fromisoformat(retired) if is_retired else date.max
        spans[account] = (date.fromisoformat(since), until)
    return spans


def _book_keys(log: Log, book: str, account: str | None) -> list[tuple[str, str]]:
    return [key for key in log.days if key[1] == book and account in (None, key[0])]


def extent(log: Log, book: str, account: str | None) -> tuple[date, date] | None:
    """Returns the first and the last day of a book, or None without any."""
    days = [day for key in _book_keys(log, book, account) for day in log.days[key]]
    return (date.fromisoformat(min(days)), date.fromisoformat(max(days))) if days else None


def lines_by_day(log: Log, book: str, span: Span) -> list[tuple[str, str, list[Line]]]:
    """Returns the days and accounts of a book, in order, each with its lines."""
    low, high = span.texts()
    of_days = [
        (day, key[0], log.days[key][day])
        for key in _book_keys(log, book, span.account)
        for day in ({low} & log.days[key].keys() if low == high else log.days[key])
        if low <= day <= high
    ]
    return sorted(of_days, key=lambda of_day: of_day[:2])


def parts(log: Log, book: str, span: Span) -> list[DayPart]:
    """Returns the responses with the newest states of a book, by day and account."""
    of_days = []
    for day, account, lines in lines_by_day(log, book, span):
        if ids := [*newest_responses(lines, day)]:
            rows = {line["repeats"] or line["id"]: line["days"][day] for line in lines}
            of_days.append(DayPart(day, account, ids, sum(rows[one] for one in ids)))
    return of_days


def newest_responses(lines: Sequence[Line], day: str) -> dict[str, Rank]:
    """Returns the responses with the newest states of a day, each with its rank, the newest last.

    These are the newest response that has rows, and those of whose records a newer one lacks some.
    The rows of an unchanged response are those of the response that it repeats.
    """
    ranks: dict[str, Rank] = {}
    for line in lines:
        if line["days"][day]:
            root = line["repeats"] or line["id"]
            ranks[root] = max(ranks.get(root, ("", "", "")), rank_of(line))
    covered = {x for one in lines for x in one["covers"] if x in ranks and rank_of(one) > ranks[x]}
    left = sorted((rank, one) for one, rank in ranks.items() if one not in covered)
    return {one: rank for rank, one in left}


def gaps(
    log: Log,
    span: Span,
    books: dict[str, tuple[date, date]],
    is_session: Callable[[date], bool],
    counts: Callable[[str, Line], bool] | None = None,
) -> list[MissingDay]:
    """Returns the days of some books that no response covers.

    Before the first account is expected, a day must be covered for any of them.

    Args:
        log: The log.
        span: The days; a single one counts whether it is a session or not. One account is expected
            until it is retired.
        books: The names of the books, each with the first and the last day to check.
        is_session: Whether a day must have been fetched.
        counts: Whether a response counts for a day; all do if None.
    """
    first, last = span.first or date.min, span.last or date.max
    known = accounts_of(log)
    expected: list[tuple[str | None, date, date]] = [(x, *known[x]) for x in known]
    if span.account is not None:
        until = known[span.account][1] if span.account in known else date.max
        expected = [(span.account, first, until)]
    elif (begin := min((since for since, _ in known.values()), default=date.max)) > first:
        expected.append((None, first, min(last, begin - timedelta(1))))
    days = map(date.fromordinal, range(first.toordinal(), last.toordinal() + 1))
    due = {str(day) for day in days if first == last or is_session(day)}
    lacking: dict[tuple[str, str], list[str]] = defaultdict(list)
    for label, since, until in expected:
        for book, (start, end) in sorted(books.items()):
            keys = _book_keys(log, book, label)
            low, high = str(max(since, start)), str(min(until, end))
            skip = set() if counts else set().union(*(log.covered[key] for key in keys))
            for day in due.union(*(log.days[key] for key in keys)) - skip:
                if low <= day <= high:
                    lines = [line for key in keys for line in log.days[key].get(day, ())]
                    is_due = day in due or any(x["error"] for x in lines)
                    if is_due and not any(
                        day in x["covered"] and counts and counts(day, x) for x in lines
                    ):
                        lacking[day, label or ""].append(book)
    return [
        MissingDay(date.fromisoformat(day), label or None, tuple(books_of_day))
        for (day, label), books_of_day in sorted(lacking.items())
    ]


def sessions_of(calendar: Any) -> Callable[[date], bool]:
    """Returns what says whether the exchanges were open on a day.

    Args:
        calendar: None for weekdays, the name of a calendar of exchange_calendars such as "XBOM", or
            an object with a method ``is_session``.
    """
    if calendar is None:
        return lambda day: day.weekday() < 5
    if isinstance(calendar, str):
        try:
            import exchange_calendars as library
        except ModuleNotFoundError as error:
            raise ImportError(
                f"the calendar {calendar!r} needs exchange_calendars, which is not installed: pip "
                "install exchange_calendars"
            ) from error
        try:
            known = library.get_calendar(calendar)
        except library.errors.InvalidCalendarName as error:
            raise ConfigurationError(
                f"exchange_calendars has no calendar {calendar!r}: use one such as 'XBOM'"
            ) from error
        first, last = known.first_session.date(), known.last_session.date()
        return lambda day: bool(
            known.is_session(str(day)) if first <= day <= last else day.weekday() < 5
        )
    if not callable(getattr(calendar, "is_session", None)):
        raise TypeError(
            "calendar must be None, the name of an exchange calendar, or an object with "
            f"is_session(day), not {validate.shown(calendar)}"
        )
    return lambda day: bool(calendar.is_session(day))


def report(root: str, gaps: Sequence[MissingDay], *, missing_ok: bool) -> None:
    """Raises ArchiveError for days that were never fetched, or warns with ``missing_ok``."""
    if not gaps:
        return
    lacking = f"{root} lacks {describe(gaps)}, which were never fetched"
    if missing_ok:
        warn_user(DataWarning(lacking))
        return
    error = ArchiveError(
        f"{lacking}: fetch or add them, choose other days, name `holidays`, or pass `missing_ok`",
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
    texts = [
        f"the {books} of {listed}" + (f" ({_listed(labels)})" if labels != ["no label"] else "")
        for (books, listed), labels in accounts.items()
    ]
    return "; ".join(texts[:_MOST_LISTED]) + ("; and more" if len(texts) > _MOST_LISTED else "")


def in_words(first: str, last: str) -> str:
    """Returns a range of days as text."""
    return first if first == last else f"{first} to {last}"


def _listed(texts: Iterable[str]) -> str:
    known = [*texts]
    more = len(known) - _MOST_LISTED
    return ", ".join(known[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
