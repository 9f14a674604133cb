"""Simulates one account's trading day from the seed: its orders, their times and their trades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import TypeVar

from .accounts import Account
from .instruments import Instrument, derivatives, shares
from .market import CLOSE, Market
from .matching_engine import delay, execute
from .orders import Order, Ticket, Trade

T = TypeVar("T")

_LAST_ENTRY = CLOSE - 20
_REFUSED = 0.05
_SOURCES = ("W", "M", "A")


@dataclass(frozen=True, slots=True)
class Day:
    """All orders of one account by arrival, and its trades by time."""

    orders: tuple[Order, ...]
    trades: tuple[Trade, ...]


@dataclass(frozen=True, slots=True)
class _Holding:
    """A position opened by an order, for a later order to close; `since` is its last fill."""

    since: int
    instrument: Instrument
    product: str
    side: str
    quantity: int


def simulate(account: Account, market: Market, day: date, orders: int, seed: int) -> Day:
    """Returns a day of `orders` orders; the same account number, seed and day give the same one."""
    random = Random(f"{seed}/{day}/account/{account.number}")
    desk = _Desk(random, market, day)
    entries = sorted(_entry_second(random) for _ in range(orders))
    lives = [desk.order(number, entered) for number, entered in enumerate(entries, start=1)]
    lives.sort(key=lambda order: (order.ticket.received, order.ticket.number))
    fills = [(fill, order) for order in lives for fill in order.fills]
    fills.sort(key=lambda pair: pair[0].second)
    trades = (Trade(number, order, fill) for number, (fill, order) in enumerate(fills, start=1))
    return Day(tuple(lives), tuple(trades))


class _Desk:
    """One account's trading decisions during the day."""

    def __init__(self, random: Random, market: Market, day: date) -> None:
        self._random = random
        self._market = market
        self._shares = [self._share() for _ in range(24)]
        futures = [contract for contract in derivatives(day) if not contract.strike]
        options = [contract for contract in derivatives(day) if _is_near_the_money(contract)]
        self._contracts = [_pick(random, futures) for _ in range(3)]
        self._contracts += [_pick(random, options) for _ in range(11)]
        self._holdings: list[_Holding] = []

    def order(self, number: int, entered: int) -> Order:
        """Returns the next order, entered at this second; about half close an earlier position."""
        closing = self._to_close(entered)
        ticket = self._ticket(number, entered, closing)
        path = self._market.path(ticket.instrument)
        order = execute(ticket, path, self._random, refused=_REFUSED)
        if closing is None and order.fills:
            filled = sum(fill.quantity for fill in order.fills)
            since = order.fills[-1].second
            self._holdings.append(
                _Holding(since, ticket.instrument, ticket.product, ticket.side, filled)
            )
        return order

    def _ticket(self, number: int, entered: int, closing: _Holding | None) -> Ticket:
        random = self._random
        if closing:
            instrument, product, quantity = closing.instrument, closing.product, closing.quantity
            side = "S" if closing.side == "B" else "B"
        else:
            derivative = random.random() < 0.35
            instrument = _pick(random, self._contracts if derivative else self._shares)
            product = _pick(random, "MMI" if derivative else "CCCCIIIIM")
            side = "B" if product == "C" or random.random() < 0.7 else "S"
            quantity = self._quantity(instrument, entered)
        # Two of three within the second, one of a hundred after ten seconds.
        received = entered + delay(random, 0.35, 12)
        order_type, price, trigger = self._prices(instrument, side, received, closing is not None)
        ioc = order_type == "LMT" and random.random() < 0.05
        iceberg = instrument.is_share and quantity >= 100 and random.random() < 0.15 and not ioc
        return Ticket(
            number=number,
            instrument=instrument,
            side=side,
            product=product,
            order_type=order_type,
            validity="IOC" if ioc else "DAY",
            quantity=quantity,
            price=price,
            trigger=trigger,
            disclosed=quantity // 5 if iceberg else 0,
            entered=entered,
            received=received,
            algo="A1042" if random.random() < 0.12 else "",
            dealer="D107" if random.random() < 0.08 else "",
            source=_pick(random, _SOURCES),
        )

    def _prices(
        self, instrument: Instrument, side: str, second: int, closing: bool
    ) -> tuple[str, int, int]:
        """Returns order type, limit and trigger; limits are within reach of the day's range."""
        random, tick = self._random, instrument.tick
        path = self._market.path(instrument)
        now, span = path[second // 60], max(path) - min(path)
        towards = 1 if side == "B" else -1
        kind = random.random()
        if kind < 0.22:
            return "MKT", 0, 0
        if kind < (0.42 if closing else 0.28):
            trigger = _on_tick(now + towards * span * (0.05 + 0.3 * random.random()), tick)
            if kind < 0.25:
                return "SLM", 0, trigger
            return "SL", _on_tick(trigger + towards * (2 * tick + span * 0.1), tick), trigger
        if kind > 0.985 and instrument.is_share:
            return "LMT", _on_tick(now * (1 - 0.25 * towards), tick), 0
        patience = span * (0.2 * random.random() - 0.1)
        return "LMT", _on_tick(now - towards * patience, tick), 0

    def _quantity(self, instrument: Instrument, second: int) -> int:
        random = self._random
        if not instrument.is_share:
            return instrument.lot * (1 + int(random.random() ** 2 * 9))
        rupees = 5000 * 100 ** random.random()
        quantity = max(1, int(rupees * 100 / self._market.price(instrument, second)))
        return quantity - quantity % 10 if quantity > 50 else quantity

    def _to_close(self, entered: int) -> _Holding | None:
        """Returns one of the oldest holdings to close, or None (at random, or if there is none)."""
        if self._random.random() < 0.5:
            for place, holding in enumerate(self._holdings[:8]):
                if holding.since <= entered:
                    return self._holdings.pop(place)
        return None

    def _share(self) -> Instrument:
        """Returns a share, more often of a large company and more often on NSE."""
        exchange = "BSE" if self._random.random() < 0.2 else "NSE"
        found = [share for share in shares() if share.exchange == exchange]
        return found[int(self._random.random() ** 2 * len(found))]


def _is_near_the_money(contract: Instrument) -> bool:
    return abs(contract.strike - contract.reference) < contract.reference // 40


def _entry_second(random: Random) -> int:
    """Returns when an order is entered: most often in the first hour, then in the last."""
    when = random.random()
    if when < 0.35:
        return 2 + int(3600 * random.random() * random.random())
    if when > 0.8:
        return _LAST_ENTRY - int(3600 * random.random())
    return 2 + int((_LAST_ENTRY - 2) * random.random())


def _on_tick(price: float, tick: int) -> int:
    return max(tick, round(price / tick) * tick)


def _pick(random: Random, found: Sequence[T]) -> T:
    return found[int(random.random() * len(found))]
