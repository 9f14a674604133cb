"""The record types ``Trade``, ``Order`` and ``Stock``: what the core leaves to Python.

Their fields, slots and ``repr`` are made in the core from its one table of fields; copying,
pickling and the dataclass protocol are written here, once for all three.
"""

from __future__ import annotations

from . import _core
from ._core import Order, Stock, Trade

TYPE_CHECKING = False
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
    """``__dataclass_fields__``, made when first asked for: importing dataclasses takes long."""

    def __init__(self) -> None:
        self._made: dict[type, dict[str, Any]] = {}

    def __get__(self, record: Record | None, owner: type) -> dict[str, Any]:
        if owner not in self._made:
            self._made[owner] = self._make(owner)
        return self._made[owner]

    @staticmethod
    def _make(owner: type) -> dict[str, Any]:
        import dataclasses

        fields = [
            (
                name,
                _ANNOTATIONS[kind],
                dataclasses.field(
                    default=None, kw_only=True, metadata={"kind": kind, "doc": doc}
                ),
            )
            for name, kind, doc, _ in _core.fields_of(owner.__name__)
        ]
        model = dataclasses.make_dataclass(owner.__name__, fields, frozen=True)
        return dict(model.__dataclass_fields__)


def _reduce(self: Record) -> tuple[Callable[..., Record], tuple[Any, ...]]:
    table, row = _core.row_table(self)
    return restore, (type(self).__name__, table.to_json(row, row + 1), table.zone, table.masked)


def restore(record: str, data: bytes, zone: tzinfo | None, masked: bool) -> Record:
    """Makes a record again from what a pickle holds of it."""
    table = _core.decode_list(record, data, keep_personal_data=not masked)
    return table.with_zone(zone).row(0) if zone is not None else table.row(0)


def _copy(self: Record) -> Record:
    table, row = _core.row_table(self)
    return table.take([row]).row(0)


def _deepcopy(self: Record, memo: dict[int, Any]) -> Record:
    copied = memo[id(self)] = _copy(self)
    return copied


def _asdict(self: Record, *, extra: bool = False) -> dict[str, Any]:
    """The record as a dict by wire name; ``extra=True`` adds the unknown fields."""
    table, row = _core.row_table(self)
    columns = [field[0] for field in _core.fields_of(type(self).__name__)]
    return table.to_dicts(row, row + 1, columns, extra)[0]


def _replace(self: Record, **changes: Any) -> Record:
    """A copy with other values in some fields."""
    return type(self)(**{**_asdict(self), **changes})


_fields = _DataclassFields()
for _type in RECORD_TYPES:
    _extend: Any = _type
    _extend.__reduce__ = _reduce
    _extend.__copy__ = _copy
    _extend.__deepcopy__ = _deepcopy
    _extend.__replace__ = _replace
    _extend.__dataclass_fields__ = _fields
    _extend.__match_args__ = ()
    _extend._asdict = _asdict
    _extend._replace = _replace
    _extend._extra = property(_core.row_extras)
