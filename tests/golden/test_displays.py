"""What people see of books and results, at three widths and in a notebook, to the character."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tradingdata as td
from golden import DAY, FOLDER, ORDERS, SHARE, TRADES, body, books, trade

PRICES: dict[str | tuple[Any, ...], float | None] = {
    "1594": 1520.0,
    ("43210", dt.date(2026, 11, 24)): 118.5,
}
RATES = [
    td.ChargeRate(where={"segment": "E"}, brokerage=0.001, cap=20.0),
    td.ChargeRate(where={"segment": "D"}, per_order=20.0),
]


def made() -> dict[str, Any]:
    """What is shown, by the name of its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        found = books()
        trades, orders = found["zoned"], found["orders"].localize("Asia/Kolkata")
        changed = ORDERS[5] | {"status": "Pending", "reason_description": ""}
        next_day = DAY + dt.timedelta(days=3)
        later = [
            record
            | {"trade_no": f"9{record['trade_no']}"}
            | {n: str(v).replace(str(DAY), str(next_day)) for n, v in record.items() if "time" in n}
            for record in TRADES
        ]
        two_days = td.TradeBook.from_json(body([*TRADES, *later]))
        short = td.TradeBook.from_json(body([trade(60, SHARE, "S", 10, 1.0, "10:00"), *TRADES[:3]]))
        return {
            **found,
            "trade": trades[3],
            "order": orders[5],
            "empty": td.TradeBook(),
            "positions": td.positions(trades),
            "realised": td.realised_pnl(short),
            "lots": td.realised_pnl(trades).open_lots,
            "unrealised": td.unrealised_pnl(td.realised_pnl(trades), PRICES),
            "charges": td.charges(trades, RATES),
            "day": td.day_pnl(trades, prices=PRICES, charges=RATES),
            "days": td.daily_pnl(two_days, prices={DAY: PRICES, next_day: PRICES}),
            "reconciliation": td.reconcile(orders, trades[:3]),
            "execution": td.execution_quality(orders, trades),
            "diff": found["orders"].diff(td.OrderBook.from_json(body([*ORDERS[1:5], changed]))),
        }


SHOWN = made()


def test_no_golden_display_is_left_over() -> None:
    assert {path.stem for path in (FOLDER / "displays").rglob("*.*")} == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_a_display_in_a_terminal_stays(
    name: str, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ""
    for columns in (60, 90, 140):
        monkeypatch.setenv("COLUMNS", str(columns))
        text += f"{'=' * columns}\n{SHOWN[name]!r}\n"
    golden(f"displays/text/{name}.txt", text)


@pytest.mark.parametrize("name", [name for name in SHOWN if hasattr(SHOWN[name], "_repr_html_")])
def test_a_display_in_a_notebook_stays(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"displays/html/{name}.html", SHOWN[name]._repr_html_() + "\n")
