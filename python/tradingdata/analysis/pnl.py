"""Realised profit and loss by signed first-in-first-out matching, exact to the paisa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import date, datetime, time
from operator import sub
from typing import Any

from .. import _core
from ..books.book import TradeBook
from ..display.text import counted
from .fills import Fills
from .inputs import PRODUCTS, Lookup, Multipliers, Prices, chosen
from .issues import EXPIRED, TIED, UNOPENED, Note, named, noted, unused
from .keys import EXPIRY_AT, KEY, KEYED, SECURITY_AT, key_of
from .realised import (
    ATTRIBUTES,
    LONG,
    SHORT,
    UNMATCHED,
    GivenLots,
    Lots,
    Matches,
    RealisedPnl,
    read_lots,
)

_SETTLED_AT = time(15, 30)  # of the expiry date; the service documents no settlement


def realised_pnl(
    trades: TradeBook,
    opening: GivenLots | None = None,
    *,
    day: date | str | None = None,
    settle: Prices | None = None,
    multipliers: Multipliers | None = None,
    shorts: bool | Collection[str] = True,
    buy: str = "B",
    sell: str = "S",
) -> RealisedPnl:
    """Computes realised profit and loss by signed first-in-first-out matching, before charges.

    Within one client, contract and product, a trade first closes the oldest open lots of the other
    side; the rest of it opens a lot of its own side. A sale thus closes long lots and then opens a
    short one, which a later purchase closes. A contract is exchange, segment, security and expiry.

    A sale of holdings from before these trades looks like a short sale. Pass the holdings with
    ``opening``, or exclude shorts with ``shorts``: such sales are then listed in ``unmatched`` and
    not realised.

    Trades are processed by ``exch_trade_time``. Trades of one second are in the direction of their
    response, which its ``row_no``, its trade numbers or its rows show; so a sort or a concatenation
    changes nothing. Amounts are exact: values are sums of ``trade_value``, a part of a trade has
    its share of the value to the smallest decimal that was sent (usually the paisa), the parts add
    up to it, and each result is the float nearest to the exact sum. (Service: "Trade record".)

    Args:
        trades: Trades of any number of days, accounts, clients and exchanges.
        opening: Lots that were open before the first trade, in their order: the ``open_lots`` of an
            earlier result, or one dict for each lot with the fields of the key, ``quantity``,
            ``value`` and optionally the other fields of ``Lot`` (``side`` is ``long`` unless
            given). A time without a zone is taken to be in the zone of the trades. A lot without
            an expiry is of shares, unless its id has an expiry elsewhere.
        day: The day to report, as a date or ISO text. Earlier trades are matched first, and what
            they leave open is the day's opening; only what closes on the day counts, and later
            trades are left out. Without it, all days of the book count.
        settle: Settlement prices of expired contracts, in the forms of ``prices`` in
            ``td.unrealised_pnl`` (0 for a worthless option); a function gets a trade of the
            contract. A lot of it is closed at its expiry date, and counts on that date. Without a
            price, a lot whose contract expired before the day (the last day of the book) is neither
            open nor realised, but ``expired``.
        multipliers: Multipliers of contracts that their trades do not prove, by ``security_id`` or
            ``(security_id, expiry_date)``.
        shorts: Whether sales may open short lots: True, False, or the product codes for which they
            may, such as ``{"I", "M"}``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key, with ``days``, ``matches``, ``open_lots``, ``expired``, ``unmatched``,
        ``issues`` and the sum ``realised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, if quantities of one contract are in different units, if an opening
            lot is incomplete or unmatched, or if ``shorts`` or ``day`` is not valid or the day is
            before the trades and the opening.
        OverflowError: If amounts are too large to be added exactly.

    Warns:
        DataWarning: If the result has issues.

    Example:
        >>> monday = td.realised_pnl(monday_trades)
        >>> tuesday = td.realised_pnl(tuesday_trades, opening=monday.open_lots)
        >>> td.realised_pnl(week_of_trades, day="2026-11-20")
    """
    lots = [] if opening is None else read_lots("opening", opening)
    fills = Fills(
        trades, day, buy, sell, multipliers=multipliers, lots=lots, timed=True, earlier=True
    )
    made = realised_of(fills, settle, shorts, buy, sell)
    return noted(made, fills.notes)


def realised_of(
    fills: Fills, settle: Prices | None, shorts: bool | Collection[str], buy: str, sell: str
) -> RealisedPnl:
    """Returns what trades realise, and notes what is not known of them."""
    prices = None if settle is None else Lookup("settle", settle)
    days = fills.days if fills.day is None else (fills.day,)
    matching = _Matching(fills, buy, sell)
    matching.match(fills.day, shorts)
    if prices is not None and days:
        matching.settle(days[-1], prices, fills.day, shorts)
    made = matching.result(days[-1] if days else date.min)
    made.days = days
    if prices is not None and len(made.expired):
        fills.notes += unused("settle", prices.unmatched(set(made._column("security_id"))))
    return made


class _Matching:
    """Opening lots, trades and settlements as one sequence of rows, grouped by key."""

    def __init__(self, fills: Fills, buy: str, sell: str) -> None:
        self._fills, self._rows, self._zone = fills, fills.rows, fills.rows.zone
        self._opening, self._settled = fills.opening, 0
        self._buy, self._sell = buy, sell
        self._groups = _core.Groups([self._rows], KEY)
        self._leading, self._multipliers, self._kinds = fills.facts(self._groups)
        self._expiries = [leading[EXPIRY_AT] for leading in self._leading]

    def match(self, day: date | None, shorts: object) -> None:
        """Matches the rows; only what closes on the day is reported."""
        products = [leading[KEYED.index("product")] for leading in self._leading]
        if isinstance(shorts, bool):
            may_short = [shorts] * len(products)
        else:
            takes = "True, False or a collection of product codes such as {'I', 'M'}"
            allowed = chosen("shorts", shorts, {*products, *PRODUCTS}, takes)
            may_short = [product in allowed for product in products]
        self._numbers = self._groups.numbers()  # the key of each row
        self._decimals = _core.decimals_of([(self._rows, "trade_value")])
        permitted = [may_short[number] for number in self._numbers]
        limits = self._opening, self._settled
        self._found, self._unmatched, self._left, self._totals, self._tied = self._groups.match(
            self._buy, self._decimals, *limits, permitted, day
        )

    def settle(self, last: date, price_of: Lookup, day: date | None, shorts: object) -> None:
        """Closes the lots whose contract has expired and has a price, as trades at the expiry."""
        closing = []
        contracts = (leading[SECURITY_AT - 2 : EXPIRY_AT + 1] for leading in self._leading)
        price_of.among(key for key in contracts if key[-1] is not None and key[-1] <= last)
        for at, is_long, quantity in zip(*self._left[:3], strict=True):
            number = self._numbers[at]
            expiry, multiplier = self._expiries[number], self._multipliers[number]
            if expiry is None or expiry > last:
                continue
            row = self._rows[at]
            price = price_of(row)
            if price is None or (price and multiplier is None):
                continue
            closed = row._replace(
                txn_type=self._sell if is_long else self._buy,
                trade_no=None,
                quantity=quantity,
                traded_price=None,  # which is no proof of the multiplier
                trade_value=float(price * quantity * (multiplier if multiplier else 0)),
                exch_trade_time=datetime.combine(expiry, _SETTLED_AT, self._zone),
            )
            closing.append(closed)
        if closing:
            self._settled = len(closing)
            settlements = _core.from_rows("Trade", closing)
            self._rows = _core.join([self._rows, settlements.with_zone(self._zone)])
            self._groups = _core.Groups([self._rows], KEY)  # with the same numbers
            self.match(day, shorts)

    def result(self, last: date) -> RealisedPnl:
        """Returns the result at the end of the last day."""
        scale = 10**self._decimals
        sums = [[*each, 0, 0, 0, 0] for each in zip(*self._totals, strict=True)]
        for row, _, quantity, value in zip(*self._unmatched, strict=True):
            found = sums[self._numbers[row]]
            found[3] += quantity
            found[4] += value
        over = [expiry is not None and expiry < last for expiry in self._expiries]
        is_expired = [over[self._numbers[row]] for row in self._left[0]]
        for (row, is_long, quantity, value), expired in zip(
            zip(*self._left, strict=True), is_expired, strict=True
        ):
            sign = 0 if expired else 1 if is_long else -1
            found = sums[self._numbers[row]]
            found[5] += sign * quantity
            found[6] += sign * value
        made = RealisedPnl._of(
            (
                *leading,
                matched,
                *(each / scale for each in (cost, proceeds, proceeds - cost)),
                *(missing, missing_value / scale, quantity, value / scale),
            )
            for leading, (matched, cost, proceeds, missing, missing_value, quantity, value) in zip(
                self._leading, sums, strict=True
            )
        )
        keys = map(key_of, self._leading)
        contracts = zip(self._multipliers, self._kinds, strict=True)
        made._contracts = dict(zip(keys, contracts, strict=True))
        made._matches = self._matches
        made.unmatched = self._lots(self._unmatched, UNMATCHED)
        lots = self._lots(self._left)
        made.open_lots, made.expired = (
            lots._taken([row for row, each in enumerate(is_expired) if each is wanted])
            for wanted in (False, True)
        )
        left = (row for row, expired in zip(self._left[0], is_expired, strict=True) if expired)
        by_key: dict[int, list[int]] = {}
        for row in dict.fromkeys(self._tied):
            by_key.setdefault(self._numbers[row], []).append(row)
        for number, rows in by_key.items():
            self._fills.note_rows(self._leading[number], TIED, rows)
        self._note(UNOPENED, "sale", self._unmatched[0])
        self._note(EXPIRED, "lot", left)
        return made

    def _note(self, problem: str, noun: str, rows: Iterable[int]) -> None:
        for number, count in Counter(self._numbers[row] for row in rows).items():
            text = f"{named(self._leading[number])}: {counted(count, noun)}"
            self._fills.notes.append(Note(self._leading[number], problem, text, count))

    def _leading_columns(self, rows: list[int]) -> list[list[Any]]:
        found = [self._leading[self._numbers[row]] for row in rows]
        return [[each[at] for each in found] for at in range(len(KEYED))]

    def _matches(self) -> Matches:
        lots, trades, is_long, quantities, costs, proceeds = self._found
        sides = list(zip(lots, trades, is_long, strict=True))
        bought = [lot if each else trade for lot, trade, each in sides]
        sold = [trade if each else lot for lot, trade, each in sides]
        scale, cells = 10**self._decimals, self._rows.cells
        opened, old = cells(lots, [_TRADED[1], ATTRIBUTES[-1]])
        closed, new = cells(trades, [_TRADED[1], ATTRIBUTES[-1]])
        columns: list[list[Any]] = [
            *self._leading_columns(trades),
            [LONG if each else SHORT for each in is_long],
            *(*cells(bought, _TRADED), *cells(sold, _TRADED)),
            *(closed, quantities),
            *([each / scale for each in column] for column in (costs, proceeds)),
            [each / scale for each in map(sub, proceeds, costs)],
            [later or earlier for earlier, later in zip(old, new, strict=True)],
            [
                since and (at.date() - since.date()).days
                for since, at in zip(opened, closed, strict=True)
            ],
        ]
        made = Matches._of_columns(columns, self._zone)
        return made.sort("close_time") if self._settled else made

    def _lots(self, parts: Any, side: str | None = None) -> Lots:
        rows, is_long, quantities, values = parts
        trade_numbers, times, *attributes = self._rows.cells(rows, [*_TRADED, *ATTRIBUTES])
        columns: list[list[Any]] = [
            *self._leading_columns(rows),
            [side or (LONG if each else SHORT) for each in is_long],
            *(trade_numbers, times, quantities),
            [value / 10**self._decimals for value in values],
            [self._multipliers[self._numbers[row]] for row in rows],
            *attributes,
        ]
        return Lots._of_columns(columns, self._zone)


_TRADED = ("trade_no", "exch_trade_time")
