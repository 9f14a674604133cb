"""An order of the day: its ticket, its fills or rejection, and its state at any time."""

from __future__ import annotations

from dataclasses import dataclass

from .instruments import Instrument


@dataclass(frozen=True, slots=True)
class Ticket:
    """The order as entered. Times are seconds after the opening bell, money is in paise."""

    number: int
    instrument: Instrument
    side: str
    product: str
    order_type: str
    validity: str
    quantity: int
    price: int
    trigger: int
    disclosed: int
    entered: int
    received: int
    algo: str = ""
    dealer: str = ""
    source: str = "A"


@dataclass(frozen=True, slots=True)
class Fill:
    """A trade that fills a part of an order."""

    second: int
    quantity: int
    price: int


@dataclass(frozen=True, slots=True)
class Rejection:
    """The rejection of an order by the exchange."""

    second: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class State:
    """The values of an order in the order book at one time."""

    status: str
    updated: int
    filled: int
    value: int
    last_price: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Order:
    """An order with all its fills in chronological order, or its rejection."""

    ticket: Ticket
    fills: tuple[Fill, ...] = ()
    rejection: Rejection | None = None

    def state(self, second: int) -> State:
        """Returns the state `second` seconds after the opening bell; value is in paise."""
        ticket, rejection = self.ticket, self.rejection
        if rejection and rejection.second <= second:
            return State(
                "Error", rejection.second, 0, 0, 0, code=rejection.code, reason=rejection.reason
            )
        updated, filled, value, last = ticket.received, 0, 0, 0
        for fill in self.fills:
            if fill.second > second:
                break
            updated, last = fill.second, fill.price
            filled += fill.quantity
            value += fill.quantity * fill.price
        done = filled == ticket.quantity
        reason = "TRADE CONFIRMED" if done else "PARTLY TRADED" if filled else "CONFIRMED"
        return State(
            "Success" if done else "Pending", updated, filled, value, last, code="0", reason=reason
        )


@dataclass(frozen=True, slots=True)
class Trade:
    """A fill as a row of the trade book."""

    number: int
    order: Order
    fill: Fill
