"""Order matching: an order is rejected, or trades when the market price reaches it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from .market import CLOSE
from .orders import Fill, Order, Rejection, Ticket

OUTSIDE_BAND = ("EX104", "Order price is outside the day's price band")
_REFUSALS = (
    ("EX117", "Order would trade with another order of the same client"),
    ("EX131", "Margin of the clearing member is used up"),
)
_NO_MATCH = ("EX160", "No match for the IOC order")


def execute(ticket: Ticket, path: tuple[int, ...], random: Random, *, refused: float) -> Order:
    """Returns an order with all its fills on the day's prices.

    A limit order never trades at a worse price than its limit, a stop order never before its
    trigger. `refused` is the probability that the exchange rejects an order.
    """
    if ticket.order_type == "LMT" and _outside_band(ticket, path):
        return _rejected(ticket, OUTSIDE_BAND, random)
    if random.random() < refused:
        return _rejected(ticket, _REFUSALS[int(random.random() * len(_REFUSALS))], random)
    start: int | None = ticket.received
    if ticket.trigger:
        start = _triggered(ticket, path, random)
    elif ticket.validity == "IOC" and not _crosses(ticket, path[ticket.received // 60]):
        return _rejected(ticket, _NO_MATCH, random)
    fills = () if start is None else tuple(_fills(ticket, path, start, random))
    return Order(ticket, fills)


def _rejected(ticket: Ticket, why: tuple[str, str], random: Random) -> Order:
    second = min(ticket.received + int(random.random() * random.random() * 60), CLOSE)
    return Order(ticket, rejection=Rejection(second, *why))


def _outside_band(ticket: Ticket, path: tuple[int, ...]) -> bool:
    return ticket.instrument.is_share and not 0.8 < ticket.price / path[0] < 1.2


def _crosses(ticket: Ticket, price: int) -> bool:
    """Returns whether the order can trade at this price."""
    if not ticket.price:
        return True
    return price <= ticket.price if ticket.side == "B" else price >= ticket.price


def _triggered(ticket: Ticket, path: tuple[int, ...], random: Random) -> int | None:
    """Returns when the price reaches the trigger: upwards for a buy order, downwards for a sell."""
    for minute in range(ticket.received // 60, len(path)):
        price = path[minute]
        if price >= ticket.trigger if ticket.side == "B" else price <= ticket.trigger:
            return _within(minute, ticket.received, random)
    return None


def _within(minute: int, earliest: int, random: Random) -> int:
    """Returns a random second of this minute, not before `earliest` or after the closing bell."""
    return min(max(earliest, minute * 60 + int(random.random() * 60)), CLOSE)


def _fills(ticket: Ticket, path: tuple[int, ...], start: int, random: Random) -> Iterator[Fill]:
    second = start + delay(random, 0.6, 16)
    at_once = ticket.validity == "IOC" or not ticket.price
    patience = 0 if ticket.validity == "IOC" else 3 if at_once else 900
    for quantity in _parts(ticket, random):
        minute = second // 60
        if ticket.validity == "IOC":
            second, minute = start, start // 60
        while minute < len(path) and not _crosses(ticket, path[minute]):
            minute += 1
        if minute >= len(path) or second > CLOSE:
            return
        if minute > second // 60:
            second = _within(minute, second, random)
        yield Fill(second, quantity, _price(ticket, path[minute], random))
        second += int(patience * random.random() * random.random())


def delay(random: Random, typical: float, longest: int) -> int:
    """Returns seconds with a long tail: mostly around ``typical``, rarely near ``longest``.

    A division rather than a logarithm, because every machine rounds it alike.
    """
    return int(typical / (1 - (1 - typical / longest) * random.random()))


def _parts(ticket: Ticket, random: Random) -> list[int]:
    """Splits the quantity of an order into fills; most orders have one or two."""
    lot = ticket.instrument.lot
    lots = ticket.quantity // lot
    count = 1 + int(random.random() ** 3 * min(lots, 7))
    parts, left = [], lots
    for remaining in range(count, 1, -1):
        part = max(1, int(left / remaining * (0.5 + random.random())))
        part = min(part, left - remaining + 1)
        parts.append(part * lot)
        left -= part
    return [*parts, left * lot]


def _price(ticket: Ticket, market: int, random: Random) -> int:
    """Returns the market price, or one tick to either side, but never beyond the limit."""
    tick = ticket.instrument.tick
    price = max(tick, market + tick * (int(random.random() * 3) - 1))
    if not ticket.price:
        return price
    return min(price, ticket.price) if ticket.side == "B" else max(price, ticket.price)
