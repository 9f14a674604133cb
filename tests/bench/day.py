"""The books of one trading day: orders in 300 instruments, and the trades that fill them.

Every record has all keys of the service's document. Three quarters of the orders are filled, each
by several trades in turn, so that the order book and the trade book of a day agree.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TypeAlias

Record: TypeAlias = dict[str, object]

FILLS = 5  # trades for each order, filled or not
INSTRUMENTS = 300
_SAMPLES = 1000  # whose values the records repeat, apart from those below
_DAY = "2025-01-06"
_OPEN, _ENTRIES, _TRADES = 9 * 3600 + 900, 7200, 14000  # seconds: of the clock, then how many
_LOT = 250
_LEFT_OPEN = 4  # every fourth order


def records(record: str, count: int, fills: int = FILLS) -> Iterator[Record]:
    """The first `count` orders or trades of a day that has so many trades for each order."""
    if record == "Order":
        yield from _Day(count, count * fills).orders()
    else:
        yield from _Day(max(1, count // fills), count).trades()


class _Day:
    def __init__(self, orders: int, trades: int) -> None:
        self._orders, self._trades = orders, trades
        self._filled = orders - orders // _LEFT_OPEN
        self._shared = samples("Order")[0][0].keys() & samples("Trade")[0][0].keys()

    def orders(self) -> Iterator[Record]:
        for number in range(self._orders):
            order = self._order(number)
            quantity, place = order["quantity"], number - number // _LEFT_OPEN
            each, more = divmod(self._trades, self._filled)
            fills = each + (place < more)
            if number % _LEFT_OPEN == _LEFT_OPEN - 1 or not fills:
                state: Record = {"status": "Pending", "traded_qty": 0, "avg_traded_price": 0}
            else:
                quantity = fills * _quantity(number)
                average = sum(_paise(number, fill) for fill in range(fills)) / fills
                state = {"status": "Success", "traded_qty": quantity}
                state["avg_traded_price"] = round(average / 100, 2)
            left = 0 if fills and state["traded_qty"] else quantity
            yield (
                order
                | state
                | {
                    "quantity": quantity,
                    "remaining_quantity": left,
                    "rem_qty_tot_qty": f"{left}/{quantity}",
                    "traded_price": state["avg_traded_price"],
                    "price": _paise(number, 0) / 100,
                    "trigger_price": 0,
                }
            )

    def trades(self) -> Iterator[Record]:
        pools = samples("Trade")
        for row in range(self._trades):
            fill, place = divmod(row, self._filled)
            number = place + place // (_LEFT_OPEN - 1)
            order = self._order(number)
            pool = pools[_is_derivative(number)]
            quantity, paise = _quantity(number), _paise(number, fill)
            second = _ENTRIES + row * _TRADES // self._trades
            shared = {name: value for name, value in order.items() if name in self._shared}
            yield (
                pool[row % len(pool)]
                | shared
                | {
                    "exch_trade_time": _time(second),
                    "last_updated_time": _time(second + 1),
                    "trade_no": str(4_000_000_000_000 + row),
                    "quantity": quantity,
                    "traded_price": paise / 100,
                    "trade_value": quantity * paise / 100,
                    "row_no": row + 1,
                }
            )

    def _order(self, number: int) -> Record:
        pool = samples("Order")[_is_derivative(number)]
        second = number * _ENTRIES // self._orders
        return (
            pool[number % len(pool)]
            | _instrument(number * 7 % INSTRUMENTS)
            | {
                "order_no": str(100_000_000_000 + number),
                "exch_order_no": str(1_000_000_000_000_000 + number),
                "order_date_time": _time(second),
                "exch_order_time": _time(second + 1),
                "last_updated_time": _time(second + 3),
                "quantity": _quantity(number),
                "row_no": number + 1,
            }
        )


@functools.cache
def samples(record: str) -> tuple[list[Record], list[Record]]:
    """Records of shares, and of derivatives."""
    from service import orders, trades

    made = {"Trade": trades, "Order": orders}[record](_SAMPLES)
    pools: tuple[list[Record], list[Record]] = ([], [])
    for each in made:
        pools[each["segment"] == "D"].append(each)
    return pools


@functools.cache
def _instrument(number: int) -> Record:
    from service import COMPANIES

    company, symbol, *_ = COMPANIES[number % len(COMPANIES)]
    found: Record = {
        "symbol": f"{symbol[:6]}{number}",
        "display_name": f"{company} {number}",
        "security_id": str(10_000 + number),
        "isin": f"INE{number:06}A01",
        "exchange": "NSE" if number % 3 else "BSE",
    }
    if number % 5 == 0:
        found |= {"strike_price": 50 * (20 + number % 60), "opt_type": ("CE", "PE")[number % 2]}
    return found


def _is_derivative(order: int) -> bool:
    return order * 7 % INSTRUMENTS % 5 == 0


def _quantity(order: int) -> int:
    return (1 + order % 40) * (_LOT if _is_derivative(order) else 1)


def _paise(order: int, fill: int) -> int:
    """The price of a fill, on the tick of five."""
    return 10_000 + order * 7 % INSTRUMENTS * 1300 + (order % 40 + fill % 3) * 5


def _time(second: int) -> str:
    minutes, seconds = divmod(_OPEN + second, 60)
    return f"{_DAY} {minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
