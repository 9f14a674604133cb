"""`tradingdata archive history`: the states of one order."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradingdata.archive import OrderState
from tradingdata.cli.exportable import ListTable
from tradingdata.cli.options import Debug, Output
from tradingdata.cli.output import Destination

from .arguments import Account, File, opened

EXAMPLES = """
tradingdata archive history books.sqlite 261120001000002
"""

Number = Annotated[str, typer.Argument(metavar="ORDER_NO", help="Order number.")]

_KINDS = {
    "seen_at": "timestamp",
    "account": "text",
    "symbol": "text",
    "txn_type": "text",
    "quantity": "number",
    "price": "number",
    "traded_qty": "number",
    "status": "text",
}
_ESSENTIAL = ("seen_at", "traded_qty", "status")


def history(
    file: File,
    order_no: Number,
    output: Output,
    account: Account = None,
    debug: Debug = False,
) -> None:
    """Show the states of an order over time.

    Each state has the time at which it was first seen.
    """
    destination = Destination(output)
    states = opened(file).history(order_no, account=account)
    rows = [_row(state) for state in states]
    title = f"{len(states)} {'state' if len(states) == 1 else 'states'} of the order {order_no}"
    noun = ("state", "states")
    destination.take(ListTable(rows, _KINDS, noun, title=title, essential=_ESSENTIAL))


def _row(state: OrderState) -> dict[str, Any]:
    seen_at = state.seen_at and state.seen_at.replace(microsecond=0)
    return {**state.order._asdict(), "seen_at": seen_at, "account": state.account}
