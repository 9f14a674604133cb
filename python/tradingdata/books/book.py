"""Books: immutable sequences of records, held in columns by the core."""

from __future__ import annotations

import operator

from .. import _core
from .._util.time_zones import zone_from
from ..display.text import BookDisplay
from ..export.book_selection import BookSelection
from ..export.table_export import TableExport
from .issues import Issue, decode_issues, warn_of_lost
from .records import Order, Stock, Trade
from .response import Response
from .row_selection import Record, RowSelection, no_column

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import tzinfo
    from typing import Any, ClassVar, Self, SupportsIndex, TypeVar, overload

    from .._core import Table
    from .diff import OrderChange
    from .filter import Condition


# They tick with the market and from answer to answer, while the order stays as it is.
UNCOUNTED = ("row_no", "ref_ltp")


def _bytes_of(data: bytes | bytearray | memoryview | str) -> bytes | memoryview:
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError:
            raise ValueError(
                "from_json got half of a surrogate pair, which UTF-8 cannot encode: pass the bytes"
            ) from None
    try:
        view = memoryview(data)
    except TypeError:
        kind = type(data).__name__
        raise TypeError(f"from_json takes an answer as bytes or str, not {kind}") from None
    return view if view.c_contiguous else bytes(view)


class Book(RowSelection[Record], TableExport, BookDisplay):
    """An immutable sequence of records of one type, in the order of the answer.

    Made by a client, by ``from_json`` and ``load``, or by hand: ``TradeBook([Trade(...)])``. Slices
    and filters are books too. A row keeps its book's storage alive; so does a slice. Books are
    equal where their rows are, in order; what came with them (``response``, ``issues``) does not
    count.
    """

    __slots__ = ("__weakref__", "_filtered", "_issues", "_response", "_start", "_stop", "_table")

    _record: ClassVar[str]
    _table: Table
    _start: int
    _stop: int
    _response: Response | None
    _issues: tuple[Issue, ...] | None
    _filtered: tuple[Self, list[Condition]] | None  # of an empty result: from what, and how

    def __new__(cls, records: Iterable[Record] = ()) -> Self:
        """Makes a book of records of its type.

        Raises:
            TypeError: ``records`` is no iterable of such records.
        """
        if not hasattr(type(records), "__iter__"):
            raise TypeError(f"{cls.__name__} takes {cls._record} records, not {records!r}")
        return cls._of(_core.from_rows(cls._record, iter(records)), issues=())

    @classmethod
    def _of(
        cls,
        table: Table,
        start: int = 0,
        stop: int | None = None,
        *,
        response: Response | None = None,
        issues: tuple[Issue, ...] | None = None,
    ) -> Self:
        self = object.__new__(cls)
        self._table = table
        self._start = start
        self._stop = len(table) if stop is None else stop
        self._response = response
        self._issues = issues
        self._filtered = None
        return self

    @classmethod
    def _received(cls, table: Table, response: Response, *, stacklevel: int) -> Self:
        """A book of a whole answer; warns of what was lost in it."""
        if table.issues:
            warn_of_lost(decode_issues(table), cls._record, stacklevel=stacklevel + 1)
        return cls._of(table, response=response)

    @classmethod
    def from_json(
        cls,
        data: bytes | bytearray | memoryview | str,
        *,
        strict: bool = False,
        keep_personal_data: bool = False,
    ) -> Self:
        """Decodes a saved answer of the service, with the decoder that the client uses.

        ``strict`` makes any lost or missing value an error; ``keep_personal_data`` keeps account
        numbers (PAN), which are masked otherwise. Warns with DataWarning of what was lost. Raises
        DecodeError and ServiceError as a call does, and TypeError for anything but text and bytes.
        """
        table = cls._decode(_bytes_of(data), strict, keep_personal_data)
        return cls._received(table, Response(table), stacklevel=2)

    @classmethod
    def _decode(
        cls, data: bytes | bytearray | memoryview, strict: bool, keep_personal_data: bool
    ) -> Table:
        return _core.decode_book(cls._record, data, strict, keep_personal_data)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the answer as it was kept, with its facts; of a part, its rows.

        The file is one line of JSON that describes it, then the body byte for byte; only the user
        may read it. Raises FileExistsError unless ``overwrite``.
        """
        from . import storage as saved

        saved.save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, keep_personal_data: bool = False) -> Self:
        """Reads what ``save`` wrote, and proves that it is whole.

        Personal values that the file holds are masked unless ``keep_personal_data``. Raises
        ValueError where the file is of another kind, of a later version, or damaged.
        """
        from . import storage as saved

        return saved.load(cls, path, keep_personal_data=keep_personal_data)

    # -- a sequence --

    def __len__(self) -> int:
        return self._stop - self._start

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> Record: ...
        @overload
        def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Record | Self:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                return self._part(self._table, self._start + start, self._start + stop)
            rows = range(self._start + start, self._start + stop, step)
            return self._part(self._table.take(rows))
        if isinstance(index, str):
            raise TypeError(no_column(self, index))
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"row {at} of a book of {len(self)}")
        row: Record = self._table.row((self._start if at >= 0 else self._stop) + at)
        return row

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(no_column(self, name), name=name, obj=self)

    def __iter__(self) -> Iterator[Record]:
        return self._table.rows(self._start, self._stop)

    def __reversed__(self) -> Iterator[Record]:
        return self._table.rows(self._stop - 1, self._start - 1, -1)

    def __contains__(self, record: object) -> bool:
        return bool(self._table.find(self._start, self._stop, record))

    def index(self, record: Record, start: int = 0, stop: int | None = None, /) -> int:
        """The position of the first row from ``start`` on, before ``stop``, that equals ``record``.

        Raises ValueError where none does.
        """
        first, last, _ = slice(start, stop).indices(len(self))
        found = self._table.find(self._start + first, self._start + max(first, last), record)
        if not found:
            raise ValueError("no row of the book equals that record")
        return found[0] - self._start

    def count(self, record: Record) -> int:
        """How many rows equal ``record``."""
        return len(self._table.find(self._start, self._stop, record))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return len(self) == len(other) and self._table.equal(
            self._start, self._stop, other._table, other._start
        )

    def __hash__(self) -> int:
        ends = (self[0], self[-1]) if len(self) else ()
        return hash((type(self).__name__, len(self), ends))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from . import storage as saved

        return saved.unpack, (type(self), *saved.pack(self))

    # -- parts and unions --

    def _part(self, table: Table, start: int = 0, stop: int | None = None) -> Self:
        return self._of(table, start, stop, issues=self.issues)

    def localize(self, tz: str | tzinfo | None) -> Self:
        """Returns the same book with its times in a zone, in rows, Arrow and frames alike.

        The service states no zone, so times are naive until then. The clock times stay as they
        are: nothing is converted.

        Args:
            tz: A name such as ``"Asia/Kolkata"``, the exchanges' zone; a tzinfo (one of pytz is
                replaced by the zone of its name); or ``None``, which makes the times naive again.

        Raises:
            TypeError: ``tz`` is of another type.
            ValueError: There is no zone of that name, or the times are in another zone already.
        """
        zone = zone_from(tz)
        known = self._table.zone
        if zone == known:
            return self
        if zone is not None and known is not None:
            raise ValueError(
                f"the times stand in {known} already: localize(None) first, or convert in a frame"
            )
        table = self._table.with_zone(zone)
        return self._of(
            table, self._start, self._stop, response=self._response, issues=self._issues
        )

    def _selection(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> BookSelection:
        return BookSelection(
            self._table, self._start, self._stop, columns, extra=extra, categories=categories
        )

    # -- what came with it --

    @property
    def columns(self) -> list[str]:
        """The names of the record's fields, in the service's order."""
        return _core.names_of(self._record)

    @property
    def extra_fields(self) -> tuple[str, ...]:
        """Names of the fields in these rows that the service's document does not know."""
        return tuple(self._table.extra_names(self._start, self._stop))

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What did not fit, or is odd, in the answer; a part has those of its whole answer."""
        if self._issues is None:
            self._issues = decode_issues(self._table)
        return self._issues

    @property
    def response(self) -> Response | None:
        """The answer that this book is, whole; ``None`` for a part, a union, one made by hand."""
        return self._response


class TradeBook(Book[Trade]):
    """The executed trades of an account, as the service's trade book gives them."""

    __slots__ = ()
    _record = "Trade"

    def check(self) -> tuple[Issue, ...]:
        """What in these trades does not agree with itself; nothing is changed, nothing warned of.

        Told are a ``trade_value`` that is not ``quantity`` times ``traded_price`` (nor of so many
        lots), and, of a whole answer, a ``row_no`` that comes twice or is left out.
        """
        from .integrity import disagreements

        return disagreements(self)


class OrderBook(Book[Order]):
    """The orders of the current day, as the service's order book gives them."""

    __slots__ = ()
    _record = "Order"

    def check(self) -> tuple[Issue, ...]:
        """What in these orders does not agree with itself; nothing is changed, nothing warned of.

        Told are a ``rem_qty_tot_qty`` that is not ``remaining_quantity/quantity``, a ``traded_qty``
        above what is no longer remaining, and a ``row_no`` as of trades.
        """
        from .integrity import disagreements

        return disagreements(self)

    def diff(
        self, previous: OrderBook, *, ignore: Iterable[str] = UNCOUNTED
    ) -> tuple[OrderChange, ...]:
        """What happened since ``previous``: which orders are new, changed (and in what), or gone.

        Orders are matched by exchange, segment, ``order_no`` and ``leg_no``, equal keys by their
        occurrence. Values count, unknown fields as they were sent among them; time stamps never do,
        nor do the fields that ``ignore`` names. The changes come in the order of this book, what is
        gone behind; their records own their storage. Raises TypeError for anything but an order
        book.
        """
        from .diff import OrderChange, checked_ignore, order_diff

        if not isinstance(previous, OrderBook):
            raise TypeError(f"diff takes an OrderBook, not {type(previous).__name__}")
        diff = order_diff(self, previous, checked_ignore(ignore))
        return tuple(map(OrderChange._make, diff.changes()))


class StockList(Book[Stock]):
    """Stocks that a search found."""

    __slots__ = ()
    _record = "Stock"

    @classmethod
    def _decode(
        cls, data: bytes | bytearray | memoryview, strict: bool, keep_personal_data: bool
    ) -> Table:
        return _core.decode_list(cls._record, data, strict, keep_personal_data)


if TYPE_CHECKING:
    AnyBook = TypeVar("AnyBook", TradeBook, OrderBook, StockList)


def concat(books: Iterable[AnyBook]) -> AnyBook:
    """One book of all the books' rows, in order. They must hold the same record, in the same zone.

    Raises ValueError for no books and for different zones, TypeError for different records.
    """
    parts = list(books)
    if not parts:
        raise ValueError("there is nothing to join: pass at least one book")
    kind = type(parts[0])
    for part in parts:
        if type(part) is not kind or not issubclass(kind, Book):
            raise TypeError(f"books of one kind can be joined, not {kind.__name__} with {part!r}")
    joined = _core.join(kind._record, [(book._table, book._start, book._stop) for book in parts])
    issues = tuple(issue for book in parts for issue in book.issues)
    return kind._of(joined, issues=issues)
