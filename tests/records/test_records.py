"""The record types: immutable, equal, hashable, picklable, made by keyword, dataclasses."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import sys
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given

import service
import tradingdata as td
from calls import run_child
from sample_records import BAD, GOOD, TYPES, filled, first_of, kinds_of, records, wire_trade
from service import as_json, envelope, trades
from tradingdata import _core
from tradingdata.analysis import Lot
from tradingdata.table.rows import row_type
from tradingdata.types import Issue

pytestmark = pytest.mark.sanitize


def into_sqlite(row: Any, values: str) -> object:
    sqlite3 = pytest.importorskip("sqlite3")  # which not every build of Python has
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE trades (symbol, quantity)")
        return database.executemany(f"INSERT INTO trades VALUES ({values})", [row])


def keywords(**values: object) -> object:
    return values


# What people try with a row that they take for a dict.
MAPPINGS: list[Callable[[Any], object]] = [
    dict,
    list,
    tuple,
    len,
    lambda row: {**row},
    lambda row: keywords(**row),
    lambda row: [*row],
    lambda row: type(row)(**row),
    lambda row: {}.update(row),
    lambda row: "symbol" in row,
    lambda row: row.keys(),
    lambda row: into_sqlite(row, "?, ?"),
    lambda row: into_sqlite(row, ":symbol, :quantity"),
]


@pytest.mark.parametrize("kind", TYPES)
class TestEachType:
    def test_no_field_can_be_set_or_deleted(self, kind: type) -> None:
        record = filled(kind)
        for name in (*kinds_of(kind), "brand_new"):
            with pytest.raises(dataclasses.FrozenInstanceError, match=name):
                setattr(record, name, None)
            with pytest.raises(dataclasses.FrozenInstanceError, match="replace"):
                delattr(record, name)
        assert record == filled(kind)

    def test_it_has_no_dict_and_takes_no_weak_reference(self, kind: type) -> None:
        with pytest.raises(AttributeError):
            kind().__dict__  # noqa: B018
        with pytest.raises(TypeError, match="weak reference"):
            weakref.ref(kind())

    def test_it_cannot_be_subclassed(self, kind: type) -> None:
        with pytest.raises(TypeError, match=f"{kind.__name__}.*base type"):
            type("Mine", (kind,), {})

    def test_its_fields_are_by_keyword_only(self, kind: type) -> None:
        with pytest.raises(TypeError, match="by keyword only"):
            kind("1")

    @pytest.mark.parametrize("of", GOOD)
    def test_a_value_of_another_type_is_refused_with_what_to_pass(
        self, kind: type, of: str
    ) -> None:
        if of not in kinds_of(kind).values():
            pytest.skip("no such field")
        name = first_of(kind, of)
        with pytest.raises(TypeError, match=f"{name} takes an? .* or None, not "):
            kind(**{name: BAD[of]})

    def test_a_misspelt_field_is_reported_with_the_closest_one(self, kind: type) -> None:
        name = first_of(kind, "text")
        wrong = name[:-1]
        with pytest.raises(TypeError, match=f"no field '{wrong}'; did you mean"):
            kind(**{wrong: "x"})
        with pytest.raises(AttributeError, match=f"no field '{wrong}'; did you mean") as caught:
            getattr(kind(), wrong)
        assert caught.value.name == wrong
        with pytest.raises(KeyError, match=f"no field '{wrong}'; did you mean"):
            kind()[wrong]

    @pytest.mark.parametrize("use", MAPPINGS)
    def test_it_is_no_mapping_and_says_what_to_write(
        self, kind: type, use: Callable[[Any], object]
    ) -> None:
        with pytest.raises(TypeError, match=rf"a {kind.__name__} is not .*_asdict\(\).*to_dicts"):
            use(kind())

    @pytest.mark.parametrize("name", ["get", "items", "values", "copy", "to_dict"])
    def test_it_has_no_method_of_a_mapping(self, kind: type, name: str) -> None:
        with pytest.raises(AttributeError, match=rf"no '{name}': .*_asdict\(\).*to_dicts"):
            getattr(kind(), name)
        assert not hasattr(kind(), name)

    def test_it_looks_like_no_list_and_is_true(self, kind: type) -> None:
        assert not isinstance(kind(), (Iterable, Mapping))
        assert not hasattr(kind(), "__iter__")
        assert not hasattr(kind, "keys")
        assert bool(kind())
        assert not isinstance(kind(), Sequence)

    def test_it_follows_the_dataclass_protocol(self, kind: type) -> None:
        assert dataclasses.is_dataclass(kind)
        assert dataclasses.is_dataclass(filled(kind))
        record: Any = filled(kind)
        assert all(record[name] == GOOD[of] for name, of in kinds_of(kind).items())
        assert record.__match_args__ == ()
        assert [field.name for field in dataclasses.fields(kind)] == list(kinds_of(kind))
        assert all(field.kw_only and field.default is None for field in dataclasses.fields(record))
        assert dataclasses.asdict(record) == {n: getattr(record, n) for n in kinds_of(kind)}
        assert dataclasses.astuple(record) == tuple(dataclasses.asdict(record).values())
        name = first_of(kind, "text")
        other = dataclasses.replace(record, **{name: "TCS"})
        assert getattr(other, name) == "TCS"
        assert other != record
        assert dataclasses.replace(other, **{name: GOOD["text"]}) == record
        # pprint and rich print what has a repr of dataclasses in their own way.
        assert not record.__dataclass_params__.repr

    def test_no_public_name_but_the_fields(self, kind: type) -> None:
        """The service may add a field of any name tomorrow."""
        assert {name for name in dir(kind) if not name.startswith("_")} == set(kinds_of(kind))

    def test_it_equals_its_own_type_only(self, kind: type) -> None:
        assert kind() == kind()
        assert kind() != tuple(None for _ in kinds_of(kind))
        assert all(kind() != other() for other in TYPES if other is not kind)
        with pytest.raises(TypeError, match="not supported"):
            kind() < kind()  # noqa: B015


@given(records())
def test_a_copy_and_a_pickle_of_any_protocol_equal_the_record(record: Any) -> None:
    made = [copy.copy(record), copy.deepcopy(record), type(record)(**record._asdict())]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        made.append(pickle.loads(pickle.dumps(record, protocol)))
    for other in made:
        assert other == record
        assert hash(other) == hash(record)
        assert repr(other) == repr(record)
        assert other._asdict() == record._asdict()


@given(records(), records())
def test_records_are_equal_where_their_values_are(one: Any, other: Any) -> None:
    same = type(one) is type(other) and one._asdict() == other._asdict()
    assert (one == other) == same
    assert (one != other) == (not same)


def test_zero_and_minus_zero_are_one_value() -> None:
    plus, minus = td.Trade(traded_price=0.0), td.Trade(traded_price=-0.0)
    assert plus == minus
    assert hash(plus) == hash(minus)
    assert math.copysign(1, pickle.loads(pickle.dumps(minus)).traded_price) == -1


REPLACE: list[Any] = [td.Trade._replace]
if sys.version_info >= (3, 13):
    REPLACE.append(copy.replace)


class TestUnknownFields:
    def test_they_are_read_by_name(self) -> None:
        trade = wire_trade(brand_new={"a": [1, None, True]}, न="₹")
        assert trade["brand_new"] == {"a": [1, None, True]}
        assert trade["न"] == "₹"
        assert trade._extra == {"brand_new": {"a": [1, None, True]}, "न": "₹"}
        assert trade._asdict(extra=True) == trade._asdict() | trade._extra
        assert list(dataclasses.asdict(trade)) == list(kinds_of(td.Trade))
        trade["brand_new"]["a"].append(2)
        trade._extra.clear()
        assert trade["brand_new"] == {"a": [1, None, True]}
        with pytest.raises(AttributeError, match=r"read \['brand_new'\]"):
            trade.brand_new  # type: ignore[attr-defined]  # noqa: B018

    def test_dataclasses_refuse_to_lose_them(self) -> None:
        # A ValueError before Python 3.13.
        with pytest.raises((TypeError, ValueError), match=r"unknown fields.*call _replace\(\)"):
            dataclasses.replace(wire_trade(brand_new="a"), quantity=7)
        assert dataclasses.replace(td.Trade(quantity=5), quantity=7).quantity == 7

    @pytest.mark.parametrize("replace", REPLACE)
    def test_a_changed_copy_keeps_them_as_sent(self, replace: Any) -> None:
        body = as_json(envelope([trades(1)[0] | {"brand_new": 0}]))
        trade = td.TradeBook.from_json(body.replace(b'"brand_new":0', b'"brand_new":1.50'))[0]
        changed = replace(trade, quantity=7)
        assert (changed.quantity, changed["brand_new"]) == (7, 1.5)
        assert replace(changed, quantity=trade.quantity) == trade
        assert replace(trade) == trade
        assert pickle.loads(pickle.dumps(changed)) == changed

    def test_a_value_that_python_cannot_hold_is_its_json_text(self) -> None:
        digits = "1" * 5_000
        body = as_json(envelope([trades(1)[0] | {"big": 0}])).replace(
            b'"big":0', f'"big":{digits}'.encode()
        )
        book = td.TradeBook.from_json(body)
        assert book[0]["big"] == digits
        assert book.to_dicts(extra=True)[0]["big"] == digits

    def test_only_a_name_that_the_row_has_is_a_key(self) -> None:
        for key in ("", "\ud800", "nul\0"):
            with pytest.raises(KeyError):
                wire_trade()[key]
        with pytest.raises(TypeError, match="by its wire name"):
            td.Trade()[0]  # type: ignore[index]


def test_hashes_are_seeded_so_that_no_service_can_choose_them() -> None:
    code = "print(hash(td.Trade(order_no='1', quantity=5)), hash(td.Trade(order_no='2')))"
    hashes = [run_child(code, environment={"PYTHONHASHSEED": seed}) for seed in ("1", "1", "2")]
    assert hashes[0] == hashes[1]
    assert not set(hashes[0].split()) & set(hashes[2].split())


FIELDS = [("name", "text", "A name"), ("size", "integer", ""), ("at", "timestamp", "")]
ROW = row_type("Row", FIELDS)
MOMENT = datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize("kind", [*TYPES, Lot, ROW])
def test_annotations_are_types(kind: Any) -> None:
    kinds = {"text": str, "integer": int, "number": float, "timestamp": datetime, "date": date}
    wanted = {name: kinds[of] | None for name, of, *_ in _core.fields_of(kind)}
    assert typing.get_type_hints(kind) == kind.__annotations__ == wanted


def test_no_row_is_made_without_its_values() -> None:
    """As msgspec makes objects; reading one would end the process."""
    with pytest.raises(TypeError, match="pass its fields by keyword"):
        msgspec.convert({"quantity": 5}, td.Trade)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(td.RateLimit(5), 0)


def test_a_pickle_of_another_version_is_refused() -> None:
    reduced: Any = td.Trade(order_no="1").__reduce__()
    restore, (version, *state) = reduced
    assert (restore.__module__, restore.__name__) == ("tradingdata._util.declarations", "restore")
    assert restore(version, *state) == td.Trade(order_no="1")
    for kind in ((version + 1, *state), (version, "unheard", *state[1:])):
        with pytest.raises(ValueError, match="another version of tradingdata: read it with"):
            restore(*kind)


def test_a_named_tuple_of_another_version_is_refused() -> None:
    issue: Any = Issue("quantity", "missing", 1, 0, "", True)
    restore, (version, *state) = issue.__reduce__()
    assert restore(version, *state) == issue
    with pytest.raises(ValueError, match="another version of tradingdata: read it with"):
        restore(version + 1, *state)


def test_equal_schemas_have_one_type() -> None:
    assert row_type("Row", list(FIELDS)) is ROW
    assert row_type("Row", FIELDS[:2]) is not ROW
    assert Lot(**dict.fromkeys(_core.names_of(Lot))).kind == "shares"  # type: ignore[arg-type]


def test_names_that_no_attribute_can_have_are_refused() -> None:
    for name in ("__class__", "a\0b"):
        with pytest.raises(ValueError, match="a column cannot have the name"):
            row_type("Row", [(name, "text", "")])
    with pytest.raises(ValueError, match="two columns have the name a"):
        row_type("Row", [("a", "text", ""), ("a", "text", "")])


def test_a_field_that_is_optional_may_be_absent() -> None:
    fields = [("a", "text", "", False, False), ("later", "integer", "", False, True)]
    kind = _core.row_type("Row", fields)
    body = b'{"data":[{"a":"x"},{"later":"7","a":null},{}],"status":"success","message":""}'
    rows = _core.decode_book(kind, body)
    assert (rows.column("a"), rows.column("later")) == (["x", None, None], [None, 7, None])
    assert [issue[:3] for issue in rows.issues] == [
        ("later", "number sent as text", 1),
        ("a", "missing", 1),
    ]
    with pytest.raises(td.DecodeError):
        _core.decode_book(kind, body, strict=True)


RECORDS = {record["name"]: record for record in _core.records()}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_names_its_types_and_its_fields(name: str) -> None:
    record = RECORDS[name]
    assert getattr(td, record["book"])._record == name
    kinds = {field["name"]: field["kind"] for field in record["fields"]}
    fields = [*kinds]
    assert fields == _core.names_of(name)
    for some in ("identity", "event_times", "display", "narrow"):
        assert set(record[some]) <= set(fields), some
    assert set(record["narrow"]) <= set(record["display"])
    assert {kinds[time] for time in record["event_times"]} <= {"timestamp"}
    identity = record["identity"]  # by which an archive and a diff know a record again
    assert kinds[identity[0]] == "text"
    assert len(set(identity)) == len(identity)
    assert identity[-1] == "account" or "account" not in kinds


@pytest.mark.parametrize("call", _core.calls(), ids=[call["name"] for call in _core.calls()])
def test_a_call_is_a_method_of_both_clients_and_documented(call: dict[str, object]) -> None:
    assert hasattr(td.Client, str(call["name"]))
    assert hasattr(td.AsyncClient, str(call["name"]))
    assert call["record"] in RECORDS
    assert (call["form"] == "envelope") == (call["body"] is not None)
    document = service.DOCUMENT.read_text()
    assert f"| Method | {call['method']} |" in document
    assert f"| Path | {{base_url}}{call['path']} |" in document
