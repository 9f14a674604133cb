"""Realised profit and loss by signed first-in-first-out matching, exact to the paisa."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, time, tzinfo
from fractions import Fraction
from functools import partial
from operator import sub
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from .inputs import PRODUCTS, PriceLookup, Prices, Trades, chosen, days_of, fills_of, key_facts
from .keys import KEY
from .realised import (
    CONTRACT,
    LONG,
    SHORT,
    UNMATCHED,
    GivenLots,
    Lot,
    Lots,
    Matches,
    RealisedPnl,
    read_lots,
    rows_of,
)

_SETTLED_AT = time(15, 30)  # of the expiry date; the service documents no settlement


def realised_pnl(
    trades: Trades,
    opening: GivenLots | None = None,
    *,
    day: date | str | None = None,
    settle: Prices | None = None,
    merge: Collection[str] = (),
    shorts: bool | Collection[str] = True,
    buy: str = "B",
    sell: str = "S",
) -> RealisedPnl:
    """Computes realised profit and loss by signed first-in-first-out matching, before charges.

    Within one client, exchange, segment, security and product, a trade first closes the oldest open
    lots of the other side; the rest of it opens a lot of its own side. A sale thus closes long lots
    and then opens a short one, which a later purchase closes.

    A sale of holdings from before these trades looks like a short sale. Pass the holdings with
    ``opening``, or exclude shorts with ``shorts``: such sales are then listed in ``unmatched`` and
    not realised.

    Trades are processed by ``exch_trade_time``; trades of the same second keep the order of the
    book. Amounts are exact: values are sums of ``trade_value``, a part of a trade has its share of
    the value to the smallest decimal that was sent (usually the paisa), the parts add up to it, and
    each result is the float nearest to the exact sum. (Service: "Trade record".)

    Args:
        trades: Trades of any number of days, clients and exchanges: a book, or the books of several
            accounts as ``td.trade_books`` returns them or by label.
        opening: Lots that were open before the first trade, in their order: the ``open_lots`` of an
            earlier result, or one dict for each lot with the five fields of the key, ``quantity``,
            ``value`` and optionally the other fields of ``Lot`` (``side`` is ``long`` unless
            given). A time without a zone is taken to be in the zone of the trades.
        day: The day to report, as a date or ISO text. Earlier trades are matched first, and what
            they leave open is the day's opening; only what closes on the day counts, and later
            trades are left out. Without it, all days of the book count.
        settle: Settlement prices of expired contracts, in the forms of ``prices`` in
            ``td.unrealised_pnl`` (0 for a worthless option); a function gets a trade of the
            contract. A lot of it is closed at its expiry date, and counts on that date. Without a
            price, a lot whose contract expired before the day (the last day of the book) is neither
            open nor realised, but ``expired``.
        merge: ``{"product"}`` also matches across products, such as an intraday purchase that was
            converted and sold as delivery; ``{"exchange"}`` across exchanges, by ISIN. A row then
            names all it covers, as in ``C/I``.
        shorts: Whether sales may open short lots: True, False, or the product codes for which they
            may, such as ``{"I", "M"}``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key, with ``days``, ``matches``, ``open_lots``, ``expired``, ``unmatched``
        and the sum ``realised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, if quantities of one security are in different units, if an opening
            lot is incomplete or unmatched, or if ``shorts``, ``merge`` or ``day`` is not valid.
        OverflowError: If amounts are too large to be added exactly.
        TradingDataError: If the book of one of several accounts could not be fetched.

    Example:
        >>> monday = td.realised_pnl(monday_trades)
        >>> tuesday = td.realised_pnl(tuesday_trades, opening=monday.open_lots)
        >>> td.realised_pnl(week_of_trades, day="2026-11-20")
    """
    merged = chosen("merge", merge, ("product", "exchange"), "a collection such as {'product'}")
    lots = [] if opening is None else read_lots("opening", opening)
    prices = PriceLookup("settle", {} if settle is None else settle)
    rows, accounts, wanted = fills_of(trades, day, buy, sell, earlier=True)
    matching = _Matching(rows, accounts, lots, buy, sell, merged)
    return matching.result(wanted, prices, shorts)


class _Matching:
    """Opening lots and trades as one sequence of rows, grouped by what is matched together."""

    def __init__(
        self,
        trades: Slice,
        accounts: Sequence[str | None],
        lots: list[Lot],
        buy: str,
        sell: str,
        merge: frozenset[str],
    ) -> None:
        self._zone: tzinfo | None = trades.zone
        self._trades, self._buy, self._opening = trades, buy, len(lots)
        given = rows_of(lots, self._zone, buy, sell)
        self._rows = _core.join([given, trades]) if lots else trades
        self._decimals = _core.decimals_of([(given, "trade_value"), (trades, "trade_value")])
        groups = _core.Groups([self._rows], KEY)
        accounts = [*(lot.account for lot in lots), *accounts] if lots else accounts
        self._leading, self._multipliers, *_ = key_facts(
            self._rows, accounts, groups, before=self._opening
        )
        self._numbers = groups.numbers()  # the key of each row
        for lot, number in zip(lots, self._numbers, strict=False):
            self._set_multiplier(lot, number)
        self._merged = list(range(len(groups)))  # the row of the result of each key
        self._groups = groups
        if merge:
            self._merged = _merged_keys(self._rows, groups, merge)
            self._groups = groups.merged(self._merged)

    def _set_multiplier(self, lot: Lot, number: int) -> None:
        known = self._multipliers[number] or lot.multiplier
        self._multipliers[number] = known
        if lot.multiplier and known != lot.multiplier:
            raise ValueError(
                f"an opening lot of security_id {lot.security_id!r} has the multiplier "
                f"{lot.multiplier}, but its other trades have {known}: convert its quantity"
            )

    def result(self, day: date | None, settle: PriceLookup, shorts: object) -> RealisedPnl:
        products = [leading[5] for leading in self._leading]
        if not isinstance(shorts, bool):
            takes = "True, False or a collection of product codes such as {'I', 'M'}"
            allowed = chosen("shorts", shorts, {*products, *PRODUCTS}, takes)
        short = [shorts if isinstance(shorts, bool) else each in allowed for each in products]
        days = (day,) if day is not None else days_of(self._trades)
        found, unmatched, left, totals = self._groups.match(
            self._buy, self._decimals, self._opening, [short[each] for each in self._numbers], day
        )
        unmatched_parts, parts = (list(map(_Part, *columns)) for columns in (unmatched, left))
        open_parts, expired, settled = self._split(parts, days[-1] if days else None, settle)
        settled = [each for each in settled if day is None or each.close_time.date() == day]
        rows = self._rows_of(totals, settled, unmatched_parts, open_parts)
        order = sorted(range(len(rows)), key=lambda row: (not rows[row][11], -abs(rows[row][11])))
        made = RealisedPnl._of([rows[row] for row in order], self._zone)
        keys = [leading[1:6] for leading in self._leading]
        made._group_of = dict(zip(keys, self._merged, strict=True))
        made._groups, made.days = order, days
        made._multipliers = dict(zip(keys, (each or 1 for each in self._multipliers), strict=True))
        made._matches = partial(self._matches, found, settled)
        made.unmatched = self._lots(unmatched_parts, UNMATCHED)
        made.open_lots, made.expired = self._lots(open_parts), self._lots(expired)
        return made

    def _split(
        self, parts: list[_Part], last: date | None, settle: PriceLookup
    ) -> tuple[list[_Part], list[_Part], list[_Settled]]:
        """Returns what is open at the end of the last day, what expired, and what was settled."""
        (expiries,) = self._rows.cells([part.row for part in parts], ["expiry_date"])
        still_open, expired, settled = [], [], []
        for part, expiry in zip(parts, expiries, strict=True):
            if expiry is None or last is None or expiry > last:
                still_open.append(part)
                continue
            price = settle(self._rows[part.row])
            if price is not None:
                shares = part.quantity * (self._multipliers[self._numbers[part.row]] or 1)
                moment = datetime.combine(expiry, _SETTLED_AT, self._zone)
                closing = price * shares * 10**self._decimals
                sides = (part.value, closing) if part.is_long else (closing, part.value)
                settled.append(_Settled(part, moment, *sides))
            elif expiry < last:
                expired.append(part)
            else:
                still_open.append(part)
        return still_open, expired, settled

    def _rows_of(
        self,
        totals: tuple[list[int], ...],
        settled: list[_Settled],
        unmatched: list[_Part],
        still_open: list[_Part],
    ) -> list[tuple[Any, ...]]:
        sums: list[list[Any]] = [[*each, 0, 0, 0, 0] for each in zip(*totals, strict=True)]

        def add(part: _Part, at: int, *amounts: Any) -> None:
            found = sums[self._merged[self._numbers[part.row]]]
            for place, amount in enumerate(amounts, at):
                found[place] += amount

        for part, _, cost, proceeds in settled:
            add(part, 0, part.quantity, cost, proceeds)
        for part in unmatched:
            add(part, 3, part.quantity, part.value)
        for part in still_open:
            sign = 1 if part.is_long else -1
            add(part, 5, sign * part.quantity, sign * part.value)
        scale = 10**self._decimals
        return [
            (
                *leading,
                matched,
                *(float(each / scale) for each in (cost, proceeds, proceeds - cost)),
                *(missing, missing_value / scale, quantity, value / scale),
            )
            for leading, (matched, cost, proceeds, missing, missing_value, quantity, value) in zip(
                self._leading_of_rows(), sums, strict=True
            )
        ]

    def _leading_of_rows(self) -> list[tuple[Any, ...]]:
        """Returns the leading columns of each row; a merged row names all that it covers."""
        if len(self._groups) == len(self._leading):
            return self._leading
        members: dict[int, list[tuple[Any, ...]]] = {}
        for leading, merged in zip(self._leading, self._merged, strict=True):
            members.setdefault(merged, []).append(leading)
        made = []
        for group, last in enumerate(self._groups.last()):
            account, client, *_, symbol, name = self._leading[self._numbers[last]]
            parts = list(zip(*members[group], strict=True))[2:6]
            covered = ("/".join(sorted(set(part))) for part in parts)
            made.append((account, client, *covered, symbol, name))
        return made

    def _matches(self, found: Any, settled: list[_Settled]) -> Matches:
        facts = lots, trades, is_long, quantities, costs, proceeds = tuple(map(list, found))
        first, scale = len(trades), 10**self._decimals
        for part, _, *values in settled:  # which no trade closed
            own = (part.row, -1, part.is_long, part.quantity, *values)
            for column, fact in zip(facts, own, strict=True):
                column.append(fact)
        amounts = (costs, proceeds, map(sub, proceeds, costs))
        rows, sides = self._rows, list(zip(lots, trades, is_long, strict=True))
        closing = [lot if trade < 0 else trade for lot, trade, _ in sides]
        numbers = [self._numbers[row] for row in closing]
        names = [self._leading[self._numbers[row]] for row in self._groups.last()]
        bought = rows.cells([lot if each else trade for lot, trade, each in sides], _TRADED)
        sold = rows.cells([trade if each else lot for lot, trade, each in sides], _TRADED)
        (times,) = rows.cells(trades, ["exch_trade_time"])
        for at, (part, moment, *_) in enumerate(settled, first):
            times[at] = (sold if part.is_long else bought)[1][at] = moment
        columns: list[list[Any]] = [
            [self._leading[number][0] for number in numbers],
            *rows.cells(closing, KEY),
            *([names[self._merged[number]][at] for number in numbers] for at in (6, 7)),
            [LONG if each else SHORT for each in is_long],
            *(*bought, *sold, times, quantities),
            *([float(each / scale) for each in column] for column in amounts),
        ]
        made = Matches._of_columns(columns, self._zone)
        return made.sort("close_time") if settled else made

    def _lots(self, parts: list[_Part], side: str | None = None) -> Lots:
        cells = self._rows.cells([part.row for part in parts], [*_TRADED, *CONTRACT])
        rows = (
            (
                *self._leading[self._numbers[part.row]],
                side or (LONG if part.is_long else SHORT),
                *(trade_no, time, part.quantity, part.value / 10**self._decimals),
                self._multipliers[self._numbers[part.row]] or 1,
                *contract,
            )
            for part, trade_no, time, *contract in zip(parts, *cells, strict=True)
        )
        return Lots._of(rows, self._zone)


_TRADED = ("trade_no", "exch_trade_time")


class _Part(NamedTuple):
    """What is left of a row; ``value`` is in exact units."""

    row: int
    is_long: bool
    quantity: int
    value: int


class _Settled(NamedTuple):
    """A lot closed at its expiry, whose values are in exact units."""

    part: _Part
    close_time: datetime
    cost: Fraction | int
    proceeds: Fraction | int


def _merged_keys(rows: Slice, groups: _core.Groups, merge: frozenset[str]) -> list[int]:
    """Returns the number of the row of the result that each key belongs to."""
    contracts: list[tuple[Any, ...]] = [()] * len(groups)
    if "exchange" in merge:
        columns = rows.cells(list(range(len(rows))), CONTRACT)
        for number, cells in zip(groups.numbers(), zip(*columns, strict=True), strict=True):
            known = contracts[number] or cells  # an opening lot need not have all of it
            contracts[number] = tuple(a or b for a, b in zip(known, cells, strict=True))
    keys = zip(*rows.cells(groups.first(), KEY), strict=True)
    numbers: dict[tuple[Any, ...], int] = {}
    found = []
    for (client, exchange, segment, security, product), contract in zip(
        keys, contracts, strict=True
    ):
        place: tuple[Any, ...] = (exchange, security)
        if contract and contract[-1]:  # by ISIN, which the expiries of an underlying may share
            place = contract if any(contract[:2]) else contract[-1:]
        key = (client, segment, *place, None if "product" in merge else product)
        found.append(numbers.setdefault(key, len(numbers)))
    return found
