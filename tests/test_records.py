"""The record types: immutable, equal, hashable, picklable, made by keyword, dataclasses."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import inspect
import math
import pickle
import sys
import weakref
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope, orders, stocks, trades
from tradingdata import _core

TYPES = (td.Trade, td.Order, td.Stock)
RECORDS = tuple(kind.__name__ for kind in TYPES)
INDIA = ZoneInfo("Asia/Kolkata")
PAN = "ABCDE1234F"

# A value for any field of a kind, and what none of them takes.
GOOD: dict[str, Any] = {
    "text": "INFY",
    "integer": 5,
    "number": 1501.05,
    "timestamp": dt.datetime(2026, 1, 6, 9, 15, 1),
    "date": dt.date(2026, 1, 29),
}
BAD: dict[str, Any] = {
    "text": 5,
    "integer": "5",
    "number": "1.5",
    "timestamp": dt.date(2026, 1, 6),
    "date": dt.datetime(2026, 1, 29),
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(codec="utf-8")),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "timestamp": st.datetimes(),
    "date": st.dates(),
}


def kinds_of(kind: type) -> dict[str, str]:
    return {name: kind for name, kind, _, _ in _core.fields_of(kind.__name__)}


def first_of(kind: type, wanted: str) -> str:
    return next(name for name, kind in kinds_of(kind).items() if kind == wanted)


def filled(kind: type) -> Any:
    return kind(**{name: GOOD[of] for name, of in kinds_of(kind).items()})


def wire_trade(**unknown: object) -> td.Trade:
    """A trade as the service sends it, with unknown fields."""
    record = trades(1)[0] | unknown
    return td.TradeBook.from_json(as_json(envelope([record])))[0]


@st.composite
def records(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(TYPES))
    kinds = kinds_of(kind)
    names = draw(st.lists(st.sampled_from(sorted(kinds)), unique=True, max_size=12))
    return kind(**{name: draw(st.none() | VALUES[kinds[name]]) for name in names})


@pytest.mark.parametrize("kind", TYPES)
class TestEachType:
    def test_a_field_that_is_not_given_is_none(self, kind: type) -> None:
        assert all(getattr(kind(), name) is None for name in kinds_of(kind))

    def test_every_field_is_given_and_read_by_its_wire_name(self, kind: type) -> None:
        record = filled(kind)
        for name, of in kinds_of(kind).items():
            assert getattr(record, name) == record[name] == GOOD[of]

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

    def test_a_misspelt_field_is_told_with_the_closest_one(self, kind: type) -> None:
        name = first_of(kind, "text")
        wrong = name[:-1]
        with pytest.raises(TypeError, match=f"no field '{wrong}'; did you mean"):
            kind(**{wrong: "x"})
        with pytest.raises(AttributeError, match=f"no field '{wrong}'; did you mean") as caught:
            getattr(kind(), wrong)
        assert caught.value.name == wrong
        with pytest.raises(KeyError) as missing:
            kind()[wrong]
        assert missing.value.args == (wrong,)

    def test_it_is_not_iterable_and_has_no_length(self, kind: type) -> None:
        with pytest.raises(TypeError):
            iter(kind())
        with pytest.raises(TypeError):
            len(kind())

    def test_it_follows_the_dataclass_protocol(self, kind: type) -> None:
        assert dataclasses.is_dataclass(kind)
        assert dataclasses.is_dataclass(filled(kind))
        record: Any = filled(kind)
        assert [field.name for field in dataclasses.fields(kind)] == list(kinds_of(kind))
        assert all(field.kw_only and field.default is None for field in dataclasses.fields(record))
        assert dataclasses.asdict(record) == {n: getattr(record, n) for n in kinds_of(kind)}
        assert dataclasses.astuple(record) == tuple(dataclasses.asdict(record).values())
        name = first_of(kind, "text")
        other = dataclasses.replace(record, **{name: "TCS"})
        assert getattr(other, name) == "TCS"
        assert other != record
        assert dataclasses.replace(other, **{name: GOOD["text"]}) == record

    def test_it_is_made_again_from_its_dict(self, kind: type) -> None:
        assert kind(**filled(kind)._asdict()) == filled(kind)
        assert kind(**kind()._asdict()) == kind()

    def test_help_shows_the_signature_and_says_what_each_field_is(self, kind: type) -> None:
        assert list(inspect.signature(kind).parameters) == list(kinds_of(kind))
        for name, _, doc, _ in _core.fields_of(kind.__name__):
            assert f"{name}: {doc}" in (kind.__doc__ or "")
            assert doc in getattr(kind, name).__doc__

    def test_dir_lists_the_fields(self, kind: type) -> None:
        assert set(kinds_of(kind)) <= set(dir(kind()))

    def test_no_public_name_but_the_fields(self, kind: type) -> None:
        """The service may add a field of any name tomorrow."""
        assert {name for name in dir(kind) if not name.startswith("_")} == set(kinds_of(kind))

    def test_its_repr_is_one_line_of_what_is_set(self, kind: type) -> None:
        name = first_of(kind, "text")
        text = repr(kind(**{name: "two\nlines"}))
        assert text == f"{kind.__name__}({name}='two\\nlines')"
        assert repr(kind()) == f"{kind.__name__}()"
        assert "\n" not in repr(filled(kind))

    def test_it_equals_its_own_type_only(self, kind: type) -> None:
        assert kind() == kind()
        assert kind() != tuple(None for _ in kinds_of(kind))
        assert all(kind() != other() for other in TYPES if other is not kind)
        with pytest.raises(TypeError, match="not supported"):
            kind() < kind()  # noqa: B015


@settings(deadline=None)
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


@settings(deadline=None)
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


def test_records_work_as_keys() -> None:
    book = td.TradeBook.from_json(as_json(envelope(trades(50))))
    again = td.TradeBook.from_json(as_json(envelope(trades(50))))
    assert len({*book, *again}) == 50
    assert {row: i for i, row in enumerate(book)}[again[7]] == 7


def test_a_record_matches_by_its_fields() -> None:
    match wire_trade(symbol="INFY"):
        case td.Order():
            pytest.fail("a trade is no order")
        case td.Trade(symbol="INFY", quantity=int(quantity), strike_price=float()):
            assert quantity > 0
        case _:
            pytest.fail("it did not match")


def test_a_positional_pattern_is_refused() -> None:
    def positional(record: object) -> bool:
        match record:
            case td.Trade("x"):  # type: ignore[misc]
                return True
        return False

    with pytest.raises(TypeError, match="0 positional"):
        positional(td.Trade())


class TestUnknownFields:
    def test_they_are_read_by_name(self) -> None:
        trade = wire_trade(brand_new={"a": [1, None, True]}, न="₹")
        assert trade["brand_new"] == {"a": [1, None, True]}
        assert trade["न"] == "₹"
        assert trade._extra == {"brand_new": {"a": [1, None, True]}, "न": "₹"}
        assert trade._asdict(extra=True) == trade._asdict() | trade._extra
        with pytest.raises(AttributeError, match=r"read \['brand_new'\]"):
            trade.brand_new  # type: ignore[attr-defined]  # noqa: B018

    def test_a_value_that_is_changed_changes_no_record(self) -> None:
        trade = wire_trade(brand_new=[1])
        trade["brand_new"].append(2)
        trade._extra.clear()
        assert trade["brand_new"] == [1]

    def test_they_count_in_equality_and_stay_in_copies_and_pickles(self) -> None:
        trade = wire_trade(brand_new="a", other=1)
        assert trade != wire_trade(brand_new="b", other=1)
        assert trade != wire_trade(brand_new="a")
        assert trade == wire_trade(other=1, brand_new="a")
        assert hash(trade) == hash(wire_trade(other=1, brand_new="a"))
        for other in (copy.copy(trade), copy.deepcopy(trade), pickle.loads(pickle.dumps(trade))):
            assert other == trade
            assert other["brand_new"] == "a"

    def test_a_changed_copy_keeps_them_but_a_dataclass_replace_knows_fields_only(self) -> None:
        trade = wire_trade(brand_new="a")
        assert trade._replace(quantity=7)["brand_new"] == "a"
        assert trade._replace(quantity=trade.quantity) == trade
        assert trade._replace(quantity=7).quantity == 7
        with pytest.raises(KeyError):
            dataclasses.replace(trade, quantity=7)["brand_new"]

    @pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is new in 3.13")
    def test_copy_replace_keeps_them(self) -> None:
        trade = wire_trade(brand_new="a")
        other = copy.replace(trade, quantity=7)  # type: ignore[attr-defined]
        assert (other.quantity, other["brand_new"]) == (7, "a")

    def test_a_value_that_python_cannot_hold_is_its_json_text(self) -> None:
        digits = "1" * 5_000
        body = as_json(envelope([trades(1)[0] | {"big": 0}])).replace(
            b'"big":0', f'"big":{digits}'.encode()
        )
        book = td.TradeBook.from_json(body)
        assert book[0]["big"] == digits
        assert book.to_dicts(extra=True)[0]["big"] == digits

    @pytest.mark.parametrize("key", ["", "\ud800", "nul\0"])
    def test_a_name_that_no_row_has_is_a_key_error(self, key: str) -> None:
        with pytest.raises(KeyError):
            wire_trade()[key]

    def test_a_key_is_a_name(self) -> None:
        with pytest.raises(TypeError, match="by its wire name"):
            td.Trade()[0]  # type: ignore[index]


class TestEdges:
    @pytest.mark.parametrize(
        "when",
        [
            dt.datetime(1, 1, 2),
            dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
            dt.datetime(2024, 2, 29, 12, 0, 0, 1),
            dt.datetime.max,
        ],
    )
    def test_times_of_all_years_keep_their_microseconds(self, when: dt.datetime) -> None:
        trade = td.Trade(exch_trade_time=when, expiry_date=when.date())
        for one in (trade, pickle.loads(pickle.dumps(trade))):
            assert one.exch_trade_time == when
            assert one.expiry_date == when.date()

    def test_the_zero_date_is_none_however_it_is_given(self) -> None:
        trade = td.Trade(expiry_date=dt.date(1, 1, 1), exch_trade_time=dt.datetime(1, 1, 1, 10, 30))
        assert trade == td.Trade()

    @pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0])
    def test_integers_of_64_bits_are_kept(self, number: int) -> None:
        trade = td.Trade(quantity=number)
        assert trade.quantity == pickle.loads(pickle.dumps(trade)).quantity == number

    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400])
    def test_larger_integers_are_refused(self, number: int) -> None:
        with pytest.raises(ValueError, match=r"quantity cannot be .* 64 bits"):
            td.Trade(quantity=number)

    @pytest.mark.parametrize("number", [1e308, 5e-324, -1.7976931348623157e308, 2.0**60, 1e22])
    def test_any_finite_float_is_kept(self, number: float) -> None:
        trade = td.Trade(traded_price=number)
        assert trade.traded_price == pickle.loads(pickle.dumps(trade)).traded_price == number

    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
    def test_what_is_not_finite_is_refused(self, number: float) -> None:
        with pytest.raises(ValueError, match=r"traded_price cannot be .* finite"):
            td.Trade(traded_price=number)

    def test_an_integer_that_would_round_is_refused(self) -> None:
        assert td.Trade(traded_price=2**53).traded_price == 2.0**53
        with pytest.raises(ValueError, match="would round"):
            td.Trade(traded_price=2**53 + 1)

    def test_numbers_of_other_libraries_are_taken(self) -> None:
        class Whole:
            def __index__(self) -> int:
                return 7

        trade = td.Trade(quantity=Whole(), traded_price=Decimal("1.5"))  # type: ignore[arg-type]
        assert (trade.quantity, trade.traded_price) == (7, 1.5)

    @pytest.mark.parametrize("flag", [True, False])
    @pytest.mark.parametrize("name", ["quantity", "traded_price"])
    def test_a_truth_value_is_no_number(self, name: str, flag: bool) -> None:
        with pytest.raises(TypeError, match=name):
            td.Trade(**{name: flag})  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "text",
        ["", "x" * 12, "x" * 13, "रु₹123", "रु₹1234", "NUL\0 inside", "📈", '"\\\n', "x" * 70_000],
    )
    def test_text_of_any_length_and_script_is_kept(self, text: str) -> None:
        trade = td.Trade(symbol=text)
        assert trade.symbol == copy.copy(trade).symbol == pickle.loads(pickle.dumps(trade)).symbol
        assert trade.symbol == text

    def test_half_a_surrogate_pair_is_refused(self) -> None:
        with pytest.raises(UnicodeEncodeError):
            td.Trade(symbol="\ud800")


class TestZones:
    WHEN = dt.datetime(2026, 1, 6, 9, 15, tzinfo=INDIA)

    def test_times_keep_their_zone_in_copies_and_pickles(self) -> None:
        trade = td.Trade(exch_trade_time=self.WHEN, quantity=1)
        for one in (
            trade,
            copy.copy(trade),
            copy.deepcopy(trade),
            pickle.loads(pickle.dumps(trade)),
        ):
            assert one == trade
            assert one.exch_trade_time == self.WHEN
            assert one.exch_trade_time.tzinfo is INDIA

    def test_equal_instants_in_two_zones_are_two_records(self) -> None:
        india = td.Trade(exch_trade_time=self.WHEN)
        utc = td.Trade(exch_trade_time=self.WHEN.astimezone(dt.UTC))
        assert india.exch_trade_time == utc.exch_trade_time
        assert india != utc

    def test_the_times_of_a_record_stand_in_one_zone(self) -> None:
        naive = self.WHEN.replace(tzinfo=None)
        with pytest.raises(ValueError, match="exch_trade_time stands in another time zone"):
            td.Trade(order_date_time=naive, exch_trade_time=self.WHEN)
        trade = td.Trade(order_date_time=self.WHEN, exch_trade_time=self.WHEN)
        with pytest.raises(ValueError, match="another time zone"):
            trade._replace(exch_trade_time=naive)
        moved = trade._replace(exch_trade_time=naive, order_date_time=naive)
        assert moved.exch_trade_time == naive

    def test_a_changed_copy_stays_in_its_zone(self) -> None:
        row = td.TradeBook.from_json(as_json(envelope(trades(1)))).localize("Asia/Kolkata")[0]
        assert row._replace(quantity=row.quantity) == row
        assert row._replace(quantity=1).exch_trade_time.tzinfo is INDIA  # type: ignore[union-attr]


class TestPersonalData:
    def test_a_repr_masks_it_even_where_it_was_kept(self) -> None:
        assert PAN not in repr(td.Trade(pan_no=PAN))
        assert "pan_no='ABXXXXXX4F'" in repr(td.Trade(pan_no=PAN))

    def test_what_was_kept_stays_in_copies_and_pickles(self) -> None:
        trade = td.Trade(pan_no=PAN)
        assert copy.copy(trade).pan_no == pickle.loads(pickle.dumps(trade)).pan_no == PAN

    def test_what_was_masked_is_nowhere_in_a_pickle(self) -> None:
        trade = wire_trade(pan_no=PAN)
        assert trade.pan_no == "ABXXXXXX4F"
        assert PAN.encode() not in pickle.dumps(trade)
        assert pickle.loads(pickle.dumps(trade)) == trade

    def test_what_a_changed_copy_is_given_is_kept(self) -> None:
        trade = wire_trade()._replace(pan_no=PAN)
        assert pickle.loads(pickle.dumps(trade)).pan_no == PAN

    def test_a_refusal_does_not_show_it(self) -> None:
        with pytest.raises(TypeError, match="pan_no takes a str or None, not int") as caught:
            td.Trade(pan_no=1234567890)  # type: ignore[arg-type]
        assert "1234567890" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "book"), [(orders, td.OrderBook), (trades, td.TradeBook)], ids=["order", "trade"]
)
def test_a_row_equals_the_record_made_by_hand_from_it(make: Any, book: Any) -> None:
    for row in book.from_json(as_json(envelope(make(20, variety=True)))):
        assert type(row)(**row._asdict()) == row


def test_a_found_stock_equals_the_one_made_by_hand_from_it() -> None:
    for row in td.StockList.from_json(as_json(stocks(20, variety=True))):
        assert td.Stock(**row._asdict()) == row
