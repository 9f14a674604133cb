"""The base of every table: books, results of calculations and queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import countOf, indexOf
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NoReturn,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
)

from .. import _core
from .._util.declarations import Reduced, kinds_of, reduced
from .._util.validate import count, did_you_mean, flag, method_keywords, no_field, shown
from ..display import ENDS, Ends, Shown, View, counted, impersonal, table_text
from .conditions import Condition, core_conditions, parse_conditions, why_none
from .export import KEYWORDS, TableExport
from .selection import Selection

Record = TypeVar("Record")
AnyTable = TypeVar("AnyTable", bound="Table[Any]")


INSTEAD = {
    ".to_pandas() or .to_polars()": "to_df to_frame df to_numpy values T",
    ".to_pandas().groupby(...)": "groupby group_by agg pivot pivot_table value_counts resample",
    "the method of .to_pandas()": (
        "merge join apply map describe sum mean max min unique nunique drop drop_duplicates "
        "dropna fillna isna rename assign astype cumsum to_sql to_markdown to_string"
    ),
    "a loop over the rows: for row in table": "iterrows itertuples iter_rows rows",
    "list(table), or .to_dicts()": "to_list tolist to_records",
    "an index or a slice: [0], [:5]": "iloc loc iat at row first last",
    ".filter(symbol='INFY')": "query where select_rows",
    ".sort('symbol', '-quantity')": "sort_values sort_by order_by",
    "td.concat([one, other])": "append extend concat",
    ".to_pandas(columns=[...]) or .column(name)": "select get_column",
    "len()": "shape size empty",
    ".columns for the names, .to_pandas().dtypes for the types": "dtypes schema info keys",
    "the functions of td.plot": "plot hist",
}
"""What to write in place of what data frames and lists have."""


@method_keywords(KEYWORDS)
class Table(TableExport, Generic[Record]):
    """An immutable sequence of rows of one type, whose columns are in the core.

    Slices, filters and sorts return tables of the same type. A row or a slice keeps the storage of
    its table alive. Tables are equal if they are of one type and their rows are equal, in order.
    """

    __slots__ = ("__weakref__", "_refused", "_rows")

    _row: ClassVar[type]
    _view: ClassVar[View] = View()
    _rows: _core.Slice
    _refused: tuple[_core.Slice, Sequence[Condition]]

    @classmethod
    def _over(cls, rows: _core.Slice) -> Self:
        self = object.__new__(cls)
        self._rows = rows
        self._refused = rows, ()  # the input and the conditions of a filter without matches
        return self

    def _part(self, rows: _core.Slice) -> Self:
        """Returns a table of some of the rows, with what else belongs to them."""
        return restored_table(type(self), rows, self._state())

    def _taken(self, rows: list[int]) -> Self:
        return self._part(self._rows.take(rows))

    def _state(self) -> dict[str, object]:
        """Returns what belongs to the table besides its rows, by attribute."""
        return dict(getattr(self, "__dict__", {}))

    # -- a sequence --

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Record | Self:
        if isinstance(index, slice):
            return self._part(self._rows[index])
        if isinstance(index, str):
            raise TypeError(self._no_attribute(index))
        try:
            row: Record = self._rows[index]
        except TypeError:
            raise TypeError(
                f"a {type(self).__name__} takes an integer or a slice, not {shown(index)}: "
                "select rows with .filter(quantity__ge=100), and select columns with "
                ".to_pandas(columns=[...])"
            ) from None
        return row

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name: str) -> object:
            raise AttributeError(self._no_attribute(name), name=name, obj=self)

    def _no_attribute(self, name: str) -> str:
        """Returns the message for a table that is used like a data frame."""
        kind: type = type(self)
        if name.startswith("_") or not hasattr(self, "_rows"):  # made by object.__new__
            return f"{kind.__name__} has no attribute {name!r}"
        if name in self.columns:
            return (
                f"a {kind.__name__} is a sequence of rows: read a column with "
                f".column({name!r}) or .to_pandas()[{name!r}]"
            )
        public = [known for known in dir(kind) if not known.startswith("_")]
        hint = did_you_mean(name, [*self.columns, *public], INSTEAD)
        return f"{kind.__name__} has no {name!r}{hint}"

    def __add__(self, other: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be added to: use td.concat([one, other])")

    def head(self, rows: int = 5) -> Self:
        """Returns the first rows.

        Args:
            rows: Their number.
        """
        return self[: count("rows", rows, least=0)]

    def tail(self, rows: int = 5) -> Self:
        """Returns the last rows.

        Args:
            rows: Their number.
        """
        return self[max(0, len(self) - count("rows", rows, least=0)) :]

    def column(self, name: str) -> list[Any]:
        """Returns the values of a column.

        Args:
            name: Name of the column.

        Raises:
            KeyError: There is no such column.

        Example:
            >>> max(price for price in trades.column("traded_price") if price is not None)
        """
        if name not in self.columns:
            raise KeyError(self._no_column(name))
        return self._column(name)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._rows)

    def __reversed__(self) -> Iterator[Record]:
        return reversed(self._rows)

    def __contains__(self, record: object) -> bool:
        return record in self._rows

    def index(self, record: Record, start: int = 0, stop: int | None = None, /) -> int:
        """Returns the position of the first row that equals a record.

        Args:
            record: The record to find.
            start: First position to search.
            stop: Position before which the search ends; the end of the table if None.

        Raises:
            ValueError: No such row equals the record.
        """
        first, last, _ = slice(start, stop).indices(len(self))
        try:
            return first + indexOf(self._rows[first:last], record)
        except ValueError:
            raise ValueError("no row equals that record") from None

    def count(self, record: Record) -> int:
        """Returns the number of rows that equal a record.

        Args:
            record: The record to count.
        """
        return countOf(self._rows, record)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._rows == other._rows

    def __hash__(self) -> int:
        ends = (self[0], self[-1]) if len(self) else ()
        return hash((type(self).__name__, len(self), ends))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> Reduced:
        return reduced("table", type(self), self._rows, self._state())

    # -- columns --

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return _core.names_of(self._rows.row_type)

    @property
    def _kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return kinds_of(self._rows.row_type)

    @property
    def _title(self) -> str:
        """What the table is called in messages and workbooks."""
        return type(self).__name__

    def _no_column(self, name: str) -> str:
        return no_field(self._title, name, tuple(self.columns))

    def _column(self, name: str) -> list[Any]:
        return self._rows.column(name)

    def _selection(self, columns: Sequence[str] | None = None, *, extra: bool = False) -> Selection:
        return Selection(self, columns, extra=extra)

    # -- chosen rows --

    def filter(
        self, predicate: Callable[[Record], object] | None = None, /, **conditions: object
    ) -> Self:
        """Returns the rows that meet all conditions, in order.

        A condition is a keyword: ``symbol="INFY"`` tests equality, a set or a list matches any of
        its members and ``None`` a missing value. ``field__gt=`` compares, likewise ``__ge``,
        ``__lt``, ``__le`` and ``__ne``; ``field__between=(low, high)`` includes both ends. A
        missing value is neither greater nor less than any other. A timestamp can be compared with a
        datetime, a date (that day) or a time (on any day), also in ISO text. A function of the row
        expresses everything else.

        Args:
            predicate: Called with each row that meets the conditions; rows for which it returns a
                false value are left out.
            **conditions: Required values of columns.

        Returns:
            A table of the matching rows.

        Raises:
            TypeError: There is no such column or comparison, or a value is of a type that the
                column never has.
            ValueError: A number is not finite or cannot be held exactly.

        Example:
            >>> trades.filter(symbol={"INFY", "TCS"}, quantity__ge=100)
            >>> trades.filter(expiry_date__ne=None, exch_trade_time__lt=time(10, 0))
            >>> trades.filter(lambda trade: trade.quantity % trade.lot_size)
        """
        if predicate is not None and not callable(predicate):
            raise TypeError(
                "filter takes conditions, such as symbol='INFY', or a function of a row, not "
                f"{shown(predicate)}"
            )
        matches = self
        if conditions:
            matches = self._where(parse_conditions(self._title, self.columns, conditions))
        if predicate is None:
            return matches
        return matches._taken([row for row, record in enumerate(matches) if predicate(record)])

    def _where(self, conditions: list[Condition]) -> Self:
        matches = self._part(self._rows.where(core_conditions(self._rows, conditions)))
        if not len(matches):
            matches._refused = self._rows, conditions
        return matches

    def _why_none(self) -> str:
        """Returns why a filter found nothing, for the heading of a table without rows."""
        return why_none(*self._refused)

    def sort(self, *fields: str, reverse: bool = False) -> Self:
        """Returns the rows sorted by one or more columns.

        The sort is stable, and rows without a value are last in either direction. Text is compared
        by code points, and times by their clock time.

        Args:
            *fields: Names of columns, the primary key first. A minus sign before a name sorts by
                this column in descending order.
            reverse: Whether to reverse the order of all columns.

        Returns:
            A sorted table.

        Raises:
            KeyError: There is no such column.
            ValueError: A column is named twice.
            TypeError: No name of a column is given, or anything else.

        Example:
            >>> trades.sort("symbol", "-traded_price")
        """
        if not fields or not all(isinstance(field, str) for field in fields):
            raise TypeError("sort takes names of columns: sort('symbol', '-traded_price')")
        flag("reverse", reverse)  # "no" would reverse it
        keys = [(field.removeprefix("-"), field.startswith("-") != reverse) for field in fields]
        return self._sorted(keys)

    def _sorted(self, keys: list[tuple[str, bool]]) -> Self:
        self._selection([name for name, _ in keys])  # raises for unknown and repeated names
        return self._part(self._rows.sorted(keys))

    # -- display --

    def _heading(self) -> str:
        """Returns what a display says above the rows."""
        return counted(len(self), self._view.noun)

    def _view_of_rows(self) -> View:
        """Returns what a display shows of these rows."""
        return self._view._replace(columns=self._view.columns or tuple(self.columns))

    def _cells(self, name: str, rows: list[int]) -> list[Any]:
        """Returns the values of a column that a display shows, without personal data."""
        (values,) = self._rows.cells(rows, [name])
        return [impersonal(name, value) for value in values]

    def _preview(
        self, columns: Sequence[str] | None = None, ends: Ends = ENDS
    ) -> tuple[str, Shown | None]:
        """Returns the line above the rows, and the rows to show, if there are any."""
        if not len(self):
            return self._heading() + self._why_none(), None
        return self._heading(), Shown(self, columns, ends=ends)

    def __repr__(self) -> str:
        return table_text(self)

    def _repr_html_(self) -> str:
        from ..display import table_html

        return table_html(self)


def restored_table(kind: type[AnyTable], rows: _core.Slice, state: dict[str, object]) -> AnyTable:
    """Returns a table of rows with what else belongs to it."""
    table = kind._over(rows)
    for name, value in state.items():
        setattr(table, name, value)
    return table
