"""The ledger: a fold of lots, trades, changes and settlements over time, and cuts of its journal.

A fold goes from event to event, in the order of their time, over queues of open lots by key. What
ends a lot, or a part of it, leaves a part in the journal, in the core. Every figure is a read of
the journal between two moments, which changes nothing. Moments are microseconds of the clock of the
trades, values are whole numbers of the smallest decimal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from operator import itemgetter, sub
from typing import NamedTuple, cast

from .. import _core
from .._core import Groups, Trade
from ..books.book import TradeBook
from ..display import counted
from .charge_rates import Rates, charge_settlements, rates_of
from .charging import Amount, Bill, Rounding, rounding_units
from .daily import Place, columns_named, rows_of_days
from .events import (
    DELIVERY,
    MATCH_BY,
    Events,
    GivenLots,
    LotChange,
    average_of,
    idle,
    is_by_isin,
    is_isin,
    read_lots,
    require_known,
    sides_of,
    wall_clock,
)
from .fold import EVER, By, Options, Run, joining, moment_at
from .inputs import (
    DayPrices,
    Lookup,
    Multipliers,
    Prices,
    PricesByDay,
    by_contract,
    day_from,
    day_of,
    days_text,
    is_listed,
)
from .keys import BY, KEY, KEYED, NAMES, Key
from .results import (
    ATTRIBUTES,
    LONG,
    NO_KEY,
    SHORT,
    UNMATCHED,
    Column,
    DailyPnl,
    DayPnl,
    Lots,
    Matches,
    Note,
    Problem,
    RealisedPnl,
    ResultIssues,
    UnrealisedPnl,
    about,
    noted,
    priced_notes,
    unused,
    valued_row,
)

_TRADED = ("trade_no", "exch_trade_time")


# -- the interface --


class Ledger:
    """Trades and lots of any number of days, accounts, clients and exchanges, matched over time.

    Within one account, client, contract and product, a trade first closes the oldest open lots of
    the other side; the rest of it opens a lot of its own side. A contract is exchange, segment,
    security and expiry. Lots are in the order of their time, those without a time first. All
    figures are cuts of one fold, and none of them changes it. (Service: "Trade record".)

    Trades are in the order of ``exch_trade_time``. Trades of one second are in the direction of
    their response, which ``row_no`` or the trade numbers of an exchange and segment show; so a sort
    or a concatenation changes nothing. Where no number shows it, the tie is in ``issues``. At one
    moment, changes of lots come first, then lots that arrive, trades and settlements. Amounts are
    exact: values are sums of ``trade_value``, a part of a trade has its share of the value to the
    smallest decimal that was sent (usually the paisa), the parts add up to it, and each result is
    the float nearest to the exact sum.

    Args:
        trades: A trade book.
        opening: Lots that were open before the first trade: the ``open_lots`` of an earlier result,
            or one dict for each lot with the fields of the key, ``quantity``, ``value`` and
            optionally the other fields of ``Lot`` (``side`` is ``long`` unless given). A lot with a
            time from the first day on arrives at that time, such as the shares of a bonus. A time
            without a zone is taken to be in the zone of the trades. A lot without an expiry is of
            shares, unless its id has an expiry elsewhere.
        changes: Splits, conversions and other changes of open lots (see ``td.LotChange``). An
            opening lot already has those until its ``as_of``; one without is as it was at the
            beginning of the first day.
        settle: Settlement prices of expired contracts, in the forms of ``prices`` in
            ``td.unrealised_pnl`` (0 for a worthless option); a function gets a trade of the
            contract. A lot of it is closed at 15:30 in India on its expiry date, or after the last
            trade of its contract, and counts on the expiry date. Without a price, a lot whose
            contract has expired is neither open nor realised, but ``expired``.
        multipliers: Multipliers of contracts that their trades do not prove, by ``security_id`` or
            ``(security_id, expiry_date)``.
        match_by: ``"isin"`` matches shares of one ISIN as one security, under the exchange and id
            of its last trade: bought on one exchange and sold on another, or moved to another
            series. Products other than ``C`` are matched within an exchange. A price, a settlement
            or the condition of a change may be under any of the ids. Text that has not the form of
            an ISIN matches nothing.
        shorts: Whether sales may open short lots: True, False, or the product codes for which they
            may, such as ``{"I", "M"}``. Other sales without a lot are ``unmatched``, such as those
            of holdings that are not in ``opening``.
        until: The last day that counts, unless given the latest of the last trade's day, the last
            arrival of a lot and the last expiry that a mapping ``settle`` prices. Later
            settlements, lots and changes are in ``issues``, and no figure can be asked for of a
            later day. Without it, a figure of a later day has what happens until then.
        by: What lots are matched within, such as a strategy: the name of a field
            (``"algo_id"``), a mapping of order numbers, or a function of a trade. It is the last
            column of all results; an opening lot may have it as ``by``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, if quantities of one contract are in different units, if an opening
            lot is incomplete, unmatched, in an unknown unit or later than the first trade, or if
            ``opening`` has long and short lots of one key.
        OverflowError: If amounts are too large to be added exactly.

    Example:
        >>> ledger = td.Ledger(trades, opening=holdings, settle=settlements, by="algo_id")
        >>> ledger.day("2026-11-20", prices=closes, charges=rates).net
        >>> ledger.daily(closes_by_day, per=("security_id",)).to_pandas()
    """

    _given: tuple[TradeBook, GivenLots | None, Options]
    _events: Events
    _run: Run

    def __init__(
        self,
        trades: TradeBook,
        opening: GivenLots | None = None,
        *,
        changes: Sequence[LotChange] = (),
        settle: Prices | None = None,
        multipliers: Multipliers | None = None,
        match_by: str = MATCH_BY[0],
        shorts: bool | Collection[str] = True,
        until: date | str | None = None,
        by: By | None = None,
        buy: str = "B",
        sell: str = "S",
    ) -> None:
        # What a caller could change later, or can read only once, is copied.
        if isinstance(opening, Iterable) and not isinstance(opening, (str, bytes, Mapping, Lots)):
            opening = [dict(lot) if isinstance(lot, Mapping) else lot for lot in opening]
        options: Options = {
            "changes": tuple(changes) if is_listed(changes) else changes,
            "settle": by_contract("settle", settle),
            "multipliers": by_contract("multipliers", multipliers),
            "match_by": match_by,
            "shorts": tuple(shorts) if is_listed(shorts) else shorts,
            "until": until,
            "by": dict(by) if isinstance(by, Mapping) else by,
            "buy": buy,
            "sell": sell,
        }
        lots = [] if opening is None else read_lots("opening", opening)
        events = Events(trades, buy, sell, multipliers=options["multipliers"], lots=lots)
        run: Run | None = None
        made: list[Trade] = []  # the lots that changes made
        joins = is_by_isin(match_by)
        # A lot that a change gives another ISIN may make two securities one: begin again with it.
        while run is None or (joins and set(map(joining, run.sent)) != set(map(joining, made))):
            made = [] if run is None else run.sent
            events.notes.clear()
            targets = events.joined(made) if joins else {}
            run = Run(events, targets, options)
        vars(self).update(_given=(trades, opening, options), _events=events, _run=run)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Ledger cannot be changed ({name!r}): make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Ledger cannot be changed ({name!r}): make another one")

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _again, self._given

    def __repr__(self) -> str:
        days = self._events.days
        text = days_text(days) if days else "no trades"
        trades, lots = len(self._given[0]), self._events.opening
        parts = [f"{counted(trades, 'trade')}", f"until {self._run.until}" if days else ""]
        parts.insert(1, f"{counted(lots, 'opening lot')}" if lots else "")
        return f"Ledger: {text}: {', '.join(filter(None, parts))}"

    @property
    def until(self) -> date:
        """The last day that counts."""
        return self._run.until

    def realised(self, day: date | str | None = None) -> RealisedPnl:
        """Returns what was realised, before charges.

        Args:
            day: The day whose closing trades and settlements count, as a date or ISO text; all days
                unless given. What is open is that of its end.

        Returns:
            One row for each key, with ``days``, ``matches``, ``open_lots``, ``expired``,
            ``unmatched``, ``issues`` and the sum ``realised``.

        Raises:
            ValueError: The day is before all that is known, or after ``until``.

        Warns:
            DataWarning: If the result has issues.
        """
        on = None if day is None else day_from(day)
        return noted(*self._at(on)._realised(on))

    def open_lots(self, at: date | str | None = None) -> Lots:
        """Returns the lots that are open, without those that have expired.

        Args:
            at: A day, of whose end they are, or a time, before which they were opened, also as ISO
                text; the end of the ledger unless given.

        Raises:
            ValueError: It is after ``until``.
        """
        at = self._point(at)
        ledger = self._at(at)
        return ledger._lots(ledger._cut(at), expired=False)

    @cached_property
    def matches(self) -> Matches:
        """Which trade or settlement closed which lot, in this order."""
        return self._matches(self._cut(None))

    @cached_property
    def unmatched(self) -> Lots:
        """Sales that neither closed nor opened a lot; not part of what is realised."""
        return self._unmatched(self._cut(None))

    @cached_property
    def expired(self) -> Lots:
        """Lots whose contract has expired and that no ``settle`` price closed."""
        return self._lots(self._cut(None), expired=True)

    @cached_property
    def settlements(self) -> TradeBook:
        """The settlements as trades, without a trade number, which ``td.charges`` can charge."""
        rows = _core.from_rows("Trade", list(self._run.settled.values()))
        return TradeBook._of(rows.with_zone(self._events.rows.zone))

    @cached_property
    def issues(self) -> ResultIssues:
        """What the ledger leaves out or could not prove, as in the ``issues`` of a result."""
        pnl, notes = self._realised(None)
        return cast("ResultIssues", noted(pnl, notes, warn=False).issues)

    def unrealised(self, prices: Prices, at: date | str | None = None) -> UnrealisedPnl:
        """Values open lots at the given prices, before charges.

        Args:
            prices: Prices as in ``td.unrealised_pnl``.
            at: When they are open, as in ``open_lots``.

        Returns:
            One row for each key with an open quantity, with ``issues`` and the sum ``unrealised``.

        Raises:
            TypeError: The prices are of another kind.
            ValueError: A key of the prices means two contracts.

        Warns:
            DataWarning: If a contract has no price or no multiplier; see ``td.unrealised_pnl``.
        """
        at = self._point(at)
        ledger = self._at(at)
        cut, price_of = ledger._cut(at), PricesByDay(prices).on(None if at is None else day_of(at))
        values = ledger._values(cut, price_of)
        return noted(values, priced_notes(values, price_of))

    def day(
        self,
        day: date | str | None = None,
        *,
        prices: Prices | None = None,
        charges: Rates | None = None,
        rounding: Rounding = None,
    ) -> DayPnl:
        """Computes the profit and loss of a day: realised, unrealised, charges and their net.

        ``unrealised`` is measured from cost, so the ``net`` of several days must not be added up.

        Args:
            day: The day, as a date or ISO text; the latest day of the trades unless given.
            prices: Closing prices of what is open, as in ``td.unrealised_pnl``. What has none is
                listed in ``unpriced``; then the sums ``unrealised`` and ``net`` are ``None``.
            charges: Rates of charges, as in ``td.charges``; without them, charges are 0.
            rounding: Rounds charges, as in ``td.charges``.

        Returns:
            One row for each key that was traded on the day, is open, or has lots that expired
            without a settlement, with ``issues``, ``pnl`` and the sums ``realised``,
            ``unrealised``, ``charges`` and ``net``. Without trades and settlements on the day, what
            is carried is valued, with an issue.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: The day is before all that is known, or after ``until``; or as
                ``td.charges``.

        Warns:
            DataWarning: If the result has issues.
        """
        on = day_from(day) if day is not None else max(self._days, default=None)
        return self._at(on)._day_pnl(on, prices, charges, rounding)

    def daily(
        self,
        prices: DayPrices,
        *,
        days: Iterable[date | str] | None = None,
        charges: Rates | None = None,
        rounding: Rounding = None,
        per: Sequence[str] = (),
    ) -> DailyPnl:
        """Computes the profit and loss of each day.

        What is open at the end of a day is valued at its price; ``net`` has the change since the
        day before. So the days add up, to the last digit, to what was realised and the change of
        what is unrealised, less charges. An equity curve is the running sum of ``net``. Amounts are
        exact, to six decimals.

        Args:
            prices: Closing prices by day: a function of a day and a row of a contract; a data
                frame, or dicts, with ``day``, ``security_id`` and ``price``, and where an id means
                several contracts also ``expiry_date``, or ``exchange`` and ``segment``; or a
                mapping of days to the prices of ``td.unrealised_pnl``. A price that is missing is
                that of the day before, with an issue. Until the first price of something that is
                open, ``unrealised`` and ``net`` are ``None``, with an issue.
            days: Days to report besides those of trades and settlements; needed for a function, to
                value what is open on days without trades. Otherwise the days of a frame from the
                first trade on.
            charges: Rates of charges, as in ``td.charges``; without them, charges are 0.
            rounding: Rounds charges, as in ``td.charges``.
            per: Columns by which a day is divided, besides account and client: some of the key,
                such as ``("security_id", "expiry_date")``, or ``("by",)``.

        Returns:
            A row for each day, account, client and whatever ``per`` names, the earliest day first,
            with ``issues``, ``pnl`` and the sums ``realised``, ``charges`` and ``net``. Opening
            lots are measured from the last price before the first day (a function is asked for the
            seven days before), or from cost, with an issue.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: As ``td.charges``, for a price that is not finite, or for one of ``days``
                that is after ``until``.

        Warns:
            DataWarning: If the result has issues.
        """
        price_of = PricesByDay(prices)
        wanted = price_of.days if days is None else [*map(day_from, days)]
        if days is None and self._is_limited:
            wanted = [day for day in wanted if day <= self.until]
        names = columns_named(per)
        ledger = self._at(max(wanted, default=None))
        return ledger._daily(price_of, wanted, days is not None, charges, rounding, names)

    # -- cuts of the journal --

    @property
    def _is_limited(self) -> bool:
        """Whether the caller has said which day is the last."""
        return self._given[2]["until"] is not None

    @property
    def _days(self) -> tuple[date, ...]:
        """The days of the trades that count."""
        return tuple(day for day in self._events.days if day <= self.until)

    def _point(self, at: date | str | None) -> date | None:
        """Returns a day or a time given as such or as ISO text, on the clock of the trades."""
        if isinstance(at, str) and ("T" in at or " " in at):
            try:
                at = datetime.fromisoformat(at)
            except ValueError:
                raise ValueError(f"at must be a date, a time or ISO text, not {at!r}") from None
        if isinstance(at, datetime):
            return wall_clock("at", at, self._events.rows.zone)
        return None if at is None else day_from(at, "at")

    def _at(self, at: date | None) -> Ledger:
        """Returns a ledger whose time runs until then; raises where the caller has limited it."""
        day = None if at is None else day_of(at)
        if day is None or day <= self.until:
            return self
        if self._is_limited:
            raise ValueError(f"{day} is after the last day, {self.until}: pass a later `until`")
        trades, opening, options = self._given
        later = options.copy()
        later["until"] = day
        return Ledger(trades, opening, **later)

    def _cut(self, at: date | None) -> _Cut:
        """Returns the cut from the beginning to the end of a day, or to a time."""
        if at is None:
            return _Cut(-EVER, self._run.stop, self.until)
        if isinstance(at, datetime):
            return _Cut(-EVER, moment_at(at), at.date())
        return _Cut(-EVER, moment_at(at + timedelta(days=1)), at)

    def _realised(self, day: date | None) -> tuple[RealisedPnl, list[Note]]:
        """Returns what was realised, on a day or on all, and the issues of this cut."""
        run, events = self._run, self._events
        cut = self._cut(day)
        notes = []
        if day is not None:
            cut = cut._replace(start=moment_at(day))
            require_known(day, events.days, events.lots)
            notes += [] if day in run.closings else idle(day, events.days)
        first, last = run.fold.rows(cut.stop)
        keys = [key for key, row in enumerate(first) if row >= 0]
        totals = run.fold.totals(cut.start, cut.stop)
        sums = [[of_key[key] for key in keys] for of_key in totals]
        quantities, costs, proceeds, unmatched, unmatched_values, held, held_values = sums
        for at, key in enumerate(keys):
            if run.is_over(key, cut.day):
                held[at] = held_values[at] = 0
        scale = 10**run.decimals
        leads = (run.rows, [first[key] for key in keys], KEY)
        pnl = RealisedPnl._of_named(
            [leads, (run.rows, [last[key] for key in keys], NAMES)],
            {
                "matched_quantity": quantities,
                "cost": [units / scale for units in costs],
                "proceeds": [units / scale for units in proceeds],
                "realised": [units / scale for units in map(sub, proceeds, costs)],
                "unmatched_quantity": unmatched,
                "unmatched_value": [units / scale for units in unmatched_values],
                "open_quantity": held,
                "open_value": [units / scale for units in held_values],
                "by": run.by(keys),
            },
        )
        pnl.days = self._days if day is None else (day,)
        tables: dict[str, Callable[[], Matches | Lots]] = {
            "matches": lambda: self._matches(cut),
            "unmatched": lambda: self._unmatched(cut),
            "open_lots": lambda: self._lots(cut, expired=False),
            "expired": lambda: self._lots(cut, expired=True),
        }
        pnl._table = lambda name: tables[name]()
        notes += self._notes(cut, keys)
        if not events.same:
            (isins,) = run.rows.cells([last[key] for key in keys], [ATTRIBUTES[-1]])
            notes += self._elsewhere(zip(keys, isins, held, unmatched, strict=True))
        return pnl, notes

    def _notes(self, cut: _Cut, keys: list[int]) -> list[Note]:
        """Returns the issues of a cut, each once."""
        run, events = self._run, self._events
        notes = [*events.notes, *(note for at, note in run.notes if at < cut.stop)]
        unproved = run.unproved(cut.stop)
        for key in keys if unproved else ():
            if (proof := unproved.get(run.contract(key))) is not None:
                notes.append(about(run.leads[key], Problem.UNPROVED, proof.lacks))
        leads, times = run.leads, run.times
        notes += events.odd_rows(
            run.numbers, leads, lambda row: row < events.opening or times(row) < cut.stop
        )
        known = {NO_KEY.key, *(run.key(key)[: len(KEY)] for key in keys if run.odd_keys)}
        notes += [note for note in run.odd_keys if note.lead[: len(KEY)] in known]
        if events.given is not None:
            contracts = {run.contract(key) for key in range(len(run.keys[0]))}
            notes += unused("multipliers", events.given.unmatched(contracts))
        tied = dict.fromkeys(row for row in run.fold.undecided if times(row) < cut.stop)
        if tied:
            notes += events.of_rows(Problem.TIED, tied, run.numbers(), leads)
        (_, sold, *_) = run.fold.unmatched(cut.start, cut.stop)
        notes += run.counts(Problem.UNOPENED, "sale", sold)
        expired = {key for key in keys if run.is_over(key, cut.day)}
        over = [key for key in run.fold.open(cut.stop)[2] if key in expired] if expired else []
        notes += run.counts(Problem.EXPIRED, "lot", over)
        return notes + run.unused_settlements(is_left=bool(over))

    def _elsewhere(self, keys: Iterable[tuple[int, str | None, int, int]]) -> list[Note]:
        """Returns the open shares that lots of their ISIN under another id would close.

        Given are keys, the ISIN of their last row, and their open and their unmatched quantity.
        """
        run = self._run
        sides: dict[Key, dict[bool, int]] = {}
        for number, isin, left, sold in keys:
            account, client, exchange, _, _, expiry, product, _ = run.key(number)
            if expiry is None and is_isin(isin):
                place = None if product == DELIVERY else exchange
                of_isin = sides.setdefault((account, client, product, place, isin), {})
                for is_long, quantity in ((True, left), (False, -left), (False, sold)):
                    if quantity > 0:
                        of_isin.setdefault(is_long, number)
        notes = []
        for both in sides.values():
            if len(set(both.values())) == 2:
                leads = [run.leads[both[is_long]] for is_long in (True, False)]
                places = " and ".join(f"{lead} on {lead.exchange}" for lead in leads)
                text = f'{places}: match_by="isin" closes them'
                notes.append(Note(leads[0], Problem.ELSEWHERE, text))
        return notes

    def _columns(self, rows: list[int], keys: list[int], cut: _Cut) -> list[Column]:
        """Returns the leading columns: the key of each row, and the names of its key's last row."""
        run = self._run
        last = run.fold.rows(cut.stop)[1]
        return [(run.rows, rows, KEY), (run.rows, [last[key] for key in keys], NAMES)]

    def _matches(self, cut: _Cut) -> Matches:
        run = self._run
        lots, trades, is_long, quantities, costs, proceeds = run.fold.matches(cut.start, cut.stop)
        numbers = run.numbers()
        keys = [numbers[row] for row in trades]
        sides = list(zip(lots, trades, is_long, strict=True))
        bought = [lot if was_bought else trade for lot, trade, was_bought in sides]
        sold = [trade if was_bought else lot for lot, trade, was_bought in sides]
        scale, cells = 10**run.decimals, run.rows.cells
        opened, old = cells(lots, [_TRADED[1], ATTRIBUTES[-1]])
        closed, new = cells(trades, [_TRADED[1], ATTRIBUTES[-1]])
        columns: dict[str, Column] = {
            "side": [LONG if was_bought else SHORT for was_bought in is_long],
            "buy_trade_no": (run.rows, bought, _TRADED[:1]),
            "buy_time": (run.rows, bought, _TRADED[1:]),
            "sell_trade_no": (run.rows, sold, _TRADED[:1]),
            "sell_time": (run.rows, sold, _TRADED[1:]),
            "close_time": closed,
            "quantity": quantities,
            "cost": [units / scale for units in costs],
            "proceeds": [units / scale for units in proceeds],
            "realised": [units / scale for units in map(sub, proceeds, costs)],
            "isin": [later or earlier for earlier, later in zip(old, new, strict=True)],
            "held": [
                since and (at.date() - since.date()).days
                for since, at in zip(opened, closed, strict=True)
            ],
            "by": run.by(keys),
        }
        matches = Matches._of_named(self._columns(trades, keys, cut), columns, run.rows.zone)
        return matches.sort("close_time") if run.settled else matches

    def _unmatched(self, cut: _Cut) -> Lots:
        rows, keys, quantities, values = self._run.fold.unmatched(cut.start, cut.stop)
        return self._lots_of(cut, rows, keys, [UNMATCHED] * len(rows), quantities, values, None)

    def _lots(self, cut: _Cut, *, expired: bool) -> Lots:
        """Returns the lots that are open at the end of a cut and have expired, or have not."""
        run = self._run
        _, rows, keys, is_long, _, quantities, values = run.fold.open(cut.stop)
        are_over = [run.is_over(key, cut.day) for key in range(len(run.keys[0]))]
        if expired or any(are_over):
            wanted = [at for at, key in enumerate(keys) if are_over[key] == expired]
            is_long = [is_long[at] for at in wanted]
            rows, keys, quantities, values = (
                [column[at] for at in wanted] for column in (rows, keys, quantities, values)
            )
        sides = [LONG if was_bought else SHORT for was_bought in is_long]
        return self._lots_of(cut, rows, keys, sides, quantities, values, run.as_of(cut.stop))

    def _lots_of(
        self,
        cut: _Cut,
        rows: list[int],
        keys: list[int],
        sides: list[str],
        quantities: list[int],
        values: list[int],
        as_of: datetime | None,
    ) -> Lots:
        run = self._run
        scale = 10**run.decimals
        columns: dict[str, Column] = {
            "side": sides,
            "trade_no": (run.rows, rows, _TRADED[:1]),
            "time": (run.rows, rows, _TRADED[1:]),
            "quantity": quantities,
            "value": [value / scale for value in values],
            "multiplier": run.multipliers(keys, cut.stop),
            **{name: (run.rows, rows, (name,)) for name in ATTRIBUTES},
            "as_of": [as_of] * len(rows),
            "by": run.by(keys),
        }
        return Lots._of_named(self._columns(rows, keys, cut), columns, run.rows.zone)

    def _values(self, cut: _Cut, price_of: Lookup) -> UnrealisedPnl:
        """Returns the value of what is open at the end of a cut."""
        run = self._run
        price_of.same = self._events.same
        price_of.among(
            contract
            for key in range(len(run.keys[0]))
            if not run.is_over(key, cut.day)
            for contract in [run.contract(key)]
        )
        held: dict[int, tuple[int, int, int]] = {}  # quantity, value and last row of each key
        _, rows, keys, is_long, _, quantities, values = run.fold.open(cut.stop)
        for row, key, was_bought, *of_lot in zip(
            rows, keys, is_long, quantities, values, strict=True
        ):
            sign = 1 if was_bought else -1
            quantity, value, _ = held.get(key, (0, 0, 0))
            held[key] = quantity + sign * of_lot[0], value + sign * of_lot[1], row
        opened = [key for key in held if not run.is_over(key, cut.day)]
        multipliers = run.multipliers(opened, cut.stop)
        cells = []
        for key, multiplier in zip(opened, multipliers, strict=True):
            quantity, value, row = held[key]
            paid, price, (by,) = (value, 10**run.decimals), price_of(run.rows[row]), run.by([key])
            cells.append(valued_row(quantity, paid, multiplier, run.kind(key), price, by))
        leads = self._columns([held[key][2] for key in opened], opened, cut)
        return UnrealisedPnl._of(cells, leads=leads)

    # -- days --

    def _day_pnl(
        self, day: date | None, prices: Prices | None, rates: Rates | None, rounding: Rounding
    ) -> DayPnl:
        run = self._run
        pnl, notes = self._realised(day)
        cut = self._cut(day)
        price_of = PricesByDay({} if prices is None else prices).on(day)
        values, expired = self._values(cut, price_of), self._lots(cut, expired=True)
        traded = {} if day is None else self._traded(day)
        costs, unit = self._charged(day, rates, rounding)
        numbers = {run.key(number): number for number in range(len(run.keys[0]))}
        held, over = dict(zip(values._keys(), values, strict=True)), set(expired._keys())
        kept, cells = [], []
        for at, (key, row) in enumerate(zip(pnl._keys(), pnl, strict=True)):
            number = numbers[key]
            value = held.get(key)
            sides = {"buy": traded.get((number, True)), "sell": traded.get((number, False))}
            is_traded = any(sides.values())
            if not (row.matched_quantity or row.realised or is_traded or value or key in over):
                continue
            kept.append(at)
            (multiplier,) = run.multipliers([number], cut.stop)
            cell: dict[str, object] = {"kind": run.kind(number), "by": row.by}
            for name, side in sides.items():
                _, quantity, worth = side or (0, 0, 0)
                cell[f"{name}_quantity"] = quantity
                average = average_of(quantity, worth, multiplier, 10**run.decimals)
                cell[f"{name}_average"] = average
            cell["open_quantity"] = 0 if value is None else value.quantity
            cell["open_average"] = None if value is None else value.average
            cell["price"] = None if value is None else value.price
            unrealised = 0.0 if value is None else value.unrealised
            charge = Fraction(costs.get((day, number), 0)) / unit
            net = None
            if unrealised is not None:
                net = float(Fraction(repr(row.realised)) + Fraction(repr(unrealised)) - charge)
            cell |= {"realised": row.realised, "unrealised": unrealised}
            cells.append(cell | {"charges": float(charge), "net": net})
        result = DayPnl._of(cells, leads=[(pnl._rows, kept, KEYED)])
        result.day, result.pnl = day, noted(pnl, notes, warn=False)
        # Issues of keys that were closed before the day concern none of its numbers.
        known = {NO_KEY.key, *(key[: len(KEY)] for key in result._keys())}
        notes = [note for note in notes if note.lead[: len(KEY)] in known]
        of_lots = [
            note for note in priced_notes(values, price_of) if note.problem != Problem.UNPROVED
        ]
        return noted(result, notes + of_lots)

    def _traded(self, day: date) -> dict[tuple[int, bool], tuple[int, int, int]]:
        """Returns the purchases and the sales of a day, as ``sides_of`` does."""
        run, events = self._run, self._events
        at = events.traded(day)
        rows, numbers = events.rows.take(at), run.numbers()
        labels = [numbers[row] for row in at]
        sides = Groups([rows], ["txn_type"], labels=labels)
        keys = [labels[row] for row in sides.first()]
        return sides_of(rows, sides, keys, run.buy, run.decimals)

    def _charged(
        self, day: date | None, rates: Rates | None, rounding: Rounding
    ) -> tuple[dict[tuple[date | None, int], Amount], int]:
        """Returns what is charged on each day and key, on a day or on all, and how much is 1.

        With ``by``, what is charged by order is divided among its trades.
        """
        costs: dict[tuple[date | None, int], Amount] = defaultdict(int)
        run, events = self._run, self._events
        rounding_units(rounding)  # also refuses a wrong one where nothing is charged
        if rates is None or not (events.days or run.settled):
            return costs, 1
        rates, divides = rates_of(rates), self._given[2]["by"] is not None
        at = [*range(events.opening, len(events.rows))]
        rows, joined = events.sent[events.opening :], events.rows[events.opening :]
        if run.settled and charge_settlements(rates):
            at += run.settled
            rows, joined = (_core.join([part, self.settlements._rows]) for part in (rows, joined))
        bill = Bill(
            rows,
            rates,
            run.buy,
            joined=joined,
            day=day,
            rounding=rounding,
            by_trade=divides,
            multipliers=events.given,
            where=lambda row: events.where(at[row]),
        )
        if not divides:
            of_key = {run.key(key)[: len(KEY)]: key for key in range(len(run.keys[0]))}
            for place in bill.places:
                costs[place.day, of_key[place.key]] += sum(place.levies.values())
            return costs, bill.unit
        times, numbers = rows.column(_TRADED[1]), run.numbers()
        for row, (time, levies) in enumerate(zip(times, bill.by_trade, strict=True)):
            if levies is not None:
                costs[time.date(), numbers[at[row]]] += sum(levies.values())
        return costs, bill.unit

    def _daily(
        self,
        price_of: PricesByDay,
        wanted: list[date],
        are_wanted: bool,
        rates: Rates | None,
        rounding: Rounding,
        per: tuple[str, ...],
    ) -> DailyPnl:
        run = self._run
        pnl, notes = self._realised(None)
        known = {*self._days, *run.closings}
        begin = min(
            {*known, *(wanted if are_wanted else ())}, default=min(wanted, default=date.max)
        )
        days = sorted(day for day in {*known, *wanted} if day >= begin)
        leading = [*KEY[:2], *(name for name in per if name != BY)]
        columns = [run.keys[KEY.index(name)] for name in leading]
        columns.append(run.by(range(len(columns[0]))) if BY in per else [None] * len(columns[0]))
        groups: list[Key] = list(zip(*columns, strict=True))
        gained: dict[Place, Fraction] = defaultdict(Fraction)
        steps: dict[int, dict[int, list[int]]] = {}
        scale = 10**run.decimals
        starts = [1 - EVER, *(moment_at(day + timedelta(days=1)) for day in days)]
        for key, place, quantity, value, gain in zip(*run.fold.steps(starts), strict=True):
            steps.setdefault(key, {})[place] = [quantity, value]
            gained[groups[key], place] += Fraction(gain, scale)
        held = self._held(steps, price_of, days, pnl, groups, notes)
        paid: dict[Place, Fraction] = defaultdict(Fraction)
        costs, unit = self._charged(None, rates, rounding)
        for (day, key), cost in costs.items():
            if day is None or day > run.until:
                continue
            paid[groups[key], min(bisect_left(days, day) + 1, len(days))] += Fraction(cost) / unit
        rows: list[dict[str, object]] = []
        for of_group in sorted(set(groups), key=lambda group: tuple(map(str, group))):
            leads = dict(zip((*leading, BY), of_group, strict=True))
            for of_day in rows_of_days(of_group, days, gained, paid, held, is_sparse=bool(per)):
                rows.append(leads | of_day)
        result = DailyPnl._of_days(leading[2:], sorted(rows, key=itemgetter("day")))
        result.pnl = noted(pnl, list(notes), warn=False)
        return noted(result, notes)

    def _held(
        self,
        steps: dict[int, dict[int, list[int]]],
        price_of: PricesByDay,
        days: list[date],
        pnl: RealisedPnl,
        groups: list[Key],
        notes: list[Note],
    ) -> dict[Place, Fraction | None]:
        """Returns what open lots are worth more than they cost, before the days and on each.

        None is not known.
        """
        run = self._run
        price_of.same = self._events.same
        scale = 10**run.decimals
        rows = dict(zip(pnl._keys(), pnl, strict=True))
        costs: dict[Place, int] = defaultdict(int)
        worth: dict[Place, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        unknown: set[Place] = set()
        last = len(days)
        has_span = len(run.spans) > 1
        for key, of_key in steps.items():
            contract, row = run.contract(key), rows[run.key(key)]
            expiry, group = contract[-1], groups[key]
            (multiplier,) = run.multipliers([key], EVER)
            place, quantity, value = min(of_key), 0, 0
            missing: Counter[str] = Counter()
            price: Fraction | None = None
            tried = place - 1  # the last day for which a price was asked
            while place <= last:
                if (step := of_key.get(place)) is not None:
                    quantity, value = quantity + step[0], value + step[1]
                is_over = expiry is not None and place > 0 and expiry < days[place - 1]
                if (not quantity and not value) or is_over:
                    place += 1
                    continue
                on = place
                while on > tried and (found := price_of.at(days, on, contract, row)) is None:
                    on -= 1
                if on > tried:
                    price = found
                is_old, tried = on < place and price is not None, place
                if has_span:
                    stop = moment_at(days[place - 1] + timedelta(days=1)) if place else -EVER
                    (multiplier,) = run.multipliers([key], stop)
                if price is None:
                    missing[Problem.UNPRICED if place else Problem.FROM_COST] += 1
                if price is not None and multiplier is not None:
                    missing[Problem.STALE] += is_old
                    costs[group, place] -= value
                    shares = quantity * multiplier
                    worth[group, place][price.denominator] += price.numerator * shares
                elif place:
                    unknown.add((group, place))
                place += 1
            for problem, count in missing.items():
                if count:
                    text = counted(count, "day") if problem != Problem.FROM_COST else ""
                    notes.append(about(run.leads[key], problem, text, count))
        if any(note.problem == Problem.UNPRICED for note in notes):  # else more contracts are fine
            notes += unused("prices", price_of.unmatched({run.contract(key) for key in steps}))
        held: dict[Place, Fraction | None] = dict.fromkeys(unknown)
        for at, cost in costs.items():
            if at not in unknown:
                parts = (Fraction(number, base) for base, number in worth[at].items())
                held[at] = sum(parts, Fraction(cost, scale))
        return held


def _again(trades: TradeBook, opening: GivenLots | None, options: Options) -> Ledger:
    return Ledger(trades, opening, **options)


class _Cut(NamedTuple):
    """The part of the journal from one moment until another, at whose end a day is the last."""

    start: int
    stop: int
    day: date
