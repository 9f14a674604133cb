"""`client.books()` while orders are filled, against a model written from its docstring."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

import tradingdata as td
from calls import BOOK_PATH, Call, both
from service import Behaviour, Service, book_reply, orders, trades

MOST_REPEATS = 6
SAME: dict[str, Any] = {
    **{"client_id": "C1", "exchange": "NSE", "segment": "E", "security_id": "10", "product": "C"},
    **{"txn_type": "B", "order_date_time": "2026-11-20 09:15:00", "exch_order_time": None},
}
AT: dict[str, Any] = {"exch_trade_time": "2026-11-20 10:00:00"}
Filled = Counter[str]


class Market:
    """Orders whose fills reach the two books at different times; in the end both have all."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = [f"A{number}" for number in range(rng.randint(1, 4))]
        self.fills = [(rng.choice(self.names), rng.randint(1, 9)) for _ in range(rng.randint(0, 8))]
        self.seen = {"O": rng.randint(0, len(self.fills)), "T": rng.randint(0, len(self.fills))}
        self.pace = rng.choice([0, 1, 1, 3])
        self.asked = ""

    def respond(self, request: Any) -> Behaviour:
        book = "T" if request.path == BOOK_PATH else "O"
        self.asked += book
        for each in self.seen:
            if self.asked[:-1] and self.rng.random() < 0.7:
                self.seen[each] = min(self.seen[each] + self.pace, len(self.fills))
        return self.trades() if book == "T" else self.orders()

    def orders(self) -> Behaviour:
        self.ordered = self.filled("O")
        legs = []
        for name in self.names:
            first = self.rng.randint(0, self.ordered[name])
            for leg, part in enumerate((first, self.ordered[name] - first), 1):
                legs += orders(1, **SAME, order_no=name, leg_no=leg, traded_qty=part)
        return book_reply(legs)

    def trades(self) -> Behaviour:
        self.traded = self.filled("T")
        rows = [
            trades(1, **SAME, **AT, order_no=name, quantity=quantity, trade_no=str(number))[0]
            for number, (name, quantity) in enumerate(self.fills[: self.seen["T"]])
        ]
        return book_reply(self.rng.sample(rows, len(rows)))

    def filled(self, book: str) -> Filled:
        found: Filled = Counter()
        for name, quantity in self.fills[: self.seen[book]]:
            found[name] += quantity
        return found

    def behind(self) -> str:
        """Which books lack fills that the other one has."""
        names = {*self.ordered, *self.traded}
        is_behind = {
            "T": any(self.traded[name] < self.ordered[name] for name in names),
            "O": any(self.ordered[name] < self.traded[name] for name in names),
        }
        return "".join(book for book, is_so in is_behind.items() if is_so)


def expected(market: Market) -> str:
    """What is requested: both books, then those that are behind, at most so often."""
    asked = "TO"
    market.respond(SimpleNamespace(path=BOOK_PATH))
    market.respond(SimpleNamespace(path="orders"))
    for _ in range(MOST_REPEATS):
        for book in (behind := market.behind()):
            market.respond(SimpleNamespace(path=BOOK_PATH if book == "T" else "orders"))
        asked += behind
    return asked


@both
@pytest.mark.parametrize("seed", range(20))
def test_books_agree_or_are_an_error(
    seed: int, service: Service, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tradingdata.client.snapshot._PAUSES", (0.001,) * MOST_REPEATS)
    model, market = Market(random.Random(seed)), Market(random.Random(seed))
    wanted = expected(model)
    service.choose(market.respond)
    if model.behind():
        with pytest.raises(td.BooksDisagreeError) as caught:
            call(service.base_url, "books")
        books: Any = caught.value.books
        found = {row.order_no for row in caught.value.differences or ()}
        names = {*model.ordered, *model.traded}
        assert found == {name for name in names if model.ordered[name] != model.traded[name]}
    else:
        books = call(service.base_url, "books")
    assert market.asked == wanted
    ordered, traded = Counter[Any](), Counter[Any]()
    for order in books.orders:
        ordered[order.order_no] += int(order.traded_qty or 0)
    for trade in books.trades:
        traded[trade.order_no] += trade.quantity or 0
    assert (+ordered, +traded) == (+model.ordered, +model.traded)
