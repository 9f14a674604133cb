"""Argument validation: each function returns a valid value or raises an error that names it.

Values of the wrong type raise TypeError; unusable values raise ConfigurationError. Also words for
messages: how a wrong value is shown, and which name was probably meant.
"""

from __future__ import annotations

import os
import re
from datetime import date, datetime, time
from functools import lru_cache, wraps
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar, NoReturn, ParamSpec, TypeVar

from .. import _core
from ..errors import ConfigurationError
from .waiting import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

P = ParamSpec("P")
Kind = TypeVar("Kind")
Moment = TypeVar("Moment", date, time)

_ANY_KEYWORD = 0x08  # a flag of a function's code
_SURROGATE = re.compile("[\ud800-\udfff]")
LONGEST = 10 * 366 * 86400  # seconds; well below the limit of the core's clock


def seconds(name: str, value: object) -> float:
    """Returns a positive, finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {shown(value)}")
    if not 0 < value < float("inf"):
        raise ConfigurationError(f"{name} must be a positive number of seconds, not {shown(value)}")
    return float(min(value, LONGEST))


def count(name: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """Returns an integer from ``least`` to ``most``, also one of NumPy, as a plain one."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {shown(value)}")
    number = int(value)
    if not least <= number <= (2**63 - 1 if most is None else most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ConfigurationError(f"{name} must be an integer {limits}, not {shown(value)}")
    return number


def flag(name: str, value: object) -> bool:
    """Returns a bool; other truthy values are refused, because "no" is truthy."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return value


def hook(name: str, value: Kind) -> Kind:
    """Returns a callable."""
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {shown(value)}")
    return value


def text(name: str, value: object) -> str:
    """Returns text that UTF-8 can encode.

    Neither a message nor the traceback's local variables show the value: it may be a password.
    """
    kind = type(value).__name__
    if not isinstance(value, str):
        value = None
        raise TypeError(f"{name} must be text, not {kind}")
    if _SURROGATE.search(value):
        value = None
        raise ConfigurationError(
            f"{name} contains a lone surrogate, which UTF-8 cannot encode: remove it"
        )
    return value


def day(name: str, value: object) -> date:
    """Returns a day given as such, as a time without a zone or as ISO text.

    Refuses times with a zone: that of the day may be another one.
    """
    problem = f"{name} must be a date such as '2026-11-20', not {shown(value)}"
    at = _from_iso(date, value, problem)
    if getattr(at, "tzinfo", None) is not None:
        raise TypeError(problem)
    return at.date() if isinstance(at, datetime) else at


def time_of_day(name: str, value: object) -> time:
    """Returns a naive time of day given as such or as ISO text."""
    problem = f"{name} must be a time of day without a zone, such as '15:30', not {shown(value)}"
    at = _from_iso(time, value, problem)
    if at.tzinfo is not None:
        raise ValueError(problem)
    return at


def _from_iso(kind: type[Moment], value: object, problem: str) -> Moment:
    if isinstance(value, kind):
        return value
    if not isinstance(value, str):
        raise TypeError(problem)
    try:
        return kind.fromisoformat(value)
    except ValueError:
        raise ValueError(problem) from None


def path(name: str, value: str | bytes | os.PathLike[str]) -> str:
    """Returns a path as text, ``~`` and ``~user`` replaced by that home folder, as a shell does.

    Every path that a user names goes through this. Refuses numbers: ``open`` takes them for file
    descriptors.
    """
    try:
        decoded = os.fsdecode(value)
        decoded.encode("utf-8", "surrogateescape")
    except TypeError:
        raise TypeError(f"{name} must be a path, not {shown(value)}") from None
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"{name} contains a lone surrogate, which no file name can hold: remove it"
        ) from None
    except UnicodeDecodeError:  # Windows has file names of text only
        raise ConfigurationError(f"{name} is not UTF-8: pass text instead of bytes") from None
    return os.path.expanduser(decoded)


def words(name: str, value: object, *, takes: str) -> str:
    """Returns text that is not blank: what an empty search would return is not documented."""
    wanted = text(name, value)
    if not wanted.strip():
        raise ConfigurationError(f"{name} is blank: pass {takes}")
    return wanted


_MOST_SHOWN = 80  # characters


def shown(value: object) -> str:
    """Returns the repr of a wrong argument for a message, or its type if the repr is long.

    The repr of a book or a frame would hide the message.
    """
    try:
        text = _core.displayed("", repr(value))  # without personal data
    except Exception:  # repr fails for huge integers, and may fail for any object
        text = ""
    is_short = 0 < len(text) <= _MOST_SHOWN and "\n" not in text
    return text if is_short else f"a value of type {type(value).__name__}"


# What other services call a field of a record, as tables of what to write instead have it.
_FIELDS = {
    "quantity": "qty volume lots",
    "traded_price": "fill_price trade_price avg_price rate",
    "txn_type": "side buy_sell direction transaction_type action",
    "exch_trade_time": "time timestamp datetime trade_time fill_time",
    "order_date_time": "time timestamp datetime order_time order_timestamp",
    "symbol": "ticker tradingsymbol instrument_token scrip",
    "order_no": "order_id orderid",
    "trade_no": "trade_id tradeid",
    "expiry_date": "expiry",
    "strike_price": "strike",
}
_LEAST_PART = 3  # characters; shorter text is part of almost every name


def did_you_mean(name: object, known: Iterable[str], uses: Mapping[str, str] | None = None) -> str:
    """Returns what to write instead of a name, as the end of the message that refuses it.

    Args:
        name: The name that was written.
        known: The names that exist. One that is similar, ignoring case, or contains the name is
            proposed: ``; did you mean 'symbol'?``.
        uses: What to write instead, such as ``"rows="``, each with the names that people try in
            its place, separated by spaces: ``: use rows=``.
    """
    from difflib import get_close_matches

    for use, tried in (uses or {}).items():
        if name in tried.split():
            return f": use {use}"
    by_folded = {candidate.casefold(): candidate for candidate in known}
    wanted = str(name).casefold()
    near = [field for field in _FIELDS if field in by_folded and wanted in _FIELDS[field].split()]
    near = near or get_close_matches(wanted, by_folded, n=1)
    if not near and len(wanted) >= _LEAST_PART:
        near = [folded for folded in by_folded if wanted in folded]
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""


@lru_cache(256)  # libraries probe for the same few names, and the search takes half a millisecond
def no_field(record: str, name: str, known: tuple[str, ...]) -> str:
    """Returns the message for an unknown field, with the closest known one."""
    return f"{record} has no field {name!r}{did_you_mean(name, known)}"


class NotCopied:
    """Refuses copies and pickles, for what has a connection, a token or a place in a stream."""

    _not_copied: ClassVar[str]  # why not, or what to do instead

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        article = "an" if name[0] in "AEIOU" else "a"
        raise TypeError(f"{article} {name} cannot be copied or pickled: {self._not_copied}")


class NoNewAttributes:
    """Refuses assignments to public names that the class does not have, which it would ignore.

    What it has can be replaced, as mocks in tests do. Subclasses of users may add names.
    """

    _set_elsewhere: ClassVar[tuple[str, ...]] = ()  # names to suggest, too

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __setattr__(self, name: str, value: object) -> None:
            kind = type(self)
            # Error reporters print the local variables of a traceback, and it may be a token.
            values, value = [value], None
            if not name.startswith("_") and kind.__module__.partition(".")[0] == "tradingdata":
                present = getattr(kind, name, None)
                if present is None or (isinstance(present, property) and present.fset is None):
                    values.clear()
                    raise AttributeError(self._not_assignable(name), name=name, obj=self)
            object.__setattr__(self, name, values.pop())

    def _not_assignable(self, name: str) -> str:
        """Returns the message for a name that cannot be assigned: what to write instead."""
        kind = type(self)
        if hasattr(kind, name):
            return f"{name} of {kind.__name__} can be read, not assigned"
        public = [known for known in dir(kind) if not known.startswith("_")]
        hint = did_you_mean(name, [*public, *self._set_elsewhere])
        return f"{kind.__name__} has no {name!r}{hint}"


def keywords(uses: Mapping[str, str]) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Makes the TypeError of a wrong keyword name the right one, and no private base."""

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        code = function.__code__
        known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> Result:
            for name in options:
                if name not in known:
                    hint = did_you_mean(name, known, uses)
                    raise TypeError(f"{function.__name__}() has no {name}={hint}")
            return function(*args, **options)

        # Python's own messages name the inner function, and pickles the outer one.
        function.__qualname__ = function.__name__
        return checked

    return decorate


def method_keywords(uses: Mapping[str, str]) -> Callable[[type[Kind]], type[Kind]]:
    """Applies ``keywords`` to the public methods of a class, unless they take any keyword."""

    def decorate(kind: type[Kind]) -> type[Kind]:
        for name, value in list(vars(kind).items()):
            function = getattr(value, "__func__", value)
            code = getattr(function, "__code__", None)
            if code is not None and not name.startswith("_") and not code.co_flags & _ANY_KEYWORD:
                checked = keywords(uses)(function)
                setattr(kind, name, classmethod(checked) if function is not value else checked)
        return kind

    return decorate
