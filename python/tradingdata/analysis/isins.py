"""Shares that are one security by their ISIN, across exchanges, series and ids."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from .. import _core
from .._core import Slice
from .inputs import chosen, patched
from .issues import ELSEWHERE, NO_ISIN, Note, about
from .keys import CONTRACT, KEY, KEYED, SAME, SOME_MISSING, Key, Lead
from .realised import LONG, RealisedPnl

MATCH_BY = ("security_id", "isin")
DELIVERY = "C"  # the product whose purchases and sales are settled together, wherever they were
_ISIN, _TIME = "isin", "exch_trade_time"
_FORM = re.compile("[A-Z]{2}[A-Z0-9]{9}[0-9]")

Same = dict[Key, tuple[Key, ...]]  # by contract, those that are one security with it


def is_by_isin(match_by: object) -> bool:
    """Returns whether ISINs decide what is one security; raises for what is no such choice."""
    return chosen("match_by", [match_by], MATCH_BY, "a name") == {MATCH_BY[1]}


def is_isin(text: str | None) -> bool:
    """Returns whether text has the form of an ISIN, which placeholders such as NA do not have."""
    return text is not None and _FORM.fullmatch(text) is not None


def by_isin(rows: Slice) -> tuple[Slice, Same, list[Note]]:
    """Returns rows of shares under the exchange and id of the last trade of their security.

    Rows of one account, client and product with one ISIN or one id are of one security; other
    products than delivery only within an exchange, where they are closed. What is no ISIN joins
    nothing, and is noted.
    """
    groups = _core.Groups([rows], [*KEY, _ISIN])
    keys = list(zip(*rows.cells(groups.first(), [*KEY, _ISIN]), strict=True))
    roots: dict[Any, Any] = {}

    def root(node: Any) -> Any:
        while roots.setdefault(node, node) != node:
            node = roots[node]
        return node

    def nodes(account: Any, client: Any, place: Any, *others: Any) -> tuple[Any, Any]:
        segment, security, _, product, isin = others
        holder = account, client, product, None if product == DELIVERY else place
        return (*holder, place, segment, security), (*holder, isin)

    notes = []
    for key in keys:
        of_id, of_isin = nodes(*key)
        if is_isin(key[-1]):
            roots[root(of_id)] = root(of_isin)
        elif key[-1]:
            notes.append(about(Lead(*key[:-1]), NO_ISIN, f"{key[-1]!r}; matched by its id"))
    ends: dict[Any, Any] = {}  # by security: time and row of its last trade, and its contract
    moments = groups.extremes(_TIME, True)
    contracts = [key[2:6] for key in keys]
    for key, contract, moment, row in zip(keys, contracts, moments, groups.last(), strict=True):
        if contract[-1] is None:
            end = (moment or datetime.min).replace(tzinfo=None), row, contract
            security = root(nodes(*key)[0])
            ends[security] = max(ends.get(security, end), end, key=lambda last: last[:2])
    moved: dict[int, dict[str, Any]] = {}
    same: dict[Key, dict[Key, None]] = {}
    for number, (key, contract) in enumerate(zip(keys, contracts, strict=True)):
        if contract[-1] is None:
            target = ends[root(nodes(*key)[0])][-1]
            same.setdefault(target, {target: None})[contract] = None
            if target != contract:
                moved[number] = dict(zip(CONTRACT, target, strict=True))
    numbers = groups.numbers() if moved else []
    changes = {row: moved[number] for row, number in enumerate(numbers) if number in moved}
    return patched(rows, changes), {key: tuple(ids) for key, ids in same.items()}, notes


def may_be_elsewhere(
    rows: Slice, groups: _core.Groups, held: list[int], unmatched: list[int]
) -> bool:
    """Returns whether `elsewhere` may find shares, which needs the lots.

    Of rows by key, with the open and the unmatched quantity of each key, shares of one ISIN are
    open or unmatched on both sides, or rows of a key differ in their ISIN.
    """
    sides: dict[Any, bool] = {}
    names = ("account", "client_id", "product", "exchange", "expiry_date", _ISIN)
    cells = (*rows.cells(groups.last(), names), groups.likenesses(_ISIN))
    columns = zip(*cells, held, unmatched, strict=True)
    for account, client, product, place, expiry, isin, likeness, left, sold in columns:
        if expiry is not None or not (left or sold):
            continue
        holder = account, client, product, None if product == DELIVERY else place, isin
        is_long = left > 0
        is_other_side = isin and sides.setdefault(holder, is_long) != is_long
        if is_other_side or (is_long and sold) or likeness not in (SAME, SOME_MISSING):
            return True
    return False


def elsewhere(pnl: RealisedPnl) -> list[Note]:
    """Returns the open shares that lots of their ISIN under another id would close."""
    sides: dict[Any, dict[bool, Lead]] = {}
    notes = []
    for rows in (pnl.open_lots._rows, pnl.unmatched._rows):
        first = _core.Groups([rows], [*KEY, "side", _ISIN]).first()
        for *values, side, isin in zip(*rows.cells(first, [*KEYED, "side", _ISIN]), strict=True):
            lead = Lead._make(values)
            if lead.expiry_date is None and is_isin(isin):
                place = None if lead.product == DELIVERY else lead.exchange
                holder = lead.account, lead.client_id, lead.product, place, isin
                sides.setdefault(holder, {}).setdefault(side == LONG, lead)
    for both in sides.values():
        if len(both) == 2 and both[True].key != both[False].key:
            places = (f"{lead} on {lead.exchange}" for lead in (both[True], both[False]))
            text = f'{" and ".join(places)}: match_by="isin" closes them'
            notes.append(Note(both[True], ELSEWHERE, text))
    return notes
