"""Tables of results: their rows, what a display shows of them, and what they left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from fractions import Fraction
from functools import cached_property
from math import isinf
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from .. import _core
from .._core import Slice
from .._util.declarations import kinds_of
from ..display import ENDS, Ends, Shown, View, group
from ..errors import DataWarning, warn_user
from ..table.rows import declared, row_type
from ..table.table import Record, Table
from .inputs import Lookup, days_text
from .keys import (
    BY,
    KEY,
    KEYED,
    ORDER_SIDE,
    Key,
    Keyed,
    Lead,
    OfOrder,
    contract_of,
    kind_of,
    lead_of,
)

# The values of a column, or several columns of rows of another table.
Column = Sequence[object] | tuple[Slice, Sequence[int], Sequence[str]]

# More than any sum of floats has, whose digits are between 1e-324 and 1e309.
_ALL_DIGITS = 1000


def exact_sum(values: Sequence[float | None]) -> float:
    """Returns the float nearest to the exact sum; ``None`` values are ignored."""
    from decimal import Context, Decimal, localcontext  # imported here because it is slow to import

    with localcontext(Context(prec=_ALL_DIGITS)):
        total = float(sum(Decimal(repr(value)) for value in values if value is not None))
    if isinf(total):
        raise OverflowError("the sum of a column of amounts is larger than a float can be")
    return total


# For rows about contracts: a symbol may have many expiries, a display name has one.
BY_CONTRACT = View(
    names=("display_name", "symbol", "security_id"),
    apart=tuple("account exchange product client_id segment expiry_date security_id".split()),
)
# For rows about one side of an order.
BY_ORDER = View(
    "order",
    names=("order_no",),
    apart=("account", "exchange", "txn_type", "client_id", "day", "segment"),
)


class ResultTable(Table[Record]):
    """The result of a calculation: rows of one type, with a schema independent of the data.

    Indexed, iterated, filtered, sorted and exported like a book. Unknown values are ``None``. What
    ``filter`` returns has the issues, lots and matches of its rows.
    """

    _view = BY_CONTRACT

    _issues: ResultIssues | OrderIssues | None = None

    @property
    def issues(self) -> ResultIssues | OrderIssues:
        """What the result leaves out or could not prove: ``problem``, ``count`` and ``detail``."""
        return self._issues_of([]) if self._issues is None else self._issues

    @classmethod
    def _issues_of(cls, notes: Iterable[Note]) -> ResultIssues | OrderIssues:
        kind = OrderIssues if issubclass(cls._row, OfOrder) else ResultIssues
        names = list(kinds_of(kind._row))
        of_note = ("problem", "count", "detail")
        return kind._of(
            dict(zip(names, note.lead, strict=False))
            | dict(zip(of_note, (note.problem, note.number, note.detail), strict=True))
            for note in notes
        )

    def _keys(self) -> list[Key]:
        """Returns the key of each row."""
        names = ORDER_SIDE if issubclass(self._row, OfOrder) else (*KEY, BY)
        return list(zip(*(self._column(n) for n in names if n in self._kinds), strict=True))

    def _of_keys(self, kept: set[Key]) -> Self:
        """Returns the rows of some keys, and those that have none."""
        keys = self._keys()
        # The key of some results is the account alone, and issues have no `by`.
        width = min(len(next(iter(kept), ())), len(next(iter(keys), ())))
        kept = {key[:width] for key in kept}
        rows = [row for row, key in enumerate(keys) if key[:width] in kept or not any(key)]
        return self if len(rows) == len(keys) else self._taken(rows)

    def _part(self, rows: _core.Slice) -> Self:
        part = super()._part(rows)
        belonging = {
            name: table for name, table in vars(part).items() if isinstance(table, ResultTable)
        }
        if belonging:
            kept = set(part._keys())
            vars(part).update({name: table._of_keys(kept) for name, table in belonging.items()})
        return part

    def _preview(
        self, columns: Sequence[str] | None = None, ends: Ends = ENDS
    ) -> tuple[str, Shown | None]:
        text, shown = super()._preview(columns, ends)
        problems: Counter[str] = Counter()
        for problem, count in zip(*map(self.issues._column, ("problem", "count")), strict=True):
            problems[problem] += count
        parts = [text, *(f"{problem}: {group(count)}" for problem, count in problems.items())]
        return ", ".join(parts) + (" (see .issues)" if problems else ""), shown

    @classmethod
    def _of(cls, rows: Iterable[Mapping[str, object]], leads: Sequence[Column] = ()) -> Self:
        """Returns a table of rows by name; ``leads`` are the columns before those of the rows."""
        rows = list(rows)
        names = list(rows[0]) if rows else kinds_of(cls._row)
        return cls._of_named(
            leads if rows else (), {name: [row[name] for row in rows] for name in names}
        )

    @classmethod
    def _of_named(
        cls, leads: Sequence[Column], columns: Mapping[str, Column], zone: tzinfo | None = None
    ) -> Self:
        """Returns a table of the first columns in their order and of the others by name.

        It is sorted by rank; ``zone`` is that of the times.
        """
        names = list(kinds_of(cls._row))
        named = [columns[name] for name in names[len(names) - len(columns) :]]
        table = cls._over(_core.table_of(cls._row, [*leads, *named], zone))
        ranks = table._ranks()
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        return table if order == list(range(len(ranks))) else cls._over(table._rows.take(order))

    def _ranks(self) -> list[Any]:
        """Returns the rank of each row, the most important least; empty to keep their order."""
        rank, zero = self._view.rank, self._view.zero
        if not rank:
            return []
        sizes = [-abs(size or 0) for size in self._column(rank)]
        if not zero:
            return sizes
        return [(not held, size) for size, held in zip(sizes, self._column(zero), strict=True)]

    def _sum(self, name: str) -> float:
        return exact_sum(self._column(name))

    _needs_all: ClassVar[bool] = False  # whether a sum is only known if it is of every row

    def _total(self, name: str) -> float | None:
        """Returns the sum of a column, if it is known."""
        return None if self._needs_all and None in self._column(name) else self._sum(name)

    def _said_of(self, name: str) -> str:
        """Returns the sum of a column as a heading has it: at least of the rows that have one."""
        known = group(self._sum(name), 2)
        if self._total(name) is not None:
            return f"{name} {known}"
        are_none = set(self._column(name)) == {None}
        return f"{name} unknown" + ("" if are_none else f" ({known} of what has one)")

    def _view_of_rows(self) -> View:
        view = self._view
        known = (name for name in view.names if any(self._column(name)))
        shown = [next(known, view.names[-1])]
        distinct = len(set(self._column(shown[0])))
        for name in (name for name in (*view.apart, BY) if name in self._kinds):
            keys = len(set(zip(*map(self._column, (*shown, name)), strict=True)))
            if keys > distinct:
                shown.append(name)
                distinct = keys
        return view._replace(
            columns=tuple(dict.fromkeys((*shown, *view.columns))),
            narrow=(*shown, *(view.narrow or view.columns[:2])),
        )


@declared
class ResultIssue(Keyed):
    """What a result leaves out or could not prove in one row; see also ``Keyed``.

    Attributes:
        problem: The kind of problem, such as ``without a price``.
        count: Number of trades, lots or keys that have it.
        detail: Which ones, and what to do.
    """

    problem: str
    count: int
    detail: str


class ResultIssues(ResultTable[ResultIssue]):
    """The ``issues`` of a result by contract; what concerns all of it has no key."""

    _row = ResultIssue
    _view = BY_CONTRACT._replace(noun="issue", columns=("problem", "count", "detail"))


@declared
class OrderIssue(OfOrder):
    """What a result leaves out or could not prove of one side of an order; see also ``OfOrder``.

    Attributes:
        problem: The kind of problem, such as ``multiplier not proved``.
        count: Number of trades or orders that have it.
        detail: Which ones, and what to do.
    """

    problem: str
    count: int
    detail: str


class OrderIssues(ResultTable[OrderIssue]):
    """The ``issues`` of a result by order."""

    _row = OrderIssue
    _view = BY_ORDER._replace(noun="issue", columns=("problem", "count", "detail"))


class Problem:
    """What a result leaves out or could not prove, as ``problem`` of its issues says it."""

    UNPRICED = "without a price"
    UNOPENED = "sold without an opening"
    EXPIRED = "expired, not settled"
    UNPROVED = "multiplier not proved"
    TIED = "order within a second unknown"
    IDLE = "no trades on the day"
    UNUSED = "key that matched nothing"
    FREE = "price of 0"
    NO_ENTRY = "time of entry missing"
    NO_EXPIRY = "expiry date missing"
    DIFFERENT = "attributes of one contract differ"
    ALIKE = "codes that differ in case or spaces"
    FRACTION = "fraction of a share"
    EARLIER = "change before the opening"
    UNCHANGED = "change without its lots"
    ELSEWHERE = "same ISIN under another id"
    NO_ISIN = "not an ISIN"
    STALE = "priced on an earlier day"
    FROM_COST = "measured from cost"
    LATE = "after the last day"
    MEETS = "lot that meets the other side"


NO_KEY = Lead._make([None] * len(KEYED))  # of what is about the whole result

_NAMED = 3  # details that a warning has


class Note(NamedTuple):
    """An issue: the leading columns of the row that it is about, and the other columns."""

    lead: Lead | tuple[object, ...]
    problem: str
    detail: str
    number: int = 1


Result = TypeVar("Result", bound=ResultTable[Any])


def noted(result: Result, notes: list[Note], *, warn: bool = True) -> Result:
    """Returns a result with its issues, of which it warns in one sentence."""
    result._issues = result._issues_of(notes)
    if warn and notes:
        problems: dict[str, list[Note]] = {}
        for note in notes:
            problems.setdefault(note.problem, []).append(note)
        parts = []
        for problem, alike in problems.items():
            named = "; ".join(note.detail for note in alike[:_NAMED])
            more = f"; {group(len(alike) - _NAMED)} more" if len(alike) > _NAMED else ""
            parts.append(f"{problem}: {group(sum(note.number for note in alike))} ({named}{more})")
        warn_user(DataWarning(f"{', '.join(parts)}: see .issues of the result"))
    return result


def unused(argument: str, keys: Sequence[object]) -> list[Note]:
    """Returns the issue of keys of an argument that are about nothing in the result."""
    text = ", ".join(map(repr, keys[:_NAMED])) + (", ..." if len(keys) > _NAMED else "")
    note = f"{argument} has {text}, which names no contract here"
    return [Note(NO_KEY, Problem.UNUSED, note, len(keys))] if keys else []


def about(lead: Lead, problem: str, detail: str = "", number: int = 1) -> Note:
    """Returns an issue whose detail names the contract that it is about."""
    return Note(lead, problem, f"{lead}: {detail}" if detail else str(lead), number)


LONG = "long"
SHORT = "short"
UNMATCHED = "unmatched"


@declared
class Lot(Keyed):
    """One trade, or the part of it that is still open; see also ``Keyed``.

    Attributes:
        side: ``long`` (bought, not yet sold), ``short`` (sold, not yet bought back), or
            ``unmatched`` for a sale that had no lot to close and was not allowed to open one.
        trade_no: Trade number; ``None`` if an opening lot was given without one.
        time: Time of the trade; ``None`` if an opening lot was given without one.
        quantity: Shares or contracts, always positive.
        value: Value of this quantity when it was traded, before charges.
        multiplier: Shares in a contract as ``value`` counts it, 1 for shares; ``None`` where
            nothing proves it.
        strike_price: Strike price of an option; zero or ``None`` for what is none.
        opt_type: Option type, as the service codes it.
        isin: ISIN, if known.
        as_of: The moment up to which trades and changes are in it (see ``td.LotChange``), if known.
        by: Value of ``by`` (see ``td.Ledger``); ``None`` without one.
    """

    side: str
    trade_no: str | None
    time: datetime | None
    quantity: int
    value: float
    multiplier: int | None
    strike_price: float | None
    opt_type: str | None
    isin: str | None
    as_of: datetime | None
    by: str | None

    @property
    def kind(self) -> str:
        """``shares``, ``future`` or ``option``."""
        return kind_of(self.expiry_date, self.strike_price)


ATTRIBUTES = ("strike_price", "opt_type", "isin")  # fields that lots have in common with trades


class Lots(ResultTable[Lot]):
    """Lots grouped by key, within a key the oldest first."""

    _row = Lot
    _view = BY_CONTRACT._replace(columns=("side", "quantity", "value", "time"))


@declared
class Match(Keyed):
    """A quantity that one trade opened and another closed; see also ``Keyed``.

    Attributes:
        side: ``long`` if the purchase came first, ``short`` if the sale did.
        buy_trade_no: Trade number of the purchase; ``None`` for a settlement, or an opening lot
            without one.
        buy_time: Time of the purchase; ``None`` for an opening lot without one.
        sell_trade_no: Trade number of the sale; ``None`` for a settlement, or an opening lot
            without one.
        sell_time: Time of the sale; ``None`` for an opening lot without one.
        close_time: Time of the closing trade: the sale of a long lot, the purchase for a short one.
            A settlement is at 15:30 in India on the expiry date.
        quantity: Shares or contracts.
        cost: Value of the purchase.
        proceeds: Value of the sale.
        realised: ``proceeds - cost``, before charges.
        isin: ISIN of the closing trade, or else of the lot, if known.
        held: Days from opening to closing, 0 within a day; ``None`` for an opening lot without a
            time.
        by: Value of ``by`` (see ``td.Ledger``); ``None`` without one.
    """

    side: str
    buy_trade_no: str | None
    buy_time: datetime | None
    sell_trade_no: str | None
    sell_time: datetime | None
    close_time: datetime
    quantity: int
    cost: float
    proceeds: float
    realised: float
    isin: str | None
    held: int | None
    by: str | None


class Matches(ResultTable[Match]):
    """Matches of opening and closing trades, in the order in which they were closed."""

    _row = Match
    _view = BY_CONTRACT._replace(
        columns=("side", "realised", "quantity", "close_time", "cost", "proceeds"),
        sums=("realised",),
    )


@declared
class Realised(Keyed):
    """Realised profit and loss of one client in one security and product; see also ``Keyed``.

    Attributes:
        matched_quantity: Quantity that was both opened and closed.
        cost: Value of its purchases.
        proceeds: Value of its sales.
        realised: ``proceeds - cost``, before charges.
        unmatched_quantity: Quantity sold that neither closed a lot nor was allowed to open a short
            one (see ``shorts``); not part of ``realised``.
        unmatched_value: Value of these sales.
        open_quantity: Quantity still open: positive if long, negative if short; without what has
            expired.
        open_value: Value at which the open quantity was traded: paid if positive, received if
            negative.
        by: Value of ``by`` (see ``td.Ledger``); ``None`` without one.
    """

    matched_quantity: int
    cost: float
    proceeds: float
    realised: float
    unmatched_quantity: int
    unmatched_value: float
    open_quantity: int
    open_value: float
    by: str | None


class RealisedPnl(ResultTable[Realised]):
    """Result of ``realised_pnl``: one row for each key, with the lots behind the figures.

    Attributes:
        days: The days whose closing trades count, in order.
    """

    _row = Realised
    _view = BY_CONTRACT._replace(
        columns=(
            *("realised", "open_quantity", "matched_quantity", "cost", "proceeds"),
            "unmatched_quantity",
        ),
        sums=("realised",),
        rank="realised",
    )

    _TABLES = ("matches", "unmatched", "open_lots", "expired")

    days: tuple[date, ...]
    # Makes one of these tables when it is first read, which may take as long as the result.
    _table: Callable[[str], Any]

    @cached_property
    def matches(self) -> Matches:
        """Which trade closed which lot."""
        return self._table("matches")  # type: ignore[no-any-return]

    @cached_property
    def unmatched(self) -> Lots:
        """Sales that neither closed nor opened a lot; not part of ``realised``."""
        return self._table("unmatched")  # type: ignore[no-any-return]

    @cached_property
    def open_lots(self) -> Lots:
        """Lots still open at the end of the last day; the ``opening`` of the next."""
        return self._table("open_lots")  # type: ignore[no-any-return]

    @cached_property
    def expired(self) -> Lots:
        """Lots whose contract expired before the last day and that no ``settle`` price closed.

        They are neither realised nor open.
        """
        return self._table("expired")  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        for name in self._TABLES:
            getattr(self, name)
        vars(self).pop("_table", None)
        return super().__reduce__()

    def _part(self, rows: Slice) -> RealisedPnl:
        part = super()._part(rows)
        part._table = lambda name: getattr(self, name)._of_keys(set(part._keys()))
        return part

    @property
    def realised(self) -> float:
        """Sum over all rows, before charges."""
        return self._sum("realised")

    def _heading(self) -> str:
        parts = [super()._heading(), f"realised {group(self.realised, 2)} before charges"]
        if self.days:
            parts[0] = f"{days_text(self.days)}: {parts[0]}"
        return ", ".join(parts)


@declared
class Unrealised(Keyed):
    """Market value of one client's open quantity of a security and product; see also ``Keyed``.

    Attributes:
        quantity: Open quantity: positive if long, negative if short.
        value: Value at which it was traded: paid if positive, received if negative.
        average: Average price at which it was traded.
        price: Price passed by the caller; ``None`` if there is none.
        market_value: ``quantity * price * multiplier``, negative if short; ``None`` without a
            price or a multiplier.
        unrealised: ``market_value - value``, before charges; ``None`` likewise.
        multiplier: Shares in a contract as values count it, 1 for shares; ``None`` where nothing
            proves it.
        kind: ``shares``, ``future`` or ``option``.
        by: Value of ``by`` (see ``td.Ledger``); ``None`` without one.
    """

    quantity: int
    value: float
    average: float | None
    price: float | None
    market_value: float | None
    unrealised: float | None
    multiplier: int | None
    kind: str
    by: str | None


class UnrealisedPnl(ResultTable[Unrealised]):
    """Result of ``unrealised_pnl``: one row for each key with an open quantity."""

    _row = Unrealised
    _needs_all = True
    _view = BY_CONTRACT._replace(
        columns=("unrealised", "quantity", "average", "price", "market_value"),
        sums=("unrealised",),
        rank="unrealised",
    )

    @property
    def unrealised(self) -> float | None:
        """Sum of the rows, before charges; ``None`` while one has no price or no multiplier."""
        return self._total("unrealised")

    @property
    def unpriced(self) -> UnrealisedPnl:
        """The rows without a price or a multiplier."""
        return self.filter(market_value=None)

    def _heading(self) -> str:
        return f"{super()._heading()}, {self._said_of('unrealised')} before charges"


def priced_notes(values: UnrealisedPnl, price_of: Lookup) -> list[Note]:
    """Returns the issues of open quantities: those without a price or a multiplier."""
    notes = []
    for row in values.unpriced:
        problem = Problem.UNPRICED if row.price is None else Problem.UNPROVED
        notes.append(about(lead_of(row), problem, "in no sum"))
    if notes:  # else a list with more contracts is fine
        notes += unused("prices", price_of.unmatched(map(contract_of, values)))
    return notes


def valued_row(
    quantity: int,
    paid: tuple[int, int],
    multiplier: int | None,
    kind: str,
    price: Fraction | None,
    by: str | None,
) -> dict[str, object]:
    """Returns the values of an ``Unrealised`` after the leading ones.

    ``paid`` is the exact value that was paid, as a ratio, since reducing fractions takes long.
    """
    value, unit = paid
    price = price if quantity else Fraction(0)  # lots that cancel out need no price
    shares = 0 if not quantity else None if multiplier is None else quantity * multiplier
    average = market = gain = None
    if shares:
        average = (value if shares > 0 else -value) / (unit * abs(shares))
    if price is not None and shares is not None:
        worth, of_price = price.numerator * shares, price.denominator
        market = worth / of_price
        gain = (worth * unit - value * of_price) / (of_price * unit)
    return {
        "quantity": quantity,
        "value": value / unit,
        "average": average,
        "price": price.numerator / price.denominator if price is not None and quantity else None,
        "market_value": market,
        "unrealised": gain,
        "multiplier": multiplier,
        "kind": kind,
        "by": by,
    }


_IDLE = "no trades, and nothing is open"


@declared
class DayRow(Keyed):
    """One client's day in one security and product; see also ``Keyed``.

    Attributes:
        kind: ``shares``, ``future`` or ``option``.
        buy_quantity: Quantity bought on the day, in shares or contracts.
        buy_average: Average price of these purchases, ``None`` without any.
        sell_quantity: Quantity sold on the day.
        sell_average: Average price of these sales, ``None`` without any.
        open_quantity: Quantity open at the end of the day: positive if long, negative if short.
        open_average: Average price at which it was traded.
        price: Price passed by the caller; ``None`` if there is none.
        realised: Profit of what was closed on the day, before charges.
        unrealised: Value of the open quantity at the price, less what it was traded for; ``None``
            without a price.
        charges: Charges of the day's trades; 0 if no rates were passed.
        net: ``realised + unrealised - charges``; ``None`` without a price of what is open.
        by: Value of ``by`` (see ``td.Ledger``); ``None`` without one.
    """

    kind: str
    buy_quantity: int
    buy_average: float | None
    sell_quantity: int
    sell_average: float | None
    open_quantity: int
    open_average: float | None
    price: float | None
    realised: float
    unrealised: float | None
    charges: float
    net: float | None
    by: str | None


class NetPnl(ResultTable[Record]):
    """Rows that have what was realised, charges and a net.

    Attributes:
        pnl: The realised profit and loss behind them, with its matches and lots.
    """

    _needs_all = True
    _said: ClassVar[tuple[str, ...]]  # the sums in the heading

    pnl: RealisedPnl

    @property
    def realised(self) -> float:
        """Sum of what was realised, before charges."""
        return self._sum("realised")

    @property
    def charges(self) -> float:
        """Sum of the charges."""
        return self._sum("charges")

    @property
    def net(self) -> float | None:
        """Sum of what the rows earned after charges; ``None`` while an open one has no price."""
        return self._total("net")

    def _heading(self) -> str:
        return ", ".join(map(self._said_of, self._said))


class DayPnl(NetPnl[DayRow]):
    """Result of ``day_pnl``: one row for each key that was traded on the day, is open or expired.

    Attributes:
        day: The day; ``None`` for a book without trades.
        pnl: The realised profit and loss behind it, with its matches and lots.
    """

    _row = DayRow
    _said = ("net", "realised", "unrealised", "charges")
    _view = BY_CONTRACT._replace(
        columns=(*_said, "open_quantity", "open_average", "price"),
        narrow=_said,
        sums=_said,
        rank="net",
    )

    day: date | None

    @property
    def unrealised(self) -> float | None:
        """Sum of the rows, before charges, measured from cost; ``None`` while one has no price.

        It contains what was already unrealised the day before, so that the ``net`` of several days
        must not be added up.
        """
        return self._total("unrealised")

    @property
    def unpriced(self) -> DayPnl:
        """The open rows without a price, because of which the sums are ``None``."""
        return self.filter(unrealised=None)

    def _heading(self) -> str:
        text = super()._heading() if len(self) or self.day is None else _IDLE
        return text if self.day is None else f"{self.day}: {text}"


_day = itemgetter(0)


@declared
class DailyRow:
    """One client's profit and loss of one day, with what was carried from the day before.

    With ``per``, rows have these columns after ``client_id``.

    Attributes:
        account: Local label of the account, if known.
        client_id: Client identifier.
        day: The day.
        realised: Profit of what was closed on the day, from cost, before charges.
        unrealised: Value of what is open at the end of the day, less its cost; ``None`` if nothing
            that is known until then is a price of it.
        change: ``unrealised`` less that of the last day on which it is known.
        charges: Charges of the day's trades; 0 if no rates were passed.
        net: ``realised + change - charges`` since the last day on which it is known.
        by: Value of ``by`` (see ``td.Ledger``), if ``per`` names it.
    """

    account: str | None
    client_id: str
    day: date
    realised: float
    unrealised: float | None
    change: float | None
    charges: float
    net: float | None
    by: str | None


class DailyPnl(NetPnl[DailyRow]):
    """Result of ``daily_pnl``: one row for each day, account, client and whatever ``per`` names.

    Attributes:
        pnl: The realised profit and loss of all days, with its matches and lots.
    """

    _row = DailyRow
    _said = ("net", "realised", "charges")
    _view = View(
        "day",
        columns=("net", "realised", "change", "charges", "unrealised"),
        sums=("net", "realised", "change", "charges"),
        names=("day",),
        apart=KEY,
    )

    @classmethod
    def _of_days(cls, per: Sequence[str], rows: Sequence[Mapping[str, object]]) -> DailyPnl:
        """Returns a table of rows whose columns are those of a day, with others before it."""
        kind: Any = cls._row
        if per:
            fields = {field[0]: field[:3] for field in _core.fields_of(cls._row)}
            more = {field[0]: field[:3] for field in _core.fields_of(Realised)}
            names = [*KEY[:2], *per, *[name for name in fields if name not in KEY[:2]]]
            kind = row_type("DailyRow", [(fields | more)[name] for name in names])
        columns = [[row[name] for row in rows] for name in _core.names_of(kind)]
        return cls._over(_core.table_of(kind, columns, None))

    def _total(self, name: str) -> float | None:
        """Returns the sum of a column, or None if it is not known of the last day."""
        names = [each for each in (*KEY, BY) if each in self._kinds]
        keys = list(zip(*map(self._column, names), strict=True))
        in_time = sorted(zip(self._column("day"), keys, self._column(name), strict=True), key=_day)
        last = {key: value for _, key, value in in_time}
        return None if None in last.values() else self._sum(name)

    def _keys(self) -> list[Key]:
        return list(zip(*map(self._column, KEY[:2]), strict=True))

    def _heading(self) -> str:
        days = sorted(set(self._column("day")))
        return f"{days_text(days) if days else 'no days'}: {super()._heading()}"


@declared
class Charge(Keyed):
    """The charges of one client's trades in one security and product; see also ``Keyed``.

    Attributes:
        brokerage: Brokerage of the orders, with the amounts per order and per lot.
        stt: Securities transaction tax.
        exchange_charges: The exchange's transaction charges.
        sebi: SEBI's turnover fees.
        stamp: Stamp duty.
        other: Other charges.
        gst: Goods and services tax.
        total: The sum of these.
    """

    brokerage: float
    stt: float
    exchange_charges: float
    sebi: float
    stamp: float
    other: float
    gst: float
    total: float


@declared
class TradeCharge(Keyed):
    """A trade's share of what is charged; see also ``Keyed``.

    Attributes:
        order_no: Order number.
        trade_no: Trade number.
        time: Time of the trade.
        brokerage: Its share of the brokerage of its order, by value.
        stt: Securities transaction tax.
        exchange_charges: The exchange's transaction charges.
        sebi: SEBI's turnover fees.
        stamp: Stamp duty.
        other: Other charges.
        gst: Goods and services tax.
        total: The sum of these.
    """

    order_no: str | None
    trade_no: str | None
    time: datetime
    brokerage: float
    stt: float
    exchange_charges: float
    sebi: float
    stamp: float
    other: float
    gst: float
    total: float


_PARTS = ("total", "brokerage", "stt", "exchange_charges", "sebi", "stamp", "other", "gst")


class ChargeTable(ResultTable[Record]):
    """Rows that have charges, with their sum."""

    @property
    def total(self) -> float:
        """Sum over all rows."""
        return self._sum("total")

    def _heading(self) -> str:
        return f"{super()._heading()}, charges {group(self.total, 2)}"


class Charges(ChargeTable[Charge]):
    """Result of ``charges``: one row for each key."""

    _row = Charge
    _view = BY_CONTRACT._replace(columns=_PARTS, sums=_PARTS, rank="total")


class TradeCharges(ChargeTable[TradeCharge]):
    """Result of ``charges`` with ``per="trade"``: one row for each trade, in the book's order."""

    _row = TradeCharge
    _view = BY_CONTRACT._replace(columns=("order_no", *_PARTS), sums=_PARTS)
