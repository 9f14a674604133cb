"""Parses the options that select rows and columns: `--columns`, `--where`, `--since`, `--sort`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from tradingdata import _core
from tradingdata._util.declarations import RECORDS, kinds_of
from tradingdata._util.validate import did_you_mean
from tradingdata.table.conditions import Condition

from .errors import UsageError
from .options import Filter, Selection, TimedSelection

if TYPE_CHECKING:
    from tradingdata.books.book import Book

    AnyBook = TypeVar("AnyBook", bound=Book[Any])

_CONDITION = re.compile(r"\s*([^<>=!\s]+)\s*(!=|<=|>=|==|=|<|>)(.*)", re.DOTALL)
_COMPARISONS = {"=": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


_TOO_LARGE = 2**63


class RowChoice:
    """Row selection of a command's options, validated before any request.

    Raises:
        UsageError: An option names an unknown field, or a value that its field cannot have.
    """

    def __init__(self, record: str, options: Filter) -> None:
        self.conditions = [_condition(record, text) for text in options.where or ()]
        self._keys: list[tuple[str, bool]] = []
        self._limit: int | None = None
        if isinstance(options, TimedSelection) and options.since is not None:
            since = parsed("--since", "timestamp", options.since)
            self.conditions.append(Condition(RECORDS[record]["event_times"][0], "ge", since))
        if isinstance(options, Selection):
            self._limit = options.limit
            if options.sort is not None:
                known = _core.names_of(record)
                names = _listed(RECORDS[record]["noun"][1], known, "--sort", options.sort)
                self._keys = [(name.removeprefix("-"), name.startswith("-")) for name in names]

    def rows_of(self, book: AnyBook) -> AnyBook:
        """Returns the rows, sorted and limited; an empty result has the filter's notes."""
        part = book._where(self.conditions) if self.conditions else book
        if self._keys and len(part):
            part = part._sorted(self._keys)
        return part if self._limit is None or len(part) <= self._limit else part[: self._limit]


def chosen_columns(what: str, known: Sequence[str], text: str | None) -> list[str] | None:
    """Returns the selected columns, or None if the format decides."""
    if text is None:
        return None
    return list(known) if text == "all" else _listed(what, known, "--columns", text)


def _listed(what: str, known: Sequence[str], name: str, text: str) -> list[str]:
    """Returns the columns that an option lists; those of `--sort` may begin with a minus."""
    names = [each.strip() for each in text.split(",") if each.strip()]
    if not names:
        rest = "; 'all' is all of them" if name == "--columns" else ""
        raise UsageError(f"{name} names no column{rest}")
    plain = [each.removeprefix("-") if name == "--sort" else each for each in names]
    for each in plain:
        if each not in known:
            raise UsageError(f"{name}: {what} have no field {each!r}{did_you_mean(each, known)}")
        if plain.count(each) > 1:
            raise UsageError(f"{name} names {each} twice")
    return names


def _condition(record: str, text: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(
            "--where takes NAME=VALUE, or another of != < <= > >= in place of =: symbol=INFY, "
            "'traded_price>100'"
        )
    name, sign, values = found.groups()
    kinds = kinds_of(record)
    if name not in kinds:
        what = RECORDS[record]["noun"][1]
        raise UsageError(f"--where: {what} have no field {name!r}{did_you_mean(name, kinds)}")
    what, kind, comparison = f"--where: {name}", kinds[name], _COMPARISONS[sign]
    if comparison not in ("eq", "ne"):
        return Condition(name, comparison, parsed(what, kind, values))
    wanted: set[Any] = set()
    for part in values.split(","):
        # An empty one matches missing values and, in text fields, empty text.
        none = {None, ""} if kind == "text" else {None}
        wanted |= {parsed(what, kind, part)} if part.strip() else none
    if len({type(one) for one in wanted - {None}}) > 1:
        raise UsageError(f"--where: {name} takes times or days, not both at once")
    return Condition(name, comparison, wanted)


def parsed(what: str, kind: str, text: str) -> Any:
    """Returns the value that an option gives for a field of this kind."""
    if kind == "text":
        return text.strip()
    parser, example = _KINDS[kind]
    try:
        return parser(text.strip())
    except ValueError:
        raise UsageError(f"{what} takes {example}, not {text.strip()!r}") from None


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("not finite")
    return number


def _whole(text: str) -> int:
    number = int(text)
    if not -_TOO_LARGE <= number < _TOO_LARGE:
        raise ValueError("more than 64 bits")
    return number


def _moment(text: str) -> datetime | date | time:
    """Returns a time of day, a day, or a time on a day; the service's times have no zone."""
    for kind in (time, date, datetime):
        try:
            moment = kind.fromisoformat(text)
        except ValueError:
            continue
        if getattr(moment, "tzinfo", None) is None and not (kind is time and ":" not in text):
            return moment
    raise ValueError("no time")


_KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "integer": (_whole, "a whole number of at most 64 bits"),
    "number": (_number, "a number"),
    "timestamp": (_moment, "a time such as 09:15, 2026-11-20 or '2026-11-20 09:15:00'"),
    "date": (date.fromisoformat, "a date such as 2026-11-26"),
}
