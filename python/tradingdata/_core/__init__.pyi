"""The C++ core. Private: use the package's modules instead."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo
from threading import Lock
from types import ModuleType
from typing import (
    Any,
    ClassVar,
    Literal,
    SupportsIndex,
    TypedDict,
    final,
    overload,
    type_check_only,
)

from .records import *  # noqa: F403  # one class for each declared record
from .records import Order as Order

__version__: str
pybind11_version: str
row_types: dict[Any, Any]  # those that ``tradingdata.table.rows`` made, for each copy of it

_Record = Any  # one of the classes of ``records``
_Data = bytes | bytearray | memoryview
_Issue = tuple[str, str, int, int, str, bool]
_Received = tuple[Slice, int, int, float, datetime, datetime | None]
_Condition = tuple[str, str, str, bool, list[Any]]
_Ints = list[int]
# lot, trade, whether long, quantity; cost and proceeds in units
_Matches = tuple[_Ints, _Ints, list[bool], _Ints, _Ints, _Ints]
# row, whether long, quantity, value in units
_OpenParts = tuple[_Ints, _Ints, _Ints, list[bool], _Ints, _Ints, _Ints]

@type_check_only
class _FieldDeclaration(TypedDict):
    """A field: its name on the wire, its kind ("text", "integer", ...) and its meaning.

    Personal fields are masked. An optional field may be absent from a record without an issue. A
    local one is set on this side, and no response has it.
    """

    name: str
    kind: str
    doc: str
    personal: bool
    optional: bool
    local: bool

@type_check_only
class _RecordDeclaration(TypedDict):
    """A record of the service. All tuples but ``noun`` and ``fields`` are names of fields.

    ``name`` is its type ("Trade"), ``title`` a sentence about it, ``book`` the class of several
    ("TradeBook"), ``noun`` the word for one and for several. ``identity`` identifies a record among
    those of its day, and the first of ``event_times`` that is known determines the day.
    ``display`` is what displays show, ``narrow`` what they show on a narrow screen, both by
    importance.
    """

    name: str
    title: str
    book: str
    noun: tuple[str, str]
    fields: tuple[_FieldDeclaration, ...]
    identity: tuple[str, ...]
    event_times: tuple[str, ...]
    display: tuple[str, ...]
    narrow: tuple[str, ...]

@type_check_only
class _CallDeclaration(TypedDict):
    """A call: the clients' method ``name``, its request and its response.

    ``parameters`` are those of the query; ``body`` is the JSON that is sent, or None. The response
    is an ``envelope`` or a top-level ``array`` of records of type ``record``.
    """

    name: str
    method: Literal["GET", "POST"]
    path: str
    parameters: tuple[str, ...]
    body: str | None
    takes_token: bool
    form: Literal["envelope", "array"]
    record: str

@final
class Slice:
    """An immutable slice of a table, which it keeps alive; its first row has number 0."""

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def record(self) -> str: ...
    @property
    def row_type(self) -> type[Any]: ...
    @property
    def zone(self) -> tzinfo | None: ...
    @property
    def table_rows(self) -> int: ...
    @property
    def masked(self) -> bool: ...
    @property
    def body(self) -> bytes | None: ...
    @property
    def issues(self) -> list[_Issue]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> Slice: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def take(self, rows: Sequence[int]) -> Slice: ...
    def where(self, conditions: Sequence[_Condition]) -> Slice: ...
    def sorted(self, keys: Sequence[tuple[str, bool]]) -> Slice: ...
    def extra_names(self) -> list[str]: ...
    def with_extra_column(self, record: type) -> Slice: ...
    def with_zone(self, zone: tzinfo | None) -> Slice: ...
    def to_json(self) -> bytes: ...
    def export_json(
        self, columns: Sequence[str], extra: bool = False, lines: bool = False
    ) -> bytes: ...
    def record_texts(self) -> list[str]: ...
    def column(self, name: str) -> list[Any]: ...
    def cells(self, rows: list[int], names: Sequence[str]) -> list[list[Any]]: ...
    def distinct(self, name: str) -> list[Any]: ...
    def hashes(self, names: Sequence[str]) -> bytes: ...
    def missing(self, names: Sequence[str]) -> tuple[str, int] | None: ...
    def to_dicts(self, columns: Sequence[str], extra: bool = False) -> list[dict[str, Any]]: ...
    def arrow_stream(self, columns: Sequence[str], types: str = "shared") -> Any: ...

@final
class RateLimit:
    """Limits the request rate of one or more clients that share it.

    Calls wait for their turn within their deadline.

    Args:
        per_second: Average number of requests per second.
        burst: Number of requests that may be sent at once after a pause.

    Raises:
        ConfigurationError: ``per_second`` is not above 0, or ``burst`` is below 1.
    """

    def __init__(self, per_second: float, *, burst: int = 1) -> None: ...
    @property
    def per_second(self) -> float:
        """Average number of requests per second."""
    @property
    def burst(self) -> int:
        """Number of requests that may be sent at once after a pause."""

@final
class Fold:
    """Trades in the order of their times over queues of lots, and the journal of what ended.

    Moments are microseconds of the clock of the trades, and values whole numbers of a unit.
    """

    def run(self, until: int) -> None: ...
    def put(
        self,
        row: int,
        key: int,
        is_long: bool,
        quantity: int,
        value: int,
        time: int,
        since: int,
    ) -> None: ...
    def close(self, row: int, key: int, quantity: int, value: int, at: int) -> None: ...
    def end(self, lot: int, at: int) -> None: ...
    def pay(self, lot: int, row: int, value: int, paid_for: int, at: int) -> None: ...
    def held(self, key: int) -> _OpenParts: ...
    def last_time(self, before: int) -> int: ...
    def side(self, key: int) -> int: ...
    def open(self, at: int | None = None) -> _OpenParts: ...
    def matches(self, start: int, stop: int) -> _Matches: ...
    def unmatched(self, start: int, stop: int) -> tuple[_Ints, _Ints, _Ints, _Ints]: ...
    def totals(
        self, start: int, stop: int
    ) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Ints]: ...
    def steps(self, starts: Sequence[int]) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints]: ...
    def rows(self, before: int) -> tuple[_Ints, _Ints]: ...
    @property
    def undecided(self) -> _Ints: ...

@final
class Groups:
    """Rows of one or two slices, grouped by fields (``name.day``: by the day of a timestamp).

    With ``within``, they are groups of the same rows that are divided further, and with ``labels``
    the rows of one slice by these numbers, too.
    """

    def __init__(
        self,
        parts: Sequence[Slice],
        key: Sequence[str],
        within: Groups | None = None,
        labels: Sequence[int] = (),
    ) -> None: ...
    def __len__(self) -> int: ...
    def coarser(self, key: Sequence[str]) -> list[int]: ...
    def numbers(self, part: int = 0) -> list[int]: ...
    def counts(self, part: int = 0) -> list[int]: ...
    def first(self, part: int = 0) -> list[int]: ...
    def last(self, part: int = 0) -> list[int]: ...
    def extremes(self, name: str, greatest: bool, part: int = 0) -> list[Any]: ...
    def likenesses(self, name: str, part: int = 0) -> list[int]: ...
    def sums(self, name: str, decimals: int, part: int = 0) -> list[int | None]: ...
    def sums_of_products(
        self, name: str, decimals: int, price: str, price_decimals: int, part: int = 0
    ) -> list[int | None]: ...
    def multipliers(self, contract: Sequence[str]) -> tuple[list[int], list[int], list[int]]: ...
    def fold(
        self,
        buy: str,
        decimals: int,
        opening: int,
        may_short: Sequence[bool],
        origin: Sequence[int],
    ) -> Fold: ...

@final
class Client:
    # The options of client/options.py; the core raises for one that it lacks or does not know.
    def __init__(self, **options: Any) -> None: ...
    @property
    def has_token(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    @property
    def base_url(self) -> str: ...
    def set_token(self, token: str) -> bool: ...
    def clear_token(self) -> None: ...
    def close(self) -> None: ...

@final
class Outcome:
    def result(self) -> _Received: ...

class Port:
    """Where calls are submitted and their outcomes are awaited."""

    def submit_book(self, record: str, timeout: float | None, account: str = "") -> int: ...
    def submit_search(
        self, query: str, page: int, limit: int, timeout: float | None, ahead: bool
    ) -> int: ...
    def wait(
        self, patience: float, outcomes: dict[int, Outcome]
    ) -> list[tuple[int, int, str, float]]: ...
    def close(self) -> None: ...

@final
class LocalPort(Port):
    """Carries calls on the thread that waits."""

    def __init__(self, client: Client) -> None: ...

@final
class Worker(Port):
    """Carries calls on a thread of its own."""

    def __init__(self, client: Client) -> None: ...
    def cancel(self, id: int) -> None: ...
    def notification_fd(self) -> int: ...

def decode_book(
    record: str | type,
    data: _Data,
    strict: bool = False,
    keep_personal_data: bool = False,
    account: str = "",
    written: bool = False,
) -> Slice: ...
def decode_list(
    record: str | type,
    data: _Data,
    strict: bool = False,
    keep_personal_data: bool = False,
    account: str = "",
    written: bool = False,
) -> Slice: ...
def from_arrow(
    record: str | type,
    data: object,
    keep_personal_data: bool = False,
    names: dict[str, str] = ...,
    constants: dict[str, Any] = ...,
    /,
) -> Slice: ...
def printable(text: str) -> str: ...
def call_holding(lock: Lock, function: Callable[[], object], seconds: float, /) -> bool: ...
def is_personal(name: str) -> bool: ...
def displayed(name: str, text: str) -> str: ...
def without_account_numbers(text: str) -> str: ...
def join(parts: Sequence[Slice]) -> Slice: ...
def from_rows(record: str | type, rows: list[_Record]) -> Slice: ...
def records() -> tuple[_RecordDeclaration, ...]:
    """Returns the declaration of each record: Trade, Order, Stock and so on."""

def calls() -> tuple[_CallDeclaration, ...]:
    """Returns the declaration of each call: trade_book, order_book, search and so on."""

def fields_of(record: str | type) -> list[tuple[str, str, str, bool]]: ...
def names_of(record: str | type) -> list[str]: ...
def row_type(
    name: str, fields: Sequence[tuple[str, str, str, bool, bool]], base: type | None = None
) -> type[Any]: ...
def table_of(record: str | type, columns: list[Any], zone: tzinfo | None = None) -> Slice: ...
def decimals_of(columns: Sequence[tuple[Slice, str]]) -> int: ...
def changed(row: Any, changes: dict[str, Any]) -> Any: ...
def error_classes() -> list[str]: ...
def errors_of(errors: ModuleType) -> ModuleType: ...
def hand_over(**functions: Callable[..., object]) -> None: ...
def slice_of(row: _Record) -> Slice: ...
def row_extras(row: _Record) -> dict[str, Any]: ...
def transport_version() -> str: ...
def end_all_calls(patience: float) -> None: ...
