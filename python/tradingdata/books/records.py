"""The Python part of ``Trade``, ``Order`` and ``Stock``: copying, pickling, dataclass protocol.

The core creates their fields, slots and ``repr`` from its table of fields.

Two records are equal if all their values are, including unknown fields as they were sent, and if
their times have the same zone: the same instant in two zones gives two different records. Like
numbers and text, records do not support weak references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._core import Order as Order
from .._core import Stock as Stock
from .._core import Trade as Trade
from .._util.suggestions import no_field
from .._util.validate import flag

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from typing import Any

    Record = Trade | Order | Stock

RECORD_TYPES: tuple[type[Trade], type[Order], type[Stock]] = (Trade, Order, Stock)

_ANNOTATIONS = {
    "text": "str | None",
    "integer": "int | None",
    "number": "float | None",
    "timestamp": "datetime.datetime | None",
    "date": "datetime.date | None",
}


class _DataclassFields:
    """``__dataclass_fields__``, created on first access because importing dataclasses is slow.

    ``dataclasses.replace`` constructs a record from its fields, which would lose unknown fields. A
    record with unknown fields therefore has one additional init-only field, which passes the record
    itself to the constructor.
    """

    def __init__(self) -> None:
        self._made: dict[type, dict[str, Any]] = {}

    def __get__(self, record: Record | None, owner: type) -> dict[str, Any]:
        if owner not in self._made:
            self._made[owner] = self._make(owner)
        fields = self._made[owner]
        if record is not None and _core.row_extras(record):
            return {**fields, "_source": self._init_only()}
        return fields

    @staticmethod
    def _init_only() -> Any:
        import dataclasses

        carrier = [("_source", dataclasses.InitVar[object], dataclasses.field(default=None))]
        model: Any = dataclasses.make_dataclass("Carrier", carrier)
        return model.__dataclass_fields__["_source"]

    @staticmethod
    def _make(owner: type) -> dict[str, Any]:
        import dataclasses

        fields = [
            (
                name,
                _ANNOTATIONS[kind],
                dataclasses.field(default=None, kw_only=True, metadata={"kind": kind, "doc": doc}),
            )
            for name, kind, doc, _ in _core.fields_of(owner.__name__)
        ]
        model: Any = dataclasses.make_dataclass(owner.__name__, fields, frozen=True)
        return dict(model.__dataclass_fields__)


def no_attribute(row: Record, name: str) -> AttributeError:
    """Returns the error for an unknown attribute; the core raises it."""
    record = type(row).__name__
    if name in _core.row_extras(row):
        message = f"{record} has no attribute {name!r}, but an unknown field: read [{name!r}]"
    else:
        message = no_field(record, name)
    return AttributeError(message, name=name, obj=row)


def read_extra(text: str) -> Any:
    """Returns the value of an unknown field, or its JSON text if Python cannot parse it.

    Python refuses integers of more than 4,300 digits and nesting beyond the recursion limit.
    """
    from json import loads

    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _reduce(self: Record) -> tuple[Callable[..., Record], tuple[Any, ...]]:
    rows = _core.slice_of(self)
    return restore, (type(self).__name__, rows.to_json(), rows.zone, rows.masked)


def restore(record: str, data: bytes, zone: tzinfo | None, masked: bool) -> Record:
    """Restores a record from its pickle."""
    rows = _core.decode_list(record, data, keep_personal_data=not masked)
    made: Record = rows.with_zone(zone)[0]
    return made


def _copy(self: Record) -> Record:
    copied: Record = _core.slice_of(self).take([0])[0]
    return copied


def _deepcopy(self: Record, memo: dict[int, Any]) -> Record:
    copied = memo[id(self)] = _copy(self)
    return copied


def _asdict(self: Record, *, extra: bool = False) -> dict[str, Any]:
    """Returns the record as a dict by wire name; ``extra=True`` adds the unknown fields."""
    names = _core.names_of(type(self).__name__)
    return _core.slice_of(self).to_dicts(names, flag("extra", extra))[0]


def _replace(self: Record, **changes: Any) -> Record:
    """Returns a copy with some fields replaced; unknown fields are kept."""
    made: Record = _core.changed(self, changes)
    return made


_fields = _DataclassFields()
_extend: Any
for _extend in RECORD_TYPES:
    _extend.__reduce__ = _reduce
    _extend.__copy__ = _copy
    _extend.__deepcopy__ = _deepcopy
    _extend.__replace__ = _replace
    _extend.__dataclass_fields__ = _fields
    _extend.__match_args__ = ()  # type: ignore[misc]
    _extend._asdict = _asdict
    _extend._replace = _replace
    _extend._source = property(lambda record: record)
    _extend._extra = property(_core.row_extras, doc="The unknown fields: a new dict by wire name.")
