"""One account's trading day: its orders, how they trade, and its books at any time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property, lru_cache
from random import Random
from typing import NamedTuple, TypeVar

from .._util.declarations import BOOK_CALLS, RECORDS
from .companies import encode
from .market import CLOSE, OPEN, Instrument, Market, derivatives, on_tick, shares

T = TypeVar("T")

ZERO_DATE = "0001-01-01"
"""The expiry date of instruments that do not expire."""

_REFUSED, _CANCELLED = 0.05, 0.3  # shares of the orders, and of those that are left open
_REFUSALS = (
    ("EX104", "Order price is outside the day's price band"),
    ("EX117", "Order would trade with another order of the same client"),
    ("EX131", "Margin of the clearing member is used up"),
)
_PRODUCTS = {"C": "CNC", "I": "INTRADAY", "M": "MARGIN", "B": "BRACKET", "V": "COVER"}
_LATER_LEGS = 3  # of a bracket order, a target and a stop; of a cover order, a stop
_SCRIPT = (
    # Entered before the market opens.
    ("NSE", "TATASTEEL", "B", "C", 100, 8 * 60),
    ("NSE", "INFY", "B", "C", 25, 8 * 60 + 30),
    # Bought for the day, converted to delivery, and sold as such.
    ("NSE", "SBIN", "B", "I", 40, 9 * 60 + 50),
    ("NSE", "SBIN", "S", "C", 40, 14 * 60 + 30),
    # Bought on one exchange and sold on the other.
    ("NSE", "RELIANCE", "B", "I", 30, 10 * 60 + 30),
    ("BSE", "RELIANCE", "S", "I", 30, 10 * 60 + 41),
    # A bracket and a cover order.
    ("NSE", "INFY", "B", "B", 50, 11 * 60 + 20),
    ("NSE", "SBIN", "B", "V", 50, 13 * 60 + 5),
)


def labels_of(accounts: int | Sequence[str]) -> tuple[str, ...]:
    """Returns the labels of accounts, "desk1", "desk2", ... for a number of them.

    Raises ValueError if there are none, and for an empty or repeated label.
    """
    if isinstance(accounts, str):
        raise TypeError(f"accounts must be a number or a list of labels: use [{accounts!r}]")
    if isinstance(accounts, int):
        accounts = [f"desk{number}" for number in range(1, accounts + 1)]
    if not accounts or not all(accounts) or len(set(accounts)) < len(accounts):
        raise ValueError("accounts must be one or more distinct, non-empty labels")
    return tuple(accounts)


class Fill(NamedTuple):
    """A trade that fills a part of an order; money is in paise."""

    second: int
    quantity: int
    price: int


class State(NamedTuple):
    """The state of an order from a time on."""

    second: int
    status: str
    code: str
    reason: str


@dataclass(slots=True)
class SimulatedOrder:
    """An order, or a leg of one. Times are seconds after the opening bell, money is in paise.

    An order entered before the opening bell is an after-market order, which reaches the exchange
    when that opens. The later legs of a bracket or cover order are entered when the first is
    filled.
    """

    instrument: Instrument
    side: str
    product: str
    quantity: int
    entered: int
    order_type: str = "MKT"
    price: int = 0
    trigger: int = 0
    number: int = 0
    leg: int = 1
    received: int = 0
    fills: list[Fill] = field(default_factory=list)
    end: State | None = None

    @property
    def towards(self) -> int:
        """1 for a purchase and -1 for a sale."""
        return 1 if self.side == "B" else -1

    def times(self) -> list[int]:
        """Returns the seconds of its fills."""
        return [fill.second for fill in self.fills]

    @property
    def filled(self) -> int:
        """The quantity of all fills."""
        return sum(fill.quantity for fill in self.fills)

    def trades_at(self, price: int) -> bool:
        """Returns whether its limit allows the price, and its trigger is reached by it."""
        below = self.towards * (self.price - price) >= 0 or not self.price
        return below and (self.towards * (price - self.trigger) >= 0 or not self.trigger)

    def cancel(self, second: int) -> None:
        """Cancels what is left of it."""
        self.fills = [fill for fill in self.fills if fill.second < second]
        self.end = State(second, "Cancelled", "0", "ORDER CANCELLED")

    def state(self, second: int) -> tuple[State, list[Fill]]:
        """Returns the state at this second, and the fills until then."""
        fills = [fill for fill in self.fills if fill.second <= second]
        if self.end is not None and self.end.second <= second:
            return self.end, fills
        since = fills[-1].second if fills else self.received
        if sum(fill.quantity for fill in fills) == self.quantity:
            return State(since, "Success", "0", "TRADE CONFIRMED"), fills
        return State(since, "Pending", "0", "PARTLY TRADED" if fills else "CONFIRMED"), fills


class _Desk:
    """One account's trading decisions during the day, and what the exchange makes of them."""

    def __init__(self, account: int, market: Market) -> None:
        self._random = random = Random(f"{market.seed}/{market.day}/account/{account}")
        self._market = market
        largest = shares()[:200]
        self._shares = [_pick(random, largest) for _ in range(25)]
        futures = [contract for contract in derivatives(market.day) if not contract.strike]
        options = [contract for contract in derivatives(market.day) if contract.strike]
        self._contracts = [_pick(random, futures if n < 3 else options) for n in range(14)]
        self._open: list[SimulatedOrder] = []

    def orders(self, count: int) -> list[SimulatedOrder]:
        """Returns a day of `count` rows of the order book, in the order of their arrival."""
        scripted = list(self._script()) if count >= 40 else []
        by_chance = count - len(scripted) - (_LATER_LEGS if scripted else 0)
        # Most often in the morning.
        seconds = [2 + int((CLOSE - 20) * self._random.random() ** 1.5) for _ in range(by_chance)]
        entries: list[tuple[int, SimulatedOrder | None]] = [(second, None) for second in seconds]
        entries += [(order.entered, order) for order in scripted]
        orders = []
        entries.sort(key=lambda pair: pair[0])
        for number, (second, scripted_order) in enumerate(entries, 1):
            order = scripted_order or self._decide(second)
            order.number = number
            order.received = max(order.entered, 1) + self._delay(9)
            self._execute(order, sure=scripted_order is not None)
            orders += [order, *self._later_legs(order)]
        return sorted(orders, key=lambda order: (order.received, order.number, order.leg))

    def _script(self) -> Iterator[SimulatedOrder]:
        """Yields what every day has at least once, in addition to chance."""
        by_name = {(instrument.exchange, instrument.symbol): instrument for instrument in shares()}
        for exchange, symbol, side, product, quantity, minute in _SCRIPT:
            yield SimulatedOrder(
                by_name[exchange, symbol], side, product, quantity, minute * 60 - OPEN
            )
        # A put of the week that is still open in the evening.
        puts = [contract for contract in derivatives(self._market.day) if contract.opt_type == "PE"]
        nearest = min(puts, key=lambda put: (put.expiry, abs(put.strike - put.reference)))
        yield SimulatedOrder(nearest, "B", "M", 2 * nearest.lot_size, 11 * 3600 - OPEN)

    def _later_legs(self, first: SimulatedOrder) -> list[SimulatedOrder]:
        """Returns the later legs of an order, of which one trades and cancels the other."""
        if first.product not in "BV":
            return []
        path, tick = self._market.path(first.instrument), first.instrument.tick
        away = (max(path) - min(path)) * 0.2
        since, price = first.fills[-1].second, first.fills[-1].price
        terms = [("SLM", 0, on_tick(price - away, tick))]
        if first.product == "B":
            terms.insert(0, ("LMT", on_tick(price + away, tick), 0))
        legs = [
            SimulatedOrder(first.instrument, "S", first.product, first.quantity, since, *leg_terms)
            for leg_terms in terms
        ]
        for number, leg in enumerate(legs, start=2):
            leg.number, leg.leg, leg.received = first.number, number, since
            self._execute(leg, sure=True)
        if len(legs) == 2:
            earlier, later = sorted(legs, key=lambda leg: min(leg.times(), default=CLOSE))
            later.cancel(max(earlier.times(), default=CLOSE))
        return legs

    def _decide(self, entered: int) -> SimulatedOrder:
        """Returns an order by chance; about half close the oldest open position."""
        random = self._random
        over = (order for order in self._open if order.fills[-1].second <= entered)
        closing = next(over, None) if random.random() < 0.5 else None
        if closing is not None:
            self._open.remove(closing)
            side = "S" if closing.side == "B" else "B"
            terms = (closing.instrument, side, closing.product, closing.filled)
        else:
            derivative = random.random() < 0.35
            instrument = _pick(random, self._contracts if derivative else self._shares)
            product = _pick(random, "MMI" if derivative else "CCCCIIIIM")
            side = "B" if product == "C" or random.random() < 0.7 else "S"
            price = self._market.price(instrument, entered)
            lots = int(500_000 * 100 ** random.random() / (instrument.lot_size * price))
            terms = (instrument, side, product, instrument.lot_size * (1 + lots))
        order = SimulatedOrder(*terms, entered)
        if random.random() < 0.7:  # a limit near the price of the moment
            path = self._market.path(order.instrument)
            away = (max(path) - min(path)) * (0.4 * random.random() - 0.1)
            order.order_type = "LMT"
            now = self._market.price(order.instrument, entered)
            order.price = on_tick(now - order.towards * away, order.instrument.tick)
        return order

    def _execute(self, order: SimulatedOrder, *, sure: bool) -> None:
        """Rejects an order, or fills it as the market reaches its price."""
        random = self._random
        if not sure and random.random() < _REFUSED:
            refused = min(order.received + self._delay(60), CLOSE)
            order.end = State(refused, "Error", *_pick(random, _REFUSALS))
            return
        order.fills = list(self._fills(order))
        if sure:
            return
        last = max(order.times(), default=order.received)
        if order.filled < order.quantity and order.price and random.random() < _CANCELLED:
            order.cancel(last + 1 + int(random.random() * (CLOSE - last)))
        if order.fills and order.product != "C":
            self._open.append(order)

    def _fills(self, order: SimulatedOrder) -> Iterator[Fill]:
        """Yields up to five fills, each at the next minute whose price allows it."""
        random, path = self._random, self._market.path(order.instrument)
        lot = order.instrument.lot_size
        second, left = order.received + self._delay(3), order.quantity // lot
        most = min(left, 5) if order.leg == 1 else 1
        for part in range(1 + int(random.random() ** 3 * most), 0, -1):
            now = second // 60
            minute = next((m for m in range(now, len(path)) if order.trades_at(path[m])), None)
            if minute is None:
                return
            if minute > now:
                second = minute * 60 + int(random.random() * 60)
            quantity = left if part == 1 else max(1, left // part)
            left -= quantity
            yield Fill(min(second, CLOSE), quantity * lot, path[minute])
            second += self._delay(1800 if order.price else 3)

    def _delay(self, longest: int) -> int:
        """Returns seconds, mostly few."""
        return int((longest + 1) * self._random.random() ** 4)


def _pick(random: Random, choices: Sequence[T]) -> T:
    return choices[int(random.random() * len(choices))]


class SimulatedBooks:
    """The books of an account at the time of the clock.

    The day is generated on the first request.
    """

    def __init__(self, account: int, market: Market, orders: int) -> None:
        self._account, self._market, self._day = account, market, market.day
        self._client_id = str(1_100_420_000 + 17 * account)
        self._pan = f"AAAPZ{account:04d}A"
        self._order_count = orders
        self._lock = threading.Lock()
        self._second: int | None = None
        self._books: dict[str, bytes] = {}

    @cached_property
    def _day_of_orders(self) -> tuple[list[SimulatedOrder], list[tuple[SimulatedOrder, Fill]]]:
        orders = _Desk(self._account, self._market).orders(self._order_count)
        fills = [(order, fill) for order in orders for fill in order.fills]
        return orders, sorted(fills, key=lambda pair: pair[1].second)

    def at(self, second: int) -> dict[str, bytes]:
        """Returns the book of each call, `second` seconds after the opening bell."""
        with self._lock:
            if second != self._second:
                orders, fills = self._day_of_orders
                known = [order for order in orders if order.received <= second]
                traded = [pair for pair in fills if pair[1].second <= second]
                # A book that is not simulated has one row, of empty values.
                rows = {name: [_in_order(call["record"], {})] for name, call in BOOK_CALLS.items()}
                rows |= {
                    "order_book": [self._order(*row, second) for row in enumerate(known, 1)],
                    "trade_book": [self._trade(row, *pair) for row, pair in enumerate(traded, 1)],
                }
                self._books = {call: _envelope(book) for call, book in rows.items()}
                self._second = second
            return self._books

    # Values that the service document leaves open are invented: codes as in its examples, "0" for
    # no error, the trading day for the validity of a day order, empty text or zero otherwise.
    def _order(self, row: int, order: SimulatedOrder, second: int) -> bytes:
        state, fills = order.state(second)
        filled = sum(fill.quantity for fill in fills)
        value = sum(fill.quantity * fill.price for fill in fills)
        left = order.quantity - filled
        instrument = order.instrument
        priced = second if state.status == "Pending" else state.second
        is_weekly = instrument.instrument == "OPTIDX"
        values = self._shared_fields(order) | {
            "last_updated_time": timestamp(self._day, state.second),
            "status": state.status,
            "quantity": order.quantity,
            "remaining_quantity": left,
            "rem_qty_tot_qty": f"{left}/{order.quantity}",
            "price": order.price / 100,
            "trigger_price": order.trigger / 100,
            "serial_no": order.number,
            "validity": "DAY",
            "traded_qty": filled,
            "traded_price": fills[-1].price / 100 if fills else 0.0,
            "avg_traded_price": round(value / (filled * 100), 4) if fills else 0.0,
            "reason_description": state.reason,
            "leg_no": order.leg,
            "row_no": row,
            "off_mkt_flag": "1" if order.entered < 0 else "0",
            "good_till_days_date": str(self._day),
            "error_code": state.code,
            "expiry_flag": "W" if is_weekly else "M" if instrument.expiry else "",
            "ref_ltp": self._market.price(instrument, priced) / 100,
            "source": "A",
            "source_name": "API",
        }
        return _in_order("Order", values)

    def _trade(self, number: int, order: SimulatedOrder, fill: Fill) -> bytes:
        traded = timestamp(self._day, fill.second)
        values = self._shared_fields(order) | {
            "exch_trade_time": traded,
            "last_updated_time": traded,
            "trade_no": f"{self._account}{number:07d}",
            "quantity": fill.quantity,
            "traded_price": fill.price / 100,
            "trade_value": fill.quantity * fill.price / 100,
            "row_no": number,
        }
        return _in_order("Trade", values)

    def _shared_fields(self, order: SimulatedOrder) -> dict[str, object]:
        """Returns the fields that an order and its trades have in common."""
        instrument, account, day = order.instrument, self._account, self._day
        return instrument._asdict() | {
            "client_id": self._client_id,
            "order_date_time": timestamp(day, order.entered),
            "exch_order_time": timestamp(day, order.received),
            "order_no": f"{day:%y%m%d}{account:03d}{order.number:06d}",
            "exch_order_no": f"11{day:%j}{account:04d}{order.number:07d}",
            "exchange_inst_name": instrument.exchange_name,
            "txn_type": order.side,
            "product": order.product,
            "product_name": _PRODUCTS[order.product],
            "order_type": order.order_type,
            "pan_no": self._pan,
            "mkt_type": "NL",
            "strike_price": instrument.strike / 100,
            "expiry_date": str(instrument.expiry) if instrument.expiry else ZERO_DATE,
            "placed_by": self._client_id,
            "tick_size": instrument.tick / 100,
        }


def _envelope(records: list[bytes]) -> bytes:
    data = b"[" + b",".join(records) + b"]" if records else b"null"
    return b'{"data":' + data + b',"message":"Success","status":"success"}'


@lru_cache(maxsize=1 << 15)
def timestamp(day: date, second: int) -> str:
    """Returns the time `second` seconds after the opening bell, in the service's format."""
    minutes, seconds = divmod(OPEN + second, 60)
    return f"{day} {minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"


def _in_order(record: str, values: dict[str, object]) -> bytes:
    """Encodes the fields of a record in the service's order, empty or zero unless given."""
    return encode({name: values.get(name, empty) for name, empty in _blank(record).items()})


@cache
def _blank(record: str) -> dict[str, object]:
    empty = {"integer": 0, "number": 0.0}
    return {
        field["name"]: empty.get(field["kind"], "")
        for field in RECORDS[record]["fields"]
        if not field["local"]
    }
