"""Each chart of a day, a week, a month and a year, as it is drawn: what a reader cannot see."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from itertools import combinations, pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

import tradingdata as td
from tradingdata import plot as style

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

mpl.use("agg")
LAST = date(2026, 11, 20)
HOLIDAY = date(2026, 11, 17)
SPANS = {"day": 1, "week": 5, "month": 21, "year": 250}


def sessions(count: int) -> list[date]:
    """The last days of trading, without weekends and a holiday."""
    days = (LAST - timedelta(days=back) for back in range(2 * count + 7))
    return [day for day in days if day.weekday() < 5 and day != HOLIDAY][:count][::-1]


def spread(book: Any, days: list[date], rows: int) -> Any:
    """Repeats some rows of a book of one day on each of these days."""
    times = [name for name, kind in book._kinds.items() if kind == "timestamp"]
    numbers = [name for name in ("order_no", "trade_no") if name in book._kinds]
    return type(book)(
        row._replace(
            **{
                name: datetime.combine(day, row[name].time())
                for name in times
                if row[name] is not None
            },
            **{name: f"{row[name]}-{at}" for name in numbers},
        )
        for at, day in enumerate(days)
        for row in book[at % 7 : at % 7 + rows]
    )


@pytest.fixture(scope="module", params=SPANS)
def drawings(request: pytest.FixtureRequest) -> tuple[list[date], dict[str, Callable[[], Any]]]:
    """The days, and a function for each chart of them."""
    days = sessions(SPANS[request.param])
    with td.sandbox.start(seed=7) as service, service.client() as client:
        books = client.books()
    rows = {1: 500, 250: 6}.get(len(days), 24)
    orders, trades = (spread(book, days, rows) for book in books)
    shares = trades.filter(expiry_date=None)
    return days, {
        "pnl_curve": lambda: td.plot.pnl_curve(shares),
        "blotter": lambda: td.plot.blotter(shares, values=True),
        "blotter of orders": lambda: td.plot.blotter(orders),
        "fills": lambda: td.plot.fills(trades),
        "waits": lambda: td.plot.fills(td.execution_quality(orders, trades)),
        "exposure": lambda: td.plot.exposure(trades, largest=5),
    }


@pytest.mark.parametrize(
    "chart", ["pnl_curve", "blotter", "blotter of orders", "fills", "waits", "exposure"]
)
def test_a_picture_hides_and_cuts_nothing(drawings: Any, chart: str) -> None:
    days, made = drawings
    ax = made[chart]()
    figure = ax.figure
    figure.canvas.draw()
    paper = figure.bbox
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            low, high = axis.get_view_interval()
            ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
            shown = [text for at, text in ticks if min(low, high) <= at <= max(low, high)]
            boxes = [text.get_window_extent() for text in shown if text.get_text()]
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))
            assert all(paper.padded(1).containsx(box.x0) for box in boxes)
            assert all(paper.padded(1).containsy(box.y0) for box in boxes)
            for bar in panel.patches:
                ends = bar.get_bbox().intervalx if axis is panel.xaxis else bar.get_bbox().intervaly
                assert min(low, high) <= min(ends) <= max(ends) <= max(low, high)
        legend = panel.get_legend()
        assert (legend is None) == (chart == "exposure")
        if legend is not None:
            assert not legend.get_window_extent().overlaps(panel.bbox)
            assert legend.get_window_extent().x1 <= paper.x1
    if chart in ("waits", "exposure"):
        return
    labels = [text.get_text() for text in ax.get_xticklabels()]
    if len(days) == 1:
        assert labels[-1] == "15:00"
        assert ax.get_xlabel() == "market time, 20 Nov 2026"
        assert "10:00" in labels
        assert (ax.get_xlim() == (-0.01, 1.01)) == (chart != "blotter of orders")
    else:
        left, right = ax.get_xlim()
        count, _, text = ax.get_xlabel().partition(" days from ")
        assert (right - left) / 1.02 == pytest.approx(int(count))  # no night takes a place
        first = datetime.strptime(text.split(" to ")[0], "%d %b %Y")
        assert first.date() in days
        if chart == "blotter of orders":
            assert [bar.get_center()[0] for bar in ax.containers[0]] == [
                *np.arange(0.5, int(count))
            ]
        assert labels[0] == f"{first.day} {first:%b}\n{first.year}"
        assert 2 <= len(labels) <= 9
    plt.close(figure)


def test_charts_of_other_days_are_not_drawn_on_one_axis() -> None:
    with td.sandbox.start(seed=7) as service, service.client() as client:
        trades = client.trade_book()
    monday, friday = (spread(trades, [day], 50) for day in (date(2026, 11, 16), LAST))
    ax = td.plot.fills(monday)
    td.plot.fills(monday[:20], ax=ax)
    with pytest.raises(ValueError, match="axes of its own"):
        td.plot.fills(friday, ax=ax)


def test_premium_and_notional_value_share_no_axis() -> None:
    with td.sandbox.start(seed=7) as service, service.client() as client:
        trades = client.trade_book()
    axes = td.plot.exposure(trades).figure.axes
    assert [ax.get_title().split(",")[0] for ax in axes] == [
        "Open shares", "Open futures", "Open options"
    ]  # fmt: skip
    assert ["notional" in ax.get_xlabel() for ax in axes] == [False, True, False]
    assert ["premium" in ax.get_xlabel() for ax in axes] == [False, False, True]
    _, own = plt.subplots()
    with pytest.raises(ValueError, match="do not share a scale"):
        td.plot.exposure(trades, ax=own)
    assert td.plot.exposure(trades, kind="option", ax=own) is own
    with pytest.raises(ValueError, match="kind must be one of"):
        td.plot.exposure(trades, kind="premium")  # type: ignore[arg-type]


# Machado, Oliveira and Fernandes (2009), of linear RGB: protanopia, deuteranopia, tritanopia.
SIGHT = np.array(
    [
        np.eye(3),
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0521]],
        [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
        [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
    ]
)
TO_XYZ = np.array(
    [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]]
)  # relative to white


def seen(colour: str) -> Any:
    """The colour in CIELAB, one row for each kind of sight."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = (SIGHT @ linear).clip(0, 1) @ TO_XYZ.T
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (style.BOUGHT, style.SOLD),
        (style.GAIN, style.LOSS),
        *combinations([style.GAIN, style.PENDING, style.LOSS, style.BOUGHT, *style._OTHERS], 2),
    ],
)
def test_colour_blind_people_tell_colours_apart(one: str, other: str) -> None:
    """A distance of 10 is plain at a glance; 2 is just noticeable."""
    apart = np.linalg.norm(seen(one) - seen(other), axis=1)
    assert apart.min() > 15
