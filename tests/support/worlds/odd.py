"""Random worlds with one thing in them that a calculation must refuse, or name.

Each maker takes a world and says what is then right: an error, or an issue and what it names.
``is_same`` says that the realised profit and loss is that of the world without it.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tradingdata as td
from analysis_samples import DAY
from tradingdata.analysis.results import ATTRIBUTES, Problem

from . import CLIENT, EXPIRY, FIRST_CALL, FUTURE, PRODUCT, SECURITY, SHARES, Event, World

ISIN = ATTRIBUTES[-1]


@dataclass
class Odd:
    """Trades with something odd, arguments of ``realised_pnl``, and what is right."""

    rows: list[td.Trade]
    arguments: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    names: tuple[str, ...] = ()
    error: str = ""
    is_same: bool = True


Maker = Callable[[World, random.Random], Odd | None]


def _rows(made: World) -> list[td.Trade]:
    return [event.row for event in made.events]


def _of(made: World, rng: random.Random, *contracts: Any) -> tuple[int, Event] | None:
    """A trade of one of some contracts at a price above 0."""
    found = [
        (at, event)
        for at, event in enumerate(made.events)
        if event.contract in contracts and event.value
    ]
    return rng.choice(found) if found else None


def value_of_no_multiplier(made: World, rng: random.Random) -> Odd | None:
    """C6: a value that is no whole multiple of quantity and price."""
    found = _of(made, rng, SHARES, FUTURE)
    if found is None:
        return None
    at, event = found
    rows = _rows(made)
    price = td.required(event.row.traded_price)
    value = round(event.quantity * price * 1.33, 2)
    rows[at] = rows[at]._replace(trade_value=value)
    names = (dict(event.contract.fields)[SECURITY], f"trade_value {value} in row {at}")
    return Odd(rows, problem=Problem.UNPROVED, names=names, is_same=False)


def mixed_units(made: World, rng: random.Random) -> Odd | None:
    """A trade of a future that counts shares, while the others count contracts."""
    found = _of(made, rng, FUTURE)
    if found is None or sum(event.contract == FUTURE for event in made.events) < 2:
        return None
    at, event = found
    rows = _rows(made)
    value = round(event.quantity * td.required(event.row.traded_price), 2)
    rows[at] = rows[at]._replace(trade_value=value)
    return Odd(rows, error="count quantities in different units")


def codes_that_look_alike(made: World, rng: random.Random) -> Odd:
    """C31: a product with a space, or a client in lower case."""
    rows = _rows(made)
    at = rng.randrange(len(rows))
    name = rng.choice([PRODUCT, CLIENT])
    known = str(rows[at][name])
    code = known + " " if name == PRODUCT else known.lower()
    if sum(row[name] == known for row in rows) == 1:
        rows.append(rows[at]._replace(trade_no="another", exch_trade_time=rows[-1].exch_trade_time))
    rows[at] = rows[at]._replace(**{name: code})
    return Odd(rows, problem=Problem.ALIKE, names=(repr(known), repr(code)), is_same=False)


def isin_that_is_none(made: World, rng: random.Random) -> Odd | None:
    """Placeholders where shares have their ISIN."""
    text = rng.choice(["NA", "0", "IN0000000000X", "ine009a01021"])
    rows = [row._replace(**{ISIN: None if row[EXPIRY] else text}) for row in _rows(made)]
    if all(row[EXPIRY] for row in rows) or not any(
        event.contract.expiry is None for event in made.events
    ):
        return None
    return Odd(rows, {"match_by": "isin"}, Problem.NO_ISIN, (repr(text),))


def change_without_lots(made: World, rng: random.Random) -> Odd:
    """A split of what nobody holds, within the days of the trades or after them."""
    at = DAY + dt.timedelta(days=rng.randrange(6))
    change = td.LotChange(at, where={SECURITY: "nobody's"}, ratio=2)
    return Odd(
        _rows(made), {"changes": [change]}, Problem.UNCHANGED, (f"change of {at}", "nobody's")
    )


def settlement_of_another_expiry(made: World, rng: random.Random) -> Odd | None:
    """C10, of settlements: the expiry of the key is not that of the option that has expired."""
    wrong = DAY + dt.timedelta(days=rng.choice([-3, 40]))
    if not any(event.contract == FIRST_CALL for event in made.events):
        return None
    key = (dict(FIRST_CALL.fields)[SECURITY], wrong)
    return Odd(_rows(made), {"settle": {key: 3.0}}, Problem.UNUSED, (repr(key),))


def day_before_all(made: World, rng: random.Random) -> Odd:
    """C12"""
    day = DAY - dt.timedelta(days=rng.randint(1, 30))
    return Odd(_rows(made), {"day": day}, error=f"{day} is before all that is known: {DAY}")


def day_without_trades(made: World, rng: random.Random) -> Odd:
    """C12, after the trades."""
    day = DAY + dt.timedelta(days=rng.randint(4, 7))
    return Odd(_rows(made), {"day": day}, Problem.IDLE, (f"none on {day}",), is_same=False)


def lot_that_is_of_two_contracts(made: World, rng: random.Random) -> Odd | None:
    """C24: a row without its expiry, whose id means two contracts."""
    ids = {event.contract.expiry for event in made.events if event.row[SECURITY] == "20"}
    rows = _rows(made)
    found = [at for at, row in enumerate(rows) if row[SECURITY] == "20"]
    if len(ids) < 2 or len(found) < 3:
        return None
    at = rng.choice(found)
    rows[at] = rows[at]._replace(**{EXPIRY: None})
    if len({row[EXPIRY] for row in rows if row[SECURITY] == "20" and row[EXPIRY]}) < 2:
        return None
    return Odd(rows, error="expiry_date is missing for security_id '20', which means the contracts")


MAKERS: tuple[Maker, ...] = (
    value_of_no_multiplier,
    mixed_units,
    codes_that_look_alike,
    isin_that_is_none,
    change_without_lots,
    settlement_of_another_expiry,
    day_before_all,
    day_without_trades,
    lot_that_is_of_two_contracts,
)
