"""The input of calculations: books of one or several accounts, their days, keys and prices."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar

from .. import _core
from .._core import Slice
from .._util import validate
from .._util.platform import read_toml
from .._util.validate import did_you_mean, shown
from ..books.book import Book, OrderBook, TradeBook
from ..table.rows import on_clock
from ..table.table import Table
from .keys import CONTRACT, EXECUTED, ORDER_KEY, Key, Keyed, contract_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Series(Protocol):
    """What a pandas Series has."""

    @property
    def ndim(self) -> int: ...  # noqa: D102
    def items(self) -> Iterable[tuple[object, object]]: ...  # noqa: D102


Price = float | Decimal | None
Prices = (
    Mapping[str, Price]
    | Mapping[str | None, Price]  # keys taken from fields may be missing
    | Mapping[Key, Price]
    | Mapping[str | Key, Price]
    | Series
    | Iterable[object]  # a data frame, or dicts
    | Callable[[Any], Price]
    | Callable[[date, Any], Price]
)
DayPrices = Prices | Mapping[date | str, Prices]
Multipliers = Mapping[str, int] | Mapping[Key, int] | Callable[[Any], int | None]
KeyOrId = Key | str  # of a contract: the keys that prices and multipliers are given by
ByContract = dict[KeyOrId, object]


def rows_in(argument: str, book: object, kind: type[Book[Any]]) -> Slice:
    """Returns the rows of a book of that kind; raises TypeError for anything else."""
    if isinstance(book, kind):
        return book._rows
    name = kind.__name__
    if isinstance(book, Book):
        hint = "check the order of the arguments"
    elif isinstance(book, Table):
        hint = "pass the book that it was calculated from"
    elif isinstance(book, Mapping) or _is_list_of_books(book):
        hint = "join the books of several accounts with td.concat"
    elif hasattr(book, "__arrow_c_stream__"):
        hint = f"read it with td.{name}.from_arrow"
    else:
        hint = f"pass td.{name}(rows)"
    raise TypeError(
        f"{argument} takes {'an' if kind is OrderBook else 'a'} {name}, not "
        f"{type(book).__name__}: {hint}"
    )


def _is_list_of_books(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, Book) for item in value)


_LEG = (*ORDER_KEY, "leg_no", "child_leg_unq_id", "txn_type", "security_id")
_STATE = ("leg_no", "exch_order_no", "exch_order_time")
UPDATED = ("last_updated_time", "exch_order_time")


def last_states(rows: Slice) -> Slice:
    """Returns the last state of each leg of an order, since an archive has one for each day.

    The last is the one that was updated last, or else reached the exchange last, or else the last
    row. A leg without a number is known by that of the exchange. An order that is valid for several
    days may reach the exchange on each, and then has another one.
    """
    legs = _core.Groups([rows], _LEG)
    if len(legs) == len(rows):
        return rows
    last: list[dict[object, int]] = [{} for _ in range(len(legs))]
    days: dict[int, date] = {}
    states = zip(legs.numbers(), *map(rows.column, _STATE), strict=True)
    updated = [
        next((time.replace(tzinfo=None) for time in times if time), datetime.min)
        for times in zip(*map(rows.column, UPDATED), strict=True)
    ]
    in_time = sorted(enumerate(states), key=lambda state: updated[state[0]])
    for row, (leg, number, exchange_number, received) in in_time:
        day = received and received.date()
        if number or (day and days.get(leg) != day):
            last[leg].clear()
            days[leg] = day
        last[leg][exchange_number or row] = row
    return rows.take(sorted(row for states in last for row in states.values()))


def both_books(orders: OrderBook, trades: TradeBook) -> tuple[Slice, Slice]:
    """Returns the last states of orders, and trades on their clock."""
    rows, fills = rows_in("orders", orders, OrderBook), rows_in("trades", trades, TradeBook)
    zone = rows.zone
    if len(rows) and len(fills) and (zone is None) != (fills.zone is None):
        raise ValueError("only one of the books has a time zone: localize both")
    rows = last_states(rows)
    return rows, fills if fills.zone in (None, zone) or zone is None else on_clock(fills, zone)


_ORDER_NUMBER = tuple(name for name in ORDER_KEY if not name.endswith(".day"))


def with_entries(rows: Slice, others: Slice) -> tuple[Slice, set[int], set[Key]]:
    """Returns rows with the entry time of their order where they lack it, and which these are.

    The other book has it, if all its rows of that order number have one day of entry. The last
    value returned are the numbers, with account, client and exchange, for which it has several.
    """
    if rows.missing(["order_date_time"]) is None:
        return rows, set(), set()

    def numbers(of: Slice) -> Iterable[tuple[Key, datetime | None]]:
        keys = zip(*map(of.column, _ORDER_NUMBER), strict=True)
        return zip(keys, of.column("order_date_time"), strict=True)

    entries: dict[Key, dict[date, datetime]] = {}
    for key, at in numbers(others):
        if at is not None and None not in key[1:]:  # only the account's label is optional
            entries.setdefault(key, {}).setdefault(at.date(), at)
    changes, unknown = {}, set()
    for row, (key, at) in enumerate(numbers(rows)):
        if at is None and len(entries.get(key, ())) == 1:
            changes[row] = {"order_date_time": next(iter(entries[key].values()))}
        elif at is None and key in entries:
            unknown.add(key)
    return patched(rows, changes), set(changes), unknown


def patched(rows: Slice, changes: Mapping[int, Mapping[str, object]]) -> Slice:
    """Returns rows of which some have other values."""
    if not changes:
        return rows
    changed = [rows[row]._replace(**values) for row, values in changes.items()]
    order = list(range(len(rows)))
    for at, row in enumerate(changes, len(rows)):
        order[row] = at
    new = _core.from_rows(rows.record, changed).with_zone(rows.zone)
    return _core.join([rows, new]).take(order)


def day_from(day: date | str, name: str = "day") -> date:
    """Returns a day given as a date, as a time on it or as ISO text."""
    return validate.day(name, day_of(day) if isinstance(day, date) else day)


def day_of(at: date) -> date:
    """Returns the day of a time, or a day itself."""
    return at.date() if isinstance(at, datetime) else at


def days_of(rows: Slice) -> tuple[date, ...]:
    """Returns the days of trades, in order."""
    return tuple(sorted(day for day in rows.distinct(EXECUTED[2]) if day is not None))


def days_text(days: Sequence[date]) -> str:
    """Returns the days that a result covers: one, or the first and the last."""
    return str(days[0]) if len(days) == 1 else f"{days[0]} to {days[-1]} ({len(days)} days)"


IST = timezone(timedelta(hours=5, minutes=30))  # the exchanges' time zone
PRODUCTS = ("C", "M", "I", "H")  # named in the service's document, which may not list all


def chosen(name: str, names: object, known: Collection[str], takes: str) -> frozenset[str]:
    """Returns what an argument lists, all of which must be known."""
    if not is_listed(names) or not all(isinstance(one, str) for one in names):
        raise TypeError(f"{name} must be {takes}, not {shown(names)}")
    for one in names:
        if one not in known:
            valid = ", ".join(map(repr, sorted(known)))
            raise ValueError(f"{name} contains {one!r}: pass some of {valid}")
    return frozenset(names)


def is_listed(value: object) -> TypeGuard[Collection[Any]]:
    """Returns whether a value is a collection, and no text."""
    return isinstance(value, Collection) and not isinstance(value, (str, bytes))


def amount(name: str, value: object, *, signed: bool = False) -> float:
    """Returns a finite number, also one of NumPy or a ``Decimal``, as a plain one.

    It must be at least 0, unless it is signed.
    """
    if isinstance(value, (bool, Fraction)) or not isinstance(value, (Real, Decimal)):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    plain: Any = value
    number: float = plain if type(plain) in (int, float) else float(str(plain))
    if not isfinite(number) or (number < 0 and not signed):
        least = "" if signed else " and at least 0"
        raise ValueError(f"{name} must be finite{least}, not {value!r}")
    return number


Made = TypeVar("Made", bound="DataclassInstance")


def tables_of(path: str | os.PathLike[str], name: str, make: type[Made]) -> tuple[Made, ...]:
    """Returns an object for each ``[[name]]`` table of a TOML file, which has nothing else."""
    with open(validate.path("path", path), "rb") as file:
        content = read_toml(file)
    tables = content.pop(name, None)
    if content or not isinstance(tables, list) or not tables:
        raise ValueError(f"{path} must have [[{name}]] tables and nothing else")
    items = []
    known = {field.name: field for field in fields(make) if field.name != "_"}
    needed = [n for n, f in known.items() if f.default is f.default_factory is MISSING]
    for number, table in enumerate(tables, 1):
        try:
            for unknown in dict(**table).keys() - known.keys():
                raise ValueError(f"it has {unknown!r}{did_you_mean(unknown, known)}")
            for missing in set(needed) - table.keys():
                raise ValueError(f"it needs {missing!r}")
            items.append(make(**table))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} {number} of {path}: {error}") from None
    return tuple(items)


def as_conditions(where: Mapping[str, object]) -> dict[str, object]:
    """Returns conditions of ``filter``, in which a list, as TOML has it, stands for a set."""
    for name in where:
        if not isinstance(name, str):
            raise TypeError(f"where must have names of fields as keys, not {shown(name)}")
    return {
        name: set(value) if isinstance(value, list) and not name.endswith("__between") else value
        for name, value in where.items()
    }


class Lookup:
    """Prices or multipliers by contract, each looked up once.

    A key is a ``security_id``, ``(security_id, expiry_date)``, or either after exchange and
    segment; the most exact one counts.

    Raises:
        TypeError: If the argument is neither a mapping, a Series nor a function, or one of its keys
            is neither text nor a tuple.
        ValueError: If a Series has a key twice.
    """

    def __init__(self, argument: str, values: object) -> None:
        self._argument = argument
        self._given = by_contract(argument, values)
        self._values: dict[Key, Fraction | None] = {}
        self._meant: dict[KeyOrId, dict[Key, None]] = {}  # contracts by key
        self.same: Mapping[Key, tuple[Key, ...]] = {}  # contracts of one security

    def __call__(self, row: Keyed) -> Fraction | None:
        """Returns the value of a row's contract as an exact fraction, or ``None`` without one."""
        return self.of(contract_of(row), row)

    def of(self, contract: Key, row: object) -> Fraction | None:
        """Returns the value of a contract, of which a row is given."""
        if contract not in self._values:
            if callable(self._given):
                values = {_exact(self._argument, self._given(row), contract)}
            else:
                same = self.same.get(contract, (contract,))
                known = [_exact(self._argument, self._of_mapping(one), one) for one in same]
                values = set(known) - {None} or {None}
            if len(values) > 1:
                raise ValueError(
                    f"{self._argument} has different values for the ids of one security, "
                    f"{_contract_text(contract)}: give one of them"
                )
            (self._values[contract],) = values
        return self._values[contract]

    def decimals(self) -> int:
        """Returns how many decimals the values have; of a function, as many as may count."""
        if callable(self._given):
            return _DECIMALS
        values = [
            _exact(self._argument, value, key if isinstance(key, tuple) else (key,))
            for key, value in self._given.items()
        ]
        exponents = (Decimal(repr(float(value or 0))).as_tuple().exponent for value in values)
        return min(_DECIMALS, max((-int(exponent) for exponent in exponents), default=0))

    def later(self, contracts: Iterable[Key], last: date) -> dict[Key, KeyOrId]:
        """Returns the keys that are about contracts which expire after a day, and no others."""
        if callable(self._given):
            return {}
        expiring = [one for one in dict.fromkeys(contracts) if one[-1] is not None]
        early = {key for one in expiring if one[-1] <= last for key in _forms(one)}
        keys = {
            one: next((key for key in _forms(one) if key in self._given), None)
            for one in expiring
            if one[-1] > last
        }
        return {
            one: key
            for one, key in keys.items()
            if key is not None and key not in early and not is_missing(self._given[key])
        }

    def among(self, contracts: Iterable[Key]) -> None:
        """Names contracts that a key may mean, though no value of theirs is looked up."""
        if not callable(self._given):
            for contract in dict.fromkeys(contracts):
                self._key(contract)

    def _key(self, contract: Key) -> KeyOrId | None:
        """Returns the key that means a contract, or None."""
        for key in _forms(contract):
            if key in self._given:
                alike = (one for one, same in self.same.items() if contract in same)
                self._meant.setdefault(key, {})[next(alike, contract)] = None
                return key
        return None

    def _of_mapping(self, contract: Key) -> object:
        key = self._key(contract)
        if key is None:
            return None
        if len(self._meant[key]) > 1:
            first, second, *_ = self._meant[key]
            raise ValueError(
                f"{self._argument} has {key!r}, which means two contracts, {_contract_text(first)} "
                f"and {_contract_text(second)}: give it by {first} or {second}"
            )
        return self._given[key]

    def unmatched(self, contracts: Iterable[Key]) -> list[KeyOrId]:
        """Returns the keys that are not about any of the contracts of a result."""
        if callable(self._given):
            return []
        ids = {one for contract in contracts for one in self.same.get(contract, (contract,))}
        meant = {key for contract in ids for key in _forms(contract)}
        return [key for key in self._given if key not in meant]


def _forms(contract: Key) -> tuple[KeyOrId, ...]:
    """Returns the keys that may mean a contract, the most exact first."""
    *place, security, expiry = contract
    return contract, (*place, security), (security, expiry), security


def _contract_text(contract: Key) -> str:
    return " ".join(str(part) for part in contract if part is not None)


def _is_series(prices: object) -> TypeGuard[Series]:
    return getattr(prices, "ndim", 0) == 1 and hasattr(prices, "items")


def _is_of_day(prices: object) -> bool:
    """Returns whether the value of a mapping of prices is all those of a day."""
    return isinstance(prices, Mapping) or callable(prices) or _is_series(prices)


def by_contract(argument: str, values: object) -> Any:
    """Returns prices or multipliers by key, as they are now; a function, or none, as it is."""
    if values is None or callable(values):
        return values
    if not _is_series(values) and not isinstance(values, Mapping):
        by_day = rows_by_day(argument, values)
        if len(by_day) > 1:
            raise ValueError(f"{argument} has prices of several days: pass those of one day")
        return next(iter(by_day.values()), {})
    by_key: ByContract = {}
    for security, price in values.items():
        if not isinstance(security, (str, tuple)):
            raise TypeError(
                f"{argument} must be by security_id, which is text, not {shown(security)}: convert "
                "the keys with str()"
            )
        key = _plain_key(security)
        if key in by_key:
            raise ValueError(f"{argument} has {key!r} twice: drop the duplicates of its index")
        by_key[key] = price
    return by_key


def rows_by_day(argument: str, prices: object) -> dict[date | None, ByContract]:
    """Returns the prices of each day from a data frame or dicts; None is every day."""
    rows: Any = prices
    for name, more in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if hasattr(rows, name):
            rows = getattr(rows, name)(*more)
            break
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise TypeError(
            f"{argument} must be a mapping or a Series by security_id, a function of a row, or a "
            f"data frame or dicts with security_id and price, not {type(prices).__name__}"
        )
    by_day: dict[date | None, ByContract] = {}
    forms: dict[Key, KeyOrId] = {}
    days: dict[object, date] = {}
    for row in rows:
        if not isinstance(row, Mapping) or not {_SECURITY, "price"} <= row.keys():
            raise TypeError(f"{argument} must have the columns {_SECURITY} and price")
        day = row.get("day")
        if "day" in row and day not in days:
            days[day] = _price_day(argument, day)
        names = CONTRACT if {*CONTRACT[:2]} <= row.keys() else CONTRACT[2:]
        values = tuple(row[name] for name in names if name in row)
        if values not in forms:
            if not isinstance(row[_SECURITY], str):
                raise TypeError(
                    f"{argument} must have {_SECURITY} as text, not {shown(row[_SECURITY])}: "
                    "convert the column with str()"
                )
            forms[values] = _plain_key(values) if len(values) > 1 else values[0]
        of_day = by_day.setdefault(days[day] if "day" in row else None, {})
        price = row["price"]
        if of_day.setdefault(forms[values], price) is not price:
            on = f" on {days[day]}" if "day" in row else ""
            raise ValueError(f"{argument} has {row[_SECURITY]!r} twice{on}: keep one of its rows")
    return by_day


def _price_day(argument: str, day: Any) -> date:
    """Returns the day of a price: a date, or midnight on its own clock or on India's."""
    if not isinstance(day, datetime):
        return day_from(day)
    if day.time() == time.min:
        return day.date()
    if day.tzinfo is not None and day.astimezone(IST).time() == time.min:
        return day.astimezone(IST).date()
    raise ValueError(
        f"{argument} has the day {day}, which is no midnight: pass dates, such as the column's "
        ".dt.date"
    )


class PricesByDay:
    """Prices in any form: by day, or for every day.

    A function gets a row of a contract, or a day and a row. A mapping is by contract, or by day. A
    data frame or dicts may have a column ``day``.

    Raises:
        TypeError: If prices have none of these forms.
    """

    def __init__(self, prices: object) -> None:
        self._function = prices if callable(prices) else None
        self._by_day: Mapping[date | None, object] = {}  # None: every day
        if isinstance(prices, Mapping) and any(map(_is_of_day, prices.values())):
            self._by_day = {day_from(day): of_day for day, of_day in prices.items()}
        elif isinstance(prices, Mapping) or _is_series(prices):
            self._by_day = {None: prices}
        elif self._function is None:
            self._by_day = rows_by_day("prices", prices)
        self.days = sorted(day for day in self._by_day if day is not None)
        self._has_days = bool(self.days) if self._function is None else _takes_days(self._function)
        self.same: Mapping[Key, tuple[Key, ...]] = {}
        self._lookups: dict[date | None, Lookup] = {}

    def on(self, day: date | None) -> Lookup:
        """Returns the prices of a day.

        Raises:
            ValueError: If no day is given, and there are prices of several.
        """
        day = day if self._has_days else None
        if day not in self._lookups:
            self._lookups[day] = Lookup("prices", self._of_day(day))
        self._lookups[day].same = self.same
        return self._lookups[day]

    def _of_day(self, day: date | None) -> object:
        if self._function is not None:
            return self._function if day is None else partial(self._function, day)
        if None in self._by_day:
            return self._by_day[None]
        if day is not None:
            return self._by_day.get(day, {})
        if len(self.days) > 1:
            raise ValueError("prices has several days: pass those of one day")
        return next(iter(self._by_day.values()), {})

    def at(self, days: list[date], place: int, contract: Key, row: object) -> Fraction | None:
        """Returns the price of a contract on one of some days; day 0 is before the first."""
        tried = [days[place - 1]] if place else self._before(days)
        prices = (self.on(day).of(contract, row) for day in tried)
        return next((price for price in prices if price is not None), None)

    def unmatched(self, contracts: Collection[Key]) -> list[KeyOrId]:
        """Returns the keys that are about none of the contracts of a result."""
        unknown = (lookup.unmatched(contracts) for lookup in self._lookups.values())
        return list(dict.fromkeys(key for of_day in unknown for key in of_day))

    def _before(self, days: list[date]) -> list[date]:
        if not days or not self._has_days:
            return []
        if self._function is None:
            return [day for day in reversed(self.days) if day < days[0]]
        return [days[0] - timedelta(days=number) for number in range(1, _LOOK_BACK + 1)]


def _takes_days(function: Callable[..., object]) -> bool:
    """Returns whether a function needs a day and a row."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in places and p.default is Parameter.empty]
    return len(needed) >= 2


_SECURITY = CONTRACT[2]
_DECIMALS = 6  # of a settlement price; what is finer is rounded
_LOOK_BACK = 7  # days before the first for which a function is asked for a price


def _plain_key(key: KeyOrId) -> KeyOrId:
    """Returns a key with dates as such; pandas has times at midnight, and NaT."""
    if isinstance(key, str):
        return key
    return tuple(
        None if is_missing(part) else part.date() if isinstance(part, datetime) else part
        for part in key
    )


def _exact(argument: str, value: Any, contract: Key) -> Fraction | None:
    if is_missing(value):
        return None
    try:
        if not isinstance(value, (str, bool)) and isfinite(value):
            return Fraction(str(value))
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"{argument}: the value of {_contract_text(contract)} must be a finite number, not "
        f"{shown(value)}"
    )


def is_missing(value: object) -> bool:
    """Returns whether a value is missing in a data frame (NaN and NaT are unequal, NA raises)."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
