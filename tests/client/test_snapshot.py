"""books(): consistent orders and trades, or an error that names the orders that are not."""

from __future__ import annotations

import datetime as dt
import pickle
import threading
from contextlib import suppress
from typing import Any

import pytest

import tradingdata as td
from calls import BOOK_PATH, Call, async_call, both, sync_call, within
from service import Behaviour, Record, Service, book_reply, orders, reply, trades
from tradingdata import sandbox
from tradingdata.analysis.keys import REQUIRED
from tradingdata.client import snapshot as together

ORDER_PATH = "/api/v1/order/book"
SAME: dict[str, Any] = dict.fromkeys(REQUIRED, "1") | {
    "exchange": "NSE",
    "txn_type": "B",
}


def order(number: str, filled: object, day: int = 20, **facts: Any) -> Record:
    entered = {"order_date_time": f"2026-11-{day} 09:15:00"}
    return orders(1, **SAME | entered | {"order_no": number, "traded_qty": filled} | facts)[0]


def trade(number: str, quantity: object, day: int = 20, **facts: Any) -> Record:
    """Of an order that was entered on that day of November."""
    entered = {"order_date_time": f"2026-11-{day} 09:15:00"}
    return trades(1, **SAME | entered | {"order_no": number, "quantity": quantity} | facts)[0]


def order_book(**filled: object) -> Behaviour:
    """The order book with that many of each order filled."""
    return book_reply(order(*each) for each in filled.items())


def trade_book(**quantities: object) -> Behaviour:
    """The trade book with one trade of each order."""
    return book_reply(trade(*each) for each in quantities.items())


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_PAUSES", (0.01,) * 6)


def asked(service: Service) -> str:
    return "".join("O" if request.path == ORDER_PATH else "T" for request in service.requests)


def scripted(
    service: Service, order_books: list[Behaviour], trade_books: list[Behaviour]
) -> Service:
    """The last of each is repeated for all requests after it."""
    service.script(*order_books, then=order_books[-1], path=ORDER_PATH)
    service.script(*trade_books, then=trade_books[-1], path=BOOK_PATH)
    return service


@both
def test_books_that_never_agree_are_an_error_that_has_them(service: Service, call: Call) -> None:
    scripted(service, [order_book(A=5, B=3, C=1, D=1, E=1)], [trade_book(A=2, B=3, C=2, D=2, E=2)])
    with pytest.raises(td.BooksDisagreeError) as caught:
        call(service.base_url, "books", account="desk1")
    error = caught.value
    assert asked(service) == "TO" * 7
    assert "disagree on 'A', 'C', 'D', 1 more after repeated requests: call again" in str(error)
    assert (error.retryable, error.account) == (True, "desk1")
    assert error.books is not None
    assert [len(book) for book in error.books] == [5, 5]
    assert error.differences is not None
    assert [row.order_no for row in error.differences] == list("ACDE")
    copied = pickle.loads(pickle.dumps(error))
    assert copied.books == error.books
    assert copied.differences == error.differences


@both
def test_the_time_is_for_all_of_it(
    service: Service, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "_PAUSES", (0.1, 0.2, 5.0))
    scripted(service, [order_book(A=5)], [trade_book(A=2)])
    with within(1.5), pytest.raises(td.BooksDisagreeError):
        call(service.base_url, "books", timeout=1.5)
    assert asked(service) == "TOTT"


@pytest.mark.parametrize("day", [19, 20])
@pytest.mark.parametrize(("filled", "calls"), [(5, "TOT"), ("NA", "TOTO")])
def test_a_quantity_that_was_lost_agrees_with_nothing(
    service: Service, filled: object, day: int, calls: str
) -> None:
    order_books = [
        book_reply([order("A", quantity, day), order("B", 0)]) for quantity in (filled, 5)
    ]
    trade_books = [book_reply([trade("A", quantity, day)]) for quantity in ("NA", 5)]
    scripted(service, order_books, trade_books)
    with pytest.warns(td.DataWarning):
        books = sync_call(service.base_url, "books")
    assert asked(service) == calls
    assert books.trades[0].quantity == 5


def test_prices_do_not_count(service: Service) -> None:
    scripted(service, [order_book(A=5)], [trade_book(A=5)])
    books = sync_call(service.base_url, "books")
    found = td.reconcile(*books, multipliers=lambda _: 1)
    assert [row.finding for row in found] == ["price differs"]


def test_trades_of_other_days_do_not_count(service: Service) -> None:
    yesterday = [book_reply([trade("A", 5, 19)])]
    scripted(service, [order_book(A=5)], yesterday)
    with pytest.raises(td.BooksDisagreeError, match="disagree on 'A' after"):
        sync_call(service.base_url, "books")
    scripted(service, [order_book(A=0)], yesterday)
    assert len(sync_call(service.base_url, "books").trades) == 1


@both
@pytest.mark.parametrize("times", [True, False], ids=["times", "no-entry-times"])
def test_an_order_that_filled_on_two_days_agrees(service: Service, call: Call, times: bool) -> None:
    """40 of it were executed yesterday; the trade book has the 60 of today."""
    facts: dict[str, Any] = {} if times else {"order_date_time": None}
    facts["exch_trade_time"] = "2026-11-20 10:00:00"
    scripted(
        service,
        [book_reply([order("A", 100, 19), order("B", 5)])],
        [book_reply([trade("A", 60, 19, **facts), trade("B", 5, **facts)])],
    )
    assert len(call(service.base_url, "books").orders) == 2
    assert asked(service) == "TO"


@both
def test_more_fills_than_an_order_of_an_earlier_day_has_disagree(
    service: Service, call: Call
) -> None:
    """Its trades cannot be of an earlier day than the order book."""
    fill = trade("A", 6, 19, exch_trade_time="2026-11-20 10:00:00")
    scripted(service, [book_reply([order("A", 5, 19)])], [book_reply([fill])])
    with pytest.raises(td.BooksDisagreeError):
        call(service.base_url, "books")


@pytest.mark.parametrize(("entered", "wanted"), [("2020-11-19", "TO"), ("2026-11-20", "TOTTTTTT")])
def test_an_order_that_is_valid_for_years_agrees_before_the_first_fill_of_a_day(
    service: Service, entered: str, wanted: str
) -> None:
    """Nothing else in the books says that a day has passed; the order and the response do."""
    times: Any = dict.fromkeys(("order_date_time", "exch_order_time"), f"{entered} 09:15:00")
    validity = {} if entered > "2026" else {"good_till_days_date": "2999-12-31"}
    scripted(service, [book_reply([order("A", 5, **times | validity)])], [trade_book()])
    with suppress(td.BooksDisagreeError):
        sync_call(service.base_url, "books")
    assert asked(service) == wanted


def test_an_empty_order_book_is_asked_for_once_more(service: Service) -> None:
    """The service clears the orders after the session; or they are only late."""
    scripted(service, [order_book()], [trade_book(A=5)])
    books = sync_call(service.base_url, "books")
    assert asked(service) == "TOO"
    assert [len(book) for book in books] == [0, 1]
    scripted(service, [order_book(), order_book(A=5)], [trade_book(A=5)])
    assert [len(book) for book in sync_call(service.base_url, "books")] == [1, 1]


@both
def test_an_error_of_either_call_is_the_error(service: Service, call: Call) -> None:
    scripted(service, [reply(404)], [trade_book(A=5)])
    with pytest.raises(td.NotFoundError):
        call(service.base_url, "books")


def test_books_agree_although_the_market_moves_between_the_calls() -> None:
    moves: list[int] = []

    class Trader(td.Client):
        def _book(self, *arguments: Any) -> Any:
            later = running.now + dt.timedelta(seconds=moves.pop() if moves else 0)
            running.advance_to(later.time())
            return super()._book(*arguments)

    with sandbox.start(speed=0) as running:
        trader = Trader(running.base_url, access_token=running.token())
        for _ in range(12):
            moves[:] = [1200, 600]  # seconds, before the first call and before the second
            books: Any = trader.books()
            assert not len(td.reconcile(*books).differences)
        assert len(running.requests) > 2 * 12  # some books were fetched again


def test_the_async_client_compares_the_books_off_the_loop(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten thousand orders, some of which differ, this takes 200 ms: the loop would wait."""
    scripted(service, [order_book(a=5)], [trade_book(a=5)])
    threads: list[threading.Thread] = []
    compare = together.gaps_between

    def recorded(*books: Any) -> Any:
        threads.append(threading.current_thread())
        return compare(*books)

    monkeypatch.setattr(together, "gaps_between", recorded)
    async_call(service.base_url, "books")
    assert threads
    assert threading.main_thread() not in threads
