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


class Book(RowSelection[Record], BookStorage[Record], TableExport, BookDisplay):
    """An immutable sequence of records of one type, in the order of the answer.

    Made by a client, by ``from_json`` and ``load``, or by hand: ``TradeBook([Trade(...)])``. Slices
    and filters are books too. A row keeps its book's storage alive; so does a slice. Books are
    equal where their rows are, in order; what came with them (``response``, ``issues``) does not
    count.
    """

    __slots__ = ()

    @classmethod
    def _received(cls, rows: Slice, response: Response, *, stacklevel: int) -> Self:
        """A book of a whole answer; warns of what was lost in it."""
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
        """Decodes a saved answer of the service, with the decoder that the client uses.

        ``strict`` makes any lost or missing value an error; ``keep_personal_data`` keeps account
        numbers (PAN), which are masked otherwise. Warns with DataWarning of what was lost. Raises
        DecodeError and ServiceError as a call does, and TypeError for anything but text and bytes.
        """
        rows = cls._decode(_bytes_of(data), strict, keep_personal_data)
        return cls._received(rows, Response(rows), stacklevel=2)

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
        known = self._rows.zone
        if zone == known:
            return self
        if zone is not None and known is not None:
            raise ValueError(
                f"the times stand in {known} already: localize(None) first, or convert in a frame"
            )
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
        """Names of the fields in these rows that the service's document does not know."""
        return tuple(self._rows.extra_names())


class TradeBook(Book[Trade]):
    """The executed trades of an account, as the service's trade book gives them."""

    __slots__ = ()
    _record = "Trade"

    def check(self) -> tuple[Issue, ...]:
        """What in these trades does not agree with itself; nothing is changed, nothing warned of.

        Told are a ``trade_value`` that is not ``quantity`` times ``traded_price`` (nor of so many
        lots), and, of a whole answer, a ``row_no`` that comes twice or is left out.
        """
        return disagreements(self._rows, is_whole=self._response is not None)


class OrderBook(Book[Order]):
    """The orders of the current day, as the service's order book gives them."""

    __slots__ = ()
    _record = "Order"

    def check(self) -> tuple[Issue, ...]:
        """What in these orders does not agree with itself; nothing is changed, nothing warned of.

        Told are a ``rem_qty_tot_qty`` that is not ``remaining_quantity/quantity``, a ``traded_qty``
        above what is no longer remaining, and a ``row_no`` as of trades.
        """
        return disagreements(self._rows, is_whole=self._response is not None)

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
        if not isinstance(previous, OrderBook):
            raise TypeError(f"diff takes an OrderBook, not {type(previous).__name__}")
        diff = _core.OrderDiff(self._rows, previous._rows, checked_ignore(ignore))
        return tuple(map(OrderChange._make, diff.changes()))


class StockList(Book[Stock]):
    """Stocks that a search found."""

    __slots__ = ()
    _record = "Stock"

    @classmethod
    def _decode(
        cls, data: bytes | bytearray | memoryview, strict: bool, keep_personal_data: bool
    ) -> Slice:
        return _core.decode_list(cls._record, data, strict, keep_personal_data)


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
    joined = _core.join([book._rows for book in parts])
    issues = tuple(issue for book in parts for issue in book.issues)
    return kind._of(joined, issues=issues)
