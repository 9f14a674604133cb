"""Positions: purchases, sales and their net by client and security."""

from __future__ import annotations

from collections import Counter
from datetime import date

from .. import _core
from ..books.book import TradeBook
from ..display import counted, group
from ..table.rows import declared
from .events import Events, average_of, sides_of, strikes_of
from .inputs import Multipliers, days_text
from .keys import CONTRACT, FUTURE, KEY, OPTION, SHARES, Keyed, kind_of
from .results import BY_CONTRACT, ResultTable, noted


@declared
class Position(Keyed):
    """The sum of one client's trades in one security and product; see also ``Keyed``.

    Quantities are shares or contracts; amounts are in the currency of the trades, before charges.

    Attributes:
        trades: Number of trades.
        buy_quantity: Quantity bought.
        buy_value: Value of the purchases.
        buy_average: Average price of the purchases, ``None`` without any.
        sell_quantity: Quantity sold.
        sell_value: Value of the sales.
        sell_average: Average price of the sales, ``None`` without any.
        net_quantity: ``buy_quantity - sell_quantity``, without holdings from before these trades.
        net_cash: ``sell_value - buy_value``.
        multiplier: Shares in a contract as the values of trades count it, 1 for shares; ``None``
            where nothing proves it, and then there are no averages.
        kind: ``shares``, ``future`` or ``option``. Cash paid for shares, the notional value of
            futures and the premium of options must not be added up.
    """

    trades: int
    buy_quantity: int
    buy_value: float
    buy_average: float | None
    sell_quantity: int
    sell_value: float
    sell_average: float | None
    net_quantity: int
    net_cash: float
    multiplier: int | None
    kind: str


class Positions(ResultTable[Position]):
    """Result of ``positions``: one row for each key.

    Attributes:
        days: The days of the trades, in order.
    """

    _row = Position
    # Without sums: one of premiums, notional values of futures and shares means nothing.
    _view = BY_CONTRACT._replace(
        noun="position",
        columns=(
            *("net_quantity", "net_cash", "buy_average", "sell_average"),
            *("buy_quantity", "sell_quantity", "trades"),
        ),
        rank="net_cash",
        zero="net_quantity",
    )

    days: tuple[date, ...]

    def _heading(self) -> str:
        held = Counter(self.filter(net_quantity__ne=0)._column("kind"))
        text = counted(held.total(), "open position")
        if self.days:
            text = f"{days_text(self.days)}, {text}"
        if held.keys() - {SHARES}:
            parts = [counted(held[kind], kind) for kind in (FUTURE, OPTION) if held[kind]]
            text += f" ({', '.join([f'{group(held[SHARES])} in shares', *parts])})"
        flat = len(self) - held.total()
        return f"{text}, {group(flat)} flat" if flat else text


def positions(
    trades: TradeBook,
    *,
    day: date | str | None = None,
    multipliers: Multipliers | None = None,
    buy: str = "B",
    sell: str = "S",
) -> Positions:
    """Adds up trades by client, contract and product.

    A row has purchases, sales and their net over all days of the book (see ``days``), before
    charges. Amounts are exact: sums of ``trade_value`` as decimals, each result the float nearest
    to its sum. (Service: "Trade record".)

    Args:
        trades: A trade book, of one or several accounts.
        day: Counts the trades of this day only, as a date or ISO text.
        multipliers: Multipliers of contracts that their trades do not prove, by ``security_id`` or
            ``(security_id, expiry_date)``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key, with its ``issues``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, if quantities of one contract are in different units, or if the day
            is before the trades.
        OverflowError: If amounts are too large to be added exactly.

    Warns:
        DataWarning: If the result has issues.
    """
    events = Events(trades, buy, sell, multipliers=multipliers, timed=day is not None).on(day)
    rows, proofs = events.rows, events.proofs
    decimals = _core.decimals_of([(rows, "trade_value")])
    sides = _core.Groups([rows], ["txn_type"], events.by_key)
    traded = sides_of(rows, sides, sides.coarser(KEY), buy, decimals)
    strikes = strikes_of(rows, events.by_key, events.by_key.numbers)
    expiries = [key[KEY.index(CONTRACT[-1])] for key in events.all_keys()]
    kinds = map(kind_of, expiries, strikes)
    cells: list[dict[str, object]] = []
    scale = 10**decimals
    for key, (proof, kind) in enumerate(zip(proofs, kinds, strict=True)):
        bought, sold = (traded.get((key, side), (0, 0, 0)) for side in (True, False))
        cell: dict[str, object] = {
            "trades": bought[0] + sold[0],
            "net_quantity": bought[1] - sold[1],
        }
        for side, (_, quantity, value) in (("buy", bought), ("sell", sold)):
            cell[f"{side}_quantity"] = quantity
            cell[f"{side}_value"] = value / scale
            cell[f"{side}_average"] = average_of(quantity, value, proof.multiplier, scale)
        cell["net_cash"] = (sold[2] - bought[2]) / scale
        cells.append(cell | {"multiplier": proof.multiplier, "kind": kind})
    result = Positions._of(cells, leads=events.leading())
    result.days = events.days if events.day is None else (events.day,)
    return noted(result, events.all_notes())
