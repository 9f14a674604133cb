"""Books: immutable sequences of records, held in columns by the core."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Any, ClassVar, NamedTuple, Never, Self, TypeVar

from .. import _core
from .._util.declarations import BOOK_CALLS, CALL_OF, RECORDS, Reduced, reduced
from .._util.time_zones import zone_from
from .._util.validate import flag, method_keywords, no_field, text
from ..display import ENDS, VIEWS, Ends, Shown, View, book_cells, book_heading
from ..errors import ConfigurationError
from ..table.export import KEYWORDS, ArrowTable
from ..table.rows import Order, Stock, Trade, restored_records
from ..table.table import Record, Table
from .diff import OrderChange, changes_of, checked_ignore, compare
from .issues import (
    Issue,
    decode_issues,
    disagreements,
    response_issues,
    warn_of_lost,
)
from .response import Facts, Response

# These change with the market and from response to response, while the order itself does not.
UNCOUNTED = ("row_no", "ref_ltp")


@method_keywords(KEYWORDS)
class Book(Table[Record]):
    """An immutable sequence of records of one type, in the order of the response.

    Returned by a client, by ``from_json`` and ``load``, or constructed from records:
    ``TradeBook([Trade(...)])``. Slices and filters return books too. A row or a slice keeps the
    storage of its book alive. Books are equal if their rows are, in order; unknown fields are
    compared by their JSON text, so that ``1.5`` and ``1.50`` differ; ``response`` and ``issues``
    are not compared.
    """

    __slots__ = ("_issues", "_response")

    _record: ClassVar[str]
    # Both are made when they are first asked for, since most calls ask for neither.
    _response: Response | Callable[[], Response] | None
    _issues: tuple[Issue, ...] | None

    def __init_subclass__(cls) -> None:
        cls._view = VIEWS[cls._record]

    def __new__(cls, records: Iterable[Record] = (), *, keep_personal_data: bool = False) -> Self:
        """Constructs a book from records of its type.

        Args:
            records: The records. Their times must be in one zone; a record without times is in
                none.
            keep_personal_data: Whether to keep account numbers (PAN) instead of masking them.

        Raises:
            TypeError: ``records`` is not an iterable of such records.
            ValueError: Their times are in different zones.
        """
        if hasattr(records, "__arrow_c_stream__") and not isinstance(records, Table):
            raise TypeError(f"read a table of another library with {cls.__name__}.from_arrow")
        keep = flag("keep_personal_data", keep_personal_data)
        rows = _core.from_rows(cls._record, list(records))
        if not rows.masked and not keep:
            rows = restored_records(cls._record, rows.to_json(), rows.zone, masked=True)
        return cls._of(rows, issues=())

    @classmethod
    def _of(
        cls,
        rows: _core.Slice,
        *,
        response: Response | Callable[[], Response] | None = None,
        issues: tuple[Issue, ...] | None = None,
    ) -> Self:
        self = cls._over(rows)
        self._response = response
        self._issues = issues
        return self

    def _part(self, rows: _core.Slice) -> Self:
        return self._of(rows, issues=self.issues)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Values of the response that did not fit; a slice has the issues of its response."""
        if self._issues is None:
            found = decode_issues(self._rows)
            found += () if self._response is None else response_issues(self._rows)
            self._issues = found
        return self._issues

    @property
    def response(self) -> Response | None:
        """The response, if this book is a complete one; ``None`` for slices, concatenations etc."""
        if callable(self._response):
            self._response = self._response()
        return self._response

    @property
    def _title(self) -> str:
        return self._record

    def _accounts(self) -> list[str | None]:
        """Returns the labels of the rows. A heading names a single one, or says how many."""
        if self.response is not None and self.response.account:
            return [self.response.account]
        return self._rows.distinct("account") if "account" in self._kinds else []

    def _view_of_rows(self) -> View:
        return self._view_of(self._accounts())

    def _view_of(self, accounts: list[str | None]) -> View:
        if len(accounts) > 1:
            return self._view
        columns = tuple(name for name in self._view.columns if name != "account")
        return self._view._replace(columns=columns, silent=frozenset({"account"}))

    def _cells(self, name: str, rows: list[int]) -> list[Any]:
        return book_cells(self, name, rows)

    def _preview(
        self, columns: Sequence[str] | None = None, ends: Ends = ENDS
    ) -> tuple[str, Shown | None]:
        accounts = self._accounts()  # read once, since it takes most of the time of a large book
        if not len(self):
            return book_heading(self, accounts) + self._why_none(), None
        shown = Shown(self, columns, ends=ends, view=self._view_of(accounts))
        return book_heading(self, accounts, shown.without_common_day(self)), shown

    @classmethod
    def _decode(
        cls,
        data: bytes | bytearray | memoryview,
        strict: bool,
        keep_personal_data: bool,
        account: str | None,
    ) -> _core.Slice:
        in_envelope = CALL_OF[cls._record] in BOOK_CALLS
        decode = _core.decode_book if in_envelope else _core.decode_list
        return decode(cls._record, data, strict, keep_personal_data, account or "")

    @classmethod
    def _received(
        cls, rows: _core.Slice, response: Response | Callable[[], Response] | None
    ) -> Self:
        """Returns a book of what was decoded; warns about lost values."""
        if rows.issues:
            warn_of_lost(decode_issues(rows), cls._record)
        return cls._of(rows, response=response)

    @classmethod
    def from_json(
        cls,
        data: bytes | bytearray | memoryview | str,
        *,
        account: str | None = None,
        strict: bool = False,
        keep_personal_data: bool = False,
    ) -> Self:
        """Decodes the body of a saved response, with the same decoder as the client.

        Lost values issue a ``DataWarning``.

        Args:
            data: The body, as bytes or text.
            account: Label of the account, for the field ``account`` of each row.
            strict: Whether lost or missing values raise ``DecodeError`` instead of a warning.
            keep_personal_data: Whether to keep account numbers (PAN) instead of masking them.

        Returns:
            The book.

        Raises:
            DecodeError: The body is malformed or not what the service documents.
            ServiceError: The body is an error envelope.
            TypeError: ``data`` is neither text nor bytes.
            ConfigurationError: It is the name of a file.
        """
        load = f"read a file with {cls.__name__}.load"
        if isinstance(data, str) and data.endswith(".json"):  # which no JSON text does
            raise ConfigurationError(f"from_json takes a response body, not a path: {load}")
        try:
            body = (
                data.encode(errors="surrogatepass") if isinstance(data, str) else memoryview(data)
            )
        except TypeError:
            kind = type(data).__name__
            raise TypeError(
                f"from_json takes a response body as bytes or str, not {kind}: {load}"
            ) from None
        label = None if account is None else text("account", account)
        keep = flag("keep_personal_data", keep_personal_data)
        rows = cls._decode(body, flag("strict", strict), keep, label)
        return cls._received(rows, Response(rows, label))

    @classmethod
    def from_arrow(
        cls,
        data: ArrowTable,
        *,
        names: Mapping[str, str] | None = None,
        constants: Mapping[str, Any] | None = None,
        keep_personal_data: bool = False,
    ) -> Self:
        """Makes a book of a table of another library, such as one read from a Parquet file.

        A value means what it would mean in a response: it is converted where nothing is lost, and
        is ``None`` and an issue where it does not fit its field; lost values issue a
        ``DataWarning``. NaN counts as missing.

        Columns are found by name, or by ``names``. One that is missing is ``None`` in every row,
        and an issue unless ``names`` or ``constants`` describe another source. An unknown one
        becomes an unknown field of each row, and so does each member of the JSON objects in a text
        column ``extra``, which exports with ``extra=True`` write. Columns that an archive adds
        (``day``, ``fetch_id``, ``received_at``, ``last_seen``, ``sent``) are dropped.

        Columns of times must be in one zone, and give a localized book; a time with an offset in
        ``extra`` or ``constants`` is put on the clock of that zone, and one without an offset is
        taken to be on it. If one of the times is the second of two equal clock times, when summer
        time ends, all are in UTC. The data is copied.

        Args:
            data: A pyarrow Table, a polars or pandas DataFrame, a DuckDB relation or anything else
                with ``__arrow_c_stream__`` or ``__arrow_c_array__``. Text may be of any layout or a
                dictionary, integers and numbers of any width, times of any unit.
            names: Fields by the names of columns, such as ``{"trade_id": "trade_no"}``.
            constants: Values of fields in every row, such as ``{"exchange": "NSE"}``, as a record
                takes them.
            keep_personal_data: Whether to keep account numbers (PAN) instead of masking them.

        Returns:
            The book, without a response.

        Raises:
            TypeError: ``data`` is no such object, or a column has a type that its field does not
                take.
            KeyError: ``names`` or ``constants`` have an unknown field.
            ValueError: ``names`` has a column that the data lacks, ``constants`` a field that it
                has, or the data is malformed or could not be read, or its zone is unknown.
        """
        fields = _core.names_of(cls._record)
        columns, values = dict(names or {}), dict(constants or {})
        for name in (*columns.values(), *values):
            if name not in fields:
                raise KeyError(no_field(cls._record, name, tuple(fields)))
        keep = flag("keep_personal_data", keep_personal_data)
        rows = _core.from_arrow(cls._record, _undamaged(data), keep, columns, values)
        return cls._received(rows, None)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Saves the response as JSON, or the rows as Parquet or CSV, by the name of the file.

        A ``.json`` file is the response, with PANs masked unless the client kept them, or the rows
        of a book that is not one complete response. One more member, ``_tradingdata``, has the
        issues, the time zone, when and by whom it was fetched, and checksums. A ``.parquet`` file
        has the rows, with unknown fields in a column ``extra``; a ``.csv`` file too, but it does
        not distinguish empty text from none, and a localized book is read back with naive times.
        Only its owner may read the file, unless it replaces one, whose mode stays.

        Args:
            path: The file, whose name ends in .json, .parquet or .csv.
            overwrite: Whether to replace an existing file.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
            ValueError: The name ends in something else.
            ImportError: For Parquet, pyarrow is not installed.
        """
        from . import saved_file

        suffix = saved_file.suffix_of(path)
        if suffix == ".parquet":
            self.to_parquet(path, extra=True, overwrite=overwrite)
        elif suffix == ".csv":
            self.to_csv(path, extra=True, overwrite=overwrite)
        else:
            saved_file.write(path, *self._packed(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, keep_personal_data: bool = False) -> Self:
        """Loads a book saved by ``save`` or ``to_csv``; of a JSON file the checksum is verified.

        Args:
            path: The file.
            keep_personal_data: Whether to keep account numbers (PAN) in the file instead of masking
                them.

        Returns:
            The book.

        Raises:
            ValueError: The file was not written by ``save`` for this type of book, was written by
                another version, is damaged or was edited.
            ImportError: For Parquet, pyarrow is not installed.
        """
        from . import saved_file

        suffix, keep = saved_file.suffix_of(path), flag("keep_personal_data", keep_personal_data)
        if suffix != ".json":
            fields = RECORDS[cls._record]["fields"]
            needed = {field["name"] for field in fields if not field["optional"]}
            read = saved_file.read_parquet if suffix == ".parquet" else saved_file.read_csv
            table = read(path, needed, cls.__name__)
            return cls.from_arrow(table, keep_personal_data=keep)
        facts, body, zone = saved_file.read(path, cls.__name__, cls._record)
        return cls._unpacked(facts, body, zone, keep and not facts["masked"])

    def __reduce__(self) -> Reduced:
        return reduced("book", type(self), *self._packed(), not self._rows.masked)

    def _packed(self) -> tuple[Facts, bytes, tzinfo | None]:
        """Returns the metadata of the book, its body or else its rows, and its time zone."""
        facts: Facts = {"record": self._record, "masked": self._rows.masked}
        # Masking rewrites personal values, so decoding the masked body misses some of the issues.
        facts["issues"] = [list(issue) for issue in self.issues]
        if self.response is None:
            return {**facts, "wrapped": True}, self._rows.to_json(), self._rows.zone
        facts["response"] = self.response.facts()
        facts["wrapped"] = CALL_OF[self._record] not in BOOK_CALLS
        return facts, self.response.content, self._rows.zone

    @classmethod
    def _unpacked(
        cls, facts: Facts, body: bytes, zone: tzinfo | None, keep_personal_data: bool
    ) -> Self:
        """Restores a book from the result of ``_packed``."""
        response = None
        if "response" in facts:
            account = facts["response"]["account"]
            rows = cls._decode(body, False, keep_personal_data, account)
            response = Response(rows, **facts["response"])
        else:
            rows = _core.decode_list(cls._record, body, False, keep_personal_data, written=True)
        issues = tuple(Issue(*issue) for issue in facts["issues"]) if "issues" in facts else None
        # Saved times are naive; the zone is stored separately.
        return cls._of(rows.with_zone(zone), response=response, issues=issues)

    def localize(self, tz: str | tzinfo | None) -> Self:
        """Returns the same book with a time zone attached to its times.

        The service documents no zone, so times are naive by default. Clock times are not converted.
        The zone applies to rows, Arrow and frames alike.

        Args:
            tz: A name such as ``"Asia/Kolkata"``, the exchanges' zone; a tzinfo (a pytz zone is
                replaced by the zoneinfo zone of the same name); or ``None``, which makes the times
                naive again.

        Returns:
            The localized book.

        Raises:
            TypeError: ``tz`` is of another type.
            ValueError: There is no such zone, or the times already have another zone.
        """
        zone = zone_from(tz)
        known = self._rows.zone
        if zone == known:
            return self
        if zone is not None and known is not None:
            raise ValueError(f"the times are already in {known}: call localize(None) first")
        rows = self._rows.with_zone(zone)
        return self._of(rows, response=self._response, issues=self._issues)

    @property
    def extra_fields(self) -> tuple[str, ...]:
        """Names of the fields in these rows that the service does not document."""
        return tuple(self._rows.extra_names())


class TradeBook(Book[Trade]):
    """The executed trades of an account, a sequence of ``Trade`` in the service's order."""

    __slots__ = ()
    _record = "Trade"

    def check(self) -> tuple[Issue, ...]:
        """Checks these trades for internal inconsistencies.

        Reports each ``trade_value`` that differs from ``quantity * traded_price`` (and from that
        times ``lot_size``), and each ``traded_price`` of 0. In a complete response, also reports
        repeated and missing values of ``row_no``. Does not modify the book or issue warnings.

        Returns:
            One issue for each kind of inconsistency; empty if there are none.
        """
        return disagreements(self._rows, is_whole=self._response is not None)


class OrderBook(Book[Order]):
    """The orders of the current day, a sequence of ``Order`` in the service's order."""

    __slots__ = ()
    _record = "Order"

    def check(self) -> tuple[Issue, ...]:
        """Checks these orders for internal inconsistencies.

        Reports each ``rem_qty_tot_qty`` that differs from ``remaining_quantity/quantity``, and each
        ``traded_qty`` above ``quantity - remaining_quantity``. In a complete response, also reports
        repeated and missing values of ``row_no``. Does not modify the book or issue warnings.

        Returns:
            One issue for each kind of inconsistency; empty if there are none.
        """
        return disagreements(self._rows, is_whole=self._response is not None)

    def diff(
        self, previous: OrderBook, *, ignore: Iterable[str] = UNCOUNTED
    ) -> tuple[OrderChange, ...]:
        """Compares this book with an earlier one: which orders are new, changed or gone.

        Orders are matched by client, day of entry, exchange, segment, ``order_no``, ``leg_no`` and
        ``child_leg_unq_id``, where a missing value fits any. Where several agree in all of these,
        equal ones are matched first, and the others in order. All values are compared, including
        those of unknown fields, except timestamps, account numbers and the fields of ``ignore``.

        Args:
            previous: The earlier book.
            ignore: Fields that do not count as a change; timestamps never do.

        Returns:
            The changes in the order of this book, followed by orders that are gone. Their records
            own their storage.

        Raises:
            TypeError: ``previous`` is not an order book.
        """
        if not isinstance(previous, OrderBook):
            raise TypeError(f"diff takes an OrderBook, not {type(previous).__name__}")
        rows, known = self._rows, previous._rows
        compared = compare(rows, known, checked_ignore(ignore))
        return changes_of(rows, known, compared, present=len(known))


class StockList(Book[Stock]):
    """The stocks found by a search, a sequence of ``Stock``."""

    __slots__ = ()
    _record = "Stock"


class Books(NamedTuple):
    """A consistent pair of books of one account: ``orders, trades = client.books()``.

    Attributes:
        orders: The order book.
        trades: The trade book, which has every fill that the orders report, and no others.
    """

    orders: OrderBook
    trades: TradeBook


AnyBook = TypeVar("AnyBook", bound=Book[Any])


def _undamaged(data: Any) -> Any:
    """Checks the buffers of pyarrow's objects, whose sizes it does not tell other libraries.

    It opens a damaged file of Arrow data without a look at them.
    """
    pyarrow: Any = sys.modules.get("pyarrow")
    if pyarrow is None:
        return data
    if isinstance(data, pyarrow.RecordBatchReader):
        return pyarrow.RecordBatchReader.from_batches(data.schema, map(_undamaged, data))
    if isinstance(data, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.Array)):
        try:
            data.validate()
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"the Arrow data is malformed: {error}") from None
    return data


def restored_book(kind: type[AnyBook], *state: Never) -> AnyBook:
    """Restores a book from its pickle."""
    return kind._unpacked(*state)


def concat(books: Iterable[AnyBook], *others: Never) -> AnyBook:
    """Concatenates books of the same type and time zone.

    Args:
        books: A list of the books.
        *others: Nothing: ``concat([one, other])``, not ``concat(one, other)``.

    Returns:
        One book with all rows, in order, and all issues, whose rows are counted in it.

    Raises:
        ValueError: There are no books, or their time zones differ.
        TypeError: The books have different records.
    """
    if others or isinstance(books, Table) or not isinstance(books, Iterable):
        raise TypeError("concat takes a list of books: td.concat([one, other])")
    parts = list(books)
    if not parts:
        raise ValueError("there is nothing to join: pass at least one book")
    kind = type(parts[0])
    for part in parts:
        if type(part) is not kind or not issubclass(kind, Book):
            raise TypeError(
                "concat takes a list of books of one type, not "
                + " and ".join(dict.fromkeys((kind.__name__, type(part).__name__)))
            )
    issues: list[Issue] = []
    start = 0
    for book in parts:
        issues += (issue._replace(row=start + issue.row) for issue in book.issues)
        start += len(book)
    return kind._of(_core.join([book._rows for book in parts]), issues=tuple(issues))
