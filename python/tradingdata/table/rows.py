"""The types of rows: how they are declared, what they are to other libraries, and their pickles.

The core makes each type, its fields and slots, from a schema: ``Trade``, ``Order`` and
``Stock`` from its table of fields, others from a declaration in Python.

A row is read as a dataclass, though it is none. The attributes of dataclasses are inherited, never
owned by the type of a row: orjson reads the fields of a type that owns them without regard for
descriptors, and the process ends.

Two records are equal if all their values are, including unknown fields as they were sent, and if
their times have the same zone: the same instant in two zones gives two different records. Like
numbers and text, records do not support weak references.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copyreg import pickle
from datetime import date, datetime, tzinfo
from typing import Any, TypeVar, dataclass_transform
from weakref import ref

from .. import _core
from .._core import Order as Order
from .._core import Slice
from .._core import Stock as Stock
from .._core import Trade as Trade
from .._util.declarations import RECORDS, Reduced, kinds_of, reduced
from .._util.time_zones import zone_of_record
from .._util.validate import flag, no_field

Record = Any
Field = tuple[str, str, str]  # name, kind and meaning
Reference = ref[type]

Declared = TypeVar("Declared")
Value = TypeVar("Value")

RECORD_TYPES: tuple[type[Any], ...] = tuple(getattr(_core, name) for name in RECORDS)

_TYPES = {"text": str, "integer": int, "number": float, "timestamp": datetime, "date": date}
_ANNOTATIONS = {kind: python_type | None for kind, python_type in _TYPES.items()}
_KINDS = {python_type.__name__: kind for kind, python_type in _TYPES.items()}

# Kept in the core, which a process loads once, so that a second copy of the package has the same
# types. A reference is weak: a type lives as long as its tables.
_ROW_TYPES: dict[tuple[str, tuple[Field, ...]], Reference] = vars(_core).setdefault("row_types", {})


def row_type(name: str, fields: Sequence[Field]) -> type[Any]:
    """Returns the type of the rows of a table with these columns; equal content, one type."""
    schema = (name, tuple(fields))
    known = _ROW_TYPES.get(schema)
    kind = known() if known is not None else None
    if kind is not None:
        return kind
    row_class: Any = _core.row_type(
        name, [(*field, _core.is_personal(field[0]), False) for field in fields]
    )
    row_class._schema = schema
    annotate(row_class)
    row_class.__iter__ = lambda row: iter(row._asdict().values())

    def forget(gone: Reference) -> None:
        if _ROW_TYPES.get(schema) is gone:
            del _ROW_TYPES[schema]

    while True:  # another thread may have made it meanwhile
        kept = _ROW_TYPES.setdefault(schema, ref(row_class, forget))
        kind = kept()
        if kind is not None:
            return kind
        forget(kept)


def with_extra(kind: Any) -> type[Any]:
    """Returns a type of rows with one more text column ``extra``, for unknown fields as JSON."""
    if "_with_extra" not in vars(kind):
        fields = [(*field, False) for field in _core.fields_of(kind)]
        kind._with_extra = _core.row_type(
            kind.__name__, [*fields, ("extra", "text", "", False, False)]
        )
    return kind._with_extra  # type: ignore[no-any-return]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def declared(kind: type[Declared]) -> type[Declared]:
    """Makes a type of rows of a class that declares its columns as a dataclass does.

    The core keeps their values. The meaning of a column is what the docstring says under
    "Attributes".
    """
    kinds: dict[str, str] = {}
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        kinds |= {
            name: _KINDS[str(type_).partition(" |")[0]]
            for name, type_ in vars(base).get("__annotations__", {}).items()
        }
        meanings |= dict(_MEANING.findall(base.__doc__ or ""))
    kind.__doc__ = kind.__doc__ or ""  # python -OO removes docstrings
    fields = [
        (name, kind_of_field, meanings.get(name, ""), False, False)
        for name, kind_of_field in kinds.items()
    ]
    row_class: Any = _core.row_type(kind.__name__, fields, leading(kind))
    row_class._schema = row_class
    annotate(row_class)
    return row_class  # type: ignore[no-any-return]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def leading(kind: type[Declared]) -> type[Declared]:
    """Declares the first columns of several types of rows, which inherit them.

    The class has slots, as the values are in the core.
    """
    own = {
        name: member
        for name, member in vars(kind).items()
        if name not in ("__dict__", "__weakref__")
    }
    bases = (_core.Row,) if kind.__bases__ == (object,) else kind.__bases__
    return type(kind.__name__, bases, own | {"__slots__": ()})


_MEANING = re.compile(r"^        (\w+): (.*?)\.?$", re.MULTILINE)


def annotate(row_class: type) -> None:
    """Gives a type of rows the annotations of a dataclass."""
    row_class.__annotations__ = {
        name: _ANNOTATIONS[kind] for name, kind, *_ in _core.fields_of(row_class)
    }


def required(value: Value | None) -> Value:
    """Returns a value, or raises if it is missing.

    Every field of a record may be ``None``, because the service may omit it. Type checkers
    therefore refuse arithmetic with fields until a program handles missing values: with this
    function, which treats them as errors, or with an ``if``.

    Args:
        value: The value of a field.

    Returns:
        The value, whose type excludes ``None``.

    Raises:
        ValueError: The value is ``None``.

    Example:
        >>> sum(td.required(trade.trade_value) for trade in trades)
    """
    if value is None:
        raise ValueError(
            "a required value is missing (None): `issues` of the book lists the fields that were "
            "lost, and `filter(quantity__ne=None)` leaves such rows out"
        )
    return value


_OF_MAPPINGS = frozenset("get items values pop update copy to_dict todict asdict dict".split())


def no_attribute(row: Record, name: str) -> AttributeError:
    """Returns the error for an unknown attribute; the core raises it."""
    record = type(row).__name__
    if name in _core.row_extras(row):
        message = f"{record} has no attribute {name!r}, but an unknown field: read [{name!r}]"
    elif name in _OF_MAPPINGS:
        message = (
            f"a {record} is not a mapping and has no {name!r}: read a field with row['name'], "
            "or use _asdict(), or to_dicts() of its table"
        )
    else:
        message = no_field(record, name, tuple(_core.names_of(type(row))))
    return AttributeError(message, name=name, obj=row)


def frozen(row: Record, name: str) -> AttributeError:
    """Returns the error for an attempt to change an attribute; the core raises it."""
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(
        f"a {type(row).__name__} cannot be changed ({name!r}); dataclasses.replace() makes a"
        " changed copy"
    )


def read_extra(text: str) -> object:
    """Returns the value of an unknown field, or its JSON text if Python cannot parse it.

    Python refuses integers of more than 4,300 digits and nesting beyond the recursion limit.
    """
    from json import loads

    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def restored_records(record: str, data: bytes, zone: tzinfo | None, masked: bool) -> Slice:
    """Restores records of the service from their pickle."""
    rows = _core.decode_list(record, data, keep_personal_data=not masked, written=True)
    return rows.with_zone(zone)


def restored_rows(
    schema: type | tuple[str, tuple[Field, ...]], columns: list[list[object]], zone: tzinfo | None
) -> Slice:
    """Restores rows of another type from their pickle."""
    kind = schema if isinstance(schema, type) else row_type(*schema)
    return _core.table_of(kind, columns, zone)


def restored_row(rows: Slice) -> Record:
    """Restores a row from its pickle."""
    return rows[0]


def on_clock(rows: Slice, zone: tzinfo) -> Slice:
    """Returns rows with the same instants on the clock of another zone."""
    names = [name for name, kind in kinds_of(rows.record).items() if kind == "timestamp"]
    moved = [
        row._replace(**{name: row[name] and row[name].astimezone(zone) for name in names})
        for row in rows
    ]
    return _core.from_rows(rows.record, moved).with_zone(zone)


# The name of a field, which is a part of the error that `dataclasses.replace` raises.
_UNKNOWN = "(unknown fields, which dataclasses.replace() would lose: call _replace())"


def reduce_slice(rows: _core.Slice) -> Reduced:
    """Returns what a slice is pickled as."""
    kind: Any = rows.row_type
    if isinstance(kind._schema, str):  # a record of the service
        return reduced("records", kind._schema, rows.to_json(), rows.zone, rows.masked)
    columns = [rows.column(name) for name in _core.names_of(kind)]
    return reduced("rows", kind._schema, columns, rows.zone)


def _model(kind: Any) -> dict[str, Any]:
    """Returns the attributes of a dataclass with the fields of a type of rows.

    They are made when they are first read: importing dataclasses is slow.
    """
    model: dict[str, Any] | None = vars(kind).get("_model")
    if model is None:
        from dataclasses import field, make_dataclass

        columns = [
            (name, kind_of_field, doc) for name, kind_of_field, doc, _ in _core.fields_of(kind)
        ]
        declared: list[tuple[str, object, object]] = [
            (
                f"field_{at}",  # a column of a query may have a name that no attribute can have
                kind.__annotations__[name],
                field(default=None, kw_only=True, metadata={"kind": kind_of_field, "doc": doc}),
            )
            for at, (name, kind_of_field, doc) in enumerate(columns)
        ]
        model_class: Any = make_dataclass(kind.__name__, declared, frozen=True, repr=False)
        fields = {}
        for (name, _, _), model_field in zip(
            columns, model_class.__dataclass_fields__.values(), strict=True
        ):
            model_field.name = name
            fields[name] = model_field
        model = kind._model = {
            "__dataclass_fields__": fields,
            "__dataclass_params__": model_class.__dataclass_params__,
        }
    return model


def _unknown_field() -> object:
    """Returns an init-only field without a default, for which `dataclasses.replace` raises."""
    from dataclasses import InitVar, make_dataclass

    model: Any = make_dataclass("Unknown", [("unknown", InitVar[object])])
    unknown = model.__dataclass_fields__["unknown"]
    unknown.name = _UNKNOWN
    return unknown


class _OfDataclass:
    """An attribute that a row has of its dataclass, made when it is read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, row: Record | None, kind: Any) -> Any:
        if not hasattr(kind, "_schema"):  # a base class, which has no fields
            raise AttributeError(self._name)
        value = _model(kind)[self._name]
        if self._name == "__dataclass_fields__" and row is not None and _core.row_extras(row):
            return value | {_UNKNOWN: _unknown_field()}
        return value


class RowMethods:
    """What rows of all types have. The names start with an underscore: a field may have any."""

    __slots__ = ()
    __match_args__ = ()
    __dataclass_fields__ = _OfDataclass()
    __dataclass_params__ = _OfDataclass()
    _extra = property(_core.row_extras, doc="The unknown fields: a new dict by wire name.")

    def __repr__(self: Record) -> str:
        kind = type(self)
        parts = []
        for name, _, _, is_personal in _core.fields_of(kind):
            value = self[name]
            if value is None or value == "":
                continue
            if isinstance(value, str) and is_personal:
                value = _core.displayed(name, value)
            elif isinstance(value, str) and kind not in RECORD_TYPES:
                value = _core.without_account_numbers(value)  # a query may give it any name
            parts.append(f"{name}={value!r}")
        if unknown := _core.row_extras(self):
            parts.append(f"<{len(unknown)} unknown>")
        return f"{kind.__name__}({', '.join(parts)})"

    def __reduce__(self: Record) -> Reduced:
        return reduced("row", _core.slice_of(self))

    def __copy__(self: Record) -> Record:
        return _core.slice_of(self).take([0])[0]

    def __deepcopy__(self: Record, memo: dict[int, object]) -> Record:
        copied = memo[id(self)] = self.__copy__()
        return copied

    def _asdict(self: Record, *, extra: bool = False) -> dict[str, Any]:
        """Returns the record as a dict by wire name; ``extra=True`` adds the unknown fields."""
        names = _core.names_of(type(self))
        return _core.slice_of(self).to_dicts(names, flag("extra", extra))[0]

    def _replace(self: Record, **changes: object) -> Record:
        """Returns a copy with some fields replaced; unknown fields are kept."""
        return _core.changed(self, changes)

    __replace__ = _replace

    def _repr_html_(self: Record) -> str:
        from ..display import record_html

        return record_html(self)

    def __dask_tokenize__(self: Record) -> tuple[object, ...]:
        return type(self).__name__, *reduce_slice(_core.slice_of(self))[1]

    @classmethod
    def __get_pydantic_core_schema__(cls: type, source: object, handler: object) -> object:
        return _pydantic_schema(cls)


def _pydantic_schema(kind: type) -> object:
    """Returns how pydantic reads and writes rows: as an object with the fields that are known.

    Unknown fields are kept both ways.
    """
    from pydantic_core import core_schema as schemas

    values = {
        "text": schemas.str_schema(),
        "integer": schemas.int_schema(ge=-(2**63), le=2**63 - 1),
        "number": schemas.float_schema(allow_inf_nan=False),
        "timestamp": schemas.datetime_schema(),
        "date": schemas.date_schema(),
    }
    fields = {
        name: schemas.typed_dict_field(
            schemas.nullable_schema(values[kind_of_field]), required=False, metadata=_described(doc)
        )
        for name, kind_of_field, doc, _ in _core.fields_of(kind)
    }
    members = schemas.typed_dict_schema(
        fields, cls_name=kind.__name__, total=False, extra_behavior="allow"
    )
    row_schema = schemas.no_info_after_validator_function(
        lambda fields_of_row: _made_of(kind, fields_of_row), members
    )
    return schemas.json_or_python_schema(
        json_schema=row_schema,
        python_schema=schemas.union_schema([schemas.is_instance_schema(kind), row_schema]),
        serialization=schemas.plain_serializer_function_ser_schema(
            lambda row: row._asdict(extra=True), return_schema=members
        ),
    )


def _described(doc: str) -> dict[str, object]:
    return {"pydantic_js_updates": {"description": doc}} if doc else {}


def _made_of(kind: Any, values: dict[str, Any]) -> Record:
    """Returns the row of a dict in which fields may be unknown."""
    from json import dumps

    known = {name: values.pop(name) for name in _core.names_of(kind) if name in values}
    if not values:
        return kind(**known)
    try:
        unknown = dumps([values], allow_nan=False).encode()
        (row,) = _core.decode_list(kind, unknown, keep_personal_data=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"unknown fields {sorted(values)} are not JSON: {error}") from None
    return _core.changed(row, known)


for _name, _value in vars(RowMethods).items():
    if _name not in ("__doc__", "__module__", "__slots__", "__dict__", "__weakref__"):
        setattr(_core.Row, _name, _value)
for _record in RECORD_TYPES:
    _record._schema = _record.__name__
    annotate(_record)

pickle(_core.Slice, reduce_slice)
_core.hand_over(
    frozen=frozen,
    no_attribute=no_attribute,
    no_field=no_field,
    read_extra=read_extra,
    zone_of_record=zone_of_record,
)
