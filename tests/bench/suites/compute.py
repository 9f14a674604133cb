"""Calculations on the decoded books of several accounts, beside polars on frames of them.

Realised P&L is compared with plain Python on the rows, and `day_pnl` with what it is made of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from tradingdata._util.declarations import RECORDS
from tradingdata.analysis.keys import KEY

from ..bodies import book
from ..contest import Contest, Entry, Prepare, Ready, Source, peer
from ..report import Goal, Run
from .records import trades as body_of_trades

ACCOUNTS = 4
TRADES, ORDERS = 100_000, 20_000
ORDER_KEY = [name for name in RECORDS["Order"]["identity"] if name in RECORDS["Trade"]["identity"]]
TIME = {name: RECORDS[name]["event_times"][0] for name in ("Trade", "Order")}


def _ready(
    run: Callable[[], Any], rows: Callable[[Any], int] = len, **columns: Callable[[Any], Any]
) -> Ready:
    """Results have as many rows, and the same sums of the columns named."""
    return Ready(
        run,
        lambda found: {
            "rows": rows(found),
            "sums": {name: _sum(column(found)) for name, column in columns.items()},
        },
    )


def _column(name: str) -> Callable[[Any], Any]:
    """A column of a result of ours."""
    return lambda found: found.to_dict([name])[name]


def _sum(values: Any) -> float:
    return float(sum(value for value in values if value is not None))


def of_accounts(kind: str, body: bytes, accounts: int = ACCOUNTS) -> Any:
    """A book of several accounts, each with the records of the body."""
    td = peer("tradingdata")
    decode = {"Trade": td.TradeBook, "Order": td.OrderBook}[kind].from_json
    return td.concat([decode(body, account=f"desk{number}") for number in range(accounts)])


def _trades(source: Source) -> Any:
    return of_accounts("Trade", source.body())


def _orders() -> Any:
    return of_accounts("Order", book("Order", ORDERS // ACCOUNTS).read_bytes())


def _frame(made: Any) -> Any:
    return peer("polars").DataFrame(made)


def positions_ours(source: Source) -> Ready:
    td, trades = peer("tradingdata"), _trades(source)
    return _ready(lambda: td.positions(trades))


def _sides(pl: Any) -> list[Any]:
    """Quantity and value bought and sold of each group."""
    quantity, value, side = map(pl.col, ("quantity", "trade_value", "txn_type"))
    return [
        column.filter(side == name).sum().alias(f"{name}_{what}")
        for name in "BS"
        for what, column in (("quantity", quantity), ("value", value))
    ]


def positions_polars(source: Source) -> Ready:
    pl, frame = peer("polars"), _frame(_trades(source))
    first = pl.col(*RECORDS["Trade"]["display"]).exclude(*KEY, "quantity", "txn_type").first()
    averages = {
        f"{name}_average": pl.col(f"{name}_value") / pl.col(f"{name}_quantity") for name in "BS"
    }

    def run() -> Any:
        groups = frame.group_by(KEY, maintain_order=True).agg(*_sides(pl), first, pl.len())
        return groups.with_columns(**averages)

    return _ready(run)


def realised_ours(source: Source) -> Ready:
    td, trades = peer("tradingdata"), _trades(source)
    return _ready(lambda: td.realised_pnl(trades))


def realised_with_lots(source: Source) -> Ready:
    """With its open lots, which are made when they are read: `day_pnl` values them."""
    td, trades = peer("tradingdata"), _trades(source)

    def run() -> Any:
        pnl = td.realised_pnl(trades)
        assert pnl.open_lots
        return pnl

    return _ready(run)


def realised_python(source: Source) -> Ready:
    """First in, first out over the rows, with what each lot realised."""
    trades = _trades(source)
    time, key_of = (attrgetter(TIME["Trade"]), attrgetter(*KEY))

    def run() -> dict[Any, float]:
        lots: dict[Any, deque[tuple[int, float]]] = {}
        realised: dict[Any, float] = {}
        for trade in sorted(trades, key=time):
            key = key_of(trade)
            open_lots = lots.setdefault(key, deque())
            left = trade.quantity if trade.txn_type == "B" else -trade.quantity
            price = trade.traded_price
            realised.setdefault(key, 0.0)
            while left and open_lots and (open_lots[0][0] > 0) != (left > 0):
                quantity, cost = open_lots[0]
                closed = min(abs(quantity), abs(left)) * (1 if quantity > 0 else -1)
                realised[key] += closed * (price - cost)
                left += closed
                if closed == quantity:
                    open_lots.popleft()
                else:
                    open_lots[0] = (quantity - closed, cost)
            if left:
                open_lots.append((left, price))
        return realised

    return _ready(run)


INTRADAY = {"I", "M"}
BROKERAGE, CAP, GST, STT = 0.0003, 20, 0.18, 0.001


def rates() -> list[Any]:
    rate = peer("tradingdata").ChargeRate
    return [
        rate(where={"product": INTRADAY}, brokerage=BROKERAGE, cap=CAP, gst=GST),
        rate(stt_buy=STT, stt_sell=STT),
    ]


def charges_ours(source: Source) -> Ready:
    td, trades, given = peer("tradingdata"), _trades(source), rates()
    return _ready(lambda: td.charges(trades, given), len, total=_column("total"))


def charges_polars(source: Source) -> Ready:
    pl, frame = peer("polars"), _frame(_trades(source))
    value, is_intraday = pl.col("trade_value"), pl.col("product").is_in(list(INTRADAY))
    order = list(dict.fromkeys((*KEY, *ORDER_KEY, "txn_type")))

    def run() -> Any:
        orders = frame.group_by(order).agg(value.sum())
        orders = orders.with_columns(
            brokerage=pl.when(is_intraday)
            .then(pl.min_horizontal(value * BROKERAGE, CAP))
            .otherwise(0),
            stt=pl.when(is_intraday).then(0).otherwise(value * STT),
        ).with_columns(gst=pl.col("brokerage") * GST)
        sums = orders.group_by(KEY).agg(pl.col("brokerage", "stt", "gst").sum())
        return sums.with_columns(total=pl.sum_horizontal("brokerage", "stt", "gst"))

    return _ready(run, len, total=lambda found: found["total"])


def day_ours(source: Source) -> Ready:
    td, trades, given = peer("tradingdata"), _trades(source), rates()
    prices = dict(zip(*map(trades.column, ("security_id", "traded_price")), strict=True))
    return _ready(
        lambda: td.day_pnl(trades, prices=prices, charges=given), realised=_column("realised")
    )


def reconcile_ours(source: Source) -> Ready:
    td, trades, orders = peer("tradingdata"), _trades(source), _orders()
    sums = {name: _column(f"{name}_quantity") for name in ("orders", "trades")}
    return _ready(lambda: td.reconcile(orders, trades), len, **sums)


def reconcile_polars(source: Source) -> Ready:
    pl, left, right = peer("polars"), _frame(_orders()), _frame(_trades(source))
    compared = ["txn_type", *(name for name in KEY if name not in ORDER_KEY)]

    def run() -> Any:
        fills = right.group_by(ORDER_KEY).agg(*_sides(pl), pl.col(compared).first())
        both = left.join(fills, on=ORDER_KEY, how="full", suffix="_of_trades")
        same = [pl.col(name) == pl.col(f"{name}_of_trades") for name in compared]
        return both.with_columns(pl.all_horizontal(same).alias("agree")).sort(ORDER_KEY)

    filled = [f"{side}_quantity" for side in "BS"]
    return _ready(
        run,
        len,
        orders=lambda found: found["traded_qty"],
        trades=lambda found: [found[name].sum() for name in filled],
    )


def quality_ours(source: Source) -> Ready:
    td, trades, orders = peer("tradingdata"), _trades(source), _orders()
    return _ready(lambda: td.execution_quality(orders, trades), len, filled=_column("filled"))


def quality_polars(source: Source) -> Ready:
    pl, left, right = peer("polars"), _frame(_orders()), _frame(_trades(source))
    key = [*ORDER_KEY, "txn_type"]
    time, entered = (pl.col(TIME[name]) for name in ("Trade", "Order"))
    averages = pl.col("value") / pl.col("filled")

    def run() -> Any:
        sums = [
            pl.col("quantity").sum().alias("filled"),
            pl.col("trade_value").sum().alias("value"),
        ]
        times = [time.min().alias("first_fill"), time.max().alias("last_fill")]
        both = left.join(right.group_by(key).agg(*sums, *times), on=key, how="left")
        return both.with_columns(
            (averages - pl.col("price")).alias("better_by"),
            (pl.col("filled") / pl.col("quantity")).alias("fill_ratio"),
            (pl.col("first_fill") - entered).alias("to_first_fill"),
        ).sort("better_by")

    return _ready(run, len, filled=lambda found: found["filled"])


def sort_ours(source: Source) -> Ready:
    trades = _trades(source)
    return _ready(lambda: trades.sort("symbol", "traded_price"))


def sort_polars(source: Source) -> Ready:
    frame = _frame(_trades(source))
    return _ready(lambda: frame.sort("symbol", "traded_price", maintain_order=True))


def equal_ours(source: Source) -> Ready:
    one, other = _trades(source), _trades(source)
    return _ready(lambda: one == other, int)


def equal_polars(source: Source) -> Ready:
    one, other = _frame(_trades(source)), _frame(_trades(source))
    return _ready(lambda: one.equals(other), int)


CASES: dict[str, Prepare] = {
    "positions": positions_ours,
    "positions:polars": positions_polars,
    "realised": realised_ours,
    "realised:python": realised_python,
    "charges": charges_ours,
    "charges:polars": charges_polars,
    "day": day_ours,
    "day:realised_pnl and its lots": realised_with_lots,
    "reconcile": reconcile_ours,
    "reconcile:polars": reconcile_polars,
    "quality": quality_ours,
    "quality:polars": quality_polars,
    "sort": sort_ours,
    "sort:polars": sort_polars,
    "equal": equal_ours,
    "equal:polars": equal_polars,
}
CONTESTS = {  # name: title, peer, gate, aim
    "positions": ("positions", "polars", 3.0, 2.0),
    "realised": ("realised P&L", "python", 0.2, 0.1),
    "charges": ("charges", "polars", 6.0, 4.0),
    "day": ("P&L of the day with charges", "realised_pnl and its lots", 4.0, 3.0),
    "reconcile": ("reconciliation with 20,000 orders", "polars", 4.0, 3.0),
    "quality": ("execution quality of 20,000 orders", "polars", 5.0, 4.0),
    "sort": ("sort by two fields", "polars", 2.0, 1.0),
    "equal": ("compare with an equal book", "polars", 2.0, 1.0),
}


def compute(run: Run) -> None:
    """Positions, P&L, charges, reconciliation and the like of decoded books of four accounts."""

    def contest(name: str, title: str, other: str) -> Contest:
        source = body_of_trades(TRADES // ACCOUNTS)
        cases = {"tradingdata": name, other: f"{name}:{other}"}
        each = (Entry(label, "compute", case, source) for label, case in cases.items())
        return Contest(f"{title}, {TRADES:,} trades", tuple(each), shared=False)

    for name, (title, other, gate, aim) in CONTESTS.items():
        what = f"{title} of {TRADES:,} trades, times slower than {other}"
        goal = Goal(what, (other,), gate, aim, faster=False)
        run.play(name, partial(contest, name, title, other), goal)
