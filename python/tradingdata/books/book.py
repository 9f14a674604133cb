"""Books: immutable sequences of records, held in columns by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .. import _core
from .._util.time_zones import zone_from
from ..display.text import BookDisplay
from ..export.book_selection import BookSelection
from ..export.table_export import TableExport
from .diff import OrderChange, checked_ignore
from .integrity import disagreements
from .issues import Issue, decode_issues, warn_of_lost
from .records import Order, Stock, Trade
from .response import Response
from .row_selection import RowSelection
from .sequence import Record
from .storage import BookStorage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import tzinfo
    from typing import Self

    from .._core import Slice

# These change with the market and from response to response, while the order itself does not.
UNCOUNTED = ("row_no", "ref_ltp")


def _bytes_of(data: bytes | bytearray | memoryview | str) -> bytes | memoryview:
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError:
            raise ValueError(
                "the text has half of a surrogate pair, which UTF-8 cannot encode: pass the bytes"
            ) from None
    try:
        view = memoryview(data)
    except TypeError:
        kind = type(data).__name__
        raise TypeError(f"from_json takes a response body as bytes or str, not {kind}") from None
    return view if view.c_contiguous else bytes(view)


class Book(RowSelection[Record], BookStorage[Record], TableExport, BookDisplay):
    """An immutable sequence of records of one type, in the order of the response.

    Returned by a client, by ``from_json`` and ``load``, or constructed from records:
    ``TradeBook([Trade(...)])``. Slices and filters return books too. A row or a slice keeps the
    storage of its book alive. Books are equal if their rows are, in order; ``response`` and
    ``issues`` are not compared.
    """

    __slots__ = ()

    @classmethod
    def _received(cls, rows: Slice, response: Response, *, stacklevel: int) -> Self:
        """Returns a book of a complete response; warns about lost values."""
        if rows.issues:
            warn_of_lost(decode_issues(rows), cls._record, stacklevel=stacklevel + 1)
        return cls._of(rows, response=response)

    @classmethod
    def from_json(
        cls,
        data: bytes | bytearray | memoryview | str,
        *,
        strict: bool = False,
        keep_personal_data: bool = False,
    ) -> Self:
        """Decodes the body of a saved response, with the same decoder as the client.

        Lost values issue a ``DataWarning``.

        Args:
            data: The body, as bytes or text.
            strict: Whether lost or missing values raise ``DecodeError`` instead of a warning.
            keep_personal_data: Whether to keep account numbers (PAN) instead of masking them.

        Returns:
            The book.

        Raises:
            DecodeError: The body is malformed or not what the service documents.
            ServiceError: The body is an error envelope.
            TypeError: ``data`` is neither text nor bytes.
        """
        rows = cls._decode(_bytes_of(data), strict, keep_personal_data)
        return cls._received(rows, Response(rows), stacklevel=2)

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

    def _selection(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> BookSelection:
        return BookSelection(self._rows, columns, extra=extra, categories=categories)

    @property
    def columns(self) -> list[str]:
        """The names of the record's fields, in the service's order."""
        return _core.names_of(self._record)

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
        times ``lot_size``). In a complete response, also reports repeated and missing values of
        ``row_no``. Does not modify the book or issue warnings.

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

        Orders are matched by exchange, segment, ``order_no`` and ``leg_no``, equal keys by their
        occurrence. All values are compared, including those of unknown fields, except timestamps
        and the fields of ``ignore``.

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
        diff = _core.OrderDiff(self._rows, previous._rows, checked_ignore(ignore))
        return tuple(map(OrderChange._make, diff.changes()))


class StockList(Book[Stock]):
    """The stocks found by a search, a sequence of ``Stock``."""

    __slots__ = ()
    _record = "Stock"

    @classmethod
    def _decode(
        cls, data: bytes | bytearray | memoryview, strict: bool, keep_personal_data: bool
    ) -> Slice:
        return _core.decode_list(cls._record, data, strict, keep_personal_data)


AnyBook = TypeVar("AnyBook", TradeBook, OrderBook, StockList)


def concat(books: Iterable[AnyBook]) -> AnyBook:
    """Concatenates books of the same type and time zone.

    Args:
        books: The books.

    Returns:
        One book with all rows, in order.

    Raises:
        ValueError: There are no books, or their time zones differ.
        TypeError: The books have different records.
    """
    parts = list(books)
    if not parts:
        raise ValueError("there is nothing to join: pass at least one book")
    kind = type(parts[0])
    for part in parts:
        if type(part) is not kind or not issubclass(kind, Book):
            raise TypeError(
                f"only books of one type can be joined, not {kind.__name__} with {part!r}"
            )
    joined = _core.join([book._rows for book in parts])
    issues = tuple(issue for book in parts for issue in book.issues)
    return kind._of(joined, issues=issues)
