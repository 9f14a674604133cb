"""What people see of books, records and results, at four widths and in a notebook.

Each is kept to the character, and all of them fit their terminal, are correct HTML, and show no
account number, control character or markup of a service.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from rich.cells import cell_len

import tradingdata as td
from analysis_samples import displayed
from cases import KEY_OF_C1
from cases import made as fill
from golden.samples import DAY, FOLDER, ORDERS, TRADES, body, books, trade
from tradingdata.display import aligned, cell_width, cut, group

DISPLAYS = FOLDER / "displays"
WIDTHS = (40, 60, 90, 140)
PAN = "ABCPK1234F"
MARKUP = '"><script>alert(1)</script>\x9b31m'  # also in names of fields
PRICES: dict[str | tuple[Any, ...], float | None] = {
    "1594": 1520.0,
    ("43210", dt.date(2026, 11, 24)): 118.5,
}
RATES = [
    td.ChargeRate(where={"segment": "E"}, brokerage=0.001, cap=20.0),
    td.ChargeRate(where={"segment": "D"}, per_order=20.0),
]
EXPIRY = dt.date(2026, 11, 26)
OPTION: dict[str, Any] = {"expiry_date": EXPIRY, "opt_type": "CE"}
NAMES: dict[str | None, Any] = {
    "INFY": td.Trade(symbol="INFY"),
    "Infosys": td.Trade(symbol="INFY", display_name="Infosys"),
    "INFY 2026-11-26": td.Trade(symbol="INFY", display_name=" ", expiry_date=EXPIRY),
    "NIFTY 2026-11-26 25000 CE": td.Trade(symbol="NIFTY", strike_price=25000.0, **OPTION),
    "IDEA 2026-11-26 9.50 CE": td.Trade(symbol="IDEA", strike_price=9.5, **OPTION),
    "MIDCPNIFTY 2026-11-26 12500 CE": td.Trade(symbol="MIDCPNIFTY", strike_price=12500.0, **OPTION),
    None: td.Trade(),
}


def results(found: dict[str, Any]) -> dict[str, Any]:
    """Results of calculations, by the names of their files."""
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
    short = td.TradeBook.from_json(body([trade(60, "S", 10, 1.0, "10:00"), *TRADES[:3]]))
    alike = two_products()
    return {
        "trade": trades[3],
        "order": orders[5],
        "empty": td.TradeBook(),
        "two-days": two_days,
        "positions": td.positions(trades),
        "positions-alike": td.positions(alike),
        "realised": td.realised_pnl(short),
        "realised-alike": td.realised_pnl(alike),
        "lots": td.realised_pnl(trades).open_lots,
        "unrealised": td.unrealised_pnl(td.realised_pnl(trades), PRICES),
        "charges": td.charges(trades, RATES),
        "day": td.day_pnl(trades, prices=PRICES, charges=RATES),
        "days": td.daily_pnl(two_days, prices={DAY: PRICES, next_day: PRICES}),
        "reconciliation": td.reconcile(orders, trades[:3]),
        "execution": td.execution_quality(orders, trades),
        "diff": found["orders"].diff(td.OrderBook.from_json(body([*ORDERS[1:5], changed]))),
    }


def two_products() -> td.TradeBook:
    """Trades of one name in two products, and of two expiries whose names differ in the middle."""
    security, product = list(KEY_OF_C1)[3], list(KEY_OF_C1)[-1]
    names = ("BANKNIFTY 24 NOV 59200 CALL", "BANKNIFTY 29 DEC 59200 CALL")
    return td.TradeBook(
        fill(number, "B", 9_999, 123.45, "16 10:00")._replace(
            **{security: f"C{number}", product: held, "display_name": name}
        )
        for number, name in enumerate(names)
        for held in ("I", "M")
    )


def odd() -> dict[str, Any]:
    """Books with what services, screens and pages do not expect."""
    many = [trade(at, "B", 5, 1.0, "09:16", display_name=f"NAME {at}") for at in range(25)]
    rows = td.TradeBook.from_json(body(TRADES[:3]))._rows
    when = dt.datetime(2026, 11, 20, 10, 1, 2, 345, dt.UTC)
    named = {"display_name": f"a\nb\x1b[31m\u202ec {MARKUP}", "pan_no": PAN, MARKUP: [PAN]}
    wide = trade(1, "B", 5, 1.0, "09:16", display_name="日本電気") | {"quantity": "数量 未定 " * 3}
    nasty = trade(1, "B", 5, 1.0, "09:16", **named) | {"quantity": f"<b>NA</b>{PAN}"}
    kept = td.TradeBook.from_json(body([nasty]), keep_personal_data=True)
    numbers = [
        trade(1, "B", 1_234_567, 83.5, "09:16", trade_value=1_234_567.5),
        trade(2, "B", 5, 83.5025, "09:17", trade_value=8325),
    ]
    placed = ORDERS[0] | {"quantity": 100_000, "traded_qty": 100_000, "rem_qty_tot_qty": "0/100000"}
    prices = [
        placed
        | {"order_no": f"1{n}", "row_no": n, "price": price}
        | dict.fromkeys(("traded_price", "avg_traded_price", "ref_ltp"), price)
        for n, price in enumerate((0, 10.5))
    ]
    two = [row._replace(account=f"desk{at % 2}") for at, row in enumerate(rows)] * 5
    return {
        "many": td.TradeBook.from_json(body(many)),
        "eleven": td.TradeBook.from_json(body(many[:11])),
        "accounts": td.TradeBook(two),
        "received": td.TradeBook._received(
            rows, td.types.Response(rows, account="desk<1>", received_at=when)
        ),
        "nasty": kept,
        "wide": td.TradeBook.from_json(body([wide]), account="日本電気株式会社の口座"),
        "nasty-trade": kept[0],
        "numbers": td.TradeBook.from_json(body(numbers)),
        "prices": td.OrderBook.from_json(body(prices)),
        "names": td.TradeBook(NAMES.values()),
    }


def shown() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        found = books()
        kinds = {
            "books": found | odd(),
            "results": results(found),
            "odd-results": displayed(),
        }
        return {f"{kind}/{name}": value for kind in kinds for name, value in kinds[kind].items()}


SHOWN = shown()
PAGES = [name for name, value in SHOWN.items() if hasattr(value, "_repr_html_")]


def test_no_golden_display_is_left_over() -> None:
    kept = [path.relative_to(DISPLAYS).with_suffix("") for path in DISPLAYS.glob("*/*/*")]
    assert {"/".join(path.parts[1:]) for path in kept} == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_a_display_in_a_terminal_stays(
    name: str, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ""
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        lines = repr(SHOWN[name])
        assert not hasattr(SHOWN[name], "columns") or max(map(cell_len, lines.split("\n"))) <= width
        text += f"{'=' * width}\n{lines}\n"
    assert not [word for word in (PAN, "\x1b", "\u202e") if word in text]
    golden(f"displays/text/{name}.txt", text)


class Page(HTMLParser):
    """The tags of a page, which are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", PAGES)
def test_a_display_in_a_notebook_stays(name: str, golden: Callable[[str, str], None]) -> None:
    html: str = SHOWN[name]._repr_html_()
    page = Page(html)
    assert (page.open, page.tags & {"script", "b"}) == ([], {"b"})
    assert not [word for word in (PAN, "\x1b", "\u202e") if word in html]
    style, end, table = html.partition("</style>")
    golden("displays/style.html", f"{style}{end}\n")
    golden(f"displays/html/{name}.html", table + "\n")


@pytest.mark.parametrize("text", ["日本", "😀", "नमस्ते", "한글", "é", "e\u0301", "a…b"])
def test_a_cell_is_as_wide_as_a_terminal_draws_it(text: str) -> None:
    assert cell_width(f"INFY {text}") == 5 + cell_len(text)
    for most in range(1, 4):
        assert cell_width(cut(text * 5, most)) <= most
    lines = aligned(["name", "n"], [[text * 3, "1"], ["plain", "333"]], [False, True]).splitlines()
    assert len({cell_len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("e\u0301xy", 2, "e\u0301…"), ("कुमार", 2, "कु…"), ("日本語", 4, "日…"), ("plain", 3, "pl…")],
)
def test_a_letter_that_is_kept_keeps_its_marks(text: str, most: int, shown: str) -> None:
    assert cut(text, most) == shown


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        *((0, 0, "0"), (999, 0, "999"), (1000, 0, "1,000"), (99_999, 0, "99,999")),
        *((100_000, 0, "1,00,000"), (12_345_678, 0, "1,23,45,678"), (-100, 0, "-100")),
        *((1_234_567.5, 2, "12,34,567.50"), (-1_234_567.5, 2, "-12,34,567.50")),
        *((0.005, 1, "0.0"), (-0.004, 2, "0.00"), (None, 2, "")),
    ],
)
def test_numbers_are_grouped_the_indian_way(value: float | None, decimals: int, text: str) -> None:
    assert group(value, decimals) == text
