"""The input of calculations: books of one or several accounts, their days, keys and prices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar, Union

from .. import _core
from .._core import Groups, Slice
from .._util import validate
from .._util.validate import shown
from ..books.book import OrderBook, TradeBook, concat
from .checks import require_fills
from .keys import KEY, ORDER_KEY, SECURITY, SOME_MISSING, Keyed, kind_of

if TYPE_CHECKING:
    import pandas as pd

Security = str | tuple[str, str, str]
Prices = Union[  # pandas is imported for type checkers only
    Mapping[str, float | None],
    Mapping[tuple[str, str, str], float | None],
    Mapping[Security, float | None],
    "pd.Series[Any]",
    Callable[[Any], float | None],
]
Orders = OrderBook | Mapping[str, OrderBook]
Trades = TradeBook | Mapping[str, TradeBook]

AnyBook = TypeVar("AnyBook", OrderBook, TradeBook)


def joined(argument: str, given: object, kind: type[AnyBook]) -> tuple[AnyBook, list[str | None]]:
    """Returns all rows as one book, and the account label of each row.

    A single book has the label of the client that fetched it, if any. The books of several accounts
    are used only if every account has one, because sums without the others would mislead.

    Raises:
        TypeError: If ``given`` is neither a book of that kind nor such books by label.
        TradingDataError: If the book of an account could not be fetched.
    """
    if isinstance(given, kind):
        label = given.response.account if given.response is not None else None
        return given, [label] * len(given)
    if hasattr(given, "raise_errors"):  # ``AccountBooks``, of a package above this one
        given.raise_errors()
    books: dict[Any, Any] = dict(given) if isinstance(given, Mapping) else {None: given}
    for label, book in books.items():
        if not isinstance(label, str) or not isinstance(book, kind):
            raise TypeError(
                f"{argument} takes a book of type {kind.__name__}, or such books by account label, "
                f"not {type(book).__name__}"
            )
    labels = [label for label, book in books.items() for _ in range(len(book))]
    return (concat(books.values()) if books else kind()), labels


_LEG = (*ORDER_KEY, "leg_no", "child_leg_unq_id", "txn_type", "security_id")


def last_states(orders: OrderBook, labels: list[str | None]) -> tuple[Slice, list[str | None]]:
    """Returns the last row of each leg of an order, since an archive has one for each day."""
    rows = orders._rows
    legs = _core.Groups([rows], _LEG)
    if len(legs) == len(rows):
        return rows, labels
    unnumbered = (row for row, leg in enumerate(rows.column("leg_no")) if not leg)
    kept = sorted({*legs.last(), *unnumbered})
    return rows.take(kept), [labels[row] for row in kept]


def multipliers_of(groups: Groups, *, before: int = 0) -> list[int]:
    """Returns the contract multiplier of each group of trades, or 0 where none is proved.

    The service describes a quantity as "shares or contracts". Where it counts contracts, a value is
    ``quantity * price * lot_size``. A trade proves the multiplier, 1 or the lot size, that its
    value, quantity, price and lot size agree with. A trade that agrees with both or neither proves
    nothing, and the multiplier is then taken to be 1. ``before`` rows precede those of the book.

    Raises:
        ValueError: If two trades of one group prove different multipliers, because their quantities
            cannot be added up.
    """
    found, conflict = groups.multipliers()
    if conflict is not None:
        first, row, multiplier = conflict
        proved = found[groups.numbers()[first]]
        first, row = first - before, row - before
        raise ValueError(
            f"rows {first} and {row} count quantities of one security in different units: "
            f"trade_value is quantity * traded_price * {proved} in row {first} and * {multiplier} "
            f"in row {row}: see trades.check(), then calculate them separately"
        )
    return found


def multipliers_at(trades: Slice, rows: list[int]) -> list[int]:
    """Returns the multiplier of the security of some of the trades; 1 for the row -1."""
    securities = _core.Groups([trades], SECURITY)
    numbers, found = securities.numbers(), multipliers_of(securities)
    return [1 if row < 0 else found[numbers[row]] or 1 for row in rows]


def key_facts(
    rows: Slice, accounts: Sequence[str | None], groups: Groups, *, before: int = 0
) -> tuple[list[tuple[Any, ...]], list[int], list[str], list[date | None]]:
    """Returns what is known of each key: leading columns, multiplier, kind and expiry.

    The leading columns are account, key and names; the names are those of its last trade.
    """
    last = groups.last()
    key = rows.cells(groups.first(), KEY)
    names = rows.cells(last, ["symbol", "display_name"])
    expiries, strikes = (
        _last_known(rows, groups, name) for name in ("expiry_date", "strike_price")
    )
    leading = zip([accounts[row] for row in last], *key, *names, strict=True)
    kinds = list(map(kind_of, expiries, strikes))
    return list(leading), multipliers_of(groups, before=before), kinds, expiries


def _last_known(rows: Slice, groups: Groups, name: str) -> list[Any]:
    """Returns the last value of a column by group that is not None, if there is one."""
    (found,) = rows.cells(groups.last(), [name])
    if any(each & SOME_MISSING and each != SOME_MISSING for each in groups.likenesses(name)):
        for value, group in zip(rows.column(name), groups.numbers(), strict=True):
            if value is not None:
                found[group] = value
    return found


def day_from(day: date | str) -> date:
    """Returns a day given as a date, as a time on it or as ISO text."""
    return validate.day("day", day.date() if isinstance(day, datetime) else day)


def fills_of(
    trades: Trades,
    day: date | str | None,
    buy: str,
    sell: str,
    *,
    timed: bool = True,
    earlier: bool = False,
) -> tuple[Slice, list[str | None], date | None]:
    """Returns the trades of a day, their accounts and the day; without a day, all trades.

    With ``earlier``, the trades before that day are among them. All trades given must be complete;
    their times only with ``timed`` or if there is a day.
    """
    book, accounts = joined("trades", trades, TradeBook)
    wanted = None if day is None else day_from(day)
    require_fills(book._rows, buy, sell, timed=timed or wanted is not None)
    if wanted is None:
        return book._rows, accounts, None
    is_wanted = wanted.__ge__ if earlier else wanted.__eq__
    return *of_days(book._rows, accounts, is_wanted), wanted


def days_of(rows: Slice, field: str = "exch_trade_time") -> tuple[date, ...]:
    """Returns the days of the rows, in order."""
    first = _core.Groups([rows], [f"{field}.day"]).first()
    (times,) = rows.cells(first, [field])
    return tuple(sorted(moment.date() for moment in times if moment is not None))


def of_days(
    rows: Slice,
    labels: list[str | None],
    is_wanted: Callable[[date], bool],
    field: str = "exch_trade_time",
) -> tuple[Slice, list[str | None]]:
    """Returns the rows of wanted days, with those that have no time, and their labels."""
    if all(map(is_wanted, days_of(rows, field))):
        return rows, labels
    times = enumerate(rows.column(field))
    kept = [row for row, at in times if at is None or is_wanted(at.date())]
    return rows.take(kept), [labels[row] for row in kept]


def days_text(days: Sequence[date]) -> str:
    """Returns the days that a result covers: one, or the first and the last."""
    return str(days[0]) if len(days) == 1 else f"{days[0]} to {days[-1]} ({len(days)} days)"


PRODUCTS = ("C", "M", "I", "H")  # that the service's page names; it does not list them all


def chosen(name: str, given: Any, known: Collection[str], takes: str) -> frozenset[str]:
    """Returns what an argument lists, all of which must be known."""
    listed = isinstance(given, Collection) and not isinstance(given, (str, bytes))
    if not listed or not all(isinstance(each, str) for each in given):
        raise TypeError(f"{name} must be {takes}, not {shown(given)}")
    for each in given:
        if each not in known:
            valid = ", ".join(map(repr, sorted(known)))
            raise ValueError(f"{name} contains {each!r}: pass some of {valid}")
    return frozenset(given)


def amount(name: str, value: Any) -> float:
    """Returns a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be finite and at least 0, not {value!r}")
    return value


class PriceLookup:
    """The price of each security, looked up once.

    Raises:
        TypeError: If the argument is neither a mapping, a Series nor a function, or one of its keys
            is not a security.
        ValueError: If a Series has a security twice.
    """

    def __init__(self, argument: str, prices: object) -> None:
        self._prices: Any = prices if callable(prices) else _by_security(argument, prices)
        self._found: dict[tuple[str, ...], Fraction | None] = {}
        self._exchanges: dict[str, tuple[str, ...]] = {}

    def __call__(self, row: Keyed) -> Fraction | None:
        """Returns the price of a row's security as an exact fraction, or ``None`` without one."""
        security: tuple[str, ...] = tuple(getattr(row, name) for name in SECURITY)
        if security not in self._found:
            found = self._prices(row) if callable(self._prices) else self._of_mapping(security)
            self._found[security] = _exact(found, security)
        return self._found[security]

    def _of_mapping(self, security: tuple[str, ...]) -> Any:
        number = security[-1]
        if security in self._prices or number not in self._prices:
            return self._prices.get(security)
        if self._exchanges.setdefault(number, security) != security:
            raise ValueError(
                f"security_id {number!r} is in {self._exchanges[number][:2]} and {security[:2]}: "
                "give these prices by (exchange, segment, security_id)"
            )
        return self._prices[number]


def _by_security(argument: str, prices: Any) -> dict[Any, Any]:
    is_series = getattr(prices, "ndim", 0) == 1 and hasattr(prices, "items")
    if not is_series and not isinstance(prices, Mapping):
        raise TypeError(
            f"{argument} must be a mapping or a Series by security_id, or a function of a row, not "
            f"{type(prices).__name__}"
        )
    found: dict[Any, Any] = {}
    for security, price in prices.items():
        if not isinstance(security, (str, tuple)):
            raise TypeError(
                f"{argument} must be by security_id, which is text, not {shown(security)}: convert "
                "the keys with str()"
            )
        if security in found:
            raise ValueError(f"{argument} has a security twice: drop the duplicates of its index")
        found[security] = price
    return found


def _exact(price: Any, security: tuple[str, ...]) -> Fraction | None:
    if is_missing(price):
        return None
    try:
        if not isinstance(price, (str, bool)) and isfinite(price):
            return Fraction(str(price))
    except (TypeError, OverflowError):
        pass
    raise ValueError(f"the price of {security} must be a finite number, not {shown(price)}")


def is_missing(value: Any) -> bool:
    """Returns whether a value is missing in a data frame (NaN and NaT are unequal, NA raises)."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
