"""``td.plot``: every chart of every input, empty ones, the axes and the colours."""

from __future__ import annotations

import functools
import html
import io
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex, to_rgb
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

import tradingdata as td
from analysis_samples import unwarned
from tradingdata import plot as style

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

mpl.use("agg")
# As Any: Matplotlib types artists as their base class, without the heights of bars.
plot: Any = td.plot


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    plt.close("all")  # of tests of other modules
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def books() -> tuple[td.OrderBook, td.TradeBook]:
    with td.sandbox.start(seed=7, orders=150) as service, service.client() as client:
        return client.books()


@pytest.fixture(scope="module")
def week() -> tuple[td.OrderBook, td.TradeBook]:
    """Three days, of which the middle one is missing."""
    found = []
    for day in ("2026-11-18", "2026-11-20"):
        with td.sandbox.start(day=day, orders=60) as service, service.client() as client:
            found.append(client.books())
    return td.concat([orders for orders, _ in found]), td.concat([trades for _, trades in found])


def drawn(ax: Any) -> list[str]:
    """All text of the axes, after a drawing: ticks are formatted then."""
    ax.figure.canvas.draw()
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
    return [text.get_text() for text in texts]


@functools.cache
def charts(orders: td.OrderBook, trades: td.TradeBook) -> dict[str, Callable[..., Any]]:
    pnl = td.realised_pnl(trades)
    prices: Any = {trade.security_id: trade.traded_price for trade in trades}
    value = td.unrealised_pnl(pnl.open_lots, prices)
    quality = td.execution_quality(orders, trades)
    closes: Any = lambda day, row: prices.get(row.security_id)  # noqa: E731
    daily = td.daily_pnl(trades, prices=closes)
    made = {
        "pnl_curve of days": (plot.pnl_curve, daily),
        "pnl_curve of trades": (plot.pnl_curve, trades),
        "pnl_curve of a result": (plot.pnl_curve, pnl),
        "blotter of trades": (plot.blotter, trades),
        "blotter of orders": (plot.blotter, orders),
        "exposure of trades": (plot.exposure, trades),
        "exposure of profit": (plot.exposure, pnl),
        "exposure of lots": (plot.exposure, pnl.open_lots),
        "exposure at prices": (plot.exposure, value),
        "fills of trades": (plot.fills, trades),
        "fills of quality": (plot.fills, quality),
    }
    return {
        name: (lambda call=call, given=given, **options: call(given, **options))
        for name, (call, given) in made.items()
    }


NAMES = list(charts(td.OrderBook(), td.TradeBook()))


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_labelled_and_has_neither_exponent_nor_paper(
    name: str, books: Any, week: Any
) -> None:
    for orders, trades in (books, week):
        ax = charts(orders, trades)[name]()
        texts = drawn(ax)
        assert ax.get_title()
        assert ax.get_xlabel()
        assert not any("e+" in text or "1e" in text for text in texts)
        assert {ax.xaxis.get_offset_text().get_text(), ax.yaxis.get_offset_text().get_text()} == {
            ""
        }
        assert ax.patches or ax.lines or ax.collections
        assert [part.get_facecolor()[3] for part in (ax.figure.patch, ax.patch)] == [0, 0]
        inks = {text.get_color() for text in (*ax.get_xticklabels(), ax.title, *ax.texts)}
        assert inks == {style.INK}
        assert {text.get_color() for text in ax.get_yticklabels()} == {style.INK_Y}


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_without_data_says_so(name: str) -> None:
    ax = charts(td.OrderBook(), td.TradeBook())[name]()
    (note,) = ax.texts
    assert note.get_text() in {"nothing realised", "no trades", "no orders", "nothing open"} | {
        "no fills"
    }
    assert ax.get_title()
    assert ax.get_xlabel()
    assert "1e" not in "".join(drawn(ax))


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_drawn_on_the_axes_given(name: str, books: Any) -> None:
    figure, ax = plt.subplots()
    before = dict(mpl.rcParams)
    options = {"kind": "shares"} if "exposure" in name else {}
    assert charts(*books)[name](ax=ax, **options) is ax
    assert plt.get_fignums() == [figure.number]
    assert dict(mpl.rcParams) == before


def contrast(one: str, other: str) -> float:
    """WCAG 2: from 1 to 21."""

    def luminance(colour: str) -> float:
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_every_colour_is_legible_on_light_and_dark_pages(page: str) -> None:
    statuses = ["Pending", "Success", "Error", "Cancelled", "Expired", "Modified", "Open"]
    colours = [
        style.BOUGHT,
        style.SOLD,
        style.GAIN,
        style.LOSS,
        *map(style.status_colour, statuses),
    ]
    assert [colour for colour in colours if contrast(colour, page) < 3] == []
    assert contrast(style.INK, page) >= 4.25  # no colour has more than 4.35 with both
    assert contrast(style.INK_Y, page) >= 3.9


def test_jupyter_puts_no_box_behind_a_chart() -> None:
    """It does if all labels of ticks are dark, or all are light."""
    parts = (0.299, 0.587, 0.114)
    brightness = [
        sum(part * value for part, value in zip(parts, to_rgb(ink), strict=True))
        for ink in (style.INK, style.INK_Y)
    ]
    assert brightness[0] < 0.5 < brightness[1] < brightness[0] + 0.03


def test_a_side_and_a_status_have_one_colour_in_all_charts(books: Any) -> None:
    orders, trades = books

    def legend(ax: Any) -> dict[str, str]:
        found = {}
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            part = handle[0] if hasattr(handle, "patches") else handle
            get = getattr(part, "get_facecolor", None) or part.get_color
            colour = get()
            found[name.split(" (")[0]] = to_hex(colour[0] if len(colour) == 1 else colour)
        return found

    quality = td.execution_quality(orders, trades)
    for ax in (plot.blotter(trades), plot.fills(trades), plot.fills(quality)):
        assert legend(ax) == {"bought": style.BOUGHT, "sold": style.SOLD}
    morning, evening = orders[:100], orders[100:]
    for book in (morning, evening, orders):
        colours = legend(plot.blotter(book))
        assert colours == {name: style.status_colour(name) for name in colours}
        assert len(set(colours.values())) == len(colours) > 1


def test_a_time_with_a_zone_is_drawn_at_the_exchanges_time(books: Any) -> None:
    _, trades = books
    ax = plot.fills(trades.localize("Asia/Kolkata"))
    assert ax.get_xlim() == plot.fills(trades).get_xlim()
    first = ax.collections[0].get_offsets()[0][0]
    assert first == plot.fills(trades).collections[0].get_offsets()[0][0]


def test_a_trade_after_the_close_widens_the_axis(books: Any) -> None:
    _, trades = books
    late = trades[0]._replace(exch_trade_time=datetime(2026, 11, 20, 15, 45), trade_no="late")
    ax = plot.fills(td.TradeBook([*trades, late]))
    assert ax.get_xlim()[1] > 390 / 375  # of the minutes of a session


def test_the_curve_ends_at_the_realised_sum(books: Any) -> None:
    pnl = td.realised_pnl(books[1])
    ax = plot.pnl_curve(pnl)
    ends = {line.get_label(): line.get_ydata()[-1] for line in ax.lines}
    assert ends["all"] == pytest.approx(pnl.realised)
    assert ends["long"] + ends["short"] == pytest.approx(pnl.realised)


def test_the_equity_curve_ends_at_the_net_of_all_days(week: Any) -> None:
    _, trades = week
    prices = {trade.security_id: trade.traded_price for trade in trades}
    rate = td.ChargeRate(per_order=20)
    daily = unwarned(
        lambda: td.daily_pnl(
            trades, prices=lambda day, row: prices.get(row.security_id), charges=rate
        )
    )
    ax = plot.pnl_curve(daily)
    lines = ax.lines[1:]  # after the line of zero
    ends = {line.get_label(): line.get_ydata()[-1] for line in lines}
    assert ends["net"] == pytest.approx(daily.net)
    assert ends["realised, before charges"] == pytest.approx(daily.realised)
    assert [list(line.get_xdata()) for line in lines] == [[0, 1, 2]] * 2
    # Several rows of a day are one point.
    by_day = daily.to_pandas().groupby("day")["net"].sum().cumsum()
    assert list(lines[1].get_ydata()[1:]) == pytest.approx(list(by_day))


def test_the_bars_add_up_to_the_book(books: Any) -> None:
    orders, trades = books
    shares = trades.filter(expiry_date=None)
    bars = [bar.get_height() for bar in plot.blotter(shares, values=True).patches]
    assert sum(map(abs, bars)) == pytest.approx(sum(trade.trade_value for trade in shares))
    assert sum(bar.get_height() for bar in plot.blotter(orders).patches) == len(orders)


def test_exposure_is_drawn_largest_first_and_adds_nothing_up(books: Any) -> None:
    pnl = td.realised_pnl(books[1])
    prices = {trade.security_id: trade.traded_price for trade in books[1]}
    value = td.unrealised_pnl(pnl.open_lots, prices)
    value = value.filter(kind="shares")
    ax = plot.exposure(value, largest=3)
    widths = [bar.get_width() for bar in ax.patches]
    assert (
        widths == sorted((row.market_value for row in value), key=lambda each: -abs(each or 0))[:3]
    )
    assert ax.get_title() == f"Open shares, 3 of {len(value)} shown"


def test_the_share_filled_is_that_of_all_orders(books: Any) -> None:
    quality = td.execution_quality(*books)
    ax = plot.fills(quality, label="all")
    (line,) = ax.lines
    filled = sum(row.to_first_fill is not None for row in quality)
    shares = zip(line.get_xdata(), line.get_ydata(), strict=True)
    shown = [share for seconds, share in shares if seconds <= ax.get_xlim()[1]]
    assert shown[-1] == pytest.approx(filled / len(quality))


def test_amounts_are_in_lakh_and_crore(books: Any) -> None:
    ax = plot.blotter(books[1].filter(expiry_date=None), values=True)
    written = ax.yaxis.get_major_formatter()
    values = (0, 950, 99_999, 1_00_000, 150_000, 1_00_00_000, 1_25_00_000, 2.5e9)
    texts = ["0", "950", "99,999", "1 L", "1.5 L", "1 Cr", "1.25 Cr", "250 Cr"]
    assert [written(value) for value in values] == [written(-value) for value in values] == texts
    assert plot.pnl_curve(books[1]).yaxis.get_major_formatter()(-1_25_00_000) == "-1.25 Cr"


NAMED = "US$ and A$, \\frac{1}{2} $x$"


def named(kind: Any, **fields: Any) -> Any:
    """The sandbox's book, with names that contain dollars."""
    with td.sandbox.start(orders=40) as service, service.client() as client:
        book = client.books()[kind is td.TradeBook]
    return kind([row._replace(**fields) for row in book])


@pytest.mark.parametrize(
    ("chart", "book"),
    [
        (plot.exposure, lambda: named(td.TradeBook, display_name=NAMED)),
        (plot.blotter, lambda: named(td.OrderBook, status=NAMED)),
        (
            plot.fills,
            lambda: td.execution_quality(named(td.OrderBook, txn_type=NAMED), td.TradeBook()),
        ),
    ],
)
def test_a_name_with_dollars_is_drawn_as_written(chart: Any, book: Any) -> None:
    with mpl.rc_context({"svg.fonttype": "none"}):
        chart(book()).figure.savefig(image := io.StringIO(), format="svg")
    assert html.escape(NAMED, quote=False) in image.getvalue()


@pytest.mark.slow
def test_every_cell_of_a_notebook_shows_its_chart(tmp_path: Path) -> None:
    """The first one loads the backend, whose interactive mode the later ones need."""
    first = "import tradingdata as td\ntd.plot.blotter(td.TradeBook());"
    sources = [first, "td.plot.fills(td.TradeBook());"]
    cells = [new_code_cell(source) for source in sources]
    notebook = new_notebook(cells=cells)
    # Not over TCP: another program may take a port that the manager chose before the kernel does.
    config = Config(KernelManager={"transport": "ipc", "ip": f"{tmp_path}/kernel"})
    NotebookClient(notebook, kernel_name="python3", config=config, timeout=600).execute()
    for cell in notebook.cells:
        assert ["image/png" in output.get("data", {}) for output in cell.outputs] == [True]
