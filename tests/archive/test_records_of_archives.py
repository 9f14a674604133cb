"""Which rows of responses are one record, and what a response that is wrong leaves."""

from __future__ import annotations

import datetime as dt
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import (
    DAY,
    DAYS,
    archive_with,
    clock,
    numbers,
    order,
    order_response,
    response,
    trade,
    trade_response,
)
from calls import wait_until
from signalling import interrupted
from tradingdata.archive import databases, days, folder, store
from tradingdata.archive.responses import Log, Responses

SATURDAY = DAY + dt.timedelta(1)


def test_legs_in_another_order_are_no_change(tmp_path: Path) -> None:
    legs = [order("1", leg_no=leg, row_no=leg) for leg in (1, 2)]
    turned = [leg | {"row_no": 3 - leg["row_no"]} for leg in reversed(legs)]
    archive = archive_with(tmp_path, order_response(*legs, at="10:00"))
    archive.add(order_response(*turned, at="11:00"))
    assert len(archive.history("1")) == 2
    archive.add(order_response(*(leg | {"colour": "red"} for leg in legs), at="12:00"))
    assert [str(state.seen_at)[11:16] for state in archive.history("1")] == ["10:00", "12:00"] * 2
    archive.add(order_response(*(leg | {"colour": "green"} for leg in legs), at="09:00"))
    first, *_ = archive.history("1")
    assert (str(first.seen_at)[11:16], first.order["colour"]) == ("09:00", "green")


def test_retirement_in_any_order(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")
    for account in ("a", "b"):
        archive.add(response(td.TradeBook, [], clock("15:45", DAYS[2])), account=account)
    for day, missing in ((DAYS[3], 1), (DAYS[1], 1), (DAYS[4], 2), (DAYS[2], 1)):
        archive.retire("b", day)
        gaps = [gap for gap in archive.missing(DAYS[3], DAYS[4]) if gap.account == "b"]
        assert len(gaps) == max(0, (day - DAYS[2]).days), day
        assert missing
    archive.retire("b", DAYS[2])
    for day in (DAYS[4], DAYS[1]):  # an older response that is stored later changes nothing
        archive.add(response(td.TradeBook, [], clock("15:45", day)), account="b")
    assert [gap.day for gap in archive.missing(DAYS[3], DAYS[3]) if gap.account == "b"] == [DAYS[3]]


class Calendar:
    def is_session(self, day: dt.date) -> bool:
        return day != DAYS[1]


def test_sessions_of_a_calendar(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books", calendar=Calendar(), holidays=[DAYS[2]])
    found = archive.missing(DAYS[0], SATURDAY)
    assert [gap.day for gap in found] == [DAYS[0], DAYS[3], DAYS[4], SATURDAY]
    archive = td.Archive(tmp_path / "books", sessions=[SATURDAY])
    assert [gap.day for gap in archive.missing(DAY, SATURDAY + dt.timedelta(1))] == [DAY, SATURDAY]
    assert len(archive.missing(SATURDAY, SATURDAY)) == 1
    with pytest.raises(TypeError, match="calendar must be None"):
        td.Archive(tmp_path / "other", calendar=5)
    with pytest.raises((ImportError, td.ConfigurationError), match="exchange_calendars"):
        td.Archive(tmp_path / "other", calendar="NOWHERE")
    assert not (tmp_path / "other").exists()


@pytest.mark.filterwarnings("ignore")  # what exchange_calendars itself warns of is not ours
def test_a_calendar_by_name(tmp_path: Path) -> None:
    """It is kept in the archive; beyond its last day, weekdays count."""
    pytest.importorskip("exchange_calendars")
    first = td.Archive(tmp_path / "books", calendar="XBOM")
    days = {"2026-01-26": False, "2026-01-27": True, "2026-01-25": False, "2099-01-05": True}
    for archive in (first, td.Archive(tmp_path / "books"), pickle.loads(pickle.dumps(first))):
        for day, is_session in days.items():
            assert archive._reader.sessions.has(dt.date.fromisoformat(day)) == is_session
    extra = td.Archive(tmp_path / "books", sessions=["2026-01-26"], holidays=["2026-01-27"])
    assert extra._reader.sessions.has(dt.date(2026, 1, 26))
    assert not extra._reader.sessions.has(dt.date(2026, 1, 27))
    with pytest.raises(td.ConfigurationError, match="has no calendar 'NOWHERE'"):
        td.Archive(tmp_path / "other", calendar="NOWHERE")


def test_an_argument_error_is_no_failed_fetch(tmp_path: Path) -> None:
    archive = td.Archive(tmp_path / "books")
    client = td.Client("http://127.0.0.1:9", access_token="x" * 12)
    with pytest.raises((TypeError, ValueError), match="timeout"):
        archive.fetch(client, timeout="30")  # type: ignore[call-overload]
    without = td.Client("http://127.0.0.1:9")
    with pytest.raises(td.ConfigurationError, match="access_token"):
        archive.fetch(without)
    assert archive.fetches() == []
    assert archive.missing(SATURDAY, SATURDAY + dt.timedelta(1)) == []


def test_what_has_arrived_is_stored_while_one_account_stalls(tmp_path: Path) -> None:
    """Even if the process is then killed."""
    archive = td.Archive(tmp_path / "books")
    with td.sandbox.start(accounts=6, orders=5) as service:
        accounts = td.Accounts({x: service.client(x) for x in service.accounts})
        service.fail_next("stall", seconds=3, account="desk1")
        with ThreadPoolExecutor(1) as pool:
            fetched = pool.submit(archive.fetch, accounts)
            wait_until(lambda: len(archive.accounts) == 5)
            assert not fetched.done()
    assert len(archive.accounts) == 6


@pytest.mark.parametrize("module", [days, databases])
def test_f141_an_interrupt_while_storing_loses_no_book(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F141, F146: DuckDB makes another error of a Ctrl-C that comes while it works.

    In the file of a day, after the response was stored, and in that of the response.
    """
    archive, write = td.Archive(tmp_path / "books"), module.write

    def interrupts(*_: Any, **__: Any) -> None:
        monkeypatch.setattr(module, "write", write)
        raise RuntimeError("Query interrupted") if module is databases else KeyboardInterrupt

    monkeypatch.setattr(module, "write", interrupts)
    with td.sandbox.start(orders=5) as service, pytest.raises(KeyboardInterrupt):
        archive.fetch(service.client())
    day = td.sandbox.DEFAULT_DAY
    assert len(archive.orders(day)) == 5
    assert len(archive.trades(day)) > 0
    assert len(archive.fetches()) == 2


def test_an_interrupt_while_the_log_is_made_loses_no_entry(tmp_path: Path) -> None:
    """At any line: what is read afterwards in the process is everything."""
    archive = archive_with(tmp_path, *(trade_response(trade("1"), at=f"1{at}:00") for at in (0, 1)))
    archive.withdraw(archive.fetches()[0].id)
    files = folder.Folder(archive.path)
    wanted = vars(Responses(files).refresh())
    code = {function.__code__ for function in vars(Log).values() if hasattr(function, "__code__")}
    nth, is_interrupted, before = 0, True, sys.gettrace()
    while is_interrupted:
        responses, is_interrupted = Responses(files), False
        sys.settrace(interrupted(nth, code - {Log.__init__.__code__}))
        try:
            responses.refresh()
        except KeyboardInterrupt:
            nth, is_interrupted = nth + 1, True
        finally:
            sys.settrace(before)
        assert vars(responses.refresh()) == wanted, f"interrupted at step {nth}"
    assert nth > 40


@pytest.mark.parametrize("is_erased", [False, True])
def test_a_poll_that_repeats_what_another_process_withdraws(
    is_erased: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or erases (A17): it does not bring the records back, as it has no body of its own."""
    archive = archive_with(tmp_path, trade_response(trade("1"), at="09:00", account="a"))
    wrong = archive.add(trade_response(trade("8"), at="10:00", account="b"))
    place = Responses.place

    def gone_meanwhile(*arguments: Any) -> None:
        monkeypatch.setattr(Responses, "place", place)
        store.store_of.cache_clear()  # as another process has none of it
        other = td.Archive(archive.path)
        if is_erased:
            other.erase("b")
        else:
            other.withdraw(wrong.id)
        place(*arguments)

    monkeypatch.setattr(Responses, "place", gone_meanwhile)
    assert not archive.add(trade_response(trade("8"), at="11:00", account="b")).stored
    assert numbers(archive.trades(DAY, missing_ok=True)) == ["1"]
    assert [entry.withdrawn for entry in archive.fetches()] == [False] + [True] * (
        2 - 2 * is_erased
    )
    assert archive.add(trade_response(trade("8"), at="12:00", account="b")).stored
    assert numbers(archive.trades(DAY)) == ["1", "8"]
