"""What every row is to Python and to other libraries: the methods that all types of rows inherit.

A row is read as a dataclass, though it is none. The attributes of dataclasses are inherited, never
owned by the type of a row: orjson reads the fields of a type that owns them without regard for
descriptors, and the process ends.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._util.declarations import Reduced, reduced
from .._util.validate import flag

Record = Any

# The name of a field, which is a part of the error that `dataclasses.replace` raises.
_UNKNOWN = "(unknown fields, which dataclasses.replace() would lose: call _replace())"


def reduce_slice(rows: _core.Slice) -> Reduced:
    """Returns what a slice is pickled as."""
    kind: Any = rows.row_type
    if isinstance(kind._schema, str):  # a record of the service
        return reduced("records", kind._schema, rows.to_json(), rows.zone, rows.masked)
    columns = list(rows.to_dict(_core.names_of(kind)).values())
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
        declared: list[Any] = [
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


def _unknown_field() -> Any:
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

    def __reduce__(self: Record) -> Reduced:
        return reduced("row", _core.slice_of(self))

    def __copy__(self: Record) -> Record:
        return _core.slice_of(self).take([0])[0]

    def __deepcopy__(self: Record, memo: dict[int, Any]) -> Record:
        copied = memo[id(self)] = self.__copy__()
        return copied

    def _asdict(self: Record, *, extra: bool = False) -> dict[str, Any]:
        """Returns the record as a dict by wire name; ``extra=True`` adds the unknown fields."""
        names = _core.names_of(type(self))
        return _core.slice_of(self).to_dicts(names, flag("extra", extra))[0]

    def _replace(self: Record, **changes: Any) -> Record:
        """Returns a copy with some fields replaced; unknown fields are kept."""
        return _core.changed(self, changes)

    __replace__ = _replace

    def _repr_html_(self: Record) -> str:
        from ..display.html import record_html

        return record_html(self)

    def __dask_tokenize__(self: Record) -> tuple[Any, ...]:
        return type(self).__name__, *reduce_slice(_core.slice_of(self))[1]

    @classmethod
    def __get_pydantic_core_schema__(cls: Any, source: Any, handler: Any) -> Any:
        return _pydantic_schema(cls)


def _pydantic_schema(kind: Any) -> Any:
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


def _described(doc: str) -> dict[str, Any]:
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
