"""Rows chosen and sorted as Python's own operators choose and sort them; books in a time zone."""

from __future__ import annotations

import datetime as dt
import operator
import zoneinfo
from typing import Any

import pytest
import pytz
from hypothesis import example, given
from hypothesis import strategies as st

import tradingdata as td
from sample_books import BOOK, INDIA, LIST, SLICES, assert_like
from service import as_json, envelope, trades

pytestmark = pytest.mark.sanitize

COMPARISONS = {
    "": operator.eq,
    **{f"__{name}": getattr(operator, name) for name in ("ne", "lt", "le", "gt", "ge")},
}
# A negative number in its column.
EARLY = td.Trade(exch_trade_time=dt.datetime(1969, 3, 1, 23, 59, 58))
ROWS = [*LIST[:3], td.Trade(order_no="nothing else"), EARLY, *LIST[3:]]
FIELDS = ["symbol", "lot_size", "quantity", "traded_price", "expiry_date", "exch_trade_time"]


def seen_as(value: Any, bound: Any) -> Any:
    """The part of a timestamp that is compared with a date or a time."""
    if isinstance(value, dt.datetime) and not isinstance(bound, dt.datetime):
        return value.time() if isinstance(bound, dt.time) else value.date()
    return value


@st.composite
def conditions(draw: st.DrawFn) -> tuple[str, str, Any]:
    """A field, a comparison, and a value that some rows have, or a set of them and None."""
    name = draw(st.sampled_from(FIELDS))
    part = draw(st.sampled_from([lambda at: at, dt.datetime.date, dt.datetime.time]))
    known = [row[name] for row in ROWS if row[name] is not None]
    if name == "exch_trade_time":
        known = [part(value) for value in known]
    value = st.sampled_from(known)
    comparison = draw(st.sampled_from([*COMPARISONS, "__between"]))
    if comparison == "__between":
        return name, comparison, tuple(sorted(draw(st.tuples(value, value))))
    if comparison in ("", "__ne") and draw(st.booleans()):
        kind = draw(st.sampled_from([set, frozenset, list, tuple]))
        return name, comparison, kind(draw(st.sets(value | st.none(), max_size=3)))
    return name, comparison, draw(value | st.none() if comparison in ("", "__ne") else value)


def meets(row: td.Trade, condition: tuple[str, str, Any]) -> bool:
    name, comparison, bound = condition
    value = row[name]
    if comparison == "__between":
        low, high = bound
        return value is not None and low <= seen_as(value, low) <= high
    if comparison in ("", "__ne"):
        several = list(bound) if isinstance(bound, (set, frozenset, list, tuple)) else [bound]
        found = any(seen_as(value, one) == one for one in several)
        return found == (comparison == "")
    return value is not None and bool(COMPARISONS[comparison](seen_as(value, bound), bound))


def written(bound: Any, form: str) -> Any:
    """A bound whose times and dates may be text."""
    if isinstance(bound, (set, frozenset, list, tuple)):
        return type(bound)(written(one, form) for one in bound)
    if form == "value" or not isinstance(bound, (dt.date, dt.time)):
        return bound
    return str(bound) if form == "text" else bound.isoformat()


@example([("quantity", "__ne", 1)], slice(None), "value")  # of a missing value, and of an early one
@example([("exch_trade_time", "__gt", dt.time(20))], slice(None), "value")
@example([("exch_trade_time", "", {dt.time(23, 59, 58)})], slice(None), "text")
@example([("exch_trade_time", "", EARLY.exch_trade_time)], slice(None), "ISO text")
@given(
    st.lists(conditions(), max_size=2, unique_by=lambda one: one[:2]),
    SLICES,
    st.sampled_from(["value", "text", "ISO text"]),
)
def test_a_filter_is_the_rows_for_which_python_says_so(
    wanted: list[tuple[str, str, Any]], part: slice, form: str
) -> None:
    keywords = {name + comparison: written(bound, form) for name, comparison, bound in wanted}
    expected = [row for row in ROWS[part] if all(meets(row, one) for one in wanted)]
    assert_like(td.TradeBook(ROWS)[part].filter(**keywords), expected)


MOMENT = LIST[7].exch_trade_time or dt.datetime.max


def test_instants_are_compared_across_zones() -> None:
    local = BOOK.localize(INDIA)
    instant = MOMENT.replace(tzinfo=INDIA).astimezone(dt.UTC)
    later = [row for row in LIST if row.exch_trade_time and row.exch_trade_time > MOMENT]
    assert [row.order_no for row in local.filter(exch_trade_time__gt=instant)] == [
        row.order_no for row in later
    ]


def test_a_function_of_the_row_chooses_among_the_rows_that_meet_the_conditions() -> None:
    seen: list[td.Trade] = []

    def large(row: td.Trade) -> bool:
        seen.append(row)
        return row.quantity is not None and row.quantity > 50

    part = BOOK[3:].filter(large, symbol=LIST[4].symbol)
    among = [row for row in LIST[3:] if row.symbol == LIST[4].symbol]
    assert_like(part, [row for row in among if large(row)])
    assert seen[: len(among)] == among
    with pytest.raises(ZeroDivisionError):
        BOOK.filter(lambda row: 1 / 0)


@given(
    st.lists(
        st.tuples(st.sampled_from(FIELDS), st.booleans()), min_size=1, unique_by=lambda k: k[0]
    ),
    st.booleans(),
)
def test_a_sort_is_stable_with_missing_values_last(
    keys: list[tuple[str, bool]], reverse: bool
) -> None:
    rows = [*LIST, *(row._replace(order_no="again") for row in LIST)]
    rows[4:4] = [td.Trade(order_no="empty"), td.Trade(order_no="empty too")]
    expected = rows
    for name, descending in reversed(keys):  # each sort is stable
        known = [row for row in expected if row[name] is not None]
        known.sort(key=lambda row: row[name], reverse=descending != reverse)
        expected = known + [row for row in expected if row[name] is None]
    fields = [f"-{name}" if descending else name for name, descending in keys]
    assert_like(td.TradeBook(rows).sort(*fields, reverse=reverse), expected)


def test_unknown_fields_and_issues_stay() -> None:
    rows = [row | {"extra": i, "quantity": -i} for i, row in enumerate(trades(4))]
    book = td.TradeBook.from_json(as_json(envelope(rows)))
    assert [row["extra"] for row in book.sort("quantity")] == [3, 2, 1, 0]
    assert book.sort("quantity").issues == book.issues


def test_the_clock_times_stay_the_same_in_a_zone_of_all_parts() -> None:
    local = BOOK.localize("Asia/Kolkata")
    for naive, aware in zip(BOOK, local, strict=True):
        assert aware.exch_trade_time == naive.exch_trade_time.replace(tzinfo=INDIA)  # type: ignore[union-attr]
        assert aware.expiry_date == naive.expiry_date
    assert local != BOOK
    assert local.response is BOOK.response
    assert local.issues == BOOK.issues
    assert local.localize(None) == BOOK
    assert local.localize(INDIA) is local
    parts = local[3:5], local[::2], local.filter(symbol="INFY"), td.concat([local, local])
    for part in parts:
        assert all(row.exch_trade_time.tzinfo is INDIA for row in part)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        (pytz.timezone("Asia/Kolkata"), INDIA),
        (pytz.UTC, zoneinfo.ZoneInfo("UTC")),
        (pytz.FixedOffset(330), dt.timezone(dt.timedelta(minutes=330))),
    ],
)
def test_a_zone_of_pytz_is_replaced_by_the_one_of_its_name(
    zone: dt.tzinfo, expected: dt.tzinfo
) -> None:
    local = BOOK.localize(zone)
    assert local == BOOK.localize(expected)
    assert local[0].exch_trade_time.tzinfo == expected  # type: ignore[union-attr]
    assert local.to_arrow().equals(BOOK.localize(expected).to_arrow())
