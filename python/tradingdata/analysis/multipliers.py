"""Multipliers of contracts: how many of what is counted a quantity of one is, proved by trades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .._core import Groups, Slice
from .inputs import Lookup
from .keys import CONTRACT, Key, contract_of
from .results import Lot

_UNSAID = -1  # from the core: no trade has a price and a value, or a lot size


class Proof(NamedTuple):
    """The multiplier of a contract, or why there is none."""

    multiplier: int | None
    lacks: str = ""


def multipliers_of(
    rows: Slice,
    groups: Groups,
    where: Callable[[int], str],
    *,
    given: Lookup | None = None,
    lots: Sequence[Lot] = (),
) -> list[Proof]:
    """Returns the multiplier of each group of trades, or why there is none.

    The service describes a quantity as "shares or contracts". Where it counts contracts, a value is
    ``quantity * price * multiplier``. The values of a contract's trades prove it: 1, the lot size
    or another whole number, whichever gives them all to the paisa, or fits the prices as rounded.
    Shares without any trade count 1 each. Whoever needs a multiplier takes it from here.

    Args:
        rows: The trades, of which the first are the opening lots.
        groups: The trades by a key that contains the contract.
        where: Returns how a message names a row.
        given: The multipliers that the caller knows; they take precedence.
        lots: The opening lots, whose multipliers count where trades prove none.

    Raises:
        ValueError: If two trades of a contract count in different units, because their quantities
            cannot be added up, or a given multiplier is no whole number of at least 1.
    """
    first = groups.first()
    of_lots: dict[Key, int] = {}
    unproved: set[Key] = set()  # contracts with an opening lot without a multiplier
    unknown: dict[Key, int] = {}  # its row, also if it may be a lot of shares
    for row, (lot, number) in enumerate(zip(lots, groups.numbers() if lots else (), strict=False)):
        contract = contract_of(rows[first[number]])
        if lot.multiplier is None:
            unproved.add(contract)
        if lot.multiplier:
            agreed_unit(of_lots, contract, lot.multiplier)
        else:
            unknown.setdefault(contract, row)
    of_groups: tuple[list[int], ...] = groups.multipliers(CONTRACT)
    # One object for all groups whose trades prove the same, unless something else counts too.
    is_shared = given is None and not lots
    shared = {one: Proof(one) for one in set(of_groups[0]) if is_shared and one > 0}
    proofs = []
    for row, proved, odd, other in zip(first, *of_groups, strict=True):
        if proved in shared and other < 0:
            proofs.append(shared[proved])
            continue
        contract = contract_of(rows[row])
        multiplier = proved if proved > 0 else None
        known = None if given is None else given(rows[row])
        if known is not None:
            if known.denominator != 1 or known < 1:
                raise ValueError(f"multipliers must be whole numbers of at least 1, not {known}")
            multiplier = int(known)
        elif other >= 0:
            raise ValueError(_units(rows, where, other, odd))
        elif contract in unknown and proved > 1:
            raise ValueError(
                f"{where(unknown[contract])} of security_id {contract[-2]!r} has no multiplier, "
                f"but trades of it count {proved} shares as one: give the lot its `multiplier` (1 "
                "if its quantity is shares, which needs converting), or pass `multipliers`"
            )
        elif contract in of_lots:
            multiplier = agreed_unit(of_lots, contract, multiplier or of_lots[contract])
        elif proved == _UNSAID and contract[-1] is None and contract not in unproved:
            multiplier = 1  # a quantity of shares is counted in shares
        lacks = "" if multiplier is not None else _reason(rows, where, odd)
        proofs.append(Proof(multiplier, lacks))
    return proofs


def multipliers_at(
    trades: Slice, rows: Sequence[int], where: Callable[[int], str], given: Lookup | None
) -> list[Proof]:
    """Returns the multiplier of the contract of some trades; the row -1 is none and has none."""
    groups = Groups([trades], CONTRACT)
    proofs = [*multipliers_of(trades, groups, where, given=given), Proof(None)]
    numbers = [*groups.numbers(), -1]
    return [proofs[numbers[row]] for row in rows]


def agreed_unit(of_lots: dict[Key, int], contract: Key, multiplier: int) -> int:
    """Keeps the multiplier of a contract's lots, which must not have two."""
    known = of_lots.setdefault(contract, multiplier)
    if known != multiplier:
        raise ValueError(
            f"an opening lot of security_id {contract[-2]!r} has the multiplier {known}, but other "
            f"lots or trades of it have {multiplier}: convert its quantity"
        )
    return known


def _units(rows: Slice, where: Callable[[int], str], first: int, other: int) -> str:
    units = []
    for row in sorted((first, other)):
        trade = rows[row]
        product = trade.quantity * trade.traded_price
        unit = (
            f"quantity * traded_price * {round(trade.trade_value / product)}"
            if product
            else (f"{trade.trade_value} at a price of 0")
        )
        units.append(f"trade_value is {unit} in {where(row)}")
    return (
        f"trades of one contract count quantities in different units: {' and '.join(units)}: see "
        "trades.check(), then calculate them separately or pass `multipliers`"
    )


def _reason(rows: Slice, where: Callable[[int], str], odd: int) -> str:
    if odd < 0:
        return "no trade has a price and a value that prove it; pass `multipliers`"
    trade = rows[odd]
    return (
        f"trade_value {trade.trade_value} in {where(odd)} is no whole multiple of quantity "
        f"{trade.quantity} * traded_price {trade.traded_price}, or fits several; pass "
        "`multipliers`"
    )
