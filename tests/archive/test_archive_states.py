"""The states of a record: what `history` returns, whatever the order in which responses arrive."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tradingdata as td
from archiving import (
    archive_with,
    clock,
    content,
    order,
    order_response,
    trade,
    trade_response,
)
from tradingdata.archive.state_merge import State, merge, same_content

STATUSES = ("Pending", "Success", "Error")
NUMBERS = ("1", "2", "3")


def states_of(archive: td.Archive, number: str = "1") -> list[tuple[str | None, str | None]]:
    """When each state of an order was first seen, and its status."""
    return [(f"{at:%H:%M}" if at else None, seen.status) for at, _, seen in archive.history(number)]


def test_history_has_each_state_from_when_it_was_first_seen(tmp_path: Path) -> None:
    archive = archive_with(
        tmp_path,
        order_response(order(status="Pending"), at="09:20"),
        order_response(order(status="Pending"), at="09:30"),
        order_response(order(status="Success"), at="09:40"),
        order_response(order(status="Success"), at="09:50"),
    )
    assert states_of(archive) == [("09:20", "Pending"), ("09:40", "Success")]
    assert [row.status for row in archive.orders()] == ["Success"]
    assert [entry.changed for entry in archive.fetches()] == [0, 0, 1, 0]
    assert archive.history("unknown") == []


def test_what_ticks_by_itself_makes_no_state(tmp_path: Path) -> None:
    first = order_response(order(row_no=1, ref_ltp=100.0), at="09:20")
    archive = archive_with(tmp_path, first)
    before = content(archive)[1:]
    archive.add(order_response(order(row_no=9, ref_ltp=101.5), at="09:30"))
    assert content(archive)[1:] == before


def test_the_same_json_in_another_form_makes_no_state(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, order_response(order(), at="09:20"))
    spaced = str(order_response(order()).response.content, "utf-8").replace(",", " ,\n")  # type: ignore[union-attr]
    book = td.OrderBook.from_json(spaced)
    assert archive.add(book, at=clock("09:30")).changed == 0


def test_a_value_that_no_column_can_hold_makes_a_state_when_it_changes(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, order_response(order(price="NA"), at="09:20"))
    assert archive.add(order_response(order(price="MKT"), at="09:30")).changed == 1
    with pytest.warns(td.DataWarning, match="price") as warned:
        assert len(archive.history("1")) == 2
    assert warned[0].filename == __file__


def test_an_older_response_does_not_replace_a_newer_one(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, order_response(order(status="Success"), at="15:45"))
    assert archive.add(order_response(order(status="Pending"), at="10:00")).changed == 1
    assert [row.status for row in archive.orders()] == ["Success"]
    assert states_of(archive) == [("10:00", "Pending"), ("15:45", "Success")]


def test_a_response_of_unknown_time_never_replaces_a_dated_one(tmp_path: Path) -> None:
    dated = order_response(order(status="Success"), at="15:45")
    undated = order_response(order(status="Pending"), at=None)
    archive = archive_with(tmp_path, dated, undated)
    before = content(archive)
    archive.add(undated)
    assert content(archive) == before
    assert [row.status for row in archive.orders()] == ["Success"]
    assert states_of(archive) == [(None, "Pending"), ("15:45", "Success")]
    assert archive.fetches()[1].at is None


def test_a_dated_response_dates_a_state_of_unknown_time(tmp_path: Path) -> None:
    undated = order_response(order(), at=None)
    archive = archive_with(tmp_path, undated, order_response(order(), at="10:00"))
    assert [at for at, _ in states_of(archive)] == ["10:00"]
    archive.add(order_response(order(), at="09:30"))
    assert [at for at, _ in states_of(archive)] == ["09:30"]
    assert archive.sql("SELECT f.at FROM states s JOIN fetches f ON f.id = s.fetch") == [
        ("2026-11-20T04:00:00.000000Z",)
    ]


def test_a_corrected_trade_is_the_same_trade(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade(quantity=5), at="10:00"))
    archive.add(trade_response(trade(quantity=4), at="11:00"))
    assert [row.quantity for row in archive.trades()] == [4]
    quantities = archive.sql("SELECT json ->> '$.quantity' FROM states ORDER BY seen_at")
    assert quantities == [(5,), (4,)]


# A response has the orders that were entered so far, each with some status.
Response = tuple[int, tuple[str, ...]]


@st.composite
def afternoons(draw: st.DrawFn) -> list[Response]:
    """Responses in order of time: the minute, and the statuses of the orders known by then."""
    known = 0
    found = []
    for minute in range(draw(st.integers(2, 7))):
        known = draw(st.integers(known, len(NUMBERS)))
        statuses = draw(st.tuples(*[st.sampled_from(STATUSES)] * known))
        found.append((minute, statuses))
    return found


def book_of(response: Response, row_no: int) -> td.OrderBook:
    minute, statuses = response
    rows = [
        order(number, status=status, row_no=row_no)
        for number, status in zip(NUMBERS, statuses, strict=False)
    ]
    return order_response(*rows, at=f"10:{minute:02}")


def expected(responses: list[Response], number: int) -> list[tuple[str, str]]:
    """Each status from the minute when it began."""
    states: list[tuple[str, str]] = []
    for minute, statuses in responses:
        if number < len(statuses) and (not states or states[-1][1] != statuses[number]):
            states.append((f"10:{minute:02}", statuses[number]))
    return states


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(afternoons(), st.data())
def test_responses_may_be_filed_in_any_order_and_again(
    responses: list[Response], data: st.DataObject
) -> None:
    order_of_filing = data.draw(st.permutations(responses))
    order_of_filing += data.draw(st.lists(st.sampled_from(responses), max_size=3))
    with TemporaryDirectory() as folder:
        archive = td.Archive(Path(folder) / "books.sqlite")
        for count, response in enumerate(order_of_filing):
            archive.add(book_of(response, row_no=count))
        for position, number in enumerate(NUMBERS):
            assert states_of(archive, number) == expected(responses, position)
        newest = {row.order_no: row.status for row in archive.orders()}
        assert newest == dict(zip(NUMBERS, responses[-1][1], strict=False))
        check_invariants(archive)
        before = content(archive)[1:]
        for response in responses:
            archive.add(book_of(response, row_no=99))
        assert content(archive)[1:] == before


def check_invariants(archive: td.Archive) -> None:
    """Each record points to its newest state, and each state to the response that showed it."""
    newest = """SELECT count(*) FROM records r WHERE state <> (SELECT id FROM states s
        WHERE s.record = r.id ORDER BY seen_at DESC, id DESC LIMIT 1)"""
    shown = "SELECT count(*) FROM states s JOIN fetches f ON f.id = s.fetch WHERE f.at <> s.seen_at"
    assert archive.sql(newest) == archive.sql(shown) == [(0,)]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(STATUSES), min_size=1, max_size=7), st.data())
def test_merging_gives_the_history_of_the_responses_in_order(
    statuses: list[str], data: st.DataObject
) -> None:
    """The same as above, of one record and without a file, so that it can be tried more often."""
    sights = [
        (f"{minute:02}", f'{{"status": "{status}"}}') for minute, status in enumerate(statuses)
    ]
    known: list[State] = []
    seen: list[str] = []
    for at, text in data.draw(st.permutations(sights)):

        def next_response(after: str, before: str | None) -> str | None:
            return min((at for at in seen if after < at < (before or "~")), default=None)

        for state in merge("Order", known, at, text, next_response):
            known = [old for old in known if state.id is None or old.id != state.id]
            known.append(
                state._replace(id=len(seen) * 10 + len(known) if state.id is None else state.id)
            )
        known.sort()
        seen.append(at)
    wanted: list[tuple[str, Any]] = []
    for at, text in sights:
        if not wanted or wanted[-1][1] != text:
            wanted.append((at, text))
    assert [(state.seen_at, state.json) for state in known] == wanted


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a":1}', '{ "a" : 1.0 }', True),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
        ('{"row_no":1}', '{"row_no":2}', True),
        ('{"pan_no":"ABCDE1234F"}', '{"pan_no":"ABXXXXXX4F"}', True),
        ('{"a":1}', '{"a":"1"}', False),
        ('{"a":null}', "{}", False),
        ('{"a":0.1}', '{"a":0.1000000000000001}', False),
        ('{"a":%s}' % ("1" * 5000), '{"a":%s}' % ("1" * 5000), True),
        ('{"a":%s}' % ("1" * 5000), '{"a":%s2}' % ("1" * 4999), False),
        ('{"a":%s}' % ("[" * 1000 + "]" * 1000), '{"a":1}', False),
    ],
)
def test_content_is_compared_as_json(one: str, other: str, same: bool) -> None:
    assert same_content("Order", one, other) is same
